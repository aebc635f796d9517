"""What a wheel has beside what pyproject.toml says: what npm has fetched, a drawing library and typefaces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FETCHED = ("node_modules/plotly.js-gl3d-dist-min", "node_modules/.fonts")


class Wheel(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        for folder in FETCHED:
            if (Path(self.root) / folder).is_dir():
                build_data["force_include"][str(Path(self.root) / folder)] = f"normscape/{folder}"
