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

    Along each axis it has at least 2 points, even if these are more than n in all.
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
    """n evenly spread points of the unit 2-sphere: each is one step lower and turned by the golden angle."""
    k = np.arange(n) + 0.5
    height, turn = 1 - 2 * k / n, np.pi * (3 - np.sqrt(5)) * k
    across = np.sqrt(1 - height**2)
    return np.stack([across * np.cos(turn), across * np.sin(turn), height], -1)


def closed(n: int) -> Array:
    """The order in which to join n points to a closed line: 0, 1, …, n − 1, 0."""
    return np.append(np.arange(n), 0)


def numbers(reach: float, even: int) -> tuple[Array, Array]:
    """Numbers in [−reach, reach], as one line: points (N, 1), and their order, with a gap at the number 0.

    even: how many of the numbers are evenly spaced; it must be odd, so that 0 is among them. The others are
    denser near 0.
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
    """The twelve edges of the cube [low, high]³, as one line with gaps."""
    corners = np.array(list(product((0, 1), repeat=3)))
    pairs = np.array([(p, q) for p, q in combinations(corners, 2) if abs(q - p).sum() == 1])
    return segments(low + (high - low) * pairs)


def segments(pairs: Array) -> tuple[Array, Array]:
    """Separate segments, each a pair of points, as one line: points (2M, d), and an order with gaps.

    `pairs` has the shape (M, 2, d).
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
    return np.insert(np.concatenate(lines), np.cumsum([len(line) for line in lines[:-1]]), -1)


def sphere_mesh(*, meridians: int = 48, parallels: int = 24) -> tuple[Array, Array]:
    """The unit 2-sphere: vertices ((parallels+1)(meridians+1), 3) and triangles."""
    phi, theta = np.meshgrid(
        np.linspace(0, np.pi, parallels + 1), np.linspace(0, 2 * np.pi, meridians + 1), indexing="ij"
    )
    points = np.stack([np.sin(phi) * np.cos(theta), np.sin(phi) * np.sin(theta), np.cos(phi)], -1)
    return points.reshape(-1, 3), grid_mesh(parallels + 1, meridians + 1)


def graticule(*, meridians: int = 12, parallels: int = 6, fine: int = 48) -> tuple[Array, Array]:
    """Circles of longitude and latitude on the unit 2-sphere, as one line with gaps."""
    t = np.linspace(0, 2 * np.pi, fine + 1)
    circles = [
        np.stack([np.cos(a) * np.sin(t), np.sin(a) * np.sin(t), np.cos(t)], -1)
        for a in np.pi * np.arange(meridians // 2) / (meridians // 2)
    ]
    for phi in np.pi * np.arange(1, parallels) / parallels:
        z = np.full_like(t, np.cos(phi))
        circles.append(np.stack([np.sin(phi) * np.cos(t), np.sin(phi) * np.sin(t), z], -1))
    return np.concatenate(circles), joined([len(t)] * len(circles))


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

    `sign` is 1 for the upper half of the sphere, −1 for the lower half.
    """
    k, t = np.meshgrid(np.linspace(-0.87, 0.87, 7), np.linspace(-np.pi / 2, np.pi / 2, 49), indexing="ij")
    along, z = np.sqrt(1 - k**2) * np.sin(t), sign * np.sqrt(1 - k**2) * np.cos(t)
    points = np.stack([np.stack([k, along, z], -1), np.stack([along, k, z], -1)])
    return points.reshape(-1, 3), joined([k.shape[1]] * (2 * len(k)))


def face_net(half: float, sign: int) -> tuple[Array, Array]:
    """The grid lines of the face z = sign·half of the cube [−half, half]³, as one line with gaps.

    `sign` is 1 for the upper face, −1 for the lower one.
    """
    ends = np.stack(np.broadcast_arrays(np.linspace(-1, 1, 7)[:, None], [-1, 1], sign), -1)
    return segments(half * np.concatenate([ends, ends[..., [1, 0, 2]]]))


def side(line: tuple[Array, Array], axis: int, sign: int) -> Array:
    """The order of a line, with −1 (a gap) for each point on the wrong side of the plane {x_axis = 0}.

    Points whose coordinate number `axis` has the given sign are kept, and so are points on the plane.
    """
    points, order = line
    rounding = 1e-9  # largest distance of points that count as on the plane
    return np.where(sign * points[order, axis] > -rounding, order, -1)


def joined(lengths: Sequence[int]) -> Array:
    """The order in which one line with gaps (−1) joins consecutive points to draw separate open lines.

    `lengths` lists the number of points of each of these separate lines.
    """
    return np.insert(np.arange(sum(lengths)), np.cumsum(lengths[:-1]).astype(int), -1)


def disc_mesh() -> tuple[Array, Array]:
    """The unit disc in the plane, as a polygon with 48 corners: vertices (N, 2) and triangles."""
    r, t = np.meshgrid(np.linspace(0, 1, 7), np.linspace(0, 2 * np.pi, 49), indexing="ij")
    return np.stack([r * np.cos(t), r * np.sin(t)], -1).reshape(-1, 2), grid_mesh(7, 49)


def parse_vectors(text: str, *, d: int, most: int = 500, largest: float = 1e6) -> Array:
    """Parse vectors (n, d) from text that a user typed.

    There is one vector per line, or between semicolons; commas or spaces separate its numbers. Raises
    ValueError if there is no vector, or there are more than `most`. Raises it with the line's number for a
    word that is not a number, a number beyond ±`largest`, and a vector that does not have d numbers.
    """
    lines = [(k, line) for k, line in enumerate(text.replace(";", "\n").splitlines(), 1) if line.strip()]
    if not lines:
        raise ValueError(
            f"no vectors yet: type {d} numbers a line, such as {', '.join(['3', '1', '4', '1', '5'][:d])}"
        )
    if len(lines) > most:
        raise ValueError(f"{len(lines)} vectors are more than {most}")
    return np.array([_vector(k, line, d, largest) for k, line in lines])


def _vector(k: int, line: str, d: int, largest: float) -> list[float]:
    words = line.strip().strip("()[]").replace(",", " ").split()
    numbers = []
    for word in words:
        try:
            number = float(word.replace("−", "-"))
        except ValueError:
            raise ValueError(f"line {k}: {word[:20]!r} is not a number") from None
        if not abs(number) <= largest:
            raise ValueError(f"line {k}: {word[:20]} is not within ±{largest:g}")
        numbers.append(number)
    if len(numbers) != d:
        found = "1 number" if len(numbers) == 1 else f"{len(numbers)} numbers"
        raise ValueError(f"line {k}: {found}, but d = {d}")
    return numbers
