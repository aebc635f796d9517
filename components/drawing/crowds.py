"""Crowds: places of a view where several points coincide, with their number. See assets/engine/crowds.mjs."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from components.language.cloud import Moment
from components.language.marks import Followed, Highest, Points
from components.language.recipe import View
from geometry.crowds import crowds

Array = np.ndarray


def crowds_of(view: View, at: Moment) -> list[tuple[Array, int, str]]:
    """The places where several points of one cloud coincide, as (place, number of points, name of the cloud).

    Places are in display coordinates; the place with the most points comes first. Points that are far apart
    in space are not counted together, even if their projections coincide.

    Only points drawn by visible marks of the class `Points` are counted; marks with `only=Followed()` or
    `only=Highest(…)` are ignored. If several marks with rows for the same stages draw one point, it counts
    once, at its place in the topmost of these marks.
    """
    taken: dict[tuple[str, tuple[int, ...]], Array] = {}
    shown: dict[tuple[str, tuple[int, ...]], list[tuple[Array, Array]]] = defaultdict(list)
    for mark in reversed(view.layers):
        if not isinstance(mark, Points) or isinstance(mark.only, Followed | Highest):
            continue
        if len(at.clouds[mark.cloud].points) < 2 or not mark.opacity_at(at.progress) > 0:
            continue
        # the stages whose points the mark's rows refer to; −1 for the current points
        stages = tuple(sorted({-1 if row.stage is None else row.stage for row in mark.rows}))
        known = [at.now(mark.cloud) if k < 0 else at.stages(mark.cloud)[k] for k in stages]
        points, space = mark.points(at), np.hstack(known)
        numbers = np.array(mark.only) if isinstance(mark.only, list | tuple) else np.arange(len(points))
        own = taken.setdefault((mark.cloud, stages), np.zeros(len(space), bool))
        new = ~(own[numbers] | np.isnan(points[:, 0]))
        own[numbers[new]] = True
        shown[mark.cloud, stages].append((points[new], space[numbers[new]]))
    low, high = np.array(view.ranges, float).T
    found = []
    for (cloud, _), every in shown.items():
        points, space = map(np.concatenate, zip(*every, strict=True))
        found += [(place, count, cloud) for place, count in crowds(points, low, high, space)]
    return sorted(found, key=lambda crowd: -crowd[1])
