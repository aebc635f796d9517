"""The plane on which an affine function is 0, as a disc that can be drawn."""

import numpy as np

from geometry.arrays import Array

MAX_UPRIGHT_COSINE = 0.95  # cosine to the upright axis from which a direction counts as upright
DIRECTION_TOLERANCE = 1e-3  # relative to a distance; shorter vectors have no direction
# coordinates of a unit vector that differ by less are equal, so that rounding does not decide
TIE_TOLERANCE = 1e-6


def along(values: Array) -> tuple[float, Array]:
    """The distance of the plane from the origin along its unit normal, and the normal; ∞ if there is no
    plane.
    """
    b, w = values[0], np.zeros(3)
    w[: len(values) - 1] = values[1:] - b
    size = float(np.linalg.norm(w))
    return (-float(b) / size, w / size) if size > 0 else (np.inf, np.array([0.0, 0.0, 1.0]))


def disc(values: Array, radius: float, corners: int) -> Array:
    """The disc in which the plane {x : b + ⟨w, x⟩ = 0} cuts the ball |x| ≤ radius: its centre, then its
    closed edge.

    values (1 + d,): b + ⟨w, x⟩ at the origin and at the ends of the unit vectors, d = 2 or 3; in two
    dimensions the disc is upright. Returns (corners + 2, 3). For a plane that misses the ball, a single
    point.
    """
    away, normal = along(values)
    away = float(np.clip(away, -radius, radius))
    return facing(away * normal, normal, float(np.sqrt(radius**2 - away**2)), corners)


def edge_on(values: Array, eye: Array) -> Array:
    """The camera position from which the plane is seen edge-on, nearest to `eye` (3,).

    It has the same distance from the origin as `eye`. If it would be almost straight above the origin, where
    the up direction is undefined, a level position is taken instead. Returns `eye` itself if it lies on the
    normal or is nearer to the origin than the plane.
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
    """A disc (in 2D a segment) perpendicular to `normal` around a point; the point alone for radius 0.

    The centre, then in 2D the ends of a line (3, 2), in 3D the closed edge of a disc (corners + 2, 3).
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
