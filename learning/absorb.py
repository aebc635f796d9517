"""A language model whose LayerNorms are taken into their neighbours, until RMSNorm without a gain is left.

Each step changes weights and nothing that the model says, but for rounding. What practitioners do; the
identities are in mathematics: LN(x) = RMS(Πx), and a Linear takes what is affine before it.
"""

from collections.abc import Callable, Mapping

import numpy as np

from geometry.arrays import Array
from geometry.centering import center
from geometry.norms import rms_norm
from learning.language import EPS

Weights = Mapping[str, Array]
READERS = {"ln_1": "attn.c_attn", "ln_2": "mlp.c_fc", "ln_f": "head"}  # what reads each LayerNorm
WRITERS = ("wte", "wpe", "attn.c_proj", "mlp.c_proj")  # all that write to the stream


def untied(weights: Weights) -> dict[str, Array]:
    """With a last Linear of its own, "head", in place of the embedding's transpose."""
    wte = weights["wte.weight"]
    return {**weights, "head.weight": wte.T, "head.bias": np.zeros(len(wte))}


def shifts_absorbed(weights: Weights) -> dict[str, Array]:
    """(n + β) @ W + b = n @ W + (b + β @ W): every β is 0, and the biases of the readers have it."""

    def step(norm: str, reader: str) -> dict[str, Array]:
        beta, matrix, bias = weights[f"{norm}.bias"], weights[f"{reader}.weight"], weights[f"{reader}.bias"]
        return {f"{norm}.bias": 0 * beta, f"{reader}.bias": bias + beta @ matrix}

    return _read(weights, step)


def gains_absorbed(weights: Weights) -> dict[str, Array]:
    """(γ ⊙ n) @ W = n @ (diag(γ) W): every γ is 1. Wants the shifts absorbed before."""

    def step(norm: str, reader: str) -> dict[str, Array]:
        gamma, matrix = weights[f"{norm}.weight"], weights[f"{reader}.weight"]
        return {f"{norm}.weight": 0 * gamma + 1, f"{reader}.weight": gamma[:, None] * matrix}

    return _read(weights, step)


def centred(weights: Weights) -> dict[str, Array]:
    """All that writes to the stream writes without a mean: W Π and Π b. The stream then has none."""
    found = dict(weights)
    for name, each in weights.items():
        if name.rpartition(".")[0].endswith(WRITERS):
            found[name] = center(each)
    return found


def _read(weights: Weights, step: Callable[[str, str], dict[str, Array]]) -> dict[str, Array]:
    """The weights after a step at each LayerNorm and its reader."""
    found = dict(weights)
    for name in weights:
        norm, _, part = name.rpartition(".")
        before, _, kind = norm.rpartition(".")
        if part == "weight" and kind in READERS:
            found |= step(norm, f"{before}.{READERS[kind]}" if before else READERS[kind])
    return found


def rms(own: Weights, name: str, x: Array, *, scaled: bool = True) -> Array:
    """RMSNorm without a gain, for `language.read` in place of every LayerNorm."""
    return rms_norm(x, eps=EPS)
