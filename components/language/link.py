"""The link of a scene: its state as a query string, which omits values that are the scene's defaults.

It contains choices and parameters by name, and `progress`, `camera`, `follow` and `theme`. A link that a
teacher makes may also contain `controls`, the names of the visible controls (0 for none), and `tour`, the
number of the stop at which the tour opens. Invalid values are refused, not replaced by valid ones.
assets/player/link.mjs implements the same grammar: both refuse the same links, and write the same text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import partial
from typing import Any
from urllib.parse import urlencode

from components.language.recipe import Parameter, Recipe
from components.language.scene import Choices, Scene, WrongValue

THEMES = ("auto", "light", "dark")
MAX_CAMERA_COORDINATE = 100.0  # largest absolute value of a coordinate, in sides of the axes' cube
MIN_CAMERA_DISTANCE = 1e-3  # from the camera to the point that it looks at
DECIMAL_NUMBER = re.compile(
    r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE
)  # the same as in link.mjs
FIVE_DIGITS = Context(prec=5, rounding=ROUND_HALF_UP)
CAMERA_DECIMALS = Decimal("0.0001")  # camera coordinates are rounded to a multiple of this
TRACKING = re.compile(r"utm_.*|[a-z]*clid")  # such as utm_source and fbclid; the same as in link.mjs
Build = Callable[[Scene, Choices], Recipe]


@dataclass(frozen=True)
class State:
    """The state of a scene, as a link describes it.

    follow    the index of the followed (selected) point
    camera    three numbers for the camera's position, or six, which also give the point that it looks at;
              None for the scene's default
    theme     "light", "dark", "auto" (the setting of the reader's system), or "" to use the theme that the
              reader has chosen
    controls  the names of the visible controls; None for all, () for none
    tour      the number of the tour's stop, from 1 on; 0 for none
    """

    scene: Scene
    recipe: Recipe
    choices: Choices
    params: Mapping[str, float]
    progress: float
    follow: int
    camera: tuple[float, ...] | None = None
    theme: str = ""
    controls: tuple[str, ...] | None = None
    tour: int = 0


def once(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """A query's pairs (name, value) as a dict. Raises WrongValue if a name occurs more than once.

    Tracking parameters, which other sites add to links, are left out (see TRACKING).
    """
    query: dict[str, str] = {}
    for name, text in pairs:
        if TRACKING.fullmatch(name):
            continue
        if name in query:
            raise WrongValue(name, f"{name} is given more than once", "once")
        query[name] = text
    return query


# --- reading


def parse(scene: Scene, query: Mapping[str, str], build: Build, *, tour: bool = True) -> State:
    """The state that a query describes; what the query does not mention has the scene's default.

    build: a function that returns the recipe of a scene for its choices. tour: whether the query may name a
    stop of the scene's tour; False for a page that has only the figure, without the tour. Raises WrongValue
    for an unknown name or an invalid value.
    """
    choices = {c.name for c in scene.choices}
    chosen = scene.choose({name: text for name, text in query.items() if name in choices})
    recipe = build(scene, chosen)
    parsers = _parsers(scene, recipe, len(scene.text.tour) if tour else 0)
    known = choices | parsers.keys()
    for name in query:
        if name not in known:
            raise WrongValue(name, f"the scene {scene.slug!r} has no {name!r}", sorted(known))
    read = {name: parsers[name](text) for name, text in query.items() if name not in choices}
    params = {name: read.pop(name, usual) for name, usual in recipe.defaults.items()}
    rest = {"progress": recipe.progress, "follow": recipe.follow} | read
    return State(scene, recipe, chosen, params, **rest)


def _parsers(scene: Scene, recipe: Recipe, stops: int) -> dict[str, Callable[[str], Any]]:
    """For each name that a link may contain, except choices: the function that parses its value.

    These functions raise WrongValue for an invalid value. stops: the number of the tour's stops; for 0, a
    link may not contain `tour`.
    """
    controls = [*(c.name for c in scene.choices), *(p.name for p in recipe.parameters), "progress"]
    own: dict[str, Callable[[str], Any]] = {
        "progress": partial(_bounded, "progress", 0, len(recipe.stages) - 1),
        "camera": _camera,
        "follow": partial(_whole, "follow", 0, last_point(recipe)),
        "theme": _theme,
        "controls": partial(_controls, controls),
    }
    if stops:
        own["tour"] = partial(_whole, "tour", 1, stops)
    return own | {p.name: partial(_value, p) for p in recipe.parameters}


def last_point(recipe: Recipe) -> int:
    """The index of the last point that a reader can follow (select).

    Readers can follow the points of the table's cloud or, without a table, those of the first cloud.
    """
    return len(recipe.cloud(recipe.table.cloud if recipe.table else recipe.clouds[0].name).points) - 1


def _number(text: str) -> float:
    """The value of a text that is a decimal number, with or without an exponent; NaN for any other text."""
    return float(text) if DECIMAL_NUMBER.fullmatch(text) else float("nan")


def within(parameter: Parameter, x: float) -> bool:
    """Whether a parameter may have the value `x`: it is in the parameter's range.

    A parameter with a logarithmic slider, such as ε, may also be exactly 0.
    """
    return parameter.min <= x <= parameter.max or (parameter.scale == "log" and x == 0)


def _value(parameter: Parameter, text: str) -> float:
    x = _number(text)
    if not within(parameter, x):
        also = "0 or " if parameter.scale == "log" else ""
        words = f"{parameter.name}={text} is not {also}a number from {parameter.min:g} to {parameter.max:g}"
        raise WrongValue(parameter.name, words, {"min": parameter.min, "max": parameter.max})
    return x


def _bounded(name: str, low: float, high: float, text: str) -> float:
    x = _number(text)
    if not low <= x <= high:
        words = f"{name}={text} is not a number from {low:g} to {high:g}"
        raise WrongValue(name, words, {"min": low, "max": high})
    return x


def _whole(name: str, low: int, high: int, text: str) -> int:
    x = _number(text)
    if not low <= x <= high or x != int(x):
        words = f"{name}={text} is not a whole number from {low} to {high}"
        raise WrongValue(name, words, {"min": low, "max": high, "whole": True})
    return int(x)


def _camera(text: str) -> tuple[float, ...]:
    numbers = tuple(map(_number, text.split(",")))
    if not _is_camera(numbers):
        near = f"three numbers, or six, within ±{MAX_CAMERA_COORDINATE:g}"
        far = (
            f"with the eye at least {MIN_CAMERA_DISTANCE:g} from what it looks at (0,0,0 if there are three)"
        )
        words = f"camera={text} is not {near}, {far}"
        raise WrongValue("camera", words, "x,y,z of the eye, and of what it looks at")
    return numbers


def _is_camera(numbers: Sequence[float]) -> bool:
    if len(numbers) not in (3, 6) or not all(abs(x) <= MAX_CAMERA_COORDINATE for x in numbers):
        return False
    x, y, z = (a - b for a, b in zip(numbers, numbers[3:] or (0, 0, 0), strict=False))
    return x * x + y * y + z * z >= MIN_CAMERA_DISTANCE * MIN_CAMERA_DISTANCE


def _theme(text: str) -> str:
    if text not in THEMES:
        raise WrongValue("theme", f"theme={text} is not a theme", list(THEMES))
    return text


def _controls(known: Sequence[str], text: str) -> tuple[str, ...] | None:
    if text in ("0", "1"):
        return None if text == "1" else ()
    names = tuple(text.split(","))
    for name in names:
        if name not in known:
            raise WrongValue("controls", f"controls: the scene has no control {name!r}", ["0", "1", *known])
    return names


# --- writing


def value_text(value: Any) -> str:
    """A value of Python as text. Whole numbers have no decimal point: 60.0 is "60"."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def write(state: State) -> str:
    """The query string of a state, with its "?"; "" if every value is the default."""
    recipe, query = state.recipe, _changed_choices(state.scene, state.choices)
    for p in recipe.parameters:
        query |= _number_entry(p.name, state.params[p.name], p.value, partial(within, p))
    query |= _number_entry("progress", state.progress, recipe.progress)
    if state.follow != recipe.follow:
        query["follow"] = str(state.follow)
    query |= _camera_entry(state.camera) if state.camera else {}
    query |= {"theme": state.theme} if state.theme else {}
    if state.controls is not None:
        query["controls"] = ",".join(state.controls) or "0"
    query |= {"tour": str(state.tour)} if state.tour else {}
    return f"?{_encoded(query, ',')}" if query else ""


def key(scene: Scene, choices: Choices) -> str:
    """The cache key of a scene's recipe: the choices that differ from their defaults, as a query string.

    It has no "?", and is "" if no choice differs. assets/player/source.mjs computes the same key.
    """
    return _encoded(_changed_choices(scene, choices))


def _changed_choices(scene: Scene, choices: Choices) -> dict[str, str]:
    """The values of the choices that are not defaults, as texts, by name."""
    return {c.name: str(choices[c.name]) for c in scene.choices if str(choices[c.name]) != str(c.default)}


def _encoded(query: Mapping[str, str], safe: str = "") -> str:
    """A query string in the encoding of browsers' `URLSearchParams`; characters in `safe` are not encoded."""
    return urlencode(query, safe=f"*{safe}").replace("~", "%7E")


def _number_entry(
    name: str, x: float, usual: float, fits: Callable[[float], bool] = lambda _: True
) -> dict[str, str]:
    """The entry {name: x} of a link, with `x` rounded to five significant digits; {} for the default value.

    usual: the default; a number that rounds to it counts as the default. fits: a function that says whether a
    value is in the allowed range. If the rounded number is outside this range, `x` is written in full.
    """
    few = float(FIVE_DIGITS.create_decimal_from_float(x))
    if x == usual or few == usual:
        return {}
    return {name: _text(few if fits(few) else x)}


def _camera_entry(camera: Sequence[float]) -> dict[str, str]:
    """The entry {"camera": numbers} of a link; {} for a camera that `parse` would refuse.

    The numbers have four decimals, or all their decimals if `parse` would refuse the rounded camera. The
    point that the camera looks at is left out if it is the origin.
    """
    few = tuple(float(Decimal(x).quantize(CAMERA_DECIMALS, ROUND_HALF_UP)) for x in camera)
    short = (each if any(each[3:]) else each[:3] for each in (few, camera))
    found = next(filter(_is_camera, short), None)
    return {"camera": ",".join(map(_text, found))} if found else {}


def _text(x: float) -> str:
    """A number as text, exactly as JavaScript's `String` writes it."""
    digits = Decimal(repr(float(x) + 0.0)).normalize()  # −0 is 0
    if -7 < digits.adjusted() < 21:
        return f"{digits:f}"
    return f"{digits.scaleb(-digits.adjusted()):f}e{digits.adjusted():+d}"
