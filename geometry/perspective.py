"""Perspective (central) projection. https://en.wikipedia.org/wiki/3D_projection#Perspective_projection"""

from __future__ import annotations

import math

import numpy as np

Array = np.ndarray

MIN_EYE_DISTANCE = 1e-3  # what is nearer than this, or behind the eye, counts as so near


def sides(forward: Array) -> Array:
    """Two unit vectors (2, 3) across a direction: to the right, and up. The third axis is up; from straight
    above, the first is to the right."""
    x, y, z = map(float, forward)
    far = math.hypot(x, y)
    a, b = (y / far, -x / far) if far > 0 else (1.0, 0.0)  # (x, y, z) × (0, 0, 1), as long as 1
    return np.array([[a, b, 0.0], [b * z, -a * z, a * y - b * x]])


def perspective(points: Array, eye: Array, center: Array) -> tuple[Array, Array]:
    """Of points (N, 3): to the right and up, as tangents of angles (N, 2); how far they are in front (N,).

    ⟨x − eye, side⟩ / depth, depth = ⟨x − eye, forward⟩. Raises ValueError for an eye at what it looks at.
    """
    eye, way = np.asarray(eye, float), np.asarray(center, float) - np.asarray(eye, float)
    far = math.sqrt(way @ way)
    if not far > 0:
        raise ValueError("the eye is where it looks: move it away")
    forward, away = way / far, points - eye
    depth = np.maximum(away @ forward, MIN_EYE_DISTANCE)
    return away @ sides(forward).T / depth[..., None], depth
