"""A recipe: the parameters, clouds, pipelines and views of one scene for one set of choices, as data.

Scenes write recipes; `components.language.finish` checks and frames them before they are shown. Whoever holds
a finished recipe can run it: `components.drawing.figure` in Python, `engine.mjs` in the browser. The
words are those of docs/design.md; `components.language.packing` is the form in which it travels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from components.language.cloud import Array, Cloud, Moment, Params
from components.language.marks import Mark
from components.language.readouts import (
    Accuracy,
    Count,
    Fate,
    Largest,
    Lengths,
    Letters,
    Mean,
    Number,
    Patterns,
    Pieces,
    Ranks,
    Readout,
    Residual,
    Zeros,
)

__all__ = [
    "COLUMNS",
    "WIDE_ASPECT",
    "Accuracy",
    "Count",
    "Facts",
    "Fate",
    "Largest",
    "Lengths",
    "Letters",
    "Mean",
    "Number",
    "Parameter",
    "Patterns",
    "Pieces",
    "Ranks",
    "Readout",
    "Recipe",
    "Residual",
    "Table",
    "View",
    "Wider",
    "Zeros",
    "identity_zoom",
]

WIDE_ASPECT = 1.5  # width over height: a first view at least this wide takes the whole width of the figure
COLUMNS = ("components", "mean", "std", "norm", "angle", "distance")  # that a table can have


@dataclass(frozen=True)
class Parameter:
    """A number that a slider moves. `scale="log"`: the slider is even in log10 of the value.

    symbol: the letter of the formula by which a hand moves it, too; those of one letter go together.
    quiet: it has no slider; a hand on the figure moves it. folded: its slider stands with what is folded away
    at the start. vector: its group is one vector, whose components stand in one row."""

    name: str
    label: str
    value: float
    min: float
    max: float
    step: float = 0.01
    scale: str = "linear"
    group: str = ""
    about: str = ""
    symbol: str = ""
    quiet: bool = False
    folded: bool = False
    vector: bool = False


def identity_zoom(dims: int) -> tuple[float, ...]:
    """Scale 1 and no offset along each axis."""
    return (1.0,) + (0.0,) * dims


@dataclass(frozen=True)
class Wider:
    """How a parameter zooms the axes of a view: at each of its `stops`, that rise; straight between them.

    log: whether straight in its logarithm. zooms: for each stop and stage the scale of the axes, relative to
    where they are else, and the offset of their middle along each axis."""

    parameter: str
    log: bool
    stops: Sequence[float]
    zooms: Sequence[Sequence[Sequence[float]]]

    def at(self, value: float) -> Array:
        """(stages, 1 + dims): scale and offsets at this value of the parameter."""
        rows, stops = np.array(self.zooms), np.array(self.stops)
        if self.log:  # below the smallest is a notch for 0
            value, stops = float(np.log(max(value, stops[0]))), np.log(stops)
        place = float(np.interp(value, stops, range(len(rows))))
        k = min(int(place), len(rows) - 2)
        return rows[k] + (place - k) * (rows[k + 1] - rows[k])


@dataclass(frozen=True)
class View:
    """A panel with layers and fixed axes; `ranges` is one (low, high) a display axis; none: they are
    computed from what the view shows (`components.language.framing`), and of `camera` counts the direction.

    One view is full, two stand side by side; of three the first is large. With a `strip` the last is small:
    the second of two narrow, the third of three low.
    rows: how many strips stand one over another in it; a telephone gives each of them room.
    camera: its eye, or its eye and what it looks at, in units of the cube's side.
    axes: what stands at the sides, with numbers; none: no numbers.
    edge: a cloud as of a `Disc`; a button turns the camera until that plane is seen edge on.
    zooms: how many times as wide as `ranges` the axes are at each stage, and how far their middle is moved
    along each; none where they stay.
    reaching: whether they follow a slider, too, that moves points out, as found in `wider`; of several the
    widest counts. Else what a slider moves far leaves the picture, and all else keeps its size.
    between: values of sliders where it is framed as at their ends; narrower, too, where little is left.
    """

    name: str
    title: str
    layers: tuple[Mark, ...]
    ranges: tuple[tuple[float, float], ...] = ()
    dims: int = 3
    axes: Sequence[str] = ()
    equal: bool = True
    strip: bool = False
    rows: int = 1
    camera: Sequence[float] = (0.95, -0.75, 0.42)
    edge: str = ""
    zooms: Sequence[Sequence[float]] = ()
    reaching: bool = False
    between: Mapping[str, Sequence[float]] = field(default_factory=dict)
    wider: Sequence[Wider] = ()

    def at(self, progress: float, params: Params | None = None) -> View:
        """The view with its axes as they are then: between two stages they move evenly, widen in the first
        half of the way, and narrow in the second. Without parameters as with the defaults."""
        more = np.array([each.at(params[each.parameter]) for each in self.wider] if params else [])
        if not self.zooms and not len(more):
            return self
        rows = np.array(self.zooms) if self.zooms else np.full_like(more[0], identity_zoom(self.dims))
        if len(more):
            rows[:, 0] *= more[:, :, 0].max(0)
            rows[:, 1:] += more[:, :, 1:].sum(0)
        k = min(int(progress), len(rows) - 1)
        here, there = rows[k], rows[min(k + 1, len(rows) - 1)]
        past = progress - k
        times = min(2 * past, 1) if there[0] > here[0] else max(2 * past - 1, 0)
        times, *by = here + np.array([times] + [past] * self.dims) * (there - here)
        return self.moved(times, by)

    def moved(self, times: float, by: Sequence[float]) -> View:
        """The view with axes so many times as wide, and their middle moved along each; they stay there."""
        ends = [
            ((a + b) / 2 + each, times * (b - a) / 2) for (a, b), each in zip(self.ranges, by, strict=True)
        ]
        return replace(self, ranges=tuple((c - half, c + half) for c, half in ends), zooms=(), wider=())

    @property
    def wide(self) -> bool:
        """Whether it has the whole width, as the first of several: what it shows is not as high as wide."""
        if self.dims == 3 or not self.equal or not self.ranges:
            return False
        across, up = (high - low for low, high in self.ranges)
        return across >= WIDE_ASPECT * up


@dataclass(frozen=True)
class Table:
    """Numbers of the followed point at every stage. `ideal`: the cloud whose stages are the surfaces' points
    (the distance is that to this point: to the image at ε = 0). first: what it is at stage 0, if not that."""

    cloud: str
    ideal: str = ""
    first: str = ""
    columns: Sequence[str] = COLUMNS


@dataclass(frozen=True)
class Facts:
    """A table of words and numbers that do not move. abouts: what each row is, by a click."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    abouts: Sequence[str] = ()


@dataclass(frozen=True)
class Recipe:
    """One scene for one set of choices, as plain data.

    formula: LaTeX; a piece in \\class{stage-k}{…} is marked at k. A long one goes on in a new line at
    \\quad or \\allowbreak.
    clock: a parameter that runs by itself, such as the step of a training: a second scrubber.
    """

    stages: Sequence[str]
    parameters: tuple[Parameter, ...]
    clouds: tuple[Cloud, ...]
    views: tuple[View, ...]
    formula: str = ""
    table: Table | None = None
    readouts: tuple[Readout, ...] = ()
    facts: Facts | None = None
    progress: float = 0.0
    follow: int = 0
    clock: str = ""

    @cached_property
    def defaults(self) -> dict[str, float]:
        return {p.name: p.value for p in self.parameters}

    def cloud(self, name: str) -> Cloud:
        return next(c for c in self.clouds if c.name == name)

    def moment(self, params: Params, progress: float, *, followed: int = 0) -> Moment:
        return Moment({c.name: c for c in self.clouds}, params, progress, followed)

    def positions(self, params: Params, progress: float) -> dict[str, Array]:
        return {c.name: c.at(params, progress) for c in self.clouds}

    def layer_points(self, layer: Mark, params: Params, progress: float, *, followed: int = 0) -> Array:
        """A mark's points (M, k) in display coordinates, in drawing order, gaps NaN; as in marks.mjs."""
        return layer.points(self.moment(params, progress, followed=followed))

    def layer_values(self, layer: Mark, params: Params, progress: float, *, followed: int = 0) -> Array:
        """The number that colours each point of a mark."""
        return layer.values(self.moment(params, progress, followed=followed))
