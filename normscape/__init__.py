"""Normscape's scenes in anybody's Dash application: `from normscape import Scene` (docs/dash.md).

`Scene` is a Dash component; `register` gives an application the routes that it asks for recipes, which
happens by itself for an application that is made after this import, or is there already.
"""

from __future__ import annotations

import tomllib
from contextlib import suppress
from pathlib import Path

import dash

from components.publish.component import register
from normscape.scene import Scene

__all__ = ["Scene", "register"]
__version__ = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"][
    "version"
]

# What Dash reads of a package of components.
_js_dist = [{"relative_package_path": "scene.js", "namespace": "normscape"}]
_css_dist: list[dict[str, str]] = []

dash.hooks.setup()(register)
with suppress(dash.exceptions.AppNotFoundError, RuntimeError):  # too late: the component says it in the page
    register(dash.get_app())
