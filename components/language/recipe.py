"""The recipe of a scene: its parameters, clouds, pipelines and views for one set of choices, as data.

Scenes write recipes; `components.language.finish` checks and frames them before they are shown. Any program
with a finished recipe can run it: `components.drawing.figure` in Python, `engine.mjs` in the browser.
docs/design.md explains the terms; `components.language.packing` is the form in which recipes are sent.
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
    Sheets,
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
    "Overview",
    "Parameter",
    "Patterns",
    "Pieces",
    "Ranks",
    "Readout",
    "Recipe",
    "Residual",
    "Sheets",
    "Table",
    "View",
    "Wider",
    "Zeros",
    "identity_zoom",
]

WIDE_ASPECT = 1.5  # width over height: a first view at least this wide takes the whole width of the figure
COLUMNS = ("components", "mean", "std", "norm", "angle", "distance")  # possible columns of a table


@dataclass(frozen=True)
class Parameter:
    """A number that a slider moves. `scale="log"`: the slider is linear in log10 of the value.

    symbol   the letter of the formula that can be dragged to change it; parameters with the same letter
             change together
    quiet    it has no slider: readers change it by clicking or dragging in the figure
    folded   its slider is folded away at first
    vector   the parameters of its group are the components of one vector, and share a row of controls
    """

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
    """The identity zoom: scale 1, no offset."""
    return (1.0,) + (0.0,) * dims


@dataclass(frozen=True)
class Wider:
    """Zooms of a view's axes that follow one parameter, given at its increasing values `stops`.

    Between two stops they are interpolated; log: in the logarithm of the parameter. zooms: for each stop and
    each stage, the scale of the axes relative to those of `View.zooms`, and the offset of their centre along
    each axis.
    """

    parameter: str
    log: bool
    stops: Sequence[float]
    zooms: Sequence[Sequence[Sequence[float]]]

    def at(self, value: float) -> Array:
        """The zooms at a value of the parameter: for each stage the scale and offsets, (stages, 1 + dims)."""
        rows, stops = np.array(self.zooms), np.array(self.stops)
        if self.log:  # such a slider may also be at 0, which has no logarithm
            value, stops = float(np.log(max(value, stops[0]))), np.log(stops)
        place = float(np.interp(value, stops, range(len(rows))))
        k = min(int(place), len(rows) - 2)
        return rows[k] + (place - k) * (rows[k + 1] - rows[k])


@dataclass(frozen=True)
class View:
    """A panel of marks with axes.

    ranges     one (low, high) for each display axis; None: computed from what the view shows, and only the
               direction of `camera` is used (`components.language.framing`)
    strip      make the last view small: the second of two views narrow, or the third of three low. Otherwise
               one view fills the figure, two are side by side, and of three the first is large
    rows       the number of strips that are stacked in this view. On a phone the view is higher, so that each
               strip has room; of three views, the second is as high as the figure if it has several strips
    camera     the camera's position, or also the point that it looks at, in units of the cube's side
    axes       titles of the axes; without them there are no tick labels either
    edge       the name of a cloud that describes a plane, as for a `Disc`; a button turns the camera until
               that plane is seen edge-on
    zooms      for each stage, the scale of the axes relative to `ranges`, and the offset of their centre
               along each axis; empty if the axes never change
    reaching   whether the axes also follow sliders that move points out of the view; otherwise such points
               leave the picture
    wider      for `reaching`: the zooms that follow each slider; of several, the largest scale counts
               and the offsets add up
    between    further values of sliders at which the axes are fitted, where they may also become narrower
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
        """The view with the axes that it has at the position `progress` between stages.

        params: values of sliders; None for the defaults. Between two stages, axes widen in the first half of
        the way and narrow in the second half.
        """
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
        """A copy of the view without zooms: its axes are `times` as long, their centre is moved by `by`."""
        ends = [
            ((a + b) / 2 + each, times * (b - a) / 2) for (a, b), each in zip(self.ranges, by, strict=True)
        ]
        return replace(self, ranges=tuple((c - half, c + half) for c, half in ends), zooms=(), wider=())

    @property
    def wide(self) -> bool:
        """Whether the axes are so wide that the view takes the figure's whole width if it is the first."""
        if self.dims == 3 or not self.equal or not self.ranges:
            return False
        across, up = (high - low for low, high in self.ranges)
        return bool(across >= WIDE_ASPECT * up)  # `bool`, because ranges may be NumPy numbers


@dataclass(frozen=True)
class Table:
    """A table beside the figure: numbers of the followed (selected) point of a cloud at every stage.

    ideal: the name of a cloud that holds the points' images for ε = 0, which are exactly on the surfaces
    shown. The column `distance` is the distance from the followed point to its image in that cloud. first:
    words after the distance at stage 0 that say to what it is measured, such as "to the plane"; "" for none.
    """

    cloud: str
    ideal: str = ""
    first: str = ""
    columns: Sequence[str] = COLUMNS


@dataclass(frozen=True)
class Facts:
    """A table of fixed words and numbers. abouts: for each row an explanation, which opens on a click."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    abouts: Sequence[str] = ()


@dataclass(frozen=True)
class Overview:
    """A few lines of text beside a figure, and a table of everything that a choice can show.

    The table has a row for each value 1 … n of the whole number `choice`. A click on the head of a column
    sorts the table by this column; a click on a row sets `choice` to its value, or does nothing if `choice`
    is "". abouts: an explanation of each column. csv: the contents of a file that readers can save, such as
    the same numbers in full precision.
    """

    lines: Sequence[str]
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    abouts: Sequence[str]
    csv: str
    choice: str = ""


@dataclass(frozen=True)
class Recipe:
    r"""The description of one scene for one set of choices: everything that a figure needs, as plain data.

    stages            the names of the stages
    formula           LaTeX; a piece in \class{stage-k}{…} is highlighted at stage k, and a long formula may
                      break at \quad or \allowbreak
    progress, follow  as the scene opens: the position between stages, and the number of the selected point
    clock             the name of a parameter that can play by itself, such as the training step; it gets a
                      second scrubber
    """

    stages: Sequence[str]
    parameters: tuple[Parameter, ...]
    clouds: tuple[Cloud, ...]
    views: tuple[View, ...]
    formula: str = ""
    table: Table | None = None
    readouts: tuple[Readout, ...] = ()
    facts: Facts | None = None
    overviews: Sequence[Overview] = ()
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
