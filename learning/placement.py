"""Untrained transformer blocks with the normalisation in one of four places, with or without QK-norm.

QK-norm normalises queries and keys. Every normalisation is RMSNorm without a gain. Pre-LN and post-LN: Xiong
et al., ICML 2020; peri-LN: Kim et al., 2025; nGPT: Loshchilov et al., 2024; QK-norm: Henry et al., 2020;
compared in karagodin2025.
"""

from collections.abc import Mapping
from math import sqrt

from geometry import pointwise
from geometry.arrays import Array
from geometry.norms import rms_norm
from geometry.softmax import softmax

PLACEMENTS = ("pre", "post", "peri", "ngpt")
STEP = 0.05  # nGPT: how far a token moves towards the output of a branch, as a share of the difference
Own = Mapping[str, Array]  # weight matrices of one block by their names


def norm(x: Array) -> Array:
    """RMSNorm without a gain and with ε = 0: each vector of x, scaled to length √d; 0 stays 0."""
    return rms_norm(x, eps=0.0)


def scores(own: Own, x: Array, qk_norm: bool) -> Array:
    """The attention scores ⟨q, k⟩/√d (…, T, T) of tokens x (…, T, d).

    own: the weight matrices by name, as in `block`. qk_norm: whether queries and keys are normalised first.
    """
    q, k = x @ own["query"], x @ own["key"]
    if qk_norm:
        q, k = norm(q), norm(k)
    return q @ k.mT / sqrt(x.shape[-1])


def attention(own: Own, x: Array, qk_norm: bool = False) -> Array:
    """The output of causal attention with one head for tokens x (…, T, d), not yet added to x.

    own: the weight matrices by name, as in `block`. qk_norm: whether queries and keys are normalised first.
    """
    return softmax(scores(own, x, qk_norm), causal=True) @ (x @ own["value"]) @ own["out"]


def mlp(own: Own, x: Array) -> Array:
    """The output of the feed-forward network for tokens x (…, T, d), not yet added to x.

    own: the weight matrices by name, as in `block`.
    """
    return pointwise.apply("gelu", x @ own["first"]) @ own["second"]


def block(placement: str, own: Own, x: Array, qk_norm: bool = False) -> Array:
    """The residual stream (…, T, d) after one transformer block.

    A block has two branches: attention, then the feed-forward network. For each branch f, x is replaced by
    the value that belongs to `placement`, one of PLACEMENTS:

    pre    x + f(norm(x))
    post   norm(x + f(x))
    peri   x + norm(f(norm(x)))
    ngpt   norm(x + STEP·(norm(f(x)) − x))

    own: the weight matrices "query", "key", "value", "out", "first" and "second"; the last two are those of
    the feed-forward network. qk_norm: whether attention normalises queries and keys.
    """
    for branch in (lambda at: attention(own, at, qk_norm), lambda at: mlp(own, at)):
        match placement:
            case "pre":
                x = x + branch(norm(x))
            case "post":
                x = norm(x + branch(x))
            case "peri":
                x = x + norm(branch(norm(x)))
            case "ngpt":
                x = norm(x + STEP * (norm(branch(x)) - x))
    return x
