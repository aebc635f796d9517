"""The state of a scene as a link carries it: choices, parameters, progress, camera, followed point, theme.

The reader of links in the browser is assets/link.mjs; both refuse what the scene does not have.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from components.recipe import Parameter, Recipe
from components.scene import Scene, WrongValue

THEMES = ("auto", "light", "dark")
FARTHEST = 100.0  # of the camera, in scene units; the scene's cube is 1 wide
NEAREST = 1e-3  # of its eye to what it looks at
PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)  # as in assets/link.mjs


@dataclass(frozen=True)
class State:
    recipe: Recipe
    choices: Mapping[str, Any]
    params: Mapping[str, float]
    progress: float
    camera: tuple[float, ...] | None
    follow: int
    theme: str


def parse(scene: Scene, query: Mapping[str, str]) -> State:
    """The state that a query asks for, over the scene's defaults; WrongValue where that cannot be."""
    choices = {c.name for c in scene.choices}
    chosen = scene.choose({name: text for name, text in query.items() if name in choices})
    recipe = scene.build(chosen)
    known = {p.name: p for p in recipe.parameters}
    own = {"progress", "camera", "follow", "theme"}
    params = dict(recipe.defaults)
    for name, text in query.items():
        if name in known:
            params[name] = _value(known[name], text)
        elif name not in choices | own:
            raise WrongValue(
                name, f"the scene {scene.slug!r} has no {name!r}", sorted(choices | set(known) | own)
            )
    return State(
        recipe,
        chosen,
        params,
        _bounded("progress", query.get("progress", str(recipe.progress)), 0, len(recipe.stages) - 1),
        _camera(query["camera"]) if "camera" in query else None,
        int(_bounded("follow", query.get("follow", str(recipe.follow)), 0, _last_point(recipe), whole=True)),
        _theme(query.get("theme", "auto")),
    )


def _last_point(recipe: Recipe) -> int:
    """The number of the last point that can be followed."""
    return len(recipe.cloud(recipe.table.cloud if recipe.table else recipe.clouds[0].name).points) - 1


def _number(text: str) -> float:
    """NaN unless the text is a plain number."""
    return float(text) if PLAIN.fullmatch(text) else float("nan")


def _value(parameter: Parameter, text: str) -> float:
    if parameter.scale == "log" and _number(text) == 0:
        return 0.0
    return _bounded(parameter.name, text, parameter.min, parameter.max)


def _bounded(name: str, text: str, low: float, high: float, *, whole: bool = False) -> float:
    x = _number(text)
    if not low <= x <= high or (whole and x != int(x)):
        kind = "whole number" if whole else "number"
        raise WrongValue(
            name, f"{name}={text} is not a {kind} from {low:g} to {high:g}", {"min": low, "max": high}
        )
    return x


def _camera(text: str) -> tuple[float, ...]:
    numbers = tuple(map(_number, text.split(",")))
    fine = len(numbers) in (3, 6) and all(abs(x) <= FARTHEST for x in numbers)
    if not fine or math.dist(numbers[:3], numbers[3:] or (0, 0, 0)) < NEAREST:
        allowed = "x,y,z of the eye, and of what it looks at"
        raise WrongValue(
            "camera", f"camera={text} is not three numbers, or six, within ±{FARTHEST:g}", allowed
        )
    return numbers


def _theme(text: str) -> str:
    if text not in THEMES:
        raise WrongValue("theme", f"theme={text} is not one of {', '.join(THEMES)}", list(THEMES))
    return text
