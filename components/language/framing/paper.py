"""The picture plane: where points of a view are on the paper, and from where an eye has to look."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from components.language.recipe import View
from geometry.perspective import perspective, sides

Array = np.ndarray

BOX_TO_PICTURE = (
    2.25  # side of a 3D box over side of the picture: points that leave the picture are not cut off
)
EYE_DISTANCE = 3.3  # from the middle of the picture, in halves of the picture's side
HALF_VIEW_TANGENT = np.tan(np.radians(22.5))  # half the width that Plotly's perspective sees at distance 1


def eye(camera: Sequence[float]) -> tuple[float, ...]:
    """The eye in a direction, in units of the box's side, at the distance for which views are framed."""
    away = np.asarray(camera[:3], float)
    return tuple((away * EYE_DISTANCE / (2 * BOX_TO_PICTURE) / np.linalg.norm(away)).tolist())


def eye_basis(away: Array) -> Array:
    """(3, 3) orthonormal rows: right, up, and towards an eye in this direction."""
    return np.vstack([sides(-away), away])


def target_of(camera: Sequence[float]) -> Array:
    """(3,): the point that a camera looks at, in units of the box's side."""
    return np.array([*camera[3:6]] or [0.0] * 3)


def on_paper(view: View, points: Array, camera: Sequence[float]) -> tuple[Array, Array]:
    """Project points of a view onto the paper.

    Returns (N, 2) positions on a square whose sides are at −1 and 1, the second number upwards, and (N,)
    distances from the eye (0 for a 2D view).
    """
    low, high = np.array(view.ranges, float).T
    scaled = (points - low) / (high - low) - 0.5  # the axes, or the cube, 1 wide
    if view.dims == 2:
        return 2 * scaled, np.zeros(len(points))
    flat, depth = perspective(scaled, np.array(camera[:3]), target_of(camera))
    return flat / HALF_VIEW_TANGENT, depth


def middle_and_width(points: Array, fraction: float) -> tuple[Array, float]:
    """In a plane: the middle of points, and the width of axes of which they take a fraction."""
    low, high = points.min(0), points.max(0)
    return (low + high) / 2, float((high - low).max()) / fraction


def target_and_distance(points: Array, fraction: float) -> tuple[Array, float]:
    """In space: the target, and the distance of the eye, for which points take a fraction of the paper.

    The points are in the coordinates of the eye (right, up, towards it). One at (a, c), a to the right and c
    nearer, is seen at a/(distance − c)/tan. So it is inside where distance ≥ ±a/(fraction · tan) + c, which
    is linear in all: the distance is least where points touch both sides.
    """
    across, depth = points[:, :2] / (fraction * HALF_VIEW_TANGENT), points[:, 2:]
    left, right, near = (depth - across).max(0), (depth + across).max(0), (depth.min() + depth.max()) / 2
    middle = np.array([*(fraction * HALF_VIEW_TANGENT * (right - left) / 2), near])
    return middle, float((left + right).max() / 2 - near)
