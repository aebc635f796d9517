"""Arrow heads at the ends of lines. The drawing engine in the browser mirrors this file."""

import numpy as np

Array = np.ndarray
HEAD_WIDTH = 0.4  # half width of a head, in units of its length
MIN_LEG = 1e-3  # relative to a head's length; the direction of a shorter segment is due to rounding
# a bound for the cosine of an arrow's angle to the third axis; above it, the first two barbs in 3D spread
# sideways perpendicular to the first axis, otherwise to the third
STEEP_COSINE = 0.9
HEAD = {"width": HEAD_WIDTH, "least": MIN_LEG, "steep": STEEP_COSINE}  # sent to the browser


def with_heads(points: Array, length: float) -> Array:
    """Add an arrow head to the end of each piece of a line (M, k) in 2 or 3 dimensions; NaN separates pieces.

    A head has two barbs in 2D, four in 3D. Its tip is the last point of the piece; from there the line goes
    on to the end of each barb, and between barbs back to the tip. Barbs reach back by `length`, but at most
    by half the length of the piece. If the points of a piece (nearly) coincide, all barbs are at the tip.
    """
    pieces = np.split(points, np.flatnonzero(np.isnan(points[:, 0])))
    return np.concatenate([np.vstack([piece, head(piece, length)]) for piece in pieces])


def head(piece: Array, length: float) -> Array:
    """The points to append to one piece of a line to draw its arrow head: barb, tip, barb …

    The piece may begin with a gap (NaN). The result is empty if the piece has no points. length: how far
    the barbs reach back; if this is more than half the length of the piece, this half is used.
    """
    points = piece[~np.isnan(piece[:, 0])]
    if not len(points):
        return points
    legs = np.diff(points, axis=0)
    lengths = np.linalg.norm(legs, axis=1)
    moved = np.flatnonzero(lengths > MIN_LEG * length)
    back = 0 * points[-1]
    if moved.size:
        back = min(length, lengths.sum() / 2) * legs[moved[-1]] / lengths[moved[-1]]
    tip = points[-1]
    barbs = [tip - back + HEAD_WIDTH * side for side in sides(back)]
    return np.array([corner for barb in barbs for corner in (barb, tip)][:-1])


def sides(back: Array) -> list[Array]:
    """Vectors perpendicular to `back` (k,) and as long as it: two in the plane, four in space."""
    if len(back) == 2:
        turned = np.array([-back[1], back[0]])
        return [turned, -turned]
    size = float(np.linalg.norm(back)) or 1.0
    across = np.cross(back, np.eye(3)[0 if abs(back[2]) > STEEP_COSINE * size else 2])
    first = size * across / (float(np.linalg.norm(across)) or 1.0)
    second = np.cross(back, first) / size
    return [first, -first, second, -second]
