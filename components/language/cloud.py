"""Point clouds, their stages, and their positions and display coordinates at a moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from geometry import selection
from geometry.angles import to_mean_line
from geometry.entries import Entries
from geometry.path import between, padded
from geometry.pipeline import Pipeline
from geometry.softmax import softmax

Array = np.ndarray
Params = Mapping[str, float]
# a cloud's cache of stages is emptied once it holds this many numbers
MAX_CACHED_NUMBERS = 50_000


@dataclass(frozen=True)
class Cloud:
    """A set of points (N, d), and the maps that move them.

    place     maps that move the points before stage 0; parameters can change them, the progress cannot
    pipeline  the steps, each of which leads from one stage to the next; between two stages, positions are
              interpolated linearly
    labels    a text for each point
    pictures  (N, h, w) for each point a small picture in grey values from 0 to 255, shown beside the pointer
    """

    name: str
    points: Array
    pipeline: Pipeline = Pipeline(())
    place: Pipeline = Pipeline(())
    labels: Sequence[str] | None = None
    pictures: Array | None = None

    def stages(self, params: Params) -> list[Array]:
        """The points at each stage: after `place`, then after each step of `pipeline`.

        The arrays are cached: do not change them.
        """
        values = tuple(map(params.get, self._names))
        stages = self._stage_cache.get(values)
        if stages is None:
            start = self.place.stages(self.points.astype(float), params)[-1]
            stages = self.pipeline.stages(start, params)
            # all entries have the same size
            if len(self._stage_cache) * sum(stage.size for stage in stages) >= MAX_CACHED_NUMBERS:
                self._stage_cache.clear()
            self._stage_cache[values] = stages
        return stages

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(sorted(self.parameters))

    @cached_property
    def _stage_cache(self) -> dict[tuple[float | None, ...], list[Array]]:
        return {}

    @cached_property
    def parameters(self) -> frozenset[str]:
        """The names of the parameters on which the points depend.

        They include the parameters of the clouds in `sources`, on whose points this cloud depends.
        """
        return self.place.parameters | self.pipeline.parameters

    @property
    def sources(self) -> tuple[Cloud, ...]:
        """The other clouds that this cloud's steps depend on.

        A step can use the points of another cloud as a matrix (`geometry.entries.Of`).
        """
        return self.place.sources + self.pipeline.sources

    @cached_property
    def widths(self) -> list[int]:
        """For each stage, the number of coordinates that a point has there.

        Raises ValueError if a step does not accept points with as many coordinates as the step before it
        returns.
        """
        d = self.points.shape[-1]
        for step in self.place.steps:
            d = step.width(d) or d
        found = [d]
        for step in self.pipeline.steps:
            found.append(step.width(found[-1]) or found[-1])
        return found

    def at(self, params: Params, progress: float) -> Array:
        """The positions (N, d) of the points at a progress (a position between stages).

        At the progress k + f, with 0 ≤ f < 1, a point has gone the share f of the straight line from stage k
        to stage k + 1. After the last stage of the cloud, its points stay where they are.
        """
        stages = self.stages(params)
        k, f = divmod(min(progress, len(stages) - 1), 1)
        start, *after = stages[int(k) :]
        return between(start, after[0], f) if f else start


@dataclass(frozen=True)
class Row:
    """A display coordinate of a point: the affine function ⟨weights, point⟩ + offset, or a quotient of two.

    weights  numbers, or entries that depend on parameters
    stage    the function is applied to the point at this stage; if None, to the current point
    offset   the number that is added
    over     a second row, the divisor: the display coordinate is the value of this row divided by that of the
             row `over`. So a stereographic projection from 4D to 3D can be drawn. None for no division
    """

    weights: Sequence[float] | Entries
    stage: int | None = None
    offset: float = 0.0
    over: Row | None = None

    def vector(self, params: Params | None) -> Array:
        """The weights as an array of numbers, computed from `params` if they depend on parameters."""
        return self.weights.value(params) if isinstance(self.weights, Entries) else self._fixed

    @cached_property
    def _fixed(self) -> Array:
        return np.asarray(self.weights, float)


@dataclass(frozen=True)
class LargestWeight:
    """For each point of a cloud, the largest attention weight that a query can give it.

    The points of the cloud are the keys. The weight is a supremum: 1 for a key that some query can select,
    and at most 1/2 for a key that is a convex combination of the others. stage: the stage at which the points
    are taken; None for the current points.
    """

    stage: int | None = None


@dataclass(frozen=True)
class SoftmaxWeight:
    """The attention weight of each point: the softmax, over all points, of the scores that `row` gives."""

    row: Row


@dataclass(frozen=True)
class Angle:
    """The angle between each current point and the line along (1, …, 1), in degrees from 0 to 90.

    It is 90 for a point at the origin.
    """


Measure = Row | LargestWeight | SoftmaxWeight | Angle  # each gives one number for each point of a cloud


def rows(projection: Any, *, stage: int | None = None, over: Row | None = None) -> tuple[Row, ...]:
    """The rows of a projection matrix (k, d), as k display coordinates with the same `stage` and `over`."""
    return tuple(Row(tuple(map(float, weights)), stage, over=over) for weights in np.atleast_2d(projection))


@dataclass(frozen=True)
class Moment:
    """The state of all clouds: the values of the parameters, and the position between stages (`progress`).

    followed: the index of the point that the reader follows (has selected); in a cloud with fewer points, the
    last point counts as followed.
    """

    clouds: Mapping[str, Cloud]
    params: Params
    progress: float
    followed: int = 0

    def stages(self, cloud: str) -> list[Array]:
        return self.clouds[cloud].stages(self.params)

    def now(self, cloud: str) -> Array:
        return self.clouds[cloud].at(self.params, self.progress)

    def shown(self, cloud: str, show: Sequence[Row]) -> Array:
        """The display coordinates (N, k) of a cloud's N points, one for each of the k rows in `show`."""
        return project(show, self.now(cloud), self.stages(cloud), self.params)

    def along(self, cloud: str, show: Sequence[Row], progresses: Sequence[float]) -> Array:
        """The display coordinates (K, N, k) that a cloud's N points have at K values of `progress`.

        show: the k rows that give the display coordinates. progresses: the K values.
        """
        positions = [self.clouds[cloud].at(self.params, progress) for progress in progresses]
        widest = max(points.shape[-1] for points in positions)
        padded_positions = np.stack([padded(points, widest) for points in positions])
        return project(show, padded_positions, self.stages(cloud), self.params)

    def measured(self, cloud: str, measure: Measure) -> Array:
        """(N,) the value of a measure for each point of a cloud."""
        match measure:
            case LargestWeight(stage):
                return self.largest(cloud, stage)
            case SoftmaxWeight(row):
                return np.asarray(softmax(self.shown(cloud, (row,))[:, 0]))
            case Angle():
                return to_mean_line(self.now(cloud))
        return self.shown(cloud, (measure,))[:, 0]

    def largest(self, cloud: str, stage: int | None = None) -> Array:
        """(N,) for each point of a cloud, the largest attention weight that a query can give it.

        The points of the cloud are the keys, and each may get its weight from a different query. stage: the
        stage at which the points are taken; None for the current points.
        """
        if (cloud, stage) not in self._largest_weights:
            keys = self.now(cloud) if stage is None else self.stages(cloud)[stage]
            self._largest_weights[cloud, stage] = selection.largest_weights(keys)
        return self._largest_weights[cloud, stage]

    def certificate(self, cloud: str) -> selection.Certificate:
        """Whether a query can select the followed point as a key, with the numbers that prove the answer."""
        if cloud not in self._certificates:
            keys = self.now(cloud)
            self._certificates[cloud] = selection.certificate(keys, min(self.followed, len(keys) - 1))
        return self._certificates[cloud]

    @cached_property
    def _largest_weights(self) -> dict[tuple[str, int | None], Array]:
        return {}

    @cached_property
    def _certificates(self) -> dict[str, selection.Certificate]:
        return {}


def project(
    show: Sequence[Row], points: Array, stages: Sequence[Array] = (), params: Params | None = None
) -> Array:
    """The coordinates (*batch, N, k) at which points are drawn: the values of the k rows in `show`.

    points: (*batch, N, m), the current points. If a row has more weights than the points have coordinates,
    the superfluous weights are ignored. If it has fewer, the superfluous coordinates are ignored. stages: the
    points at each stage, for rows with a fixed stage; if this stage is beyond the last, the last one is used.
    Without `stages`, such rows apply to `points` too.
    """
    first, weights = show[0], [row.vector(params) for row in show]
    # a single matrix product is only possible if all rows read the same points, with as many weights each
    kinds = {
        (row.stage, id(row.over), len(row_weights)) for row, row_weights in zip(show, weights, strict=True)
    }
    if len(kinds) > 1:
        return np.concatenate([project((row,), points, stages, params) for row in show], axis=-1)
    source = points
    if first.stage is not None and stages:
        source = stages[min(first.stage, len(stages) - 1)]
        source = np.broadcast_to(source, (*points.shape[:-1], source.shape[-1]))
    m = min(source.shape[-1], len(weights[0]))
    shown = source[..., :m] @ np.array(weights)[:, :m].T + np.array([row.offset for row in show])
    return shown if first.over is None else shown / project((first.over,), points, stages, params)
