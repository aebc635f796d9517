"""Marks that show a cloud's points, or shapes that are computed from them: lines, surfaces, hulls, discs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from components.language.cloud import Array, Cloud, Moment, Row, project
from components.language.marks.hands import Choose
from components.language.marks.mark import GLYPHS, Clickable, Colored, Mark, Selecting, Stroke
from components.language.marks.selections import ConstantSize, chosen, indices
from components.language.scope import Scope
from geometry import hull
from geometry.arrows import with_heads
from geometry.clouds import grid_mesh
from geometry.ellipsoid import diameters
from geometry.entries import Entries
from geometry.plane import disc

ROUNDING = 1e-9  # relative tolerance for a line through the origin


@dataclass(frozen=True, kw_only=True)
class Points(Selecting, Colored, Clickable):
    """A symbol (`glyph`) at each selected point of the cloud.

    size: the width of the symbols, in pixels; in 3D views Plotly draws them about twice as wide.
    """

    size: float = 4.0
    glyph: str = "circle"
    draws = "points"
    counts_for_axes = "always"
    moves_axes = True
    framed_by_cloud = True

    def points(self, at: Moment) -> Array:
        return chosen(at.shown(self.cloud, self.rows), self.only, self.cloud, at)

    def values(self, at: Moment) -> Array:
        return chosen(super().values(at), self.only, self.cloud, at)

    def check(self, scope: Scope) -> None:
        super().check(scope)
        scope.known("glyph", self.glyph, GLYPHS)


@dataclass(frozen=True, kw_only=True)
class Line(Clickable, Stroke):
    """A line through points of a cloud.

    order  the indices of the points, where −1 interrupts the line; None for all points in the cloud's order
    where  a row; the line is also interrupted at points at which its value is not positive. None for no row
    arrow  the length of the arrow head at the end of each unbroken piece; 0 for none
    """

    order: Array | None = None
    where: Row | None = None
    arrow: float = 0.0
    hand: Choose | None = None
    counts_for_axes = "always"
    spherical = True
    framed_by_cloud = True

    def points(self, at: Moment) -> Array:
        shown = at.shown(self.cloud, self.rows)
        if self.where:
            shown = np.where(at.shown(self.cloud, (self.where,)) > 0, shown, np.nan)
        if self.order is not None:
            shown = np.where(self.order[:, None] < 0, np.nan, shown[self.order])
        return with_heads(shown, self.arrow) if self.arrow else shown

    def check(self, scope: Scope) -> None:
        super().check(scope)
        if self.order is not None:
            scope.indices("order", self.order, len(scope.cloud(self.cloud).points), low=-1)
        if self.where:
            scope.row(self.where, scope.cloud(self.cloud))

    def choosing_rows(self) -> tuple[Row, ...]:
        return (self.where,) if self.where else ()

    def fixed_indices(self, at: Moment) -> Array | None:
        return None if self.order is None else np.unique(self.order[self.order >= 0])

    def has_heads(self) -> bool:
        return self.arrow > 0

    def along_rays(self, points: Array) -> bool:
        """Whether each straight piece of the line, extended, would go through the origin."""
        order = range(len(points)) if self.order is None else self.order
        ends = [points[[i, j]] for i, j in pairwise(order) if i >= 0 <= j]
        lengths = [np.linalg.norm(a) * np.linalg.norm(b) for a, b in ends]
        return all(
            abs(a @ b) >= (1 - ROUNDING) * length for (a, b), length in zip(ends, lengths, strict=True)
        )


@dataclass(frozen=True, kw_only=True)
class Trail(Selecting, Stroke):
    """For each selected point, its path from stage 0 through the later stages to its current position.

    arrow: the length of the arrow head at the end of each path; 0 for none.
    """

    only: ConstantSize = None
    arrow: float = 0.0
    moves_axes = True
    framed_by_cloud = True
    keeps_way = True

    def points(self, at: Moment) -> Array:
        steps = len(at.clouds[self.cloud].pipeline.steps)
        corners = at.along(self.cloud, self.rows, [min(k, at.progress) for k in range(steps + 1)])
        ways = _ways(corners, indices(self.only, self.cloud, at))
        return with_heads(ways, self.arrow) if self.arrow else ways

    def has_heads(self) -> bool:
        return self.arrow > 0


@dataclass(frozen=True, kw_only=True)
class Way(Selecting, Stroke):
    """For each selected point, its path as one parameter changes: a line through its positions at `stops`.

    parameter  the name of the parameter
    stops      values of the parameter, in increasing order
    whole      whether to draw the whole path; otherwise it ends where the point is now
    """

    parameter: str
    stops: Array
    only: ConstantSize = None
    whole: bool = False

    def points(self, at: Moment) -> Array:
        now = at.params[self.parameter]
        stops = self.stops if self.whole else np.append(np.minimum(self.stops, now), now)
        moments = [replace(at, params={**at.params, self.parameter: float(stop)}) for stop in stops]
        return _ways(
            np.stack([m.shown(self.cloud, self.rows) for m in moments]), indices(self.only, self.cloud, at)
        )

    def check(self, scope: Scope) -> None:
        super().check(scope)
        cloud = scope.cloud(self.cloud)
        scope.parameter(self.parameter)
        stops = np.asarray(self.stops)
        if stops.ndim != 1 or not stops.size or not (np.isfinite(stops).all() and np.all(np.diff(stops) > 0)):
            scope.refuse(f"its stops are {stops}", "take finite numbers that increase")
        # The browser computes the pipeline for the points of all stops at once.
        if cloud.pipeline.mixes:
            wrong = f"in the pipeline of {cloud.name!r} a point depends on others"
            scope.refuse(
                wrong, "take a cloud without an Orbit, Attention or Flow there, or put it in the place"
            )
        seen = [*(s.parameters for s in cloud.sources), cloud.pipeline.parameters]
        if any(self.parameter in names for names in seen):
            wrong = f"{self.parameter!r} moves the pipeline of {cloud.name!r}, or what it sees"
            scope.refuse(wrong, "take a parameter that moves only the place of the points")
        weights = [row.weights for row in self.rows if isinstance(row.weights, Entries)]
        if any(self.parameter in entries.parameters for entries in weights):
            scope.refuse(f"{self.parameter!r} moves a row", "take rows that do not depend on it")


def _ways(corners: Array, shown: Array) -> Array:
    """The paths of some points, one after the other in one array, with a gap (NaN) after each path.

    corners: (K, N, k), the K positions of each of N points along its path. shown: the indices of the points
    whose paths are returned.
    """
    gap = np.full_like(corners[:1], np.nan)
    return np.concatenate([corners, gap]).swapaxes(0, 1)[shown].reshape(-1, gap.shape[-1])


@dataclass(frozen=True, kw_only=True)
class SemiAxes(Stroke):
    """Lines for the principal axes of an ellipsoid, which is the image of a sphere under a linear map.

    The first point of the cloud is the centre of the ellipsoid. The others are images of points of the
    sphere, one on each of several perpendicular radii.
    """

    def points(self, at: Moment) -> Array:
        return project(self.rows, diameters(at.now(self.cloud)), params=at.params)

    def check(self, scope: Scope) -> None:
        super().check(scope)
        cloud = scope.cloud(self.cloud)
        if len(cloud.points) < 2:
            scope.refuse(
                f"its cloud has {len(cloud.points)} points", "take the centre and the ends of the radii"
            )


@dataclass(frozen=True, kw_only=True)
class PlaneInBall(Mark):
    """The base class of `Disc` and `Rim`: the disc in which a plane cuts a ball around the origin.

    The plane is {x : f(x) = 0} for an affine function f. The cloud holds no points of the plane, but the
    numbers f(0), f(e₁), f(e₂) and f(e₃), where eᵢ is the i-th unit vector. If f(e₃) is missing, the plane is
    parallel to the third axis. If the plane misses the ball, the disc shrinks to the point of the ball that
    is nearest to the plane. radius: the radius of the ball. corners: the number of points on the disc's edge.
    """

    radius: float
    corners: int = 48
    space = 3
    own_size = True

    def points(self, at: Moment) -> Array:
        """The display coordinates of the disc's centre, then of the points of its edge."""
        return project(self.rows, disc(at.now(self.cloud)[:, 0], self.radius, self.corners), params=at.params)

    def check(self, scope: Scope) -> None:
        super().check(scope)
        check_affine(scope.cloud(self.cloud), scope)

    def shortened(self, factor: float) -> Mark:
        return replace(self, radius=self.radius / factor)


@dataclass(frozen=True, kw_only=True)
class Rim(PlaneInBall, Stroke):
    """The edge of a `Disc`: the circle in which a plane cuts the sphere of radius `radius` around the origin.

    The plane is {x : f(x) = 0} for an affine function f. The cloud holds the numbers f(0), f(e₁), f(e₂) and
    f(e₃), where eᵢ is the i-th unit vector. corners: the number of points on the circle.
    """

    def points(self, at: Moment) -> Array:
        return super().points(at)[1:]


@dataclass(frozen=True, kw_only=True)
class Hull(Stroke):
    """The outline of the convex hull of the cloud's current points; in space, all edges of its triangles."""

    def points(self, at: Moment) -> Array:
        order = hull.outline(at.now(self.cloud))
        return np.where(order[:, None] < 0, np.nan, at.shown(self.cloud, self.rows)[order])

    def check(self, scope: Scope) -> None:
        super().check(scope)
        scope.hull(scope.cloud(self.cloud))


@dataclass(frozen=True, kw_only=True)
class HullFaces(Mark):
    """The faces of the convex hull of the cloud's current points in space, as triangles.

    count: the number of points of the cloud, n. Their hull has at most 2n − 4 triangles, so this many are
    always drawn; superfluous ones have size 0.
    """

    count: int
    draws = "mesh"
    closed = True

    def points(self, at: Moment) -> Array:
        shown, faces = at.shown(self.cloud, self.rows), hull.triangles(at.now(self.cloud)).reshape(-1)
        return shown[np.pad(faces, (0, 3 * len(self.triangles) - len(faces)))]

    @property
    def triangles(self) -> Array:
        return np.arange(3 * max(2 * self.count - 4, 1)).reshape(-1, 3)

    def check(self, scope: Scope) -> None:
        super().check(scope)
        cloud = scope.cloud(self.cloud)
        scope.hull(cloud)
        if self.count != len(cloud.points):
            scope.refuse(
                f"its count is {self.count}", f"take {len(cloud.points)}, the points of {cloud.name!r}"
            )


@dataclass(frozen=True, kw_only=True)
class Mesh(Colored):
    """A surface of triangles. triangles: (F, 3), the indices in the cloud of each triangle's corners."""

    triangles: Array
    draws = "mesh"
    closed = True
    counts_for_axes = "always"
    spherical = True
    framed_by_cloud = True

    def check(self, scope: Scope) -> None:
        super().check(scope)
        cloud = scope.cloud(self.cloud)
        shape = np.shape(self.triangles)
        if len(shape) != 2 or shape[1] != 3:
            scope.refuse(f"triangles have the shape {shape}", "take (F, 3)")
        scope.indices("triangles", self.triangles, len(cloud.points))


@dataclass(frozen=True, kw_only=True)
class Sheet(Colored):
    """A surface through the points of a cloud, which form a grid of shape (rows, columns), given row by row.

    The surface may fold. Both of its sides are drawn, and it does not hide what is behind it.
    """

    grid: tuple[int, int]
    draws = "mesh"
    counts_for_axes = "always"
    framed_by_cloud = True

    @property
    def triangles(self) -> Array:
        return grid_mesh(*self.grid)

    def check(self, scope: Scope) -> None:
        super().check(scope)
        cloud = scope.cloud(self.cloud)
        rows, columns = self.grid
        if rows * columns != len(cloud.points) or min(self.grid) < 2:
            wrong = f"{len(cloud.points)} points are not a grid of {rows} rows and {columns} columns"
            scope.refuse(
                wrong, "take rows and columns, at least 2 of each, whose product is the number of points"
            )


@dataclass(frozen=True, kw_only=True)
class Disc(PlaneInBall):
    """The disc in which a plane cuts the ball of radius `radius` around the origin.

    The plane is {x : f(x) = 0} for an affine function f. The cloud holds the numbers f(0), f(e₁), f(e₂) and
    f(e₃), where eᵢ is the i-th unit vector. corners: the number of points on the disc's edge.
    """

    draws = "mesh"

    @property
    def triangles(self) -> Array:
        return fan(self.corners)


@dataclass(frozen=True, kw_only=True)
class Labels(Mark):
    """The cloud's labels (`Cloud.labels`), each written at its point.

    Between two stages, labels that disappear fade out in the first half of the way, and labels that appear
    fade in during the second half. So a label that replaces another at its place is never written over it.
    """

    draws = "labels"
    counts_for_axes = "labels"
    framed_by_cloud = True

    def opacity_at(self, progress: float) -> float:
        """The opacity at a position between stages: fading out ends half way, fading in begins there."""
        stage, part = divmod(progress, 1)
        return min(map(super().opacity_at, (stage + max(0.0, 2 * part - 1), stage + min(1.0, 2 * part))))

    def check(self, scope: Scope) -> None:
        super().check(scope)
        if scope.cloud(self.cloud).labels is None:
            scope.refuse("its cloud has no labels", "give the cloud labels")

    def along_rays(self, points: Array) -> bool:
        return True


def fan(corners: int) -> Array:
    """The triangles of a disc, as indices of points: (corners, 3). Point 0 is the centre of the disc.

    The other points 1, …, corners + 1 are its edge; the last of them is the same place as the first.
    """
    edge = np.arange(1, corners + 1)
    return np.stack([np.zeros_like(edge), edge, edge + 1], axis=-1)


def check_affine(cloud: Cloud, scope: Scope) -> None:
    """Raise WrongRecipe unless the cloud can hold the values of an affine function (see `PlaneInBall`).

    It must have 3 or 4 points of one coordinate: the values at the origin and at 2 or 3 unit vectors.
    """
    shape = (len(cloud.points), cloud.widths[-1])
    if shape not in ((3, 1), (4, 1)):
        scope.refuse(
            f"its cloud has the shape {shape}", "take one number at the origin and one at each unit vector"
        )
