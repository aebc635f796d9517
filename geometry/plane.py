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
    return facing(away * normal, normal, float(np.sqrt(radius**2 - away**2)), corners)


def facing(middle: Array, normal: Array, radius: float, corners: int) -> Array:
    """What is at right angles to `normal` around a point, within a radius; the point alone where that is 0.

    The point, then in 2D the ends of a line, (3, 2), in 3D the edge of a disc, closed, (corners + 2, 3).
    """
    unit = normal / (float(np.linalg.norm(normal)) or 1.0)
    if len(normal) == 2:
        side = np.array([-unit[1], unit[0]])
        return middle + radius * np.stack([0 * side, -side, side])
    across = np.cross(unit, np.eye(3)[np.argmin(np.abs(unit))])
    across /= float(np.linalg.norm(across)) or 1.0
    turn = np.linspace(0, 2 * np.pi, corners + 1)[:, None]
    edge = np.cos(turn) * across + np.sin(turn) * np.cross(unit, across)
    return middle + radius * np.vstack([np.zeros((1, 3)), edge])
