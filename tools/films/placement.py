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
SHOWN = 0  # the draw whose path is shown


def placement() -> None:
    """Write the table "placement": 24 blocks, by placement of the norm, QK-norm and size of W_q and W_k.

    Of the last token, [median, smallest, largest] over draws:

    length     the root mean square of its numbers, before the first block and after each
    turn       the angle by which each block turns it, in degrees
    gradient   ‖∂⟨r, end⟩/∂token‖/‖r‖ at each place, r a random vector at the last token
    weight     the largest weight that it gives in the attention of each block
    path       length and turn of one draw
    """
    rows = []
    for kind, qk_norm, sharp in product(PLACEMENTS, (False, True), SHARPNESS):
        stream, weights = run(kind, qk_norm, sharp)
        last = [each[:, -1] for each in stream]
        lengths = np.stack([rms(each) for each in last])
        cosines = [torch.cosine_similarity(a, b, dim=-1) for a, b in pairwise(last)]
        turns = np.degrees(np.arccos(torch.stack(cosines).detach().numpy().clip(-1, 1)))
        end = torch.tensor(np.random.default_rng(DRAWS).standard_normal(tuple(last[-1].shape)))
        pulled = torch.autograd.grad((last[-1] * end).sum(), stream)
        gradients = np.stack([rms(each[:, -1]) for each in pulled]) / rms(end)
        rows.append(
            {"kind": kind, "qk_norm": qk_norm, "sharp": sharp, "length": spread(lengths)}
            | {"turn": spread(turns), "gradient": spread(gradients), "weight": spread(weights)}
            | {"path": [digits_of(each[:, SHOWN]) for each in (lengths, turns)]}
        )
    write_table("placement", rows)


def run(kind: str, qk_norm: bool, sharp: float) -> tuple[list[torch.Tensor], np.ndarray]:
    """Run all draws through a stack of random blocks with the norm in the place `kind`.

    sharp: a factor on the query and key matrices. Returns the stream (draws, T, d) before the first block and
    after each, and the largest attention weight of the last token (blocks, draws).
    """
    draws = [drawn(WIDTH, BLOCKS, TOKENS, seed) for seed in range(DRAWS)]
    x = norm(torch.tensor(np.stack([x for _, x in draws]))).requires_grad_()
    stream, weights = [x], []
    for k in range(BLOCKS):
        own = {name: torch.tensor(np.stack([each[k][name] for each, _ in draws])) for name in draws[0][0][k]}
        own |= {name: sharp * own[name] for name in ("query", "key")}
        reads = norm(stream[-1]) if kind in ("pre", "peri") else stream[-1]
        weights.append(softmax(scores(own, reads, qk_norm), causal=True)[:, -1].max(-1).values)
        stream.append(block(kind, own, stream[-1], qk_norm))
    return stream, torch.stack(weights).detach().numpy()


def rms(x: torch.Tensor) -> np.ndarray:
    """The root mean square of each vector (draws,)."""
    return (x.detach() ** 2).mean(-1).sqrt().numpy()


def spread(values: np.ndarray) -> list[list[float]]:
    return [digits_of(np.percentile(each, (50, 0, 100))) for each in values]
