"""Angles between vectors."""

import numpy as np
from jaxtyping import Float

from geometry.sphere import to_sphere

Array = np.ndarray


def angles(a: Float[Array, "*n d"], b: Float[Array, "*n d"]) -> Float[Array, "*n"]:
    """The angle in radians between each row of a and the same row of b; 0 where either is the zero vector.

    It is 2·atan2(‖u − v‖, ‖u + v‖), where u and v are a and b scaled to length 1. So small angles are
    accurate too, as are those between very short or very long vectors.
    """
    a, b = to_sphere(a), to_sphere(b)
    turn = 2 * np.arctan2(np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1))
    return np.where(np.any(a, axis=-1) & np.any(b, axis=-1), turn, 0.0)


def to_mean_line(x: Float[Array, "*n d"]) -> Float[Array, "*n"]:
    """The angle in degrees, from 0 to 90, between x and the line along the all-ones vector 𝟏.

    It is acos(|Σxᵢ| / (√d·‖x‖)), and 90 for the zero vector.
    """
    length = np.linalg.norm(x, axis=-1)
    along = np.abs(x.sum(-1)) / np.where(length > 0, length * np.sqrt(x.shape[-1]), 1)
    return np.degrees(np.arccos(np.clip(along, 0, 1)))
