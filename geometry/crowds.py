"""Crowds: places in a picture where many points coincide or nearly do.

The engine in the browser mirrors this file.
"""

from __future__ import annotations

from itertools import product

import numpy as np

# cells of the picture along each axis; points in the same or in neighbouring cells count as one place
CELLS_PER_AXIS = 1000
CROWD_DIVISOR = 50  # a crowd has at least 1/50 of all points, and at least two
# in the key of a cell, the factor between the indices of two axes; smaller in the browser, where numbers are
# exact only up to 2^53
CELL_KEY_STRIDE = 1 << 20
SPACE_REACH_CELLS = 3  # in cells of the longest axis; points farther from their median in space do not count
NEIGHBOURHOOD_CELLS = 12  # radius, in cells, in which the neighbours of a crowd are counted
# points in the neighbourhood, per point of the crowd in it; if there are more, the points form a curve
MAX_NEIGHBOUR_RATIO = 1.5


def crowds(
    points: np.ndarray, low: np.ndarray, high: np.ndarray, space: np.ndarray | None = None
) -> list[tuple[np.ndarray, int]]:
    """The places (k,) of a picture where many points (nearly) coincide, each with the number of points there.

    The place with most points comes first; [] if there is no such place. A place needs at least two points,
    and at least 1/CROWD_DIVISOR of all points. Places in the middle of a dense curve of points do not count.

    points      (N, k) the positions of the points in the picture; a point with NaN or infinity is ignored
    low, high   (k,) the ends of the picture's axes
    space       (N, d) the points before they were projected to `points`; None if they were not projected.
                Points that coincide in the picture may be far apart in `space`. So at each place, the median
                in `space` of all its points is computed, and only points near this median are counted
    """
    here = np.asarray(points, np.float32).astype(float)
    finite = np.isfinite(here).all(-1)
    here, space = here[finite], (here if space is None else np.asarray(space))[finite]
    reach = SPACE_REACH_CELLS * np.max(high - low) / CELLS_PER_AXIS
    cells = np.floor((here - low) / (high - low) * CELLS_PER_AXIS).astype(int)
    size = CELL_KEY_STRIDE ** np.arange(cells.shape[-1])
    beside = [int(size @ by) for by in product((-1, 0, 1), repeat=len(size))]
    members: dict[int, list[int]] = {}
    for i, cell in enumerate((cells @ size).tolist()):
        members.setdefault(cell, []).append(i)
    full = sorted((cell for cell, own in members.items() if len(own) > 1), key=lambda c: -len(members[c]))
    least, found_crowds = max(2, len(here) / CROWD_DIVISOR), []
    for cell in full:
        around = [cell + by for by in beside]
        own = np.array([i for each in around for i in members.get(each, ())])
        if cell not in members or len(own) < least:
            continue
        for each in around:
            members.pop(each, None)
        median = np.sort(space[own], axis=0)[len(own) // 2]
        own = own[(np.abs(space[own] - median) <= reach).all(-1)]
        if len(own) < least:
            continue
        place = here[own].mean(0)
        near = (np.abs((here - place) / (high - low)) * CELLS_PER_AXIS <= NEIGHBOURHOOD_CELLS).all(-1).sum()
        if near <= MAX_NEIGHBOUR_RATIO * len(own):
            found_crowds.append((place, len(own)))
    return sorted(found_crowds, key=lambda crowd: -crowd[1])
