"""Marks: what is drawn of a cloud. Each is one class with its own fields, and a function in marks.mjs.

A mark says where its points are at a moment, in display coordinates, and which primitive `draws` them:
points, line, mesh, labels, field or cells. Whoever draws knows the primitives alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import ClassVar

import numpy as np

from components.language.cloud import Array, Cloud, Measure, Moment, Params, Row, project
from geometry import gates, hull
from geometry.arrows import with_heads
from geometry.clouds import grid_mesh
from geometry.distributions import best_threshold, histogram
from geometry.ellipsoid import diameters
from geometry.pipeline import Affine
from geometry.plane import disc, facing
from geometry.softmax import softmax

# Plotly's names for dashes, in pixels
DASHES = {
    "solid": (),
    "dash": (9, 9),
    "dot": (3, 3),
    "dashdot": (9, 3, 3, 3),
    "longdash": (15, 5),
    "longdashdot": (15, 5, 3, 5),
}
GLYPHS = ("circle", "square", "ring")
ROUNDING = 1e-9  # of a count


@dataclass(frozen=True)
class Color:
    """A number for each point, fixed or live, painted through a named scale of the theme."""

    scale: str
    low: float
    high: float
    of: Array | Measure
    title: str = ""


@dataclass(frozen=True)
class Followed:
    """The followed point alone."""


@dataclass(frozen=True)
class Highest:
    """The point whose row is the largest now; the first of several."""

    row: Row


@dataclass(frozen=True)
class OnHull:
    """The corners of the convex hull of where the points are now."""


@dataclass(frozen=True)
class Inside:
    """The points that are no corner of it."""


@dataclass(frozen=True)
class Selectable:
    """The points that, as keys, some query scores higher than every other."""


@dataclass(frozen=True)
class Unselectable:
    """The points that no query does: combinations of the others, doubled ones too. In any dimension."""


@dataclass(frozen=True)
class Gated:
    """The points of one fate after max(x, 0): "apart", no other point of their sphere has their image;
    "shared", some have; "collapsed", their whole piece is one point.

    before: the number of the Affine that stands before it in the cloud's pipeline; basis (n, d): an
    orthonormal one of the space in which the points lie there, on a circle or a sphere around the origin.
    of: another cloud with as many points, whose fates count.
    """

    fate: str
    before: int
    basis: Array
    of: str = ""


One = Sequence[int] | Followed | Highest | None  # points of a cloud whose number is known; None: all
Counted = OnHull | Inside | Selectable | Unselectable | Gated  # how many there are changes with the moment
Only = One | Counted


# --- what a hand does


@dataclass(frozen=True)
class Follow:
    """A click follows the point."""


@dataclass(frozen=True)
class Choose:
    """A click sets a choice to the whole number that each point of the cloud has."""

    choice: str
    numbers: Array


@dataclass(frozen=True)
class Drag:
    """In a 2D view the hand takes hold of the first point, and sets these parameters to its x and y."""

    x: str
    y: str


@dataclass(frozen=True)
class Turn:
    """The same, for the pointer's angle around the origin, in degrees."""

    angle: str


@dataclass(frozen=True)
class Open:
    """A click follows the point, and opens what it stands for.

    links: of each point of the cloud a scene of this site with its state, as "shear?s=2"; "" for nothing.
    """

    links: Sequence[str]


@dataclass(frozen=True)
class Carry:
    """In a 2D view the hand takes hold of any point and sets its own two parameters to its x and y."""

    names: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Replay:
    """A click sets the clock to where the point's span begins, and runs it to its end, to show what happens.

    Of each of the cloud's points: spans (N, 2), values of the clock; follow (N,), the point of the scene to
    whom it happens; progress (N,), where that is seen. −1 in these leaves things as they are.
    """

    spans: Array
    follow: Array
    progress: Array


Hand = Follow | Choose | Open | Drag | Turn | Carry | Replay

# --- the marks


@dataclass(frozen=True)
class Mark:
    """What all marks have. role: the mathematical role, which the theme knows the colour of; fade: opacity at
    each stage, linear between them, times `opacity`. guide: it stands around what is shown, as an
    axis or a plane; the picture need not hold it. hint: what a hand can do with it, as "click to see it"; it
    stands after the title in a live figure, never in a picture, a film or on paper."""

    cloud: str
    role: str
    rows: tuple[Row, ...]
    title: str = ""
    _: KW_ONLY
    opacity: float = 1.0
    fade: Sequence[float] | None = None
    guide: bool = False
    hint: str = ""
    draws: ClassVar[str]
    closed: ClassVar[bool] = False  # whether it is the surface of something, and hides what is behind it
    flat: ClassVar[int | None] = None  # the number of its rows; None: those of the view
    space: ClassVar[int | None] = None  # the number of coordinates that they see; None: those of the cloud

    def points(self, at: Moment) -> Array:
        """(M, k) display coordinates in drawing order, gaps NaN."""
        return at.shown(self.cloud, self.rows)

    def values(self, at: Moment) -> Array:
        """The number that colours each point. Raises ValueError for a mark that has one colour."""
        color = color_of(self)
        if color is None:
            raise ValueError(f"{type(self).__name__} of {self.cloud!r} has one colour")
        return color.of if isinstance(color.of, np.ndarray) else at.measured(self.cloud, color.of)

    def opacity_at(self, progress: float) -> float:
        if self.fade is None:
            return self.opacity
        return self.opacity * float(np.interp(progress, range(len(self.fade)), self.fade))


@dataclass(frozen=True, kw_only=True)
class Points(Mark):
    """Points of the cloud as glyphs."""

    only: Only = None
    size: float = 4.0
    glyph: str = "circle"
    color: Color | None = None
    hand: Hand | None = None
    draws = "points"

    def points(self, at: Moment) -> Array:
        return chosen(at.shown(self.cloud, self.rows), self.only, self.cloud, at)

    def values(self, at: Moment) -> Array:
        return chosen(super().values(at), self.only, self.cloud, at)


@dataclass(frozen=True, kw_only=True)
class Stroke(Mark):
    """What all lines have."""

    size: float = 4.0
    dash: str = "solid"
    draws = "line"


@dataclass(frozen=True, kw_only=True)
class Line(Stroke):
    """The cloud's points joined in an order (indices, −1 is a gap). arrow: the length of a head at the end of
    each piece."""

    order: Array | None = None
    arrow: float = 0.0
    hand: Choose | None = None

    def points(self, at: Moment) -> Array:
        shown = at.shown(self.cloud, self.rows)
        if self.order is not None:
            shown = np.where(self.order[:, None] < 0, np.nan, shown[self.order])
        return with_heads(shown, self.arrow) if self.arrow else shown


@dataclass(frozen=True, kw_only=True)
class Trail(Stroke):
    """The way of points, from each stage to where they are."""

    only: One = None
    arrow: float = 0.0

    def points(self, at: Moment) -> Array:
        steps = len(at.clouds[self.cloud].pipeline.steps)
        corners = at.along(self.cloud, self.rows, [min(k, at.progress) for k in range(steps + 1)])
        ways = _ways(corners, indices(self.only, self.cloud, at))
        return with_heads(ways, self.arrow) if self.arrow else ways


@dataclass(frozen=True, kw_only=True)
class Way(Stroke):
    """The way of points as a parameter runs: where they are at its `stops`, with all else as it is.

    whole: also what is still ahead; else the way goes to where they are now.
    """

    parameter: str
    stops: Array
    only: One = None
    whole: bool = False

    def points(self, at: Moment) -> Array:
        now = at.params[self.parameter]
        stops = self.stops if self.whole else np.append(np.minimum(self.stops, now), now)
        moments = [replace(at, params={**at.params, self.parameter: float(stop)}) for stop in stops]
        return _ways(
            np.stack([m.shown(self.cloud, self.rows) for m in moments]), indices(self.only, self.cloud, at)
        )


def _ways(corners: Array, shown: Array) -> Array:
    """The points shown of the first corner (K, N, k), the second, and so on, joined; a gap after each way."""
    gap = np.full_like(corners[:1], np.nan)
    return np.concatenate([corners, gap]).swapaxes(0, 1)[shown].reshape(-1, gap.shape[-1])


@dataclass(frozen=True, kw_only=True)
class SemiAxes(Stroke):
    """Those of the ellipsoid that the cloud spans: its middle, then the images of orthonormal radii."""

    def points(self, at: Moment) -> Array:
        return project(self.rows, diameters(at.now(self.cloud)), params=at.params)


@dataclass(frozen=True, kw_only=True)
class Rim(Stroke):
    """The edge of a `Disc`."""

    radius: float
    corners: int = 48
    space = 3

    def points(self, at: Moment) -> Array:
        return project(
            self.rows, disc(at.now(self.cloud)[:, 0], self.radius, self.corners)[1:], params=at.params
        )


@dataclass(frozen=True, kw_only=True)
class Histogram(Stroke):
    """Of its one row: `bins` of equal width over `span`, counts upwards."""

    span: tuple[float, float]
    bins: int
    only: One = None
    flat = 1

    def points(self, at: Moment) -> Array:
        values = at.shown(self.cloud, self.rows)[:, 0]
        return histogram(values[indices(self.only, self.cloud, at)], self.span, self.bins)


@dataclass(frozen=True, kw_only=True)
class Profile(Stroke):
    """The coordinates of each point as a line over their numbers, from 1 on. It has no rows."""

    only: One = None
    flat = 0

    def points(self, at: Moment) -> Array:
        values = at.now(self.cloud)[indices(self.only, self.cloud, at)]
        numbers = np.broadcast_to(np.arange(1.0, values.shape[1] + 1), values.shape)
        lines = np.stack([numbers, values], axis=-1)
        return np.pad(lines, ((0, 0), (0, 1), (0, 0)), constant_values=np.nan).reshape(-1, 2)


@dataclass(frozen=True, kw_only=True)
class Threshold(Stroke):
    """The best single threshold on its one row between the two `classes`, as a line over `span`."""

    span: tuple[float, float]
    classes: Array
    flat = 1

    def points(self, at: Moment) -> Array:
        cut = best_threshold(at.shown(self.cloud, self.rows)[:, 0], self.classes)[0]
        return np.array([[cut, self.span[0]], [cut, self.span[1]]])


@dataclass(frozen=True, kw_only=True)
class Hull(Stroke):
    """The edges of the convex hull of where the points are now: in the plane its outline."""

    def points(self, at: Moment) -> Array:
        order = hull.outline(at.now(self.cloud))
        return np.where(order[:, None] < 0, np.nan, at.shown(self.cloud, self.rows)[order])


@dataclass(frozen=True, kw_only=True)
class HullFaces(Mark):
    """Its faces, in space. A hull of n points, the `count`, has at most 2n − 4; the rest has no size."""

    count: int
    draws = "mesh"
    closed = True

    def points(self, at: Moment) -> Array:
        shown, faces = at.shown(self.cloud, self.rows), hull.triangles(at.now(self.cloud)).reshape(-1)
        return shown[np.pad(faces, (0, 3 * len(self.triangles) - len(faces)))]

    @property
    def triangles(self) -> Array:
        return np.arange(3 * max(2 * self.count - 4, 1)).reshape(-1, 3)


@dataclass(frozen=True, kw_only=True)
class Average(Stroke):
    """Lines from the followed point, where it can never be selected, to those that average to it.

    The most even weights count: shown are those in `span`, low ≤ p < high; there is room for 1/low of them,
    as many as can be.
    """

    span: tuple[float, float]

    def points(self, at: Moment) -> Array:
        shown, p = at.shown(self.cloud, self.rows), at.certificate(self.cloud).weights
        low, high = self.span
        drawn = np.flatnonzero((p > 0) & (p >= low) & (p < high))
        most = min(len(p), int(1 / low + ROUNDING)) if low > 0 else len(p)
        lines = np.full((most, 3, len(self.rows)), np.nan)
        lines[: len(drawn), 0] = shown[min(at.followed, len(shown) - 1)]
        lines[: len(drawn), 1] = shown[drawn]
        return lines.reshape(-1, len(self.rows))


@dataclass(frozen=True, kw_only=True)
class BestQuery(Stroke):
    """An arrow from the origin: the query at which the followed point's weight is largest, cut to `reach`.

    Where that weight grows for ever it has that length, and the direction that leads by most.
    """

    reach: float
    arrow: float = 0.0

    def points(self, at: Moment) -> Array:
        found = at.certificate(self.cloud)
        size = float(np.linalg.norm(found.query))
        length = self.reach if found.largest == 1 else min(size, self.reach)
        query = found.query * (length / size if size > 0 else 0)
        ends = project(self.rows, np.stack([0 * query, query]), params=at.params)
        return with_heads(ends, self.arrow) if self.arrow else ends


@dataclass(frozen=True, kw_only=True)
class Support(Stroke):
    """Where a query scores as high as the highest key: a line in 2D, in 3D the rim of a disc, around it.

    No key lies beyond. Without a query, of one that selects the followed point, where there is one.
    """

    query: Row | None
    radius: float
    corners: int = 48

    def points(self, at: Moment) -> Array:
        return supporting(self, at)[1:]


@dataclass(frozen=True, kw_only=True)
class WeightCurve(Stroke):
    """The softmax weight of the followed point against the length of a query, over `span`.

    The query's direction counts; without one, that of the best query of the point.
    """

    query: Row | None
    span: tuple[float, float]
    corners: int = 96
    flat = 0

    def points(self, at: Moment) -> Array:
        query = self.query.vector(at.params) if self.query else at.certificate(self.cloud).query
        return weights_along(self.cloud, query, np.linspace(*self.span, self.corners), at)


@dataclass(frozen=True, kw_only=True)
class WeightLimit(Stroke):
    """The largest weight that any query can give the followed point, over `span`."""

    span: tuple[float, float]
    flat = 0

    def points(self, at: Moment) -> Array:
        return np.column_stack([self.span, 2 * [at.certificate(self.cloud).largest]])


@dataclass(frozen=True, kw_only=True)
class WeightNow(Mark):
    """The length of a query and the followed point's weight there, as a glyph: a point of a `WeightCurve`."""

    query: Row
    size: float = 9.0
    glyph: str = "circle"
    draws = "points"
    flat = 0

    def points(self, at: Moment) -> Array:
        query = self.query.vector(at.params)
        return weights_along(self.cloud, query, np.array([np.linalg.norm(query)]), at)


@dataclass(frozen=True, kw_only=True)
class SupportDisc(Mark):
    """The disc of a `Support` in 3D."""

    query: Row | None
    radius: float
    corners: int = 48
    draws = "mesh"

    def points(self, at: Moment) -> Array:
        return supporting(self, at)

    @property
    def triangles(self) -> Array:
        return fan(self.corners)


@dataclass(frozen=True, kw_only=True)
class Mesh(Mark):
    """Triangles (F, 3) between the cloud's points."""

    triangles: Array
    color: Color | None = None
    draws = "mesh"
    closed = True


@dataclass(frozen=True, kw_only=True)
class Sheet(Mark):
    """A cloud that is a grid of (rows, columns), row by row, as a surface between its points.

    It may fold: both of its sides are seen, and it hides nothing.
    """

    grid: tuple[int, int]
    color: Color | None = None
    draws = "mesh"

    @property
    def triangles(self) -> Array:
        return grid_mesh(*self.grid)


@dataclass(frozen=True, kw_only=True)
class Disc(Mark):
    """Where a number affine in space is 0, within the ball of a radius. The cloud's points are that number at
    the origin and at the ends of the unit vectors."""

    radius: float
    corners: int = 48
    draws = "mesh"
    space = 3

    def points(self, at: Moment) -> Array:
        return project(self.rows, disc(at.now(self.cloud)[:, 0], self.radius, self.corners), params=at.params)

    @property
    def triangles(self) -> Array:
        return fan(self.corners)


@dataclass(frozen=True, kw_only=True)
class Labels(Mark):
    """The cloud's labels at its points."""

    draws = "labels"


@dataclass(frozen=True, kw_only=True)
class Field(Mark):
    """The colour of a cloud that is a grid over the whole 2D view, row by row from below. It has no rows."""

    columns: int
    color: Color
    draws = "field"
    flat = 0

    def points(self, at: Moment) -> Array:
        return np.empty((0, 2))


@dataclass(frozen=True, kw_only=True)
class Cells(Mark):
    """The colour of a cloud that is an even grid of a 2D view, row by row from below: a rectangle a point."""

    columns: int
    color: Color
    draws = "cells"
    flat = 2


SHAPES = (Points, Line, Trail, Way, SemiAxes, Rim, Hull, Mesh, Sheet, HullFaces, Disc, Labels)
MEASURES = (Histogram, Profile, Threshold, Field, Cells)
ATTENTION = (Average, BestQuery, Support, SupportDisc, WeightCurve, WeightLimit, WeightNow)
MARKS = SHAPES + MEASURES + ATTENTION


def color_of(mark: Mark) -> Color | None:
    """What colours its points, where they have not all that of its role."""
    return getattr(mark, "color", None)


def hand_of(mark: Mark) -> Hand | None:
    return getattr(mark, "hand", None)


def fan(corners: int) -> Array:
    """The triangles of a disc: its middle is point 0, its edge the points after it, closed."""
    edge = np.arange(1, corners + 1)
    return np.stack([np.zeros_like(edge), edge, edge + 1], axis=-1)


def supporting(mark: Support | SupportDisc, at: Moment) -> Array:
    """The middle and the edge of a supporting line or plane, shown; where there is none, its middle alone."""
    keys, shown = at.now(mark.cloud), at.shown(mark.cloud, mark.rows)
    if mark.query is None:
        found, best = at.certificate(mark.cloud), min(at.followed, len(keys) - 1)
        query = found.query if found.largest == 1 else 0 * found.query
    else:
        query = mark.query.vector(at.params)
        best = int(np.argmax(keys[:, : len(query)] @ query))
    ends = project(mark.rows, np.stack([0 * query, query]), params=at.params)
    return facing(shown[best], ends[1] - ends[0], mark.radius, mark.corners)


def weights_along(cloud: str, query: Array, lengths: Array, at: Moment) -> Array:
    """(length, weight) of the followed point for queries of these lengths in the direction of one."""
    keys, size = at.now(cloud), float(np.linalg.norm(query))
    scores = keys[:, : len(query)] @ query / (size if size > 0 else 1)
    weights = softmax(np.outer(lengths, scores))
    return np.column_stack([lengths, weights[:, min(at.followed, len(keys) - 1)]])


def indices(only: Only, cloud: str, at: Moment) -> Array:
    """The numbers of a cloud's points to show."""
    match only:
        case None:
            return np.arange(len(at.clouds[cloud].points))
        case Followed():
            return np.array([min(at.followed, len(at.clouds[cloud].points) - 1)])
        case Highest(row):
            return np.array([np.argmax(at.shown(cloud, (row,))[:, 0])])
        case OnHull():
            return hull.vertices(at.now(cloud))
        case Inside():
            return np.setdiff1d(indices(None, cloud, at), hull.vertices(at.now(cloud)))
        case Selectable():
            return np.flatnonzero(at.largest(cloud) == 1)
        case Unselectable():
            return np.flatnonzero(at.largest(cloud) < 1)
        case Gated(fate, before, basis, of):
            W, b = layer(at.clouds[of or cloud], before, basis, at.params)
            fates = gates.fates(W, b, at.stages(of or cloud)[before] @ basis.T)
            return np.flatnonzero(fates == gates.FATES.index(fate))
    return np.array(only, dtype=int)


def layer(cloud: Cloud, before: int, basis: Array, params: Params) -> tuple[Array, Array]:
    """W (m, n) and b (m,) of an Affine of a cloud's pipeline, on the space of a basis."""
    step = cloud.pipeline.steps[before]
    assert isinstance(step, Affine)
    W = step.A.value(params) @ basis.T
    return W, np.zeros(len(W)) if step.b is None else step.b.value(params)


def chosen(every: Array, only: Only, cloud: str, at: Moment) -> Array:
    """Those points of all; where their number changes with the moment, the others stay in place as gaps."""
    shown = indices(only, cloud, at)
    if not isinstance(only, Counted):
        return every[shown]
    hidden = np.ones(len(every), dtype=bool)
    hidden[shown] = False
    return np.where(hidden.reshape(-1, *[1] * (every.ndim - 1)), np.nan, every)
