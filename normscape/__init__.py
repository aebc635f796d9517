"""Normscape's public API. Each name is imported when it is first used.

Figure     a Jupyter widget of a scene (docs/notebook.md)
Scene      a Dash component of a scene (docs/dash.md)
register   adds the routes that `Scene` needs to a Dash application; importing `Scene` does so by itself for
           applications that exist already or are created later
record     record the inputs of a PyTorch model's normalisation layers, to save or show them (docs/record.md)
own        store a recording, and get the choices with which the scene `model` shows it
convert    fold the normalisation layers of a checkpoint into neighbouring layers, with a certificate
           (docs/convert.md)
certify    make such a certificate for any two checkpoints
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from normscape.dash_comm import import_dash_quietly

if TYPE_CHECKING:
    from normscape.conversion import certify, convert
    from normscape.figure import Figure
    from normscape.recording import own, record
    from normscape.scene import Scene, register

__all__ = ["Figure", "Scene", "certify", "convert", "own", "record", "register"]
__version__ = "0.1.0"

# Dash reads these two variables in each package of components.
_js_dist = [{"relative_package_path": "scene.js", "namespace": "normscape"}]
_css_dist: list[dict[str, str]] = []

HOMES = {
    "Figure": "figure",
    "Scene": "scene",
    "certify": "conversion",
    "convert": "conversion",
    "own": "recording",
    "record": "recording",
    "register": "scene",
}
WITHOUT_DASH = ("certify", "convert", "record")
PACKAGES = ("components", "geometry", "learning")


def __getattr__(name: str) -> Any:
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    _check_own_packages()
    if name not in WITHOUT_DASH:
        import_dash_quietly()
    try:
        return getattr(import_module(f"{__name__}.{HOMES[name]}"), name)
    except ModuleNotFoundError as missing:
        if missing.name != "anywidget":
            raise
        raise ImportError(f"normscape.{name} needs anywidget: pip install anywidget") from None


def _check_own_packages() -> None:
    """Raise ImportError if one of our PACKAGES is missing, or hidden by another package of the same name."""
    here = Path(__file__).parents[1]
    for package in PACKAGES:
        found = find_spec(package)
        place = Path(found.origin).parent if found and found.origin else None
        if place != here / package:
            raise ImportError(
                f"normscape needs its own package {package!r}, which {place or 'nothing'} hides"
            )
