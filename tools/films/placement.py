"""Measure untrained transformer blocks with their norm in one of four places, for the scene `placement`."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import torch

from geometry.softmax import softmax
from learning.placement import PLACEMENTS, block, norm, scores
from learning.stack import drawn
from tools.films.store import digits_of, write_table

WIDTH, BLOCKS, TOKENS, DRAWS = 64, 24, 16, 20
SHARPNESS = (1, 3)  # factors on the query and key matrices
SHOWN, PATH_DIGITS = 5, 6  # draws whose paths are shown; significant digits of a path


def placement() -> None:
    """Write the table "placement": measures of a stack of random blocks, in a row for each setting.

    A setting is a placement of the norm, with or without QK-norm, and a factor (SHARPNESS) on the matrices
    W_q and W_k. Let x be the vector of the last token in the residual stream. It has a state before the first
    block and after each block. A column has [median, smallest, largest] over draws, for each state or block:

    length     the root mean square of the numbers of x, for each state
    start      the angle between x and x before the first block, in degrees, for each state
    turn       the angle by which a block turns x, in degrees, for each block
    gradient   ‖∂⟨r, output⟩/∂x‖/‖r‖ for each state; r is random, and the output is x after the last block
    gradients  the same, with the derivative with respect to all tokens' vectors
    score      the largest absolute attention score of the last token as a query, for each block
    weight     the largest attention weight of the last token as a query, for each block
    cosine     the cosine of the angle between two tokens' vectors, averaged over all pairs, for each state
    paths      for each of the first SHOWN draws: length, start, turn and gradient, without statistics
    """
    rows = []
    for kind, qk_norm, sharp in product(PLACEMENTS, (False, True), SHARPNESS):
        stream, found, weights = run(kind, qk_norm, sharp)
        last = [each[:, -1] for each in stream]
        lengths = np.stack([rms(each) for each in last])
        starts = np.stack([angle(each, last[0]) for each in last])
        turns = np.stack([angle(a, b) for a, b in pairwise(last)])
        end = torch.tensor(np.random.default_rng(DRAWS).standard_normal(tuple(last[-1].shape)))
        pulled = torch.autograd.grad((last[-1] * end).sum(), stream)
        gradients = np.stack([rms(each[:, -1]) for each in pulled]) / rms(end)
        of_all = np.stack([rms(each.flatten(1)) for each in pulled]) * np.sqrt(TOKENS) / rms(end)
        shown = {"length": lengths, "start": starts, "turn": turns, "gradient": gradients}
        spreads = shown | {"gradients": of_all, "score": found, "weight": weights}
        spreads["cosine"] = np.stack([mean_cosine(each) for each in stream])
        rows.append(
            {"kind": kind, "qk_norm": qk_norm, "sharp": sharp}
            | {name: spread(values) for name, values in spreads.items()}
            | {
                "paths": [
                    {name: digits_of(values[:, draw], PATH_DIGITS) for name, values in shown.items()}
                    for draw in range(SHOWN)
                ]
            }
        )
    write_table("placement", rows)


def run(kind: str, qk_norm: bool, sharp: float) -> tuple[list[torch.Tensor], np.ndarray, np.ndarray]:
    """Run DRAWS random stacks of blocks, with the norm in the place `kind`, each on its own random tokens.

    kind: "pre", "post", … (see `learning.placement.block`). qk_norm: whether attention normalises queries and
    keys. sharp: a factor on the query and key matrices. Returns the residual stream (draws, T, d) before the
    first block and after each block; then the largest absolute attention score, and the largest attention
    weight, of the last token as a query, each (blocks, draws).
    """
    draws = [drawn(WIDTH, BLOCKS, TOKENS, seed) for seed in range(DRAWS)]
    x = norm(torch.tensor(np.stack([x for _, x in draws]))).requires_grad_()
    stream, largest, weights = [x], [], []
    for k in range(BLOCKS):
        own = {name: torch.tensor(np.stack([each[k][name] for each, _ in draws])) for name in draws[0][0][k]}
        own |= {name: sharp * own[name] for name in ("query", "key")}
        reads = norm(stream[-1]) if kind in ("pre", "peri") else stream[-1]
        found = scores(own, reads, qk_norm)
        largest.append(found[:, -1].abs().max(-1).values)
        weights.append(softmax(found, causal=True)[:, -1].max(-1).values)
        stream.append(block(kind, own, stream[-1], qk_norm))
    return stream, torch.stack(largest).detach().numpy(), torch.stack(weights).detach().numpy()


def rms(x: torch.Tensor) -> np.ndarray:
    """The root mean square of the numbers in each vector x[k], for x (draws, d): (draws,)."""
    return (x.detach() ** 2).mean(-1).sqrt().numpy()


def angle(a: torch.Tensor, b: torch.Tensor) -> np.ndarray:
    """The angle in degrees between the vectors a[k] and b[k] of two arrays (draws, d): (draws,)."""
    a, b = (x.detach() / x.detach().norm(dim=-1, keepdim=True) for x in (a, b))
    return np.degrees(2 * torch.atan2((a - b).norm(dim=-1), (a + b).norm(dim=-1)).numpy())


def mean_cosine(x: torch.Tensor) -> np.ndarray:
    """The mean cosine of the angle between two different tokens, for x (draws, T, d): (draws,)."""
    x = x.detach() / x.detach().norm(dim=-1, keepdim=True)
    count = x.shape[1]
    return (((x @ x.mT).sum((1, 2)) - count) / (count * (count - 1))).numpy()


def spread(values: np.ndarray) -> list[list[float]]:
    """For each row of `values` (rows, draws): its [median, smallest, largest] value, rounded."""
    return [digits_of(np.percentile(each, (50, 0, 100))) for each in values]
