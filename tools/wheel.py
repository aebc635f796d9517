"""What a wheel has beside what pyproject.toml says: the small drawing library, where npm has fetched it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

LIGHT = "node_modules/plotly.js-gl3d-dist-min"


class Wheel(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if (Path(self.root) / LIGHT).is_dir():
            build_data["force_include"][str(Path(self.root) / LIGHT)] = f"normscape/{LIGHT}"
