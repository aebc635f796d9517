"""Checks of a recipe: what it cannot mean is refused in a line: the part, what is wrong, what would do."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from difflib import get_close_matches
from html import unescape
from typing import Any, NoReturn

import numpy as np

from components.language.cloud import Angle, Attention, Cloud, LargestWeight, Row
from components.language.marks import (
    DASHES,
    GLYPHS,
    Average,
    BestQuery,
    Carry,
    Cells,
    Choose,
    Color,
    Disc,
    Drag,
    Field,
    Gated,
    Highest,
    Hull,
    HullFaces,
    Inside,
    Labels,
    Mark,
    Mesh,
    OnHull,
    Open,
    Replay,
    Rim,
    Selectable,
    SemiAxes,
    Sheet,
    Support,
    SupportDisc,
    Threshold,
    Turn,
    Unselectable,
    Way,
    WeightCurve,
    WeightLimit,
    WeightNow,
    color_of,
    hand_of,
)
from components.language.recipe import COLUMNS, Recipe, View
from components.language.text import formula
from components.theme import ROLES, SCALES
from geometry import Affine
from geometry.entries import Entries
from geometry.gates import FATES

FEW = 6  # names that a message shows, the likeliest first
MOST_SEEN = 512  # points that each point of another cloud sees
MOST_GATES = 52  # neurons, whose signs the browser keeps in one number
MOST_KEYS = 256  # of which each is held against all others, in each frame
COMMAND = re.compile(r"\\[a-zA-Z]+")  # what the converter leaves of a command that it does not know
LINK = re.compile(r"[a-z]+(\?[^\s#?]*)?")  # of this site: it leads nowhere else
LETTER = re.compile(r"<mi>([^<]+)</mi>")
CLASS = re.compile(r"\\class\{([^}]*)\}")


class WrongRecipe(ValueError):
    """A recipe that cannot be shown."""


def check(recipe: Recipe) -> None:
    """Raises WrongRecipe for the first thing that cannot be."""
    _stages(recipe)
    _parameters(recipe)
    names = _unique("cloud", [c.name for c in recipe.clouds])
    for cloud in recipe.clouds:
        _cloud(cloud, recipe)
    _unique("view", [v.name for v in recipe.views])
    for view in recipe.views:
        _view(view, recipe, names)
    for readout in recipe.readouts:
        _readout(readout, recipe, names)
    _table(recipe, names)
    _formula(recipe)


def refuse(where: str, wrong: str, remedy: str) -> NoReturn:
    raise WrongRecipe(f"{where}: {wrong}; {remedy}")


def known(where: str, kind: str, name: Any, names: Collection[str]) -> None:
    """Refuse a name that is none of these."""
    if name not in names:
        near = get_close_matches(str(name), map(str, names), FEW) if len(names) > FEW else names
        some = [*near, *(each for each in names if each not in near)][: max(FEW, len(near))]
        more = ", …" if len(names) > len(some) else ""
        refuse(where, f"there is no {kind} {name!r}", f"take one of {', '.join(map(repr, some))}{more}")


def _unique(kind: str, names: Sequence[str]) -> list[str]:
    for name, count in Counter(names).items():
        if count > 1:
            refuse(f"{kind} {name!r}", f"there are {count} of this name", "a name is one thing")
    return list(names)


def _finite(where: str, numbers: Iterable[float]) -> None:
    if not all(math.isfinite(x) for x in numbers):
        refuse(where, "a number is not finite", "take finite numbers")


def _inside(where: str, what: str, numbers: Any, low: int, n: int) -> None:
    """Refuse whole numbers that are not from `low` to n − 1."""
    array = np.asarray(numbers)
    if array.size and (array.dtype.kind not in "iu" or array.min() < low or array.max() >= n):
        refuse(where, f"{what} has numbers that are no points", f"take whole numbers from {low} to {n - 1}")


def _length(where: str, what: str, found: Any, n: int, of: str) -> None:
    if len(found) != n:
        refuse(where, f"{what} has {len(found)} entries", f"take {n}, one for each {of}")


# --- the parts


def _stages(recipe: Recipe) -> None:
    if not recipe.stages or not recipe.views or not recipe.clouds:
        refuse("recipe", "it has no stages, clouds or views", "give one of each at least")
    last, reached = len(recipe.stages) - 1, max(len(c.pipeline.steps) for c in recipe.clouds)
    if reached < last:
        refuse(
            "stages", f"no cloud has more than {reached} steps", f"give {reached + 1} names, not {last + 1}"
        )
    if not 0 <= recipe.progress <= last:
        refuse("progress", f"{recipe.progress} is not there", f"take 0 to {last}")
    points = len((_named(recipe, recipe.table.cloud) if recipe.table else recipe.clouds[0]).points)
    if not 0 <= recipe.follow < max(points, 1):
        refuse("follow", f"there is no point {recipe.follow}", f"take 0 to {points - 1}")


def _named(recipe: Recipe, name: str) -> Cloud:
    known("table", "cloud", name, [c.name for c in recipe.clouds])
    return recipe.cloud(name)


def _parameters(recipe: Recipe) -> None:
    names = _unique("parameter", [p.name for p in recipe.parameters])
    for p in recipe.parameters:
        where = f"parameter {p.name!r}"
        _finite(where, (p.value, p.min, p.max, p.step))
        known(where, "scale", p.scale, ("linear", "log"))
        if not (p.min < p.max and p.step > 0 and (p.scale == "linear" or p.min > 0)):
            refuse(
                where,
                f"from {p.min} to {p.max} by {p.step} is no slider",
                "min < max, step > 0, log: min > 0",
            )
        if not (p.min <= p.value <= p.max or (p.scale == "log" and p.value == 0)):
            refuse(where, f"its value {p.value} is outside", f"take {p.min} to {p.max}")
    if recipe.clock:
        known("clock", "parameter", recipe.clock, names)


def _cloud(cloud: Cloud, recipe: Recipe) -> None:
    where = f"cloud {cloud.name!r}"
    if cloud.points.ndim != 2:
        refuse(where, f"its points have the shape {cloud.points.shape}", "take (N, d)")
    if not np.isfinite(cloud.points).all():
        refuse(where, "a point is not finite", "take finite numbers")
    for name in sorted(cloud.parameters):
        known(where, "parameter", name, recipe.defaults)
    try:
        cloud.widths  # noqa: B018
    except ValueError as wrong:
        refuse(where, str(wrong), "let each step take what the one before gives")
    _sources(where, cloud, recipe)
    n = len(cloud.points)
    if cloud.labels is not None:
        _length(where, "labels", cloud.labels, n, "point")
    if cloud.pictures is not None:
        _length(where, "pictures", cloud.pictures, n, "point")


def _sources(where: str, cloud: Cloud, recipe: Recipe) -> None:
    """What its steps see stands before it, and is bounded: no cloud sees itself, and a frame stays quick."""
    before = recipe.clouds[: [c.name for c in recipe.clouds].index(cloud.name)]
    for source in cloud.sources:
        if not any(source is c for c in before):
            wrong = f"a step sees {source.name!r}, which is no cloud before it"
            refuse(where, wrong, "put the very cloud that it sees before it")
        if len(source.points) > MOST_SEEN:
            wrong = f"a step sees the {len(source.points)} points of {source.name!r}"
            refuse(where, wrong, f"take at most {MOST_SEEN}: all see all in each frame")


def _view(view: View, recipe: Recipe, names: list[str]) -> None:
    where = f"view {view.name!r}"
    if view.dims not in (2, 3) or len(view.ranges) not in (0, view.dims):
        refuse(
            where, f"{len(view.ranges)} ranges for {view.dims} dimensions", "dims is 2 or 3, a range for each"
        )
    if view.rows < 1:
        refuse(where, f"{view.rows} rows", "a view has one or more")
    if view.dims == 2 and not view.ranges and not view.equal:
        refuse(where, "no ranges for two scales", "give each axis its range, or both one scale")
    for pair in view.ranges:
        _finite(where, pair)
        if not pair[0] < pair[1]:
            refuse(where, f"the range {pair} is empty", "take (low, high)")
    if view.room and (
        len(view.room) != len(recipe.stages)
        or any(len(each) != 1 + view.dims or not each[0] > 0 for each in view.room)
    ):
        refuse(
            where,
            f"room for {len(view.room)} stages",
            "take a factor above 0 and a move along each axis for each of them",
        )
    if view.reaching and (view.axes or (view.dims == 3 and len(view.camera) != 3)):
        refuse(
            where, "it is reaching", "what follows sliders has no numbers beside it, and looks at its middle"
        )
    if view.axes and (view.dims == 3 or len(view.axes) != 2):
        refuse(where, f"{len(view.axes)} titles of axes", "a 2D view has two or none, a 3D view none")
    if view.dims == 3 and len(view.camera) not in (3, 6):
        refuse(
            where, f"a camera of {len(view.camera)} numbers", "take its eye, or its eye and what it looks at"
        )
    if view.edge:
        known(where, "cloud", view.edge, names)
    for k, mark in enumerate(view.layers):
        at = f"{where}, mark {k} ({type(mark).__name__} of {mark.cloud!r})"
        known(at, "cloud", mark.cloud, names)
        _mark(at, mark, view, recipe)


def _mark(where: str, mark: Mark, view: View, recipe: Recipe) -> None:
    cloud, wanted = recipe.cloud(mark.cloud), view.dims if mark.flat is None else mark.flat
    known(where, "role", mark.role, ROLES)
    if len(mark.rows) != wanted:
        refuse(where, f"it has {len(mark.rows)} rows", f"take {wanted}")
    widths = cloud.widths if mark.space is None else [mark.space]
    for row in mark.rows:
        _row(where, row, cloud.name, widths, recipe.defaults)
    if not 0 <= mark.opacity <= 1:
        refuse(where, f"its opacity is {mark.opacity}", "take 0 to 1")
    if mark.fade is not None:
        _length(where, "fade", mark.fade, len(recipe.stages), "stage")
    for name, one in OF_FIELDS.items():
        if getattr(mark, name, None) is not None:
            one(where, getattr(mark, name), len(cloud.points))
    if getattr(mark, "only", None) is not None:
        _only(where, mark.only, cloud, recipe)  # type: ignore[attr-defined]
    if isinstance(mark, Way):
        known(where, "parameter", mark.parameter, recipe.defaults)
    if query := getattr(mark, "query", None):
        _row(where, query, cloud.name, cloud.widths, recipe.defaults)
    if kind := OF_KINDS.get(type(mark)):
        kind(where, mark, cloud)
    if color := color_of(mark):
        _color(where, color, cloud, recipe)
    _hand(where, mark, view, recipe)


def _row(where: str, row: Row, cloud: str, widths: Sequence[int], params: Collection[str]) -> None:
    if isinstance(row.weights, Entries):
        count = row.weights.shape[0]
        for name in sorted(row.weights.parameters):
            known(where, "parameter", name, params)
    else:
        count = len(row.weights)
        _finite(where, (*row.weights, row.offset))
    if row.stage is not None and not 0 <= row.stage < len(widths):
        wrong = f"{cloud!r} has no stage {row.stage}"
        refuse(where, wrong, f"take 0 to {len(widths) - 1}, or None for where the points are")
    seen = max(widths) if row.stage is None else widths[row.stage]
    if count > seen:
        wrong = f"a row has {count} weights for points of {seen} coordinates"
        refuse(where, wrong, f"take at most {seen}")
    if row.over is not None:
        _row(where, row.over, cloud, widths, params)


def _only(where: str, only: Any, cloud: Cloud, recipe: Recipe) -> None:
    match only:
        case Highest(row):
            _row(where, row, cloud.name, cloud.widths, recipe.defaults)
        case OnHull() | Inside():
            _hull(where, only, cloud)
        case Selectable() | Unselectable():
            _keys(where, only, cloud)
        case Gated(fate, of=of):
            known(where, "fate", fate, FATES)
            known(where, "cloud", of or cloud.name, [c.name for c in recipe.clouds])
            decides = recipe.cloud(of or cloud.name)
            _length(where, repr(decides.name), decides.points, len(cloud.points), f"point of {cloud.name!r}")
            _gates(where, only, decides)
        case Sequence() | np.ndarray():
            _inside(where, "only", list(only), 0, len(cloud.points))


def _hull(where: str, mark: Any, cloud: Cloud) -> None:
    """The browser's hull is of at most three dimensions, and made anew in each frame."""
    if max(cloud.widths) > 3:
        refuse(where, f"{cloud.name!r} has {max(cloud.widths)} coordinates", "a hull is of at most 3")
    if len(cloud.points) > MOST_SEEN:
        refuse(where, f"{cloud.name!r} has {len(cloud.points)} points", f"a hull is of at most {MOST_SEEN}")
    if getattr(mark, "count", len(cloud.points)) != len(cloud.points):
        refuse(where, f"its count is {mark.count}", f"take {len(cloud.points)}, the points of {cloud.name!r}")


def _keys(where: str, mark: Any, cloud: Cloud) -> None:
    """Each key is held against all others in each frame."""
    n = len(cloud.points)
    if not 1 <= n <= MOST_KEYS:
        refuse(where, f"{cloud.name!r} has {n} points", f"attention is shown between 1 to {MOST_KEYS} keys")


def _gates(where: str, gates: Any, cloud: Cloud) -> None:
    """An Affine with its own numbers, and orthonormal directions of the space before it."""
    steps = cloud.pipeline.steps
    affine = [k for k, step in enumerate(steps) if isinstance(step, Affine) and isinstance(step.A, Entries)]
    if gates.before not in affine:
        refuse(where, f"step {gates.before} of {cloud.name!r} is no Affine", f"take one of {affine}")
    if cloud.widths[gates.before + 1] > MOST_GATES:
        refuse(where, f"it has {cloud.widths[gates.before + 1]} neurons", f"take at most {MOST_GATES}")
    d, shape = cloud.widths[gates.before], np.shape(gates.basis)
    if len(shape) != 2 or shape[1] != d or not np.allclose(gates.basis @ gates.basis.T, np.eye(shape[0])):
        refuse(where, f"its basis has the shape {shape}", f"take orthonormal rows of {d} numbers")


def _circle(where: str, readout: Any) -> None:
    if len(readout.basis) != 2 or not readout.radius > 0:
        words = f"a space of {len(readout.basis)} dimensions, a radius of {readout.radius}"
        refuse(where, words, "a circle has 2, and a radius above 0")


def _measure(where: str, measure: Any, cloud: Cloud, recipe: Recipe) -> None:
    match measure:
        case LargestWeight(stage):
            _keys(where, measure, cloud)
            _stage(where, stage, cloud)
        case Attention(row):
            _row(where, row, cloud.name, cloud.widths, recipe.defaults)
        case Angle():
            pass
        case _:
            _row(where, measure, cloud.name, cloud.widths, recipe.defaults)


def _stage(where: str, stage: int | None, cloud: Cloud) -> None:
    last = len(cloud.widths) - 1
    if stage is not None and not 0 <= stage <= last:
        refuse(where, f"there is no stage {stage}", f"take 0 to {last}")


def _of(values: Collection[Any], what: str) -> Callable[[str, Any, int], None]:
    return lambda where, value, _: known(where, what, value, values)


OF_FIELDS: dict[str, Callable[[str, Any, int], None]] = {
    "order": lambda where, order, n: _inside(where, "order", order, -1, n),
    "glyph": _of(GLYPHS, "glyph"),
    "dash": _of(DASHES, "dash"),
}


def _labels(where: str, mark: Any, cloud: Cloud) -> None:
    if cloud.labels is None:
        refuse(where, "its cloud has no labels", "give the cloud labels")


def _way(where: str, mark: Any, cloud: Cloud) -> None:
    """The browser sends the points of all stops through the pipeline at once."""
    stops = np.asarray(mark.stops)
    if stops.ndim != 1 or not stops.size or not (np.isfinite(stops).all() and np.all(np.diff(stops) > 0)):
        refuse(where, f"its stops are {stops}", "take finite numbers that increase")
    seen = [*(s.parameters for s in cloud.sources), cloud.pipeline.parameters]
    if any(mark.parameter in each for each in seen):
        wrong = f"{mark.parameter!r} moves the pipeline of {cloud.name!r}, or what it sees"
        refuse(where, wrong, "let it move the place of the points alone")
    if any(mark.parameter in row.weights.parameters for row in mark.rows if isinstance(row.weights, Entries)):
        refuse(where, f"{mark.parameter!r} moves a row", "take rows that stay")


def _triangles(where: str, mark: Any, cloud: Cloud) -> None:
    if np.asarray(mark.triangles).ndim != 2 or np.shape(mark.triangles)[1] != 3:
        refuse(where, f"triangles have the shape {np.shape(mark.triangles)}", "take (F, 3)")
    _inside(where, "triangles", mark.triangles, 0, len(cloud.points))


def _field(where: str, mark: Any, cloud: Cloud) -> None:
    n = len(cloud.points)
    if mark.columns < 2 or n % mark.columns or n // mark.columns < 2:
        refuse(
            where, f"{n} points in {mark.columns} columns are no grid", "let the columns divide the points"
        )


def _sheet(where: str, mark: Any, cloud: Cloud) -> None:
    rows, columns = mark.grid
    if rows * columns != len(cloud.points) or min(mark.grid) < 2:
        wrong = f"{len(cloud.points)} points are no grid of {rows} rows and {columns} columns"
        refuse(where, wrong, "let rows times columns be the number of points, at least 2 of each")


def _affine(where: str, mark: Any, cloud: Cloud) -> None:
    if cloud.widths[-1] != 1 or len(cloud.points) not in (3, 4):
        shape = (len(cloud.points), cloud.widths[-1])
        refuse(
            where, f"its cloud has the shape {shape}", "take one number at the origin and each unit vector"
        )


def _ellipsoid(where: str, mark: Any, cloud: Cloud) -> None:
    if len(cloud.points) < 2:
        refuse(where, f"its cloud has {len(cloud.points)} points", "take a middle and the ends of radii")


def _classes(where: str, mark: Any, cloud: Cloud) -> None:
    _length(where, "classes", mark.classes, len(cloud.points), "point")


OF_KINDS: dict[type[Mark], Callable[[str, Any, Cloud], None]] = {
    Labels: _labels,
    Way: _way,
    Mesh: _triangles,
    Sheet: _sheet,
    Field: _field,
    Cells: _field,
    Disc: _affine,
    Rim: _affine,
    SemiAxes: _ellipsoid,
    Threshold: _classes,
    Hull: _hull,
    HullFaces: _hull,
    Average: _keys,
    BestQuery: _keys,
    Support: _keys,
    SupportDisc: _keys,
    WeightCurve: _keys,
    WeightLimit: _keys,
    WeightNow: _keys,
}


def _color(where: str, color: Color, cloud: Cloud, recipe: Recipe) -> None:
    known(where, "scale", color.scale, SCALES)
    if not color.low < color.high:
        refuse(where, f"its colours go from {color.low} to {color.high}", "take low < high")
    if isinstance(color.of, np.ndarray):
        _length(where, "colour", color.of, len(cloud.points), "point")
    else:
        _measure(where, color.of, cloud, recipe)


def _hand(where: str, mark: Mark, view: View, recipe: Recipe) -> None:
    hand = hand_of(mark)
    if isinstance(hand, Choose):
        _length(where, "numbers to choose", hand.numbers, len(recipe.cloud(mark.cloud).points), "point")
    if isinstance(hand, Replay):
        _replay(where, hand, len(recipe.cloud(mark.cloud).points), recipe)
    if isinstance(hand, Open):
        _length(where, "links to open", hand.links, len(recipe.cloud(mark.cloud).points), "point")
        for link in hand.links:
            if link and not LINK.fullmatch(link):
                wrong = f"{link!r} is no scene with its state"
                refuse(where, wrong, 'take a slug and a query, as "shear?s=2", or ""')
    if isinstance(hand, Carry):
        names = np.array(hand.names, dtype=object)
        _length(where, "names of parameters", names, len(recipe.cloud(mark.cloud).points), "point")
        if names.ndim != 2 or names.shape[1] != 2 or view.dims != 2:
            refuse(where, "a hand carries points of 2D views, each by two parameters", "give a pair a point")
        for name in names.reshape(-1):
            known(where, "parameter", name, recipe.defaults)
    if isinstance(hand, Drag | Turn):
        if view.dims != 2:
            refuse(where, "a hand drags in 2D views only", "show the same in a view of 2 dimensions")
        for name in vars(hand).values():
            known(where, "parameter", name, recipe.defaults)


def _replay(where: str, hand: Replay, points: int, recipe: Recipe) -> None:
    clock = next((p for p in recipe.parameters if p.name == recipe.clock), None)
    if clock is None:
        refuse(where, "it plays a clock, but the recipe has none", "name the parameter that runs by itself")
    for name, values in vars(hand).items():
        _length(where, f"{name} to play", values, points, "point")
    if hand.spans.shape != (points, 2) or not (hand.spans[:, 0] <= hand.spans[:, 1]).all():
        refuse(where, "its spans are no pairs", "take a beginning and an end of each point")
    if points and not (clock.min <= hand.spans.min() and hand.spans.max() <= clock.max):
        refuse(where, "its spans leave the clock", f"take values from {clock.min} to {clock.max}")
    last = len(recipe.stages) - 1
    if points and not (hand.progress.min() >= -1 and hand.progress.max() <= last):
        refuse(where, f"there is no stage {hand.progress.max():g}", f"take 0 to {last}, or -1")


def _readout(readout: Any, recipe: Recipe, names: list[str]) -> None:
    where = f"readout {readout.label!r}"
    for field in ("cloud", "keys", "a", "b"):
        if hasattr(readout, field):
            known(where, "cloud", getattr(readout, field), names)
    if hasattr(readout, "row"):
        _measure(where, readout.row, recipe.cloud(readout.cloud), recipe)
    if hasattr(readout, "keys"):
        _keys(where, readout, recipe.cloud(readout.keys))
    if hasattr(readout, "only"):
        _only(where, readout.only, recipe.cloud(readout.cloud), recipe)
    if hasattr(readout, "stage"):
        _stage(where, readout.stage, recipe.cloud(readout.cloud))
    if hasattr(readout, "basis"):
        _gates(where, readout, recipe.cloud(readout.cloud))
    if hasattr(readout, "radius"):
        _circle(where, readout)
    if hasattr(readout, "spells") and recipe.cloud(readout.cloud).labels is None:
        refuse(where, f"{readout.cloud!r} has no labels", "give the cloud labels, a letter for each point")
    if hasattr(readout, "index") and isinstance(readout.index, int):
        _inside(where, "index", readout.index, 0, len(recipe.cloud(readout.cloud).points))
    if hasattr(readout, "classes"):
        _length(where, "classes", readout.classes, len(recipe.cloud(readout.cloud).points), "point")
    if hasattr(readout, "a"):
        a, b = recipe.cloud(readout.a), recipe.cloud(readout.b)
        _length(where, repr(readout.b), b.points, len(a.points), f"point of {readout.a!r}")
        wide, most = readout.coordinates or a.widths[-1], min(a.widths[-1], b.widths[-1])
        if wide > most:
            refuse(
                where, f"the clouds do not both have {wide} coordinates", f"take coordinates={most} or fewer"
            )


def _table(recipe: Recipe, names: list[str]) -> None:
    if recipe.table is None:
        return
    for column in recipe.table.columns:
        known("table", "column", column, COLUMNS)
    if recipe.table.ideal:
        known("table", "cloud", recipe.table.ideal, names)
        own, ideal = recipe.cloud(recipe.table.cloud), recipe.cloud(recipe.table.ideal)
        if own.widths != ideal.widths:
            refuse("table", f"{ideal.name!r} has other stages than {own.name!r}", "let both have the same")


def _formula(recipe: Recipe) -> None:
    for classes in CLASS.findall(recipe.formula):
        for name in classes.split():
            kind, _, of = name.partition("-")
            stages = [str(k) for k in range(len(recipe.stages))]
            if kind not in ("stage", "role"):
                refuse("formula", f"there is no class {name!r}", "take stage-k or role-name")
            known("formula", f"class {kind}-", of, stages if kind == "stage" else ROLES)
    if recipe.formula.count("{") != recipe.formula.count("}"):
        refuse("formula", "its braces do not match", "close each that opens")
    try:
        written = formula(recipe.formula)
    except Exception as wrong:  # what it raises for braces that do not match is no one type
        refuse("formula", f"it is no LaTeX ({type(wrong).__name__})", "close each brace that opens")
    if unknown := COMMAND.findall(written):
        refuse("formula", f"{unknown[0]} is not known LaTeX", "take a command that latex2mathml has")
    letters = {unescape(letter) for letter in LETTER.findall(written)}
    for parameter in recipe.parameters:
        if parameter.symbol and parameter.symbol not in letters:
            missing = f"{parameter.symbol!r} is no letter of the formula"
            refuse(f"parameter {parameter.name!r}", missing, "write it there, or give it no symbol")
