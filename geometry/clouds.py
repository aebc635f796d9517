"""Sample points, meshes and lines for drawing.

A mesh is (vertices (N, d), triangles (F, 3)), where a triangle lists the indices of its three vertices. A
line is (points (N, d), order (M,)), where the order lists the indices of the points to join, and −1 is a gap.
All functions are deterministic: random ones take a seed.
"""

from collections.abc import Sequence
from itertools import combinations, product

import numpy as np
from scipy import special

Array = np.ndarray


def gaussian(n: int, d: int, *, seed: int) -> Array:
    """n standard normal vectors (n, d)."""
    return np.random.default_rng(seed).standard_normal((n, d))


def lattice(n: int, d: int, *, half: float = 1.5) -> Array:
    """The points of the largest cubic lattice in [−half, half]ᵈ that has at most n points.

    It has at least 2 points along each axis, so for small n it can have more than n points.
    """
    side = max(2, int(np.floor(n ** (1 / d) + 1e-9)))
    axis = np.linspace(-half, half, side)
    return np.stack(np.meshgrid(*[axis] * d, indexing="ij"), axis=-1).reshape(-1, d)


def ring(
    n: int, u: Array, v: Array, *, radius: float = 1.0, center: Array | float = 0.0, start: float = 0.0
) -> Array:
    """n evenly spaced points of the circle center + radius (cos θ u + sin θ v), for orthonormal u, v (d,).

    `start` says where the first point lies: how far from the direction u, in units of the distance between
    neighbouring points.
    """
    # degrees, so that cos and sin are exactly 0 for points on u or v
    degrees = 360 * (np.arange(n) + start) / n
    return center + radius * (np.outer(special.cosdg(degrees), u) + np.outer(special.sindg(degrees), v))


def golden(n: int) -> Array:
    """n evenly spread points (n, 3) of the unit 2-sphere, on a spiral from top to bottom.

    Each point is 2/n lower than the point before, and turned by the golden angle around the vertical axis.
    """
    k = np.arange(n) + 0.5
    height, turn = 1 - 2 * k / n, np.pi * (3 - np.sqrt(5)) * k
    across = np.sqrt(1 - height**2)
    return np.stack([across * np.cos(turn), across * np.sin(turn), height], -1)


def closed(n: int) -> Array:
    """The order in which to join n points to a closed line: 0, 1, …, n − 1, 0."""
    return np.append(np.arange(n), 0)


def numbers(reach: float, even: int) -> tuple[Array, Array]:
    """The interval [−reach, reach] as a line that is interrupted at 0: points (N, 1), and their order.

    The order lists the indices of the points from left to right. It has −1, a gap, in place of the point 0.
    reach: at least 1. even: the number of evenly spaced points, which come first; it must be odd, so that 0
    is one of them. The other points are denser near 0.
    """
    fine = np.concatenate([np.geomspace(1e-4, 1, 120), np.linspace(1, reach, 60)])
    x = np.concatenate([np.linspace(-reach, reach, even), -fine, fine])
    order = np.argsort(x)
    return x[:, None], np.where(x[order] == 0, -1, order)


def circle(n: int, u: Array, v: Array, *, radius: float = 1.0) -> tuple[Array, Array]:
    """A circle around the origin in the plane of u and v, as a closed line: points (n, d), order (n + 1,)."""
    return ring(n, u, v, radius=radius), closed(n)


def turned(shape: tuple[Array, Array], matrix: Array) -> tuple[Array, Array]:
    """Apply x ↦ x @ matrix to the points of `shape`, a mesh or line; its triangles or order stay the same."""
    return shape[0] @ matrix, shape[1]


def cube_edges(*, low: float = -1.0, high: float = 1.0) -> tuple[Array, Array]:
    """The twelve edges of the cube [low, high]³, as one line: points (24, 3), and the order to join them.

    The order lists indices of the points, with a gap, −1, between two edges.
    """
    corners = np.array(list(product((0, 1), repeat=3)))
    pairs = np.array([(p, q) for p, q in combinations(corners, 2) if abs(q - p).sum() == 1])
    return segments(low + (high - low) * pairs)


def segments(pairs: Array) -> tuple[Array, Array]:
    """Separate segments as one line: points (2M, d), and the order in which the line joins them.

    pairs (M, 2, d): the two ends of each segment. The order lists indices of the points, with a gap, −1,
    between two segments.
    """
    points = np.reshape(pairs, (-1, np.shape(pairs)[-1]))
    return points, joined([2] * len(pairs))


def grid_mesh(rows: int, columns: int) -> Array:
    """The triangles of a grid of rows × columns vertices, numbered row by row."""
    i = np.arange((rows - 1) * columns).reshape(rows - 1, columns)[:, :-1].ravel()
    return np.concatenate(
        [np.stack([i, i + 1, i + columns], 1), np.stack([i + 1, i + columns + 1, i + columns], 1)]
    )


def grid_lines(rows: int, columns: int, *, apart: int) -> Array:
    """The order in which a line joins the vertices of a grid to draw every `apart`-th row and column.

    The vertices are numbered row by row; −1 is a gap.
    """
    number = np.arange(rows * columns).reshape(rows, columns)
    lines = [*number[::apart], *number.T[::apart]]
    order = joined([len(line) for line in lines])
    return np.where(order < 0, -1, np.concatenate(lines)[order])


def sphere_mesh(*, meridians: int = 48, parallels: int = 24) -> tuple[Array, Array]:
    """The unit 2-sphere: vertices ((parallels+1)(meridians+1), 3) and triangles."""
    phi, theta = np.meshgrid(
        np.linspace(0, np.pi, parallels + 1), np.linspace(0, 2 * np.pi, meridians + 1), indexing="ij"
    )
    points = np.stack([np.sin(phi) * np.cos(theta), np.sin(phi) * np.sin(theta), np.cos(phi)], -1)
    return points.reshape(-1, 3), grid_mesh(parallels + 1, meridians + 1)


def graticule(*, meridians: int = 12, parallels: int = 6, fine: int = 48) -> tuple[Array, Array]:
    """Circles of longitude and latitude on the unit 2-sphere, as one line: points (N, 3), and their order.

    The order lists indices of the points to join, with a gap, −1, between two circles. There are
    meridians / 2 circles of longitude (two meridians form a circle) and parallels − 1 circles of latitude.
    meridians: an even number. fine: the number of segments of each circle.
    """
    t = np.linspace(0, 2 * np.pi, fine + 1)
    circles = [
        np.stack([np.cos(a) * np.sin(t), np.sin(a) * np.sin(t), np.cos(t)], -1)
        for a in np.pi * np.arange(meridians // 2) / (meridians // 2)
    ]
    for phi in np.pi * np.arange(1, parallels) / parallels:
        z = np.full_like(t, np.cos(phi))
        circles.append(np.stack([np.sin(phi) * np.cos(t), np.sin(phi) * np.sin(t), z], -1))
    return np.concatenate(circles), joined([len(t)] * len(circles))


def joined(lengths: Sequence[int]) -> Array:
    """The order in which one line with gaps (−1) joins consecutive points to draw separate open lines.

    `lengths` lists the number of points of each of these separate lines.
    """
    return np.insert(np.arange(sum(lengths)), np.cumsum(lengths[:-1]).astype(int), -1)


def disc_mesh() -> tuple[Array, Array]:
    """The unit disc in the plane, as a polygon with 48 corners: vertices (N, 2) and triangles."""
    r, t = np.meshgrid(np.linspace(0, 1, 7), np.linspace(0, 2 * np.pi, 49), indexing="ij")
    return np.stack([r * np.cos(t), r * np.sin(t)], -1).reshape(-1, 2), grid_mesh(7, 49)
