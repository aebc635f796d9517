"""The convex hull of points, computed by Qhull: its vertices, and its boundary for drawing.

Points may coincide, or lie on a line or in a plane, because everything is computed in the smallest affine
subspace that contains them. All functions raise ValueError unless points are finite numbers of the given
shape.
"""

from dataclasses import dataclass

import numpy as np
import scipy  # its submodules are imported when they are used
from jaxtyping import Float, Int

from geometry.arrays import Numbers, real

Array = np.ndarray
FLATNESS_TOLERANCE = 1e-10  # relative to the size of the set of points; a smaller extent is a rounding error


def vertices(points: Float[Array, "n d"]) -> Int[Array, "k"]:
    """The indices, ascending, of the points that are not a convex combination of the other distinct points.

    If several points coincide at a vertex, the indices of all of them are returned.
    """
    distinct, copy_of = np.unique(_checked(points), axis=0, return_inverse=True)
    if not len(distinct):
        return np.arange(0)
    return np.flatnonzero(np.isin(copy_of.ravel(), _corners(_flat(distinct))))


def polygon(points: Float[Array, "n 2"]) -> Int[Array, "k"]:
    """The indices of the hull's vertices for points in the plane, counterclockwise, one index per vertex.

    There are fewer than three if the points are collinear.
    """
    points = _checked(points, d=2)
    _, first = np.unique(points, axis=0, return_index=True)
    corners = np.intersect1d(vertices(points), first)
    away = points[corners] - points[corners].mean(axis=0) if len(corners) else points[corners]
    return corners[np.argsort(np.arctan2(away[:, 1], away[:, 0]), kind="stable")]


def outline(points: Float[Array, "n d"]) -> Int[Array, " m"]:
    """Indices of the points in the order in which a line joins them to draw their hull; −1 is a gap.

    The hull is drawn as a segment, a polygon, or all edges of a polyhedron whose faces are cut into
    triangles. The result is empty if there are no points or all coincide. Raises ValueError if the points
    span more than three dimensions.
    """
    points = _checked(points)
    flat = _flat(points) if len(points) else None
    if flat is None or flat.dimension == 0:
        return np.arange(0)
    if flat.dimension == 1:
        return np.array([np.argmin(flat.coordinates), np.argmax(flat.coordinates)])
    if flat.dimension == 2:
        around = polygon(flat.coordinates)
        return np.append(around, around[0])
    corners = triangles(flat.coordinates)
    edges = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
    each = edges[edges[:, 0] < edges[:, 1]]  # each edge is in two triangles, once in each direction
    return np.column_stack([each, np.full(len(each), -1)]).reshape(-1)


def triangles(points: Float[Array, "n 3"]) -> Int[Array, "faces 3"]:
    """Triangles of the surface of a hull in space: indices of corners, counterclockwise seen from outside.

    For coplanar points the triangles fill their polygon, and all meet at its corner with the smallest index.
    For collinear points there are none.
    """
    points = _checked(points, d=3)
    flat = _flat(points) if len(points) else None
    if flat is None or flat.dimension < 2:
        return np.zeros((0, 3), dtype=int)
    if flat.dimension == 2:
        around = polygon(flat.coordinates)
        first, *rest = np.roll(around, -np.argmin(around))
        return np.column_stack([np.full(len(rest) - 1, first), rest[:-1], rest[1:]])
    hull = scipy.spatial.ConvexHull(flat.coordinates)
    a, b, c = np.moveaxis(points[hull.simplices], 1, 0)
    outward = np.sum(np.cross(b - a, c - a) * (a - points[hull.vertices].mean(axis=0)), axis=-1) > 0
    return np.where(outward[:, None], hull.simplices, hull.simplices[:, ::-1])


@dataclass(frozen=True, eq=False)
class _Flat:
    """Points as coordinates (n, r) in the smallest affine subspace that contains them, which has dimension r.

    The axes are the principal axes; `widths` (r,) says how widely the points spread along each.
    rounding: the tolerance for rounding errors of these coordinates.
    """

    coordinates: Array
    widths: Array
    rounding: float

    @property
    def dimension(self) -> int:
        return self.coordinates.shape[1]


def _flat(points: Array) -> _Flat:
    away = points - points.mean(axis=0)
    _, sizes, directions = np.linalg.svd(away, full_matrices=False)
    size = float(np.max(np.linalg.norm(away, axis=-1)))
    rounding = FLATNESS_TOLERANCE * size + 8 * float(np.finfo(float).eps) * float(
        np.max(np.abs(points), initial=0)
    )
    spanned = sizes > rounding * np.sqrt(len(points))
    return _Flat(away @ directions[spanned].T, sizes[spanned], rounding)


def _faces(flat: _Flat) -> tuple[Array, Array, Array]:
    """The faces of the hull as unit normals (F, r) and offsets (F,), and the indices of its vertices.

    A point x is inside the hull if normals·x + offsets ≤ 0. The indices may include points that are no
    vertices.
    """
    x, r = flat.coordinates, flat.dimension
    if r == 0:
        return np.zeros((0, 0)), np.zeros(0), np.arange(len(x))
    if r == 1:
        ends = np.asarray([np.argmax(x), np.argmin(x)])
        return np.asarray([[1.0], [-1.0]]), np.asarray([-np.max(x), np.min(x)]), ends
    hull = scipy.spatial.ConvexHull(x)
    return hull.equations[:, :-1], hull.equations[:, -1], hull.vertices


def _corners(flat: _Flat) -> Array:
    """The indices of the hull's vertices.

    A point is a vertex, rather than inside an edge or face, if the normals of its faces span all directions.
    The normals are compared in coordinates in which the points spread equally widely along all axes, because
    the faces of a thin set are nearly parallel.
    """
    normals, offsets, candidates = _faces(flat)
    scaled = normals * flat.widths
    scaled /= np.linalg.norm(scaled, axis=-1, keepdims=True)
    on = np.abs(flat.coordinates[candidates] @ normals.T + offsets) <= flat.rounding
    independent = 1e-7  # sine of the angle between normals; faces at a smaller angle are one face
    faces, full = on.sum(axis=-1), np.zeros(len(on), dtype=bool)
    for count in np.unique(faces):  # all points with the same number of faces at once
        some = faces == count
        own = np.nonzero(on[some])[1].reshape(some.sum(), count)
        full[some] = np.linalg.matrix_rank(scaled[own], tol=independent) == flat.dimension
    return candidates[full]


def _checked(points: Numbers, d: int | None = None) -> Array:
    points = np.asarray(real(points), dtype=np.float64)
    if points.ndim != 2 or d not in (None, points.shape[1]) or not np.isfinite(points).all():
        raise ValueError(f"a hull needs finite points (n, {d or 'd'}): got shape {points.shape}")
    return points
