"""The plane on which an affine function vanishes, as a disc to be drawn."""

import numpy as np

from geometry.arrays import Array


def disc(values: Array, radius: float, corners: int) -> Array:
    """The disc that {x : b + ⟨w, x⟩ = 0} cuts from the ball |x| ≤ radius: its middle, then its edge, closed.

    values: of b + ⟨w, x⟩ at the origin and at the ends of the unit vectors, (1 + d,) with d = 2 or 3;
    in two dimensions the disc is upright. Gives (corners + 2, 3). A plane that misses the ball is one point.
    """
    b, w = values[0], np.zeros(3)
    w[: len(values) - 1] = values[1:] - b
    size = np.linalg.norm(w)
    normal = w / size if size > 0 else np.array([0.0, 0.0, 1.0])
    away = float(np.clip(-b / size if size > 0 else radius, -radius, radius))
    across = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    across /= np.linalg.norm(across)
    turn = np.linspace(0, 2 * np.pi, corners + 1)[:, None]
    edge = np.cos(turn) * across + np.sin(turn) * np.cross(normal, across)
    return away * normal + np.sqrt(radius**2 - away**2) * np.vstack([np.zeros((1, 3)), edge])
