"""The recipe of a scene: its parameters, point clouds, pipelines and views for one set of choices, as data.

Scenes return recipes. Before a recipe is shown, `components.language.finish` validates it and computes the
ranges of its axes. Both `components.drawing.figure` in Python and engine.mjs in the browser can show the
result. docs/design.md explains the terms. `components.language.packing` converts recipes to JSON.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod

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
# factors by which axes are longer than `ranges` when their names begin to fade, and when the names are gone
NAMES_FADE = 6.0, 8.0
COLUMNS = ("components", "mean", "std", "norm", "angle", "distance")  # possible columns of a table


@dataclass(frozen=True)
class Parameter:
    """A number that readers can change, usually with a slider.

    scale    "linear", or "log" if the slider is linear in the logarithm of the value
    group    the heading above the controls of all parameters with this group
    about    the tooltip of the label, which is also the description of the slider for screen readers
    symbol   a letter of the formula; dragging this letter changes the parameter, together with all others
             that have the same symbol
    quiet    whether it has no slider, because readers change it by clicking or dragging in the figure
    folded   whether its slider is folded away at first
    vector   whether the parameters of its group are the coordinates of one vector, and share a row of
             controls
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
    """The zoom that changes nothing: the factor 1, then an offset of 0 along each axis."""
    return (1.0,) + (0.0,) * dims


@dataclass(frozen=True)
class Wider:
    """Zooms of a view's axes that follow a slider, or several together, so that points stay in view.

    parameters  the names of the parameters; the zooms depend on the product of their values
    stops       increasing values of this product for which zooms are given; between them, zooms are
                interpolated, beyond the first and last they are constant
    log         whether they are interpolated in the logarithm of the product
    zooms       for each stop and each stage a row: a factor by which the axes are longer than with
                `View.zooms`, then the offset of their centre along each axis
    """

    parameters: Sequence[str]
    log: bool
    stops: Sequence[float]
    zooms: Sequence[Sequence[Sequence[float]]]

    def at(self, params: Params) -> Array:
        """The zooms at these parameters, (stages, 1 + dims): for each stage the factor, then the offsets."""
        rows, stops = np.array(self.zooms), np.array(self.stops)
        value = prod(params[name] for name in self.parameters)
        if self.log:  # such a slider may also be at 0, which has no logarithm
            value, stops = float(np.log(max(value, stops[0]))), np.log(stops)
        place = float(np.interp(value, stops, range(len(rows))))
        k = min(int(place), len(rows) - 2)
        return rows[k] + (place - k) * (rows[k + 1] - rows[k])


@dataclass(frozen=True)
class View:
    """A panel with axes, and the marks drawn in it.

    layers     the marks
    ranges     one (low, high) for each display axis; if empty, they are computed from what the view shows,
               and `camera` has three numbers, of which only the direction is used
               (`components.language.framing`)
    axes       titles of the axes; if there are none, the axes have no tick labels either
    equal      whether all axes have the same scale
    strip      whether the view is small; only the last view of a recipe may be. The second of two views is
               then narrow, the third of three is low. Without a strip, two views are equally wide, and the
               first of three is the largest (unless the first view is `wide`)
    rows       for a view of stacked plots: its least height on a phone, in units of 4 rem, so that each plot
               has room; 1 for other views. With more than one row, the second of three views is as high as
               the figure
    camera     three numbers for the camera's position, or six: also the point that it looks at. The unit is
               the side of the cube that the axes span
    edge       the name of a cloud that describes a plane, as `PlaneInBall` explains: a button then turns the
               camera until that plane is seen edge-on; "" for no button
    beside     whether titles of marks may stand beside the marks; if not, they all stay in the legend
    zooms      for each stage a row: a factor by which the axes are longer than `ranges`, then the offset of
               their centre along each axis; empty if the axes are the same at all stages
    reaching   whether the axes also follow sliders that move points out of the view; if not, such points
               leave the picture
    wider      for `reaching`: the zooms that follow sliders, one entry for each slider or pair. If several
               apply at once, the largest factor counts, and the offsets add up
    between    for `reaching`: for each parameter, by name, values between the ends of its slider for which
               the axes are fitted too. If there are any, sliders may also narrow axes that `zooms` widen
    together   for `reaching`: pairs of parameters, both 0 by default, that together move points farther than
               one alone; the axes are also fitted with both parameters at their upper ends
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
    beside: bool = True
    zooms: Sequence[Sequence[float]] = ()
    reaching: bool = False
    between: Mapping[str, Sequence[float]] = field(default_factory=dict)
    together: Sequence[tuple[str, str]] = ()
    wider: Sequence[Wider] = ()

    def at(self, progress: float, params: Params | None = None) -> View:
        """A copy of the view with fixed axes: those that it has at the position `progress` between stages.

        params: the values of the parameters; None for the defaults. Between two stages, axes that become
        wider do so in the first half of the way, and axes that become narrower in the second half.
        """
        if not len(zoom := self._zoom(progress, params)):
            return self
        times, *by = zoom
        return self.moved(times, by)

    def opacity_of(self, mark: Mark, progress: float, params: Params | None = None) -> float:
        """The opacity of one of the view's marks at a position between stages.

        Names of axes fade when the axes are much longer than `ranges`, as all names would be near one place.
        params: the values of the parameters; None for the defaults.
        """
        opacity, (fading, gone) = mark.opacity_at(progress), NAMES_FADE
        if mark.draws == "labels" and mark.role == "axis" and len(zoom := self._zoom(progress, params)):
            opacity *= float(np.clip((gone - zoom[0]) / (gone - fading), 0, 1))
        return opacity

    def _zoom(self, progress: float, params: Params | None) -> Array:
        """The zoom at a position between stages, as a row of `zooms`: that of `zooms` and `wider` together.

        Returns an empty array if the view has neither. params: None to leave `wider` out.
        """
        more = np.array([each.at(params) for each in self.wider] if params else [])
        if not self.zooms and not len(more):
            return np.empty(0)
        rows = np.array(self.zooms) if self.zooms else np.full_like(more[0], identity_zoom(self.dims))
        if len(more):
            rows[:, 0] *= more[:, :, 0].max(0)
            rows[:, 1:] += more[:, :, 1:].sum(0)
        k = min(int(progress), len(rows) - 1)
        here, there = rows[k], rows[min(k + 1, len(rows) - 1)]
        past = progress - k
        times = min(2 * past, 1) if there[0] > here[0] else max(2 * past - 1, 0)
        zoom: Array = here + np.array([times] + [past] * self.dims) * (there - here)
        return zoom

    def moved(self, times: float, by: Sequence[float]) -> View:
        """A copy with fixed axes: `times` as long as `ranges`, with their centre moved by `by`.

        The copy has neither `zooms` nor `wider`. by: one number for each axis, in the unit of the axis.
        """
        ends = [
            ((a + b) / 2 + each, times * (b - a) / 2) for (a, b), each in zip(self.ranges, by, strict=True)
        ]
        return replace(self, ranges=tuple((c - half, c + half) for c, half in ends), zooms=(), wider=())

    @property
    def wide(self) -> bool:
        """Whether the axes are so wide that the view, if it is the first, is as wide as the whole figure.

        False for a 3D view, and for a view without `ranges` or with axes of different scales.
        """
        if self.dims == 3 or not self.equal or not self.ranges:
            return False
        across, up = (high - low for low, high in self.ranges)
        return bool(across >= WIDE_ASPECT * up)  # `bool`, because ranges may be NumPy numbers


@dataclass(frozen=True)
class Table:
    """A table beside the figure: numbers of the followed (selected) point of a cloud, a row for each stage.

    cloud    the name of the cloud
    ideal    the name of a cloud in which the same points are moved with ε = 0, so that they are exactly on
             the surfaces shown; "" for none
    columns  the columns, from `COLUMNS`; "distance" holds the distance from the point to the same point
             of `ideal`
    first    words after the distance at stage 0 that say to what it is measured, such as "to the plane"
    """

    cloud: str
    ideal: str = ""
    first: str = ""
    columns: Sequence[str] = COLUMNS


@dataclass(frozen=True)
class Facts:
    """A table of fixed words and numbers. abouts: an explanation for each row, which opens on a click."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    abouts: Sequence[str] = ()


@dataclass(frozen=True)
class Overview:
    """A few lines of text beside a figure, and a table that compares all values of one choice.

    lines    the paragraphs of the text
    title    the title of the table, shown above it
    choice   the name of a choice whose values are 1, 2, …; "" if clicks on rows do nothing
    rows     the rows of the table, one for each value 1 … n of the choice; a click on a row sets the choice
    columns  the heads of the columns; a click on one sorts the table by this column
    abouts   an explanation of each column, shown as a tooltip of its head
    csv      the contents of a file that readers can save, such as the same numbers in full precision
    file     the name of this file
    """

    lines: Sequence[str]
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    abouts: Sequence[str]
    csv: str
    file: str
    choice: str = ""


@dataclass(frozen=True)
class Recipe:
    r"""Everything that the figure of a scene needs, as plain data, for one set of the scene's choices.

    stages    the names of the stages
    formula   LaTeX, where a piece in \class{stage-k}{…} is highlighted at stage k; a long formula may break
              at \quad or \allowbreak
    progress  the position between stages at which the scene opens
    follow    the index of the point that is followed (selected) as the scene opens
    clock     the name of a parameter that can play by itself, such as the training step, and has a scrubber
              of its own below the figure; "" for none
    readouts  numbers and texts; the first stands in a corner of the figure, the others below it
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
