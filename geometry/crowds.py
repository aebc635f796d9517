"""Places that several points share, as far as an eye can tell. The browser's engine mirrors this."""

from __future__ import annotations

from itertools import product

import numpy as np

FINE = 1000  # cells along each axis: what is in one, or beside it, stands in one place
SHARE = 50  # one point in so many of all makes a crowd, two at least: fewer meet by chance
AROUND = 12  # cells, about a mark: there a crowd has at most half as many others, or it is part of a curve


def crowds(points: np.ndarray, low: np.ndarray, high: np.ndarray) -> list[tuple[np.ndarray, int]]:
    """The places where many of the points (N, k) stand, and how many: the fullest first.

    low, high (k,): the ends of the axes. Points that are NaN count nowhere.
    """
    here = np.asarray(points, np.float32).astype(float)
    here = here[np.isfinite(here).all(-1)]
    cells = np.floor((here - low) / (high - low) * FINE).astype(int)
    members: dict[tuple[int, ...], list[int]] = {}
    for i, cell in enumerate(map(tuple, cells.tolist())):
        members.setdefault(cell, []).append(i)
    full = sorted((cell for cell, own in members.items() if len(own) > 1), key=lambda c: -len(members[c]))
    least, found = max(2, len(here) / SHARE), []
    for cell in full:
        around = [tuple(map(sum, zip(cell, by, strict=True))) for by in product((-1, 0, 1), repeat=len(cell))]
        own = [i for each in around for i in members.get(each, ())]
        if cell not in members or len(own) < least:
            continue
        place = here[own].mean(0)
        near = (np.abs((here - place) / (high - low)) * FINE <= AROUND).all(-1).sum()
        if near <= 1.5 * len(own):
            found.append((place, len(own)))
        for each in around:
            members.pop(each, None)
    return sorted(found, key=lambda crowd: -crowd[1])
