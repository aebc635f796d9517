"""The extent of a view: its outermost points as the scene opens and later, and those of its spheres."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property, partial

import numpy as np

from components.language.cloud import Params
from components.language.framing.paper import eye_basis
from components.language.framing.shown_points import ShownPoints
from components.language.marks import Mark
from components.language.recipe import View

Array = np.ndarray

SPHERE_ROLES = ("sphere", "meeting")  # roles of the spheres and circles that the framing keeps large
MIN_VISIBLE_OPACITY = 0.1  # at a stage, fainter spheres are not kept large
DIRECTION_COUNT = 200  # number of directions, in each of which only the farthest point is kept
DIRECTION_INDICES = np.arange(DIRECTION_COUNT)
POINTS_PER_PRODUCT = 200  # points per matrix product: small enough for one thread and the processor's cache


class ViewExtent:
    """The few points that decide the ranges of a view's axes.

    They are the outermost points of three sets: the points visible as the scene opens, the points visible
    later, and the points of the view's spheres and circles.
    """

    def __init__(self, shown: ShownPoints, view: View) -> None:
        self.shown, self.recipe = shown, shown.recipe
        self.name, self.dims, self.marks, self.reaching = view.name, view.dims, view.layers, view.reaching
        self.away = np.asarray(view.camera[:3], float) / np.linalg.norm(view.camera[:3])

    @cached_property
    def basis(self) -> Array:
        """The camera's basis (3, 3) in a 3D view; its rows point to the right, up, and towards the camera."""
        return eye_basis(self.away)

    @cached_property
    def first(self) -> Array:
        """The outermost points, as the scene opens, of the visible marks that count for the axes.

        If there are no such points, the result is (−1, −1, …) and (1, 1, …). See `Mark.counts_for_axes`.
        """
        found = self._points(self.recipe.defaults, self.recipe.progress, whole=True)
        return found if len(found) else np.vstack([-np.ones(self.dims), np.ones(self.dims)])

    @cached_property
    def spheres(self) -> list[Array]:
        """For each sphere or circle of the view (see `_is_sphere`), an array of its outermost points.

        If the view has none, the list contains only the array `first`.
        """
        return [points for mark in self.marks if len(points := self._sphere(mark))] or [self.first]

    def at(self, progress: float) -> Array:
        """The outermost visible points, including those of labels, at `progress` (a position between stages).

        All parameters have their default values.
        """
        return self._points(self.recipe.defaults, progress, whole=True, labels=True)

    def held(self, params: Params, progress: float) -> list[Array]:
        """Points that must stay inside the view when sliders move, as a list of arrays.

        They are the points of two kinds of visible marks, except guides: spheres and circles, and marks with
        `Mark.moves_axes`.
        """
        seen = (mark for mark in self._visible(progress) if mark.moves_axes or _is_sphere(mark))
        return self._arrays(seen, params, progress)

    def spheres_at(self, progress: float) -> Array:
        """The outermost points of the spheres and circles that are clearly visible at `progress`.

        That is, with an opacity above MIN_VISIBLE_OPACITY.
        """
        seen = [
            mark
            for mark in self.marks
            if _is_sphere(mark) and mark.opacity_at(progress) > MIN_VISIBLE_OPACITY
        ]
        return self._farthest(self._arrays(seen, self.recipe.defaults, progress))

    def later(self) -> Iterator[Array]:
        """Yield, for several states, the outermost points of visible marks that always count for the axes.

        The first states have the default parameters, at the opening progress and then at each stage. In the
        others, one slider is at one of its ends, and the progress is the first stage, the opening progress
        or the last stage. These others are left out for a `reaching` view, whose axes follow sliders.
        """
        defaults = self.recipe.defaults
        for progress in self._moments():
            yield self._points(defaults, progress)
        for p in self.recipe.parameters if not self.reaching else ():
            for end in (p.min, p.max) if not p.quiet else ():
                for progress in {0.0, self.recipe.progress, len(self.recipe.stages) - 1.0}:
                    yield self._points(defaults | {p.name: end}, progress)

    def _visible(self, progress: float) -> list[Mark]:
        """The marks that are visible at `progress`, except guides (axes and planes around the subject)."""
        return self.shown.memoised(
            lambda: [mark for mark in self.marks if not mark.guide and mark.opacity_at(progress) > 0],
            "visible",
            self.name,
            progress,
        )

    def _arrays(self, marks: Iterable[Mark], params: Params, progress: float) -> list[Array]:
        """The arrays of the points that the marks show, without empty arrays.

        Several marks can show the same array object; it is returned once.
        """
        found = (points for mark in marks for points in self.shown.at(mark, params, progress))
        return list({id(points): points for points in found if len(points)}.values())

    def _moments(self) -> list[float]:
        return [self.recipe.progress, *map(float, range(len(self.recipe.stages)))]

    def _points(
        self, params: dict[str, float], progress: float, *, whole: bool = False, labels: bool = False
    ) -> Array:
        """The outermost points, at `progress`, of the visible marks that count for the axes, without guides.

        A mark counts if its `Mark.counts_for_axes` is "always". If `whole` is true, marks with "whole" count
        too. If `labels` is true, marks with "labels" count too.
        """
        kinds = {"always", *(["whole"] * whole), *(["labels"] * labels)}
        seen = (mark for mark in self._visible(progress) if mark.counts_for_axes in kinds)
        return self._farthest(self._arrays(seen, params, progress))

    def _sphere(self, mark: Mark) -> Array:
        """The outermost points of a sphere or circle, as the scene opens.

        If the scene opens without this mark, the points are taken at the first stage that shows the mark, or
        at stage 0 if no stage shows it. Returns no points for other marks (see `_is_sphere`).
        """
        if not _is_sphere(mark):
            return np.empty((0, self.dims))
        moments = (progress for progress in self._moments() if mark.opacity_at(progress) > 0)
        return self._farthest(self._arrays([mark], self.recipe.defaults, next(moments, 0.0)))

    def _farthest(self, arrays: Sequence[Array]) -> Array:
        """The outermost points of all arrays: the farthest point in each of DIRECTION_COUNT directions.

        If the arrays hold at most DIRECTION_COUNT points, all of them are returned.
        """
        if sum(map(len, arrays)) <= DIRECTION_COUNT:
            return np.vstack([np.empty((0, self.dims)), *arrays])
        found = [
            self.shown.memoised(partial(_farthest_points, points), "farthest", of=[points])
            for points in arrays
        ]
        best = np.argmax([far for far, _ in found], axis=0)
        return self.shown.memoised(
            lambda: np.array([points for _, points in found])[best, DIRECTION_INDICES],
            "farthest of",
            of=arrays,
        )


def _is_sphere(mark: Mark) -> bool:
    """Whether framing keeps a mark large: a `Line` or `Mesh` with a role in SPHERE_ROLES, but no guide."""
    return not mark.guide and mark.role in SPHERE_ROLES and mark.spherical


def _farthest_points(points: Array) -> tuple[Array, Array]:
    """For each of DIRECTION_COUNT directions, how far the points reach in it, and the farthest point.

    Returns the largest projections onto the directions (DIRECTION_COUNT,), and the points (DIRECTION_COUNT,
    k).
    """
    directions, found = _directions(points.shape[1]), []
    for start in range(0, len(points), POINTS_PER_PRODUCT):
        along = directions @ points[start : start + POINTS_PER_PRODUCT].T
        best = along.argmax(1)
        found.append((along[DIRECTION_INDICES, best], start + best))
    far, chosen = map(np.array, zip(*found, strict=True))
    top = far.argmax(0), DIRECTION_INDICES
    return far[top], points[chosen[top]]


@cache
def _directions(dims: int) -> Array:
    """(DIRECTION_COUNT, dims) evenly spread unit vectors: in 2D on a circle, in 3D as a Fibonacci sphere."""
    k = DIRECTION_INDICES + 0.5
    turn = np.pi * (1 + 5**0.5) * k if dims == 3 else 2 * np.pi * k / DIRECTION_COUNT
    height = 1 - 2 * k / DIRECTION_COUNT if dims == 3 else 0 * k
    flat = np.sqrt(1 - height**2)[:, None] * np.column_stack([np.cos(turn), np.sin(turn)])
    return np.column_stack([flat, height]) if dims == 3 else flat
