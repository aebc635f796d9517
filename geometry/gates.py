"""Injectivity of a ReLU layer x ↦ max(Wx + b, 0) on a circle or sphere around the origin.

Two points have the same image exactly if the same neurons are active at both, with the same values. A *piece*
is the set of points at which the same neurons are active; W_A are the rows of W of these neurons. All points
of a piece have different images if the rank of W_A is the dimension of the space. All have the same image if
the rank is 0. In between, points that differ by a vector of W_A's null space share their image. Points are in
orthonormal coordinates of the space that contains the circle or sphere: x (N, n), W (m, n), where n = 2 for a
circle. Source: symmetrize2025, section 4; Puthawala et al., Globally Injective ReLU Networks (2022), lemma 1.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Bool, Float, Int

Array = np.ndarray

# whether the image of a point is that of no other point, of some others, or of all points of its piece
FATES = "apart", "shared", "collapsed"
APART, SHARED, COLLAPSED = range(3)
WEIGHT_TOLERANCE = 1e-9  # relative to the largest weights, or in radians; smaller numbers are rounding errors


@dataclass(frozen=True)
class Arc:
    """An arc of a circle: its start and length in radians, and which of m neurons are active on it, (m,)."""

    start: float
    length: float
    on: Array


def fates(W: Float[Array, "m n"], b: Float[Array, " m"], x: Float[Array, "N n"]) -> Int[Array, " N"]:
    """For each point x of a sphere around the origin, whether other points of the sphere have the same image.

    The image of x is max(Wx + b, 0), the output of a ReLU layer. The result (N,) has these numbers:

    APART       no other point has the same image
    SHARED      some other points of the same piece have the same image, but not all
    COLLAPSED   all points of the piece have the same image

    A piece is the set of points of the sphere at which the same neurons are active. The result depends on the
    dimension k of the null space of these neurons' rows of W, in n dimensions. All points of a piece are
    APART for k = 0, and COLLAPSED for k = n. For k = 1, the mirror image of a point is the point with the
    opposite component in the null space. A point is SHARED if its mirror image is another point of the same
    piece, otherwise APART. For 1 < k < n, all points count as SHARED without a further test.
    """
    labels, n = np.full(len(x), APART), W.shape[1]
    for pattern, here, seen in _pieces(W, b, x):
        if len(seen) == 0:
            labels[here] = COLLAPSED
        elif len(seen) < n - 1:
            labels[here] = SHARED
        elif len(seen) < n:
            at = x[here]
            unseen = at - at @ seen.T @ seen
            same_piece = (((at - 2 * unseen) @ W.T + b > 0) == pattern).all(-1)
            another = np.linalg.norm(unseen, axis=-1) > WEIGHT_TOLERANCE * np.linalg.norm(at, axis=-1)
            labels[here] = np.where(same_piece & another, SHARED, APART)
    return labels


def directions(rows: Float[Array, "k n"], least: float) -> Float[Array, "rank n"]:
    """An orthonormal basis (rank, n) of the span of `rows` (k, n).

    A row counts as 0 if its part perpendicular to the basis vectors found so far has a length up to `least`.
    """
    left = np.array(rows, dtype=float)
    basis: list[Array] = []
    while len(left) and len(basis) < rows.shape[1]:
        lengths = np.linalg.norm(left, axis=-1)
        best = int(np.argmax(lengths))
        if lengths[best] <= least:
            break
        basis.append(left[best] / lengths[best])
        left = left - np.outer(left @ basis[-1], basis[-1])
    return np.array(basis).reshape(-1, rows.shape[1])


def size(W: Array) -> float:
    """The length of the longest row of W; 0 if W has no rows."""
    return float(np.linalg.norm(W, axis=-1).max(initial=0))


def breaks(W: Float[Array, "m 2"], b: Float[Array, " m"], radius: float) -> Float[Array, " k"]:
    """The angles in [0, 2π), increasing, at which a neuron switches on or off; empty if none does.

    They are angles of points x on the circle with the given radius around the origin. Neuron i is on where
    the i-th coordinate of Wx + b is positive.
    """
    far, toward = radius * np.hypot(*W.T), np.arctan2(W[:, 1], W[:, 0])
    cut = np.abs(b) < far
    half = np.arccos(-b[cut] / far[cut])
    every = np.sort(np.concatenate([toward[cut] - half, toward[cut] + half]) % (2 * np.pi))
    once = every[np.diff(every, prepend=-1) > WEIGHT_TOLERANCE]
    return once[:-1] if len(once) > 1 and once[0] + 2 * np.pi - once[-1] <= WEIGHT_TOLERANCE else once


def arcs(W: Float[Array, "m 2"], b: Float[Array, " m"], radius: float) -> list[Arc]:
    """The arcs of a circle, by angle: throughout each, the same neurons of a layer max(Wx + b, 0) are active.

    The circle has the given radius around the origin. The arcs end at `breaks`; without breaks, the only arc
    is the whole circle.
    """
    cuts = breaks(W, b, radius)
    edges = [*cuts, cuts[0] + 2 * np.pi] if len(cuts) else [0.0, 2 * np.pi]
    return [Arc(low, high - low, _on(W, b, radius, (low + high) / 2)) for low, high in pairwise(edges)]


def shares(W: Float[Array, "m 2"], b: Float[Array, " m"], radius: float) -> Float[Array, "3"]:
    """The exact fractions of a circle whose points are APART, SHARED and COLLAPSED (see `fates`): (3,).

    The circle is the one around the origin with this radius, and W, b are the weights and biases of a ReLU
    layer.
    """
    lengths = np.zeros(3)
    pieces = arcs(W, b, radius)
    for arc in pieces:
        seen = directions(W[arc.on], WEIGHT_TOLERANCE * size(W))
        if len(seen) == 1:
            angle = np.arctan2(seen[0, 1], seen[0, 0])
            same = [other for other in pieces if (other.on == arc.on).all()]
            mirrored = sum(
                _overlap(arc, 2 * angle - other.start - other.length, other.length) for other in same
            )
            lengths[SHARED] += mirrored
            lengths[APART] += arc.length - mirrored
        else:
            lengths[APART if len(seen) else COLLAPSED] += arc.length
    return lengths / (2 * np.pi)


def pattern_entropy(on: Bool[Array, "N m"]) -> tuple[int, float]:
    """The number of different activation patterns of N points, and the entropy of their frequencies in bits.

    on (N, m): which of m neurons are active at each point.
    """
    counts = np.bincount(_patterns(on)[1])
    return len(counts), entropy(counts / counts.sum())


def entropy(shares: Float[Array, " k"]) -> float:
    """The entropy −Σ p log₂ p of the shares p, in bits; a share of 0 adds 0."""
    p = np.asarray(shares)[np.asarray(shares) > 0]
    return float(-(p * np.log2(p)).sum()) + 0.0


def _pieces(W, b, x):
    """Group the points x (N, n) by their active neurons under max(Wx + b, 0); yield three arrays per group.

    These are: which neurons are active (m,); which points belong to the group (N,); and an orthonormal basis
    (rank, n) of the span of the active neurons' rows of W.
    """
    patterns, own = _patterns(x @ W.T + b > 0)
    for k, pattern in enumerate(patterns):
        yield pattern, own == k, directions(W[pattern], WEIGHT_TOLERANCE * size(W))


def _patterns(on):
    """The different rows of `on` (N, m) in lexicographic order, and the index of each row among them (N,).

    Up to 64 neurons, a row is packed into one number: sorting these is faster than sorting rows.
    """
    n, m = on.shape
    if m > 64:
        patterns, own = np.unique(on, axis=0, return_inverse=True)
        return patterns, own.reshape(n)
    numbers = np.packbits(np.pad(on, ((0, 0), (0, 64 - m))), axis=1).view(">u8")[:, 0]
    _, first, own = np.unique(numbers, return_index=True, return_inverse=True)
    return on[first], own


def _on(W, b, radius, angle):
    return W @ (radius * np.array([np.cos(angle), np.sin(angle)])) + b > 0


def _overlap(arc, start, length):
    """The length of the overlap of `arc` with another arc that begins at `start` and has this length."""
    shift = (start - arc.start) % (2 * np.pi)
    turns = ((shift - 2 * np.pi, shift - 2 * np.pi + length), (shift, shift + length))
    return sum(max(0.0, min(arc.length, high) - max(0.0, low)) for low, high in turns)
