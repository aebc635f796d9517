"""Estimate the share of unselectable keys, for the scene `unselectable`."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from geometry import center, layer_norm, rms_norm
from geometry.centering import hyperplane_basis
from geometry.clouds import gaussian
from tools.films.selectable_keys import unbeaten
from tools.films.store import write_table

KEY_COUNTS, DIMENSIONS = (5, 10, 20, 50, 100, 200, 500), (2, 3, 4, 5, 6, 8, 10, 12, 16)
SETS_PER_ROW = 100  # random sets of Gaussian keys
ARMS = ("drawn", "centred", "scaled", "layernorm", "eps")  # maps that are applied to the keys


def keys(x: np.ndarray, arm: str) -> np.ndarray:
    """The keys that result from x (n, d) by the map `arm`, one of ARMS.

    Centred keys lie in a hyperplane; they are returned in d − 1 coordinates of this hyperplane.
    """
    made = {"drawn": x, "scaled": rms_norm(x, eps=0), "centred": center(x)}
    made |= {"layernorm": layer_norm(x, eps=0), "eps": layer_norm(x)}  # the usual ε = 1e-5
    return made[arm] if arm in ("drawn", "scaled") else made[arm] @ hyperplane_basis(x.shape[-1]).T


def unselectable() -> None:
    """Write the table "unselectable": the share of keys that no query selects, by number, dimension and map.

    Each row has the mean and standard deviation over SETS_PER_ROW random sets of keys.
    """
    table = []
    for n, d in product(KEY_COUNTS, DIMENSIONS):
        row: dict[str, Any] = {"n": n, "d": d, "sets": SETS_PER_ROW}
        for arm in ARMS:
            sets = (keys(gaussian(n, d, seed=k), arm) for k in range(SETS_PER_ROW))
            shares = [1 - float(np.mean(unbeaten(each))) for each in sets]
            row[arm] = [round(float(np.mean(shares)), 6), round(float(np.std(shares, ddof=1)), 6)]
        table.append(row)
        print(f"  unselectable: {row}", flush=True)
    write_table("unselectable", table)
