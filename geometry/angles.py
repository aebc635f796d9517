"""The angle between vectors."""

import numpy as np
from jaxtyping import Float

Array = np.ndarray


def angles(a: Float[Array, "*n d"], b: Float[Array, "*n d"]) -> Float[Array, "*n"]:
    """2·atan2(‖a/‖a‖ − b/‖b‖‖, ‖a/‖a‖ + b/‖b‖‖), in radians: exact for small ones too; 0 to a zero vector."""
    a, b = (each / np.where(s := np.linalg.norm(each, axis=-1, keepdims=True), s, 1) for each in (a, b))
    turn = 2 * np.arctan2(np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1))
    return np.where(np.any(a, axis=-1) & np.any(b, axis=-1), turn, 0.0)
