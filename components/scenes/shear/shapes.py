"""Points and lines of the scene `shear`: the halves of the sphere, and the faces of the cube.

A line is a pair (points (N, 3), order (M,)). The order has the indices of the points along the line, and −1
for each gap.
"""

from collections.abc import Sequence

import numpy as np

from geometry.clouds import joined, lattice, segments

Array = np.ndarray


def half_lattice(signs: Sequence[int]) -> Array:
    """Points of the unit sphere whose projections to the plane z = 0 form a lattice in the unit disc.

    `signs` says on which side of this plane the points lie: [1] above, [−1] below, [1, −1] both.
    """
    flat = 0.29 * lattice(49, 2, half=3)
    flat = flat[(flat**2).sum(-1) < 0.9]
    height = np.sqrt(1 - (flat**2).sum(-1))
    return np.concatenate([np.column_stack([flat, sign * height]) for sign in signs])


def half_net(sign: int) -> tuple[Array, Array]:
    """Lines of constant x and of constant y in the unit disc, lifted along z to half of the unit sphere.

    `sign` is 1 for the upper half of the sphere, −1 for the lower half. Returns the points and the order in
    which a line joins them.
    """
    k, t = np.meshgrid(np.linspace(-0.87, 0.87, 7), np.linspace(-np.pi / 2, np.pi / 2, 49), indexing="ij")
    along, z = np.sqrt(1 - k**2) * np.sin(t), sign * np.sqrt(1 - k**2) * np.cos(t)
    points = np.stack([np.stack([k, along, z], -1), np.stack([along, k, z], -1)])
    return points.reshape(-1, 3), joined([k.shape[1]] * (2 * len(k)))


def face_net(half: float, sign: int) -> tuple[Array, Array]:
    """The grid lines of the face z = sign·half of the cube [−half, half]³, as one line with gaps.

    `sign` is 1 for the upper face, −1 for the lower one. Returns the points, and the order in which the line
    joins them: indices of points, −1 for gaps.
    """
    ends = np.stack(np.broadcast_arrays(np.linspace(-1, 1, 7)[:, None], [-1, 1], sign), -1)
    return segments(half * np.concatenate([ends, ends[..., [1, 0, 2]]]))


def side(line: tuple[Array, Array], axis: int, sign: int) -> Array:
    """The part of a line on one side of a coordinate plane, as an order: indices of points, −1 for gaps.

    A point is kept if its coordinate with the index `axis` has the given sign, or is 0. Otherwise −1 takes
    its place. line: (points (N, 3), order (M,)).
    """
    points, order = line
    rounding = 1e-9  # largest distance of points that count as on the plane
    return np.where(sign * points[order, axis] > -rounding, order, -1)
