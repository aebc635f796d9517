"""A stack of untrained transformer blocks, to compare how normalisation layers change the residual stream.

Source: projection2025, symmetrize2025; pre-LN and post-LN: Xiong et al., ICML 2020.
"""

from collections.abc import Sequence
from math import sqrt

import numpy as np

from geometry.arrays import Array
from geometry.norms import layer_norm, rms_norm
from learning.placement import Own, attention, mlp

STREAM_KINDS = ("none", "rms_norm", "layer_norm", "post_ln")
EPS = 1e-5


def norm(kind: str, x: Array) -> Array:
    """Normalise x without gain and shift, by RMSNorm or LayerNorm; x itself if `kind` is "none".

    kind: one of STREAM_KINDS; "post_ln" uses LayerNorm.
    """
    if kind == "none":
        return x
    return rms_norm(x, eps=EPS) if kind == "rms_norm" else layer_norm(x, eps=EPS)


def block(kind: str, own: Own, x: Array, gain: float = 1.0) -> Array:
    """The residual stream (…, T, d) after one transformer block.

    A block has two branches: attention with one head, then the feed-forward network. For each branch f, x is
    replaced by x + g·f(norm(x)), where g is `gain`; this is pre-LN. If `kind` is "none", there is no norm. If
    it is "post_ln", x is replaced by LayerNorm(x + g·f(x)) instead. Linear layers are x @ W, without bias.
    own: the weight matrices by name.
    """
    for branch in (attention, mlp):
        if kind == "post_ln":
            x = norm(kind, x + gain * branch(own, x))
        else:
            x = x + gain * branch(own, norm(kind, x))
    return x


def streams(kind: str, blocks: Sequence[Own], x: Array, gain: float = 1.0) -> list[Array]:
    """A list: the residual stream x before the first block, then the stream after each of the blocks.

    kind, gain: as in `block`.
    """
    found = [x]
    for own in blocks:
        found.append(block(kind, own, found[-1], gain))
    return found


def drawn(width: int, layers: int, tokens: int, seed: int) -> tuple[list[dict[str, np.ndarray]], np.ndarray]:
    """Draw the weight matrices of random blocks, and tokens (T, d), from normal distributions.

    The standard deviation is 1/√(number of inputs) for the entries of a matrix, and 1 for the coordinates of
    tokens. For the same seed, a stack of fewer `layers` consists of the first blocks of a deeper one.
    """
    rng, d = np.random.default_rng(seed), width
    x = rng.standard_normal((tokens, d))
    shapes = dict.fromkeys(("query", "key", "value", "out"), (d, d)) | {
        "first": (d, 4 * d),
        "second": (4 * d, d),
    }
    blocks = [
        {name: rng.standard_normal(shape) / sqrt(shape[0]) for name, shape in shapes.items()}
        for _ in range(layers)
    ]
    return blocks, x
