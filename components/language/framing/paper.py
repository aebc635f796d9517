"""Projection onto the picture plane: where points appear, and the camera that makes given points fit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from components.language.recipe import View
from geometry.perspective import perspective, sides

Array = np.ndarray

# side of the 3D box divided by the side of the picture, so that points outside the picture are not cut off
BOX_TO_PICTURE = 2.25
EYE_DISTANCE = 3.3  # from the centre of the picture, in halves of its side
HALF_VIEW_TANGENT = np.tan(np.radians(22.5))  # half the width of Plotly's field of view at distance 1


def eye(camera: Sequence[float]) -> tuple[float, ...]:
    """The position of a camera that keeps the direction of `camera`, moved to the standard distance.

    The unit is the side of the 3D box, and the origin is the centre of this box. If `camera` has six numbers,
    the last three (the point that the camera looks at) are ignored.
    """
    away = np.asarray(camera[:3], float)
    return tuple((away * EYE_DISTANCE / (2 * BOX_TO_PICTURE) / np.linalg.norm(away)).tolist())


def eye_basis(away: Array) -> Array:
    """The camera's basis (3, 3): its orthonormal rows are the directions right, up, and towards the camera.

    away: the unit vector towards the camera.
    """
    return np.vstack([sides(-away), away])


def target_of(camera: Sequence[float]) -> Array:
    """The point (3,) that a camera looks at, in units of the box's side.

    camera: three numbers for the camera's position, then optionally three for the point. If there are only
    three numbers, the point is the origin.
    """
    return np.array([*camera[3:6]] or [0.0] * 3)


def on_paper(view: View, points: Array, camera: Sequence[float]) -> tuple[Array, Array]:
    """Project points of a view to the picture plane.

    Returns positions (N, 2) in the picture, whose sides are at −1 and 1 and whose second coordinate points
    upwards. Also returns the distances (N,) from the camera, which are 0 for a 2D view.
    """
    low, high = np.array(view.ranges, float).T
    scaled = (points - low) / (high - low) - 0.5  # in units of the axes, or of the cube's side
    if view.dims == 2:
        return 2 * scaled, np.zeros(len(points))
    flat, depth = perspective(scaled, np.array(camera[:3]), target_of(camera))
    return flat / HALF_VIEW_TANGENT, depth


def center_and_side(points: Array, fraction: float) -> tuple[Array, float]:
    """The centre (2,) and the side of a square around the points, for the axes of a 2D view.

    The width or the height of the points, whichever is larger, is `fraction` times the side.
    """
    low, high = points.min(0), points.max(0)
    return (low + high) / 2, float((high - low).max()) / fraction


def target_and_distance(points: Array, fraction: float) -> tuple[Array, float]:
    """The target (3,) and the distance of a camera whose picture shows the points at a given size.

    The width or the height of the points in the picture, whichever is larger, is `fraction` times the side of
    the picture. The points (N, 3) and the target are in camera coordinates: right, up, towards the camera.
    """
    # A point that is r to the right of the target, and c nearer to the camera, appears at
    # r/(distance − c)/tan, where tan is the tangent of half the field of view and the picture ends at ±1. So
    # it is between −fraction and +fraction if distance ≥ ±r/(fraction · tan) + c. These bounds, and those for
    # up and down, are linear. At the smallest distance that satisfies all of them, points touch two opposite
    # sides of the square whose sides are at ±fraction.
    across, depth = points[:, :2] / (fraction * HALF_VIEW_TANGENT), points[:, 2:]
    left, right, near = (depth - across).max(0), (depth + across).max(0), (depth.min() + depth.max()) / 2
    middle = np.array([*(fraction * HALF_VIEW_TANGENT * (right - left) / 2), near])
    return middle, float((left + right).max() / 2 - near)
