"""Fold LayerNorm into neighbouring Linears, as is common practice, until a bare RMSNorm is left.

The steps are, in this order: `untied`, `shifts_absorbed`, `gains_absorbed`, `centred`. Each changes weights,
but not the model's output (up to rounding). After the last step, `rms` can replace each LayerNorm, because
LN(x) = RMS(Πx) with the centring Π = I − 11ᵀ/d. A Linear can absorb both an affine map of its input and Π
applied to its output. Weights are those of `learning.language`.
"""

from collections.abc import Callable, Mapping

import numpy as np

from geometry.arrays import Array
from geometry.centering import center
from geometry.norms import rms_norm
from learning.language import EPS

Weights = Mapping[str, Array]
# for each LayerNorm, the Linear that reads it
READERS = {"ln_1": "attn.c_attn", "ln_2": "mlp.c_fc", "ln_f": "head"}
WRITERS = ("wte", "wpe", "attn.c_proj", "mlp.c_proj")  # parts that write to the residual stream


def untied(weights: Weights) -> dict[str, Array]:
    """Untie the output matrix from the embedding `wte`: add a Linear "head", which takes over the output.

    Before, the model uses `wte` also as its output matrix. The weight of "head" is `wte` transposed; its bias
    is 0. Returns a new dict, which still contains `wte`.
    """
    wte = weights["wte.weight"]
    return {**weights, "head.weight": wte.T, "head.bias": np.zeros(len(wte))}


def shifts_absorbed(weights: Weights) -> dict[str, Array]:
    """Fold β into the bias of the Linear that reads z + β: (z + β) @ W + b = z @ W + (b + β @ W).

    Here z = γ ⊙ n, where n is the normalised vector. Every β becomes 0. The weights must come from `untied`:
    the last LayerNorm is read by the Linear "head".
    """

    def step(norm: str, reader: str) -> dict[str, Array]:
        beta, matrix, bias = weights[f"{norm}.bias"], weights[f"{reader}.weight"], weights[f"{reader}.bias"]
        return {f"{norm}.bias": 0 * beta, f"{reader}.bias": bias + beta @ matrix}

    return _read(weights, step)


def gains_absorbed(weights: Weights) -> dict[str, Array]:
    """Fold γ into the weights of the Linear that reads γ ⊙ n: (γ ⊙ n) @ W = n @ (diag(γ) W).

    Here n is the normalised vector. Every γ becomes 1. Raises ValueError unless every β is 0, as after
    `shifts_absorbed`: otherwise the Linear reads γ ⊙ n + β.
    """

    def step(norm: str, reader: str) -> dict[str, Array]:
        gamma, matrix = weights[f"{norm}.weight"], weights[f"{reader}.weight"]
        if weights[f"{norm}.bias"].any():
            raise ValueError(f"{norm} has a shift: absorb the shifts before the gains")
        return {f"{norm}.weight": 0 * gamma + 1, f"{reader}.weight": gamma[:, None] * matrix}

    return _read(weights, step)


def centred(weights: Weights) -> dict[str, Array]:
    """Centre everything that is written to the residual stream, so that the stream always has mean 0.

    The embeddings W, and the weights W of the Linears that write to the stream, become WΠ. The biases b of
    these Linears become Πb. Weights with an embedding must come from `untied`. Otherwise ValueError is
    raised, because the embedding is also the output matrix, which must not be centred.
    """
    if "wte.weight" in weights and "head.weight" not in weights:
        raise ValueError("the embedding is also the output matrix: untie the weights before centring")
    found = dict(weights)
    for name, each in weights.items():
        if name.rpartition(".")[0].endswith(WRITERS):
            found[name] = center(each)
    return found


def _read(weights: Weights, step: Callable[[str, str], dict[str, Array]]) -> dict[str, Array]:
    """Call `step(norm, reader)` for each LayerNorm and the Linear that reads it; return the updated weights.

    norm, reader: prefixes of the weights' names, such as "h.0.ln_1". `step` returns the weights that change.
    """
    found = dict(weights)
    for name in weights:
        norm, _, part = name.rpartition(".")
        before, _, kind = norm.rpartition(".")
        if part == "weight" and kind in READERS:
            found |= step(norm, f"{before}.{READERS[kind]}" if before else READERS[kind])
    return found


def rms(own: Weights, name: str, x: Array, *, scaled: bool = True) -> Array:
    """RMSNorm of x without a gain, to be passed as the argument `norm` of `language.forward`.

    own, name and scaled are part of the interface of `norm`, but have no effect: this norm has no weights,
    and it always scales, with ε = EPS.
    """
    return rms_norm(x, eps=EPS)
