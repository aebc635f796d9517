"""Where many points of a view stand in one place, and how many. As assets/engine/crowds.mjs."""

from __future__ import annotations

import numpy as np

from components.language.cloud import Moment
from components.language.marks import Followed, Highest, Points
from components.language.recipe import View
from geometry.crowds import crowds

Array = np.ndarray


def crowds_of(view: View, at: Moment) -> list[tuple[Array, int, str]]:
    """(place, count, cloud) of the points that the view shows, each once, and none that is picked out."""
    shown: dict[str, dict[int, Array]] = {}
    for mark in view.layers:
        if not isinstance(mark, Points) or isinstance(mark.only, Followed | Highest):
            continue
        if len(at.clouds[mark.cloud].points) < 2 or not mark.opacity_at(at.progress) > 0:
            continue
        points, own = mark.points(at), shown.setdefault(mark.cloud, {})
        numbers = mark.only if isinstance(mark.only, list | tuple) else range(len(points))
        for i, point in zip(numbers, points, strict=True):
            if not np.isnan(point[0]):
                own.setdefault(int(i), point)
    low, high = np.array(view.ranges, float).T
    return [
        (place, count, cloud)
        for cloud, own in shown.items()
        if own
        for place, count in crowds(np.array(list(own.values())), low, high)
    ]
