"""Windows over the coordinate axes of a vector: how much of each axis each attention head sees.

Source: symmetrize2025, section 5.4.
"""

import numpy as np
from jaxtyping import Float


def box(t: Float[np.ndarray, "*shape"]) -> Float[np.ndarray, "*shape"]:
    """The integral from −1 to t of the box window, which is 1 on [−1, 1] and 0 elsewhere."""
    return np.clip(t, -1, 1) + 1


def triangle(t: Float[np.ndarray, "*shape"]) -> Float[np.ndarray, "*shape"]:
    """The integral from −1 to t of the triangle window, which is 1 − |u| for u in [−1, 1] and 0 elsewhere."""
    t = np.clip(t, -1, 1)
    return t - t * np.abs(t) / 2 + 1 / 2


def sine(t: Float[np.ndarray, "*shape"]) -> Float[np.ndarray, "*shape"]:
    """The integral from −1 to t of the sine window, which is cos²(πu/2) for u in [−1, 1] and 0 elsewhere."""
    t = np.clip(t, -1, 1)
    return (t + 1 + np.sin(np.pi * t) / np.pi) / 2


SHAPES = {"box": box, "triangle": triangle, "sine": sine}


def windows(
    at: Float[np.ndarray, "n"], d: int, heads: int, overlap: float, *, shape: str
) -> Float[np.ndarray, "heads n"]:
    """How much of each axis each attention head sees: a share from 0 to 1; the shares of an axis sum to 1.

    The axes 1 … d form a ring. Each head has a block of d/heads neighbouring axes, and a window that is
    centred on this block. For overlap 0 the window is as wide as the block. For overlap 1 it is twice as wide
    and reaches to the centres of the neighbouring blocks. A head's share of an axis is the integral of its
    window from ½ before the axis to ½ after it, divided by the sum of these integrals over all heads. So for
    overlap 0 each head sees its own block alone, whatever the shape of the window.

    at: the numbers of the n axes whose shares are computed. shape: a key of SHAPES. Raises ValueError for an
    unknown shape, an overlap outside [0, 1], and heads that do not divide d.
    """
    if shape not in SHAPES or not 0 <= overlap <= 1 or heads < 1 or d % heads:
        wrong = f"got {shape!r}, {overlap}, {heads} heads, {d} axes"
        raise ValueError(f"a shape of {list(SHAPES)}, overlap 0 to 1, heads that divide the axes: {wrong}")
    block = d / heads
    half = block / 2 * (1 + overlap)
    middles = block * (np.arange(heads) + 1 / 2) + 1 / 2
    turns = d * np.arange(-2, 3)  # shifts by whole rings that a window can reach
    off = np.asarray(at, float)[:, None] - middles[:, None, None] + turns
    over = (SHAPES[shape]((off + 1 / 2) / half) - SHAPES[shape]((off - 1 / 2) / half)).sum(-1)
    return over / over.sum(0)
