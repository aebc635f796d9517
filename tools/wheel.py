"""Build hook that adds what npm has fetched or built to the wheel: plotly.js, fonts, bundled modules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

LIBRARY = "node_modules/plotly.js-gl3d-dist-min"
FETCHED = (LIBRARY, "node_modules/.fonts", "node_modules/.modules")

FULL = (
    "The wheel has no npm packages: its pages load the full Plotly bundle, three times as large, and no"
    " typefaces. For the small one run “npm ci --omit=dev --ignore-scripts && npm run pack” in the checkout,"
    " and build again."
)


class Wheel(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if not (Path(self.root) / LIBRARY).is_dir():
            self.app.display_warning(FULL)
        for folder in FETCHED:
            if (Path(self.root) / folder).is_dir():
                build_data["force_include"][str(Path(self.root) / folder)] = f"normscape/{folder}"
