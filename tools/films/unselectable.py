"""Keys that no query selects."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from geometry import center, layer_norm, rms_norm
from geometry.centering import hyperplane_basis
from geometry.clouds import gaussian
from geometry.fates import unbeaten
from tools.films.store import write_table

NUMBERS, DIMENSIONS = (5, 10, 20, 50, 100, 200, 500), (2, 3, 4, 5, 6, 8, 10, 12, 16)  # of Gaussian keys
SETS = 100  # of each, that are drawn
ARMS = ("drawn", "centred", "scaled", "layernorm", "eps")  # what becomes of them


def keys(x: np.ndarray, arm: str) -> np.ndarray:
    """What an arm makes of keys, in coordinates of the flat in which they lie then."""
    made = {"drawn": x, "scaled": rms_norm(x, eps=0), "centred": center(x)}
    made |= {"layernorm": layer_norm(x, eps=0), "eps": layer_norm(x)}  # the usual ε = 1e-5
    return made[arm] if arm in ("drawn", "scaled") else made[arm] @ hyperplane_basis(x.shape[-1]).T


def unselectable() -> None:
    """The share of keys that no query selects, by number and dimension: mean over sets, and their spread."""
    table = []
    for n, d in product(NUMBERS, DIMENSIONS):
        row: dict[str, Any] = {"n": n, "d": d, "sets": SETS}
        for arm in ARMS:
            sets = (keys(gaussian(n, d, seed=k), arm) for k in range(SETS))
            shares = [1 - float(np.mean(unbeaten(each))) for each in sets]
            row[arm] = [round(float(np.mean(shares)), 6), round(float(np.std(shares, ddof=1)), 6)]
        table.append(row)
        print(f"  unselectable: {row}", flush=True)
    write_table("unselectable", table)
