"""The plane in which an affine function x ↦ b + ⟨w, x⟩ is 0, as a disc that can be drawn."""

import numpy as np

from geometry.arrays import Array

MAX_UPRIGHT_COSINE = 0.95  # a direction whose angle to the third axis has a larger cosine counts as upright
DIRECTION_TOLERANCE = 1e-3  # relative to a distance; shorter vectors count as 0, without a direction
# coordinates of a unit vector that differ by less count as equal, so that rounding does not decide
TIE_TOLERANCE = 1e-6


def along(values: Array) -> tuple[float, Array]:
    """The signed distance of the plane {x : b + ⟨w, x⟩ = 0} from the origin, and its unit normal (3,).

    values (1 + d,): b + ⟨w, x⟩ at the origin and at the ends of the unit vectors, d = 2 or 3. The distance is
    positive if the plane lies in the direction of the normal. If w = 0, there is no plane: the
    distance is ∞, and the normal (0, 0, 1).
    """
    b, w = values[0], np.zeros(3)
    w[: len(values) - 1] = values[1:] - b
    size = float(np.linalg.norm(w))
    return (-float(b) / size, w / size) if size > 0 else (np.inf, np.array([0.0, 0.0, 1.0]))


def disc(values: Array, radius: float, corners: int) -> Array:
    """The disc in which the plane {x : b + ⟨w, x⟩ = 0} cuts the ball |x| ≤ radius: (corners + 2, 3).

    The points are the disc's centre, then its closed edge. values (1 + d,): the values of b + ⟨w, x⟩ at the
    origin and at the ends of the unit vectors, d = 2 or 3. For d = 2 the plane is parallel to the third
    axis. If the plane misses the ball, all points coincide.
    """
    away, normal = along(values)
    away = float(np.clip(away, -radius, radius))
    return facing(away * normal, normal, float(np.sqrt(radius**2 - away**2)), corners)


def edge_on(values: Array, eye: Array) -> Array:
    """The camera position nearest to `eye` (3,) from which a plane is seen edge-on.

    The plane is where an affine function is 0. values (1 + d,): the values of this function at the origin and
    at the ends of the unit vectors. The result lies in the plane, as far from the origin as `eye`.

    Let p be the point of the plane nearest to the origin. If the position were almost straight above or below
    p, the view would have no clear up direction, so a position at the height of p is returned. Returns `eye`
    itself if `eye` lies on the plane's normal through the origin, or if the plane is at least as far from
    the origin as `eye` is.
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
    """A disc (in 2D a segment) around the point `middle`, perpendicular to `normal`.

    In 3D the points are its centre, then its closed edge, (corners + 2, 3). In 2D they are its centre, then
    both ends, (3, 2). For radius 0 all points coincide.
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
