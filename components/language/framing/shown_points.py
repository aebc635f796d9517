"""Cache of the points that a recipe's marks show; they are computed again only if a parameter moves them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from components.language.cloud import Cloud, Moment, Params, Row
from components.language.marks import Mark
from components.language.recipe import Recipe
from geometry.entries import Entries

Array = np.ndarray
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class _SharedMoment(Moment):
    """A `Moment` that caches display coordinates, because several marks may show the same cloud."""

    memory: ShownPoints

    def shown(self, cloud: str, show: Sequence[Row]) -> Array:
        return self.memory.shown(cloud, show, self.params, self.progress)


class ShownPoints:
    """The points that each mark of a recipe shows at given parameters and progress (in stages), memoised."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe, self.clouds = recipe, {cloud.name: cloud for cloud in recipe.clouds}
        self._memory: dict[tuple[Any, ...], tuple[Sequence[object], Any]] = {}

    def at(self, mark: Mark, params: Params, progress: float) -> list[Array]:
        """The finite points that a mark shows at `progress`, as a list of arrays.

        A mark that draws the past path of each point has one array for each earlier stage, then one for
        `progress`. Any other mark has one array. If a mark selects points by a property, all points of its
        cloud are returned, because the selection can change.
        """
        moved: Iterable[float | None] = params.values()
        if mark.framed_by_cloud:
            progress = min(progress, self._last_stage(mark.cloud))
            moved = map(params.get, self._movers(mark.cloud, (*mark.rows, *mark.choosing_rows()), progress))
        return self.memoised(lambda: self._points(mark, params, progress), progress, *moved, of=[mark])

    def _points(self, mark: Mark, params: Params, progress: float) -> list[Array]:
        if not mark.framed_by_cloud or mark.has_heads() or mark.choosing_rows():
            at = _SharedMoment(self.clouds, params, progress, self.recipe.follow, memory=self)
            return [_finite(mark.points(at))]
        on_its_way = mark.keeps_way and progress > 0
        before = self.at(mark, params, math.ceil(progress) - 1.0) if on_its_way else []
        every = self.shown(mark.cloud, mark.rows, params, progress)
        resting = Moment(self.clouds, {}, 0.0, self.recipe.follow)
        some = self.memoised(lambda: mark.fixed_indices(resting), "some", of=[mark])
        return [*before, self.memoised(lambda: _finite(every, some), "finite", of=[every, some])]

    def shown(self, cloud: str, show: Sequence[Row], params: Params, progress: float) -> Array:
        """The display coordinates (N, k) of a cloud's N points, memoised. show: the k rows that give them.

        A cloud with fewer steps than the recipe stays at its last stage.
        """
        progress, names = min(progress, self._last_stage(cloud)), self._movers(cloud, show, progress)
        at = Moment(self.clouds, params, progress)
        return self.memoised(lambda: at.shown(cloud, show), cloud, progress, *map(params.get, names), of=show)

    def memoised(self, compute: Callable[[], T], *key: Any, of: Sequence[object] = ()) -> T:
        """The value of `compute()`, memoised by `key` and by the objects `of` from which it is computed.

        The objects are compared by identity, because marks hold arrays, which have no hash. The cache keeps a
        reference to them. Otherwise an object could be freed, and a new one could get its id.
        """
        identities = (*key, *map(id, of))
        if identities not in self._memory:
            self._memory[identities] = of, compute()
        return self._memory[identities][1]

    def _last_stage(self, cloud: str) -> int:
        return len(self.clouds[cloud].pipeline.steps)

    def _movers(self, cloud: str, show: Sequence[Row], progress: float) -> tuple[str, ...]:
        """The names of the parameters that can move a cloud's display coordinates at `progress`."""
        return self.memoised(
            lambda: _movers(self.clouds[cloud], show, progress), "movers", cloud, progress, of=show
        )


def _finite(points: Array, some: Array | None = None) -> Array:
    """The points that contain neither NaN nor ±∞. some: the indices of the points to test; None for all."""
    points = points if some is None else points[some]
    finite = np.isfinite(points)
    return points if finite.all() else points[finite.all(-1)]


def _movers(cloud: Cloud, show: Sequence[Row], progress: float) -> tuple[str, ...]:
    rows = [*show, *(divisor for row in show for divisor in _divisors(row))]
    steps = cloud.pipeline.steps[: math.ceil(max([progress, *(row.stage or 0 for row in rows)]))]
    weights = [row.weights for row in rows if isinstance(row.weights, Entries)]
    return tuple(sorted(cloud.place.parameters.union(*(own.parameters for own in (*steps, *weights)))))


def _divisors(row: Row) -> list[Row]:
    """The chain of a row's divisors: `row.over`, the `over` of that row, and so on; [] for no divisor."""
    return [row.over, *_divisors(row.over)] if row.over else []
