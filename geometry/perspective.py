"""Perspective (central) projection. https://en.wikipedia.org/wiki/3D_projection#Perspective_projection"""

from __future__ import annotations

import math

import numpy as np

Array = np.ndarray

# smallest depth in front of the eye; nearer points and points behind the eye count as this near
MIN_EYE_DISTANCE = 1e-3


def sides(forward: Array) -> Array:
    """Two unit vectors (2, 3) that point right and up in a view along the unit vector `forward` (3,).

    The third axis of space points up. In a view from straight above or below, right is the first axis.
    """
    x, y, z = map(float, forward)
    horizontal = math.hypot(x, y)
    # (x, y, z) × (0, 0, 1), normalised
    a, b = (y / horizontal, -x / horizontal) if horizontal > 0 else (1.0, 0.0)
    return np.array([[a, b, 0.0], [b * z, -a * z, a * y - b * x]])


def perspective(points: Array, eye: Array, center: Array) -> tuple[Array, Array]:
    """Perspective projection of points x (N, 3), as seen by an eye that looks at `center`.

    Returns positions in the picture (N, 2), and depths (N,). The depth of x is ⟨x − eye, forward⟩, but at
    least MIN_EYE_DISTANCE; the unit vector forward points from eye to center. The position is
    (⟨x − eye, right⟩ / depth, ⟨x − eye, up⟩ / depth), with right and up from `sides`: the tangents of the
    angles to the right and up. Raises ValueError if the eye is at `center`.
    """
    eye, to_center = np.asarray(eye, float), np.asarray(center, float) - np.asarray(eye, float)
    distance = math.sqrt(to_center @ to_center)
    if not distance > 0:
        raise ValueError("the eye is where it looks: move it away")
    forward, from_eye = to_center / distance, points - eye
    depth = np.maximum(from_eye @ forward, MIN_EYE_DISTANCE)
    return from_eye @ sides(forward).T / depth[..., None], depth
