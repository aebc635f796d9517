"""Projection of a view to a picture: positions in pixels, distances from the camera, and hidden points."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from components.language.framing.paper import on_paper
from components.language.recipe import View

Array = np.ndarray
Size = tuple[float, float]  # width and height, pixels

MARGIN_PX = 24  # pixels around the axes of a 2D view, both sides together
EDGE_PX = 12  # pixels that a 3D view keeps free with its default camera
MIN_SHRINK = 0.6  # smallest scale; points that are still outside are cut off
# points that are behind a surface by at most this share of their distance count as on the surface
TOUCHING_FRACTION = 1e-3
POINTS_PER_BATCH = 32  # points compared with all triangles at once, small enough for the processor's cache


def paper(view: View, box: Size) -> Size:
    """The size in pixels of a view that is drawn in a box of size `box`.

    For a 3D view this is the whole box, for a 2D view the rectangle that its axes enclose.
    """
    if view.dims == 3:
        return box
    low, high = np.array(view.ranges, float).T
    size = np.array(box, float) - MARGIN_PX
    width, height = (size / (high - low)).min() * (high - low) if view.equal else size
    return float(width), float(height)


def project(view: View, points: Array, camera: Sequence[float], size: Size) -> tuple[Array, Array]:
    """Picture positions of points, and their distances from the camera (0 in a 2D view).

    The positions (N, 2) are in pixels from the centre of the picture, to the right and downwards.
    """
    flat, depth = on_paper(view, points, camera)
    half = np.array(size if view.dims == 2 else [min(size)] * 2) / 2
    return flat * half * [1, -1], depth


def fitting(pixels: Sequence[Array], size: Size) -> float:
    """The largest scale, from MIN_SHRINK to 1, at which all points are inside a picture of size `size`.

    Inside means at least EDGE_PX from the edge. The result is MIN_SHRINK also if some points are then still
    outside. pixels: for each mark, the positions (N, 2) of its points from the centre of the picture.
    """
    reach = np.max([np.ones(2), *(np.nanmax(np.abs(each), axis=0, initial=1) for each in pixels)], axis=0)
    return float(np.clip(((np.array(size) / 2 - EDGE_PX) / reach).min(), MIN_SHRINK, 1))


def middle(view: View, camera: Sequence[float]) -> float:
    """The distance from the camera to the centre of a 3D view's axes; 1 for a 2D view."""
    center = np.mean(view.ranges, axis=1, dtype=float)[None]
    return float(project(view, center, camera, (1.0, 1.0))[1][0]) if view.dims == 3 else 1.0


def triangles_before(
    pixels: Array, depth: Array, corners: Array, depths: Array, *, touching: float = TOUCHING_FRACTION
) -> Array:
    """For each point, the number of triangles that are between it and the camera.

    pixels    (N, 2) the positions of the points in the picture
    depth     (N,) their distances from the camera
    corners   (F, 3, 2) the positions of the triangles' corners in the picture
    depths    (F, 3) the distances of these corners from the camera
    touching  a tolerance. A triangle counts only if the point's distance from the camera is more than
              (1 + `touching`) times the triangle's distance. So a point on a triangle is not behind it
    """
    a, u, v = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    area = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
    a, u, v, near, area, x = (each[area != 0] for each in (a, u, v, 1 / depths, area, corners[..., 0]))
    left, right = x.min(1), x.max(1)
    # The barycentric coordinates of each triangle and 1/distance are affine functions of the position (x, y)
    # on paper: these are their coefficients of x, y and 1.
    along_u = np.stack([v[:, 1], -v[:, 0], a[:, 1] * v[:, 0] - a[:, 0] * v[:, 1]]) / area
    along_v = np.stack([-u[:, 1], u[:, 0], a[:, 0] * u[:, 1] - a[:, 1] * u[:, 0]]) / area
    closeness = along_u * (near[:, 1] - near[:, 0]) + along_v * (near[:, 2] - near[:, 0])
    closeness[2] += near[:, 0]
    places, count = np.column_stack([pixels, np.ones(len(pixels))]), np.zeros(len(pixels), int)
    order = np.argsort(pixels[:, 0])  # so that few triangles reach into the strip of a batch
    for start in range(0, len(order), POINTS_PER_BATCH):
        batch = order[start : start + POINTS_PER_BATCH]
        here = places[batch]
        there = ~((right < here[0, 0]) | (left > here[-1, 0]))  # all triangles, if the last point is NaN
        s, t = here @ along_u[:, there], here @ along_v[:, there]
        point, triangle = np.nonzero((s >= 0) & (t >= 0) & (s + t <= 1))
        over = (here[point] * closeness[:, there][:, triangle].T).sum(1)
        hidden = over * depth[batch[point]] > 1 + touching
        count[batch] = np.bincount(point[hidden], minlength=len(here))
    return count


def behind(pixels: Array, depth: Array, corners: Array, depths: Array) -> Array:
    """A mask (N,) of the points that are hidden by at least one triangle.

    pixels, depth: the points' positions (N, 2) in the picture, and their distances (N,) from the camera.
    corners, depths: the positions (F, 3, 2) and the distances (F, 3) of the corners of the triangles.
    """
    return triangles_before(pixels, depth, corners, depths) > 0
