"""Statistics of untrained blocks with their norm in four places, for the scene placement."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import torch

from geometry.softmax import softmax
from learning.placement import PLACEMENTS, block, norm, scores
from learning.stack import drawn
from tools.films.store import digits_of, write_table

WIDTH, BLOCKS, TOKENS, DRAWS = 64, 24, 16, 20
SHARPNESS = (1, 3)  # factors of the query and key matrices
SHOWN, PATH_DIGITS = 5, 6  # draws whose paths are shown; significant digits of a path


def placement() -> None:
    """Write the table "placement": a stack of 24 blocks, by place of the norm, QK-norm and factor of W_q,
    W_k.

    Columns have [median, smallest, largest] over draws, and are about the last token, except for `cosine`:

    length     the root mean square of the token's numbers, before the first block and after each
    start      the angle between the token and its start, in degrees, at the same places
    turn       the angle by which each block turns the token, in degrees
    gradient   ‖∂⟨r, end⟩/∂token‖/‖r‖ at each place, r a random vector at the last token
    gradients  the same for the gradient with respect to all tokens
    score      the largest absolute value of the token's scores in the attention of each block
    weight     the largest attention weight that the token gives in each block
    cosine     the mean cosine of the angle between two of the tokens at each place
    paths      for each of the first SHOWN draws: length, start, turn and gradient
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
    """Run all draws of random weights through a stack of blocks with the norm in the place `kind`.

    sharp: a factor on the query and key matrices. Returns the residual stream (draws, T, d) before the first
    block and after each. Also returns the largest absolute score and the largest attention weight of the last
    token, each (blocks, draws).
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
    """The root mean square of each vector (draws,)."""
    return (x.detach() ** 2).mean(-1).sqrt().numpy()


def angle(a: torch.Tensor, b: torch.Tensor) -> np.ndarray:
    """The angle in degrees between vectors of two arrays (draws, d)."""
    a, b = (x.detach() / x.detach().norm(dim=-1, keepdim=True) for x in (a, b))
    return np.degrees(2 * torch.atan2((a - b).norm(dim=-1), (a + b).norm(dim=-1)).numpy())


def mean_cosine(x: torch.Tensor) -> np.ndarray:
    """For each draw, the mean cosine of the angles between different tokens of x (draws, T, d): (draws,)."""
    x = x.detach() / x.detach().norm(dim=-1, keepdim=True)
    count = x.shape[1]
    return (((x @ x.mT).sum((1, 2)) - count) / (count * (count - 1))).numpy()


def spread(values: np.ndarray) -> list[list[float]]:
    """[median, smallest, largest] over draws at each place, for values (places, draws)."""
    return [digits_of(np.percentile(each, (50, 0, 100))) for each in values]
