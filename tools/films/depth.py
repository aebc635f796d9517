"""Measure stacks of untrained transformer blocks, for the scene `depth`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product

import numpy as np
import torch

from learning.stack import STREAM_KINDS, drawn, streams
from tools.films.store import digits_of, write_table

GAINS = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.4, 2.0)  # factors by which a branch's output is multiplied
STREAM_WIDTHS = (4, 64)
BLOCKS, TOKENS, DRAWS = 12, 16, 20


def depth() -> None:
    """Write the table "depth": a row for each width of the residual stream, kind of norm, and gain.

    A row measures a stack of BLOCKS random blocks. Numbers are medians over DRAWS draws, except for `spread`.

    size       the root mean square of the residual stream, before the first block and after each block
    turn       the angle by which each block turns a token's vector, in degrees, averaged over tokens
    gradient   BLOCKS lists, the n-th for a stack of only the first n blocks. It has n + 1 numbers
               ‖∂⟨r, output⟩/∂s‖/‖r‖: s is first the stack's input, then the residual stream after each of
               its n blocks. r is random, of the output's shape
    spread     [smallest, largest] over draws: of the size after the last block, and of the whole stack's
               gradient with respect to its input
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
    """The root mean square of each array (draws, T, d) over tokens and coordinates, as (arrays, draws)."""
    return np.stack([(each.detach() ** 2).mean((-1, -2)).sqrt().numpy() for each in arrays])


def medians(values: np.ndarray) -> list[float]:
    """The median of each row of `values` (rows, draws), rounded."""
    return digits_of(np.median(values, axis=-1))
