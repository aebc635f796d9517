"""Angles between vectors."""

import numpy as np
from jaxtyping import Float

Array = np.ndarray


def angles(a: Float[Array, "*n d"], b: Float[Array, "*n d"]) -> Float[Array, "*n"]:
    """The angle in radians between each vector of a and the same row of b; 0 for a zero vector.

    It is computed as 2·atan2(‖a/‖a‖ − b/‖b‖‖, ‖a/‖a‖ + b/‖b‖‖), which is accurate for small angles too.
    """
    a, b = (each / np.where(s := np.linalg.norm(each, axis=-1, keepdims=True), s, 1) for each in (a, b))
    turn = 2 * np.arctan2(np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1))
    return np.where(np.any(a, axis=-1) & np.any(b, axis=-1), turn, 0.0)


def to_mean_line(x: Float[Array, "*n d"]) -> Float[Array, "*n"]:
    """The angle in degrees, from 0 to 90, between x and the line along the all-ones vector 𝟏.

    It is acos(|Σxᵢ| / (√d·‖x‖)), and 90 for the zero vector.
    """
    length = np.linalg.norm(x, axis=-1)
    along = np.abs(x.sum(-1)) / np.where(length > 0, length * np.sqrt(x.shape[-1]), 1)
    return np.degrees(np.arccos(np.clip(along, 0, 1)))
