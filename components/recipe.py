"""A recipe: the parameters, clouds, pipelines and views of one scene for one set of choices, as data.

Whoever holds a recipe can run it: `components.figure` in Python, `assets/engine.mjs` in the browser. The
words are those of docs/design.md; `components.packing` is the form in which it travels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from geometry.arrows import with_heads
from geometry.distributions import best_threshold, histogram
from geometry.ellipsoid import diameters
from geometry.path import between
from geometry.pipeline import Pipeline
from geometry.plane import disc

Array = np.ndarray
Params = Mapping[str, float]


@dataclass(frozen=True)
class Parameter:
    """A number that a slider moves. `scale="log"`: the slider is even in log10 of the value."""

    name: str
    label: str
    value: float
    min: float
    max: float
    step: float = 0.01
    scale: str = "linear"
    group: str = ""
    about: str = ""


@dataclass(frozen=True)
class Cloud:
    """Points (N, d). `place` moves them with the parameters before stage 0; `pipeline` with the progress.

    pictures: a small grey picture of each point (N, h, w), 0 to 255, shown where the pointer is.
    """

    name: str
    points: Array
    pipeline: Pipeline = Pipeline(())
    place: Pipeline = Pipeline(())
    labels: Sequence[str] | None = None
    pictures: Array | None = None

    def stages(self, params: Params) -> list[Array]:
        """The cloud before the pipeline and after each of its steps; the last ones are remembered."""
        values = tuple(params.get(name) for name in sorted(self.place.parameters | self.pipeline.parameters))
        known = self._lately.get(values)
        if known is None:
            start = self.place.stages(self.points.astype(float), params)[-1]
            known = self.pipeline.stages(start, params)
            self._lately.clear()
            self._lately[values] = known
        return known

    @cached_property
    def _lately(self) -> dict[tuple[float | None, ...], list[Array]]:
        return {}

    def at(self, params: Params, progress: float) -> Array:
        """Where the points are; a cloud with fewer steps than the recipe rests at its last stage."""
        stages = self.stages(params)
        k, f = divmod(min(progress, len(stages) - 1), 1)
        start, *after = stages[int(k) :]
        return between(start, after[0], f, path=self.pipeline.path) if f else start


@dataclass(frozen=True)
class Row:
    """One display coordinate: ⟨weights, point⟩ + offset, at the current progress or at a fixed stage."""

    weights: Sequence[float]
    stage: int | None = None
    offset: float = 0.0


def rows(projection: Any, *, stage: int | None = None) -> tuple[Row, ...]:
    """A projection d → 2 or 3, a matrix (k, d), at one stage."""
    return tuple(Row(tuple(map(float, weights)), stage) for weights in np.atleast_2d(projection))


@dataclass(frozen=True)
class Color:
    """A number for each point, painted through a named scale of the theme: `values`, or a live `row`."""

    scale: str
    low: float
    high: float
    values: Array | None = None
    row: Row | None = None
    title: str = ""


@dataclass(frozen=True)
class Layer:
    """What is drawn of a cloud.

    kind: "points", "line" (`order`: indices, −1 is a gap), "mesh" (`order`: triangles, (F, 3)), "trail" (from
    each stage to where the point is), "labels" (the cloud's labels), "semi-axes" (of the ellipsoid that
    the cloud spans: its first point the middle, the others the images of orthonormal radii), "histogram"
    (of the one row: `bins` of equal width over `span`, counts upwards), "threshold" (the best single
    threshold on the one row between the two `classes`, as a line over `span`), "field" (the colour of a
    cloud that is a grid over the whole 2D view, row by row from below, `bins` columns; no rows), "plane" and
    "rim" (where a number affine in space is 0, within the ball of radius `span[1]`, as a disc of `bins`
    corners or its edge; the cloud's points are that number at the origin and the ends of the unit vectors).
    over: display coordinates are divided by this row (a central projection, from 4D to 3D stereographic).
    role: the mathematical role, which the theme knows the colour of. fade: opacity at each stage.
    only: indices of the points to show, or "followed". arrow: the length of a head at the end of each piece
    of a line or trail. drag: in a 2D view the hand takes hold of the first point and sets the parameter of
    this name, the pointer's angle around the origin in degrees, or those of two names, its x and y.
    pick: a click follows the point.
    picks: (a choice, its whole number for each point of the cloud): a click sets the choice.
    """

    cloud: str
    kind: str
    role: str
    rows: tuple[Row, ...]
    title: str = ""
    only: Sequence[int] | str | None = None
    order: Array | None = None
    over: Row | None = None
    span: tuple[float, float] = (0.0, 1.0)
    bins: int = 0
    classes: Array | None = None
    fade: Sequence[float] | None = None
    color: Color | None = None
    size: float = 4.0
    opacity: float = 1.0
    dash: str = "solid"
    hollow: bool = False
    square: bool = False
    pick: bool = False
    arrow: float = 0.0
    drag: Sequence[str] = ()
    picks: tuple[str, Array] | None = None

    def chosen(self, n: int, followed: int) -> Array:
        """The indices of the points to show, of n."""
        if self.only is None:
            return np.arange(n)
        if isinstance(self.only, str):
            return np.array([min(followed, n - 1)])
        return np.array(self.only, dtype=int)

    def opacity_at(self, progress: float) -> float:
        """Linear between the stages' values."""
        fade = [1.0] if self.fade is None else self.fade
        return self.opacity * float(np.interp(progress, range(len(fade)), fade))


@dataclass(frozen=True)
class View:
    """A panel with layers and fixed axes; `ranges` is one (low, high) a display axis.

    One view is full, two stand side by side; of three the first is large. With a `strip` the last is small:
    the second of two narrow, the third of three low.
    edge: a cloud as of a layer "plane"; a button turns the camera until that plane is seen edge on.
    """

    name: str
    title: str
    layers: tuple[Layer, ...]
    ranges: tuple[tuple[float, float], ...]
    dims: int = 3
    axes: Sequence[str] = ()
    equal: bool = True
    strip: bool = False
    camera: Sequence[float] = (0.95, -0.75, 0.42)
    edge: str = ""


@dataclass(frozen=True)
class Table:
    """Numbers of the followed point at every stage. `ideal`: the cloud whose stages are the surfaces' points
    (the distance is that to this point: to the image at ε = 0). first: what it is at stage 0, if not that."""

    cloud: str
    ideal: str = ""
    first: str = ""
    columns: Sequence[str] = ("components", "mean", "std", "norm", "angle", "distance")


@dataclass(frozen=True)
class Residual:
    """The largest distance between the last stages of two clouds, in their first `coordinates`."""

    label: str
    a: str
    b: str
    coordinates: int | None = None


@dataclass(frozen=True)
class Number:
    """One coordinate of one point of a cloud ("followed", or its index)."""

    label: str
    cloud: str
    row: Row
    index: int | str = 0
    unit: str = ""


@dataclass(frozen=True)
class Accuracy:
    """The share of points that a threshold on a row, or the best, puts in the right one of two `classes`."""

    label: str
    cloud: str
    row: Row
    classes: Array
    threshold: float | None = None


@dataclass(frozen=True)
class Facts:
    """A table of words and numbers that do not move."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Recipe:
    """One scene for one set of choices. `formula` is LaTeX; a piece in \\class{stage-k}{…} is marked at k.

    clock: a parameter that runs by itself, such as the step of a training: a second scrubber.
    """

    stages: Sequence[str]
    parameters: tuple[Parameter, ...]
    clouds: tuple[Cloud, ...]
    views: tuple[View, ...]
    formula: str = ""
    table: Table | None = None
    readouts: tuple[Residual | Number | Accuracy, ...] = ()
    facts: Facts | None = None
    progress: float = 0.0
    follow: int = 0
    clock: str = ""

    @cached_property
    def defaults(self) -> dict[str, float]:
        return {p.name: p.value for p in self.parameters}

    def cloud(self, name: str) -> Cloud:
        return next(c for c in self.clouds if c.name == name)

    def positions(self, params: Params, progress: float) -> dict[str, Array]:
        return {c.name: c.at(params, progress) for c in self.clouds}

    def layer_points(self, layer: Layer, params: Params, progress: float, *, followed: int = 0) -> Array:
        """A layer's points (M, k) in display coordinates, in drawing order, gaps NaN; as in engine.mjs."""
        points = self._drawing(layer, params, progress, followed)
        return with_heads(points, layer.arrow) if layer.arrow else points

    def _drawing(self, layer: Layer, params: Params, progress: float, followed: int) -> Array:
        cloud = self.cloud(layer.cloud)
        chosen = layer.chosen(len(cloud.points), followed)
        if layer.kind == "trail":
            gap = np.full((1, len(layer.rows)), np.nan)
            corners = [
                self._project(layer, cloud, params, min(s, progress))
                for s in range(len(cloud.pipeline.steps) + 1)
            ]
            return np.concatenate([np.vstack([*(c[[i]] for c in corners), gap]) for i in chosen])
        if layer.kind == "semi-axes":
            ends = diameters(cloud.at(params, progress))
            return np.stack([coordinate(r, ends, [ends]) for r in layer.rows], axis=-1)
        if layer.kind == "field":
            return np.empty((0, 2))
        if layer.kind in ("plane", "rim"):
            shape = disc(cloud.at(params, progress)[:, 0], layer.span[1], layer.bins)[layer.kind == "rim" :]
            return np.stack([coordinate(r, shape, [shape]) for r in layer.rows], axis=-1)
        points = self._project(layer, cloud, params, progress)
        if layer.kind == "histogram":
            return histogram(points[chosen, 0], layer.span, layer.bins)
        if layer.kind == "threshold":
            assert layer.classes is not None
            at = best_threshold(points[:, 0], layer.classes)[0]
            return np.array([[at, layer.span[0]], [at, layer.span[1]]])
        if layer.kind == "line" and layer.order is not None:
            return np.where(layer.order[:, None] < 0, np.nan, points[layer.order])
        return points[chosen]

    def layer_values(self, layer: Layer, params: Params, progress: float, *, followed: int = 0) -> Array:
        """The number that colours each point of a layer."""
        assert layer.color is not None
        values = layer.color.values
        if values is None:
            assert layer.color.row is not None
            cloud = self.cloud(layer.cloud)
            values = coordinate(layer.color.row, cloud.at(params, progress), cloud.stages(params))
        return values[layer.chosen(len(values), followed)]

    def _project(self, layer: Layer, cloud: Cloud, params: Params, progress: float) -> Array:
        at, stages = cloud.at(params, progress), cloud.stages(params)
        points = np.stack([coordinate(r, at, stages) for r in layer.rows], axis=-1)
        return points if layer.over is None else points / coordinate(layer.over, at, stages)[:, None]


def coordinate(row: Row, at: Array, stages: Sequence[Array]) -> Array:
    """⟨weights, point⟩ + offset; missing coordinates count as zero."""
    points = at if row.stage is None else stages[min(row.stage, len(stages) - 1)]
    m = min(points.shape[-1], len(row.weights))
    return points[:, :m] @ np.asarray(row.weights[:m]) + row.offset
