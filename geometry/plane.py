"""The plane on which an affine function vanishes, as a disc to be drawn."""

import numpy as np

from geometry.arrays import Array

MAX_UPRIGHT_COSINE = 0.95  # of its length: how much of a direction may be upright
DIRECTION_TOLERANCE = 1e-3  # of a distance: what is less has no direction
TIE_TOLERANCE = 1e-6  # between coordinates of a unit vector: rounding does not choose the smallest


def along(values: Array) -> tuple[float, Array]:
    """The distance of such a plane from the origin along its unit normal, and that; ∞: no number is 0."""
    b, w = values[0], np.zeros(3)
    w[: len(values) - 1] = values[1:] - b
    size = float(np.linalg.norm(w))
    return (-float(b) / size, w / size) if size > 0 else (np.inf, np.array([0.0, 0.0, 1.0]))


def disc(values: Array, radius: float, corners: int) -> Array:
    """The disc that {x : b + ⟨w, x⟩ = 0} cuts from the ball |x| ≤ radius: its middle, then its edge, closed.

    values: of b + ⟨w, x⟩ at the origin and at the ends of the unit vectors, (1 + d,) with d = 2 or 3;
    in two dimensions the disc is upright. Gives (corners + 2, 3). A plane that misses the ball is one point.
    """
    away, normal = along(values)
    away = float(np.clip(away, -radius, radius))
    return facing(away * normal, normal, float(np.sqrt(radius**2 - away**2)), corners)


def edge_on(values: Array, eye: Array) -> Array:
    """The eye on that plane which is nearest to an eye (3,), as far from the origin: from there it is a line.

    An eye upright above the origin knows no up, so one nearly so gives way to a level one. An eye that has
    none near it, on the normal or nearer to the origin than the plane, stays.
    """
    far, (away, normal) = float(np.linalg.norm(eye)), along(values)
    flat = eye - (eye @ normal) * normal
    if abs(flat[2]) > MAX_UPRIGHT_COSINE * np.linalg.norm(flat):
        level = np.array([-normal[1], normal[0], 0.0])
        flat = level * np.where(level @ eye < 0, -1, 1)
    length = float(np.linalg.norm(flat))
    if not (length > DIRECTION_TOLERANCE * far and abs(away) < far):
        return eye
    return away * normal + np.sqrt(far**2 - away**2) / length * flat


def facing(middle: Array, normal: Array, radius: float, corners: int) -> Array:
    """A disc (2D: a segment) at right angles to `normal` around a point; the point alone for radius 0.

    The point, then in 2D the ends of a line, (3, 2), in 3D the edge of a disc, closed, (corners + 2, 3).
    """
    unit = normal / (float(np.linalg.norm(normal)) or 1.0)
    if len(normal) == 2:
        side = np.array([-unit[1], unit[0]])
        return middle + radius * np.stack([0 * side, -side, side])
    sizes = np.abs(unit)
    across = np.cross(unit, np.eye(3)[np.argmax(sizes <= sizes.min() + TIE_TOLERANCE)])
    across /= float(np.linalg.norm(across)) or 1.0
    turn = np.linspace(0, 2 * np.pi, corners + 1)[:, None]
    edge = np.cos(turn) * across + np.sin(turn) * np.cross(unit, across)
    return middle + radius * np.vstack([np.zeros((1, 3)), edge])
