"""A view on flat paper: where its points fall, how far they are from the eye, what stands before them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from components.language.framing import on_paper
from components.language.recipe import View

Array = np.ndarray
Size = tuple[float, float]  # width and height, pixels

MARGIN = 24  # pixels around the axes of a 2D view, both sides together
EDGE = 12  # pixels that a 3D view keeps free where nobody has chosen its camera
SMALLEST = 0.6  # of its size: a point farther out than that is cut off rather
TOUCHING = 1e-3  # of a distance: what is no farther behind a surface than this lies on it
AT_ONCE = 128  # points, compared with all triangles


def paper(view: View, box: Size) -> Size:
    """The part of its box that a view fills: of a 2D view the axes."""
    if view.dims == 3:
        return box
    low, high = np.array(view.ranges, float).T
    size = np.array(box, float) - MARGIN
    width, height = (size / (high - low)).min() * (high - low) if view.equal else size
    return float(width), float(height)


def project(view: View, points: Array, camera: Sequence[float], size: Size) -> tuple[Array, Array]:
    """Pixels around the middle, downwards, and distance from the eye (0 for a 2D view)."""
    flat, depth = on_paper(view, points, camera)
    half = np.array(size if view.dims == 2 else [min(size)] * 2) / 2
    return flat * half * [1, -1], depth


def fitting(pixels: Sequence[Array], size: Size) -> float:
    """How much smaller a picture has to be for all of its points to be on the paper; 1 where they are."""
    reach = np.max([np.ones(2), *(np.nanmax(np.abs(each), axis=0, initial=1) for each in pixels)], axis=0)
    return float(np.clip(((np.array(size) / 2 - EDGE) / reach).min(), SMALLEST, 1))


def middle(view: View, camera: Sequence[float]) -> float:
    """How far the middle of a 3D view's axes is from the eye; 1 for a 2D view."""
    center = np.mean(view.ranges, axis=1, dtype=float)[None]
    return float(project(view, center, camera, (1.0, 1.0))[1][0]) if view.dims == 3 else 1.0


def layers(
    pixels: Array, depth: Array, corners: Array, depths: Array, *, touching: float = TOUCHING
) -> Array:
    """Behind how many triangles each point is: corners (F, 3, 2) in pixels, depths (F, 3) of them."""
    a, u, v = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    area = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
    a, u, v, near, area = (each[area != 0] for each in (a, u, v, 1 / depths, area))
    counts = []
    for start in range(0, len(pixels), AT_ONCE):
        x, y = np.moveaxis(pixels[start : start + AT_ONCE, None] - a, -1, 0)
        s, t = (x * v[:, 1] - y * v[:, 0]) / area, (y * u[:, 0] - x * u[:, 1]) / area
        over = (1 - s - t) * near[:, 0] + s * near[:, 1] + t * near[:, 2]  # 1/distance is linear on paper
        here = depth[start : start + AT_ONCE, None]
        counts.append(((s >= 0) & (t >= 0) & (s + t <= 1) & (over * here > 1 + touching)).sum(1))
    return np.concatenate([np.zeros(0, int), *counts])


def behind(pixels: Array, depth: Array, corners: Array, depths: Array) -> Array:
    """Which points some triangle hides."""
    return layers(pixels, depth, corners, depths) > 0
