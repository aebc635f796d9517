"""Statistics of untrained transformer blocks in a row, for the scene depth."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product

import numpy as np
import torch

from learning.stack import STREAM_KINDS, drawn, streams
from tools.films.store import digits_of, write_table

GAINS = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.4, 2.0)  # factors of what a branch adds to the stream
STREAM_WIDTHS = (4, 64)
BLOCKS, TOKENS, DRAWS = 12, 16, 20


def depth() -> None:
    """Write the table "depth": measures of twelve random blocks, by norm, width of the stream and gain.

    Numbers are medians over DRAWS draws, except for `spread`.

    size       the root mean square of the residual stream before the first block and after each
    turn       the angle by which each block turns a token, in degrees, averaged over tokens
    gradient   for stacks of 1 to 12 blocks and each place in the stream: ‖∂⟨r, end⟩/∂stream‖/‖r‖, r random
    spread     [smallest, largest] over draws: of the last size, and of the first gradient of 12 blocks
    """
    rows = []
    for width, kind, gain in product(STREAM_WIDTHS, STREAM_KINDS, GAINS):
        draws = [drawn(width, BLOCKS, TOKENS, seed) for seed in range(DRAWS)]
        blocks = [
            {name: torch.tensor(np.stack([each[k][name] for each, _ in draws])) for name in draws[0][0][k]}
            for k in range(BLOCKS)
        ]
        x = torch.tensor(np.stack([x for _, x in draws]), requires_grad=True)
        at_depths = streams(kind, blocks, x, gain)
        end = torch.tensor(np.random.default_rng(DRAWS).standard_normal(tuple(x.shape)))
        sizes = rms(at_depths)
        gradients = [
            rms(torch.autograd.grad(at_depths[last], at_depths[: last + 1], end, retain_graph=True))
            / rms([end])
            for last in range(1, BLOCKS + 1)
        ]
        cosines = [torch.cosine_similarity(a.detach(), b.detach(), dim=-1) for a, b in pairwise(at_depths)]
        turns = np.degrees(np.arccos(torch.stack(cosines).numpy().clip(-1, 1))).mean(-1)
        rows.append(
            {"width": width, "kind": kind, "gain": gain, "size": medians(sizes), "turn": medians(turns)}
            | {"gradient": [medians(each) for each in gradients]}
            | {"spread": [digits_of(np.percentile(each, (0, 100))) for each in (sizes[-1], gradients[-1][0])]}
        )
    write_table("depth", rows)


def rms(arrays: Sequence[torch.Tensor]) -> np.ndarray:
    """Root mean squares of each array, over tokens and coordinates: (arrays, draws)."""
    return np.stack([(each.detach() ** 2).mean((-1, -2)).sqrt().numpy() for each in arrays])


def medians(values: np.ndarray) -> list[float]:
    return digits_of(np.median(values, axis=-1))
