"""Shorten guides (axes, planes and their labels) so that they end inside the picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from components.language.cloud import Cloud, Moment
from components.language.framing.paper import on_paper
from components.language.marks import Mark
from components.language.recipe import Recipe, View

Array = np.ndarray

# largest distances from the centre of the panel, relative to half its side
MAX_LABEL_RADIUS = 0.89  # for labels at the ends of guides
MAX_GUIDE_RADIUS = 0.95  # for the ends of guides
# the same, upwards in 3D: Plotly writes a label up to 26 pixels above its point, and the label must be inside
# the panel, which is 250 pixels high on a telephone, and must not overlap the end of the line
MAX_LABEL_TOP = 0.76
MAX_LINE_TOP = 0.81
SHORTENING_STEPS = 40
SHORTENING_TOLERANCE = 0.01  # share by which a shortened guide may exceed these distances
MAX_FACTOR_PER_STEP = 1.4  # shortening is done in steps: perspective distorts guides that are much too long


class GuideShortener:
    """Shortens guides (axes, planes, their labels), so that they end inside the picture at each stage.

    A guide whose class has a field for its size (`Mark.own_size`) is replaced by a smaller one. Any other
    guide is as large as the cloud that it draws. It is shortened by pulling the points of this cloud towards
    the origin, unless a mark that is not a guide draws the same cloud.
    """

    def __init__(self, recipe: Recipe, clouds: dict[str, Cloud]) -> None:
        self.recipe, self.clouds = recipe, clouds
        self._shared = {mark.cloud for v in recipe.views for mark in v.layers if not mark.guide}

    def shortened(self, view: View) -> View:
        """A copy of the view whose guides end inside its picture at each stage, where this is possible.

        At a stage at which no length fits, a guide is not shortened. Where guides are shortened by moving
        points, the clouds in `self.clouds` are replaced.
        """
        layers = (self._within(mark, view) if self._may_shorten(mark) else mark for mark in view.layers)
        return replace(view, layers=tuple(layers))

    def _may_shorten(self, mark: Mark) -> bool:
        """Whether the mark is a guide that can be shortened without altering any mark that is not a guide.

        A guide that has a field for its size is shortened by this field, which changes no other mark. For any
        other guide, the points of its cloud are moved; so no mark except guides may draw the same cloud.
        """
        return mark.guide and (mark.own_size or mark.cloud not in self._shared)

    def _within(self, mark: Mark, view: View) -> Mark:
        stages = [stage for stage in range(len(self.recipe.stages)) if mark.opacity_at(stage) > 0]
        if not stages or self._excess(mark, view, stages) <= 1:
            return mark
        rays = mark.along_rays(self.clouds[mark.cloud].points)  # also true after the guide is shortened
        for stage in stages:
            before = mark, self.clouds[mark.cloud]
            for _ in range(SHORTENING_STEPS):
                factor = min(self._excess(mark, view, [stage]), MAX_FACTOR_PER_STEP)
                if factor <= 1:
                    break
                if mark.own_size:
                    mark = mark.shortened(factor)
                    continue
                by = self._point_excesses(mark, view, stage) if rays else np.array([[factor]])
                cloud = self.clouds[mark.cloud]
                self.clouds[mark.cloud] = replace(
                    cloud, points=cloud.points / by.clip(1, MAX_FACTOR_PER_STEP)
                )
            # if the picture does not show the origin, no length fits
            if self._excess(mark, view, [stage]) > 1 + SHORTENING_TOLERANCE:
                mark, self.clouds[mark.cloud] = before
        return mark

    def _excess(self, mark: Mark, view: View, stages: Sequence[int]) -> float:
        """The largest of the `_excesses` of a guide's points at the stages: above 1 if any is too far out."""
        points = [mark.points(self._moment(stage)) for stage in stages]
        if not view.zooms:
            points, stages = [np.vstack(points)], stages[:1]
        each = [_excesses(mark, view.at(stage), some) for stage, some in zip(stages, points, strict=True)]
        return max(float(np.nanmax(some, initial=0)) for some in each)

    def _point_excesses(self, mark: Mark, view: View, stage: int) -> Array:
        """The `_excesses` (N, 1) of a guide's points at a stage: above 1 for a point too far out."""
        shown = self._moment(stage).shown(mark.cloud, mark.rows)
        return _excesses(mark, view.at(stage), shown)[:, None]

    def _moment(self, stage: int) -> Moment:
        return Moment(self.clouds, self.recipe.defaults, float(stage), self.recipe.follow)


def _excesses(mark: Mark, view: View, points: Array) -> Array:
    """For each point of a guide, a number (N,) that is above 1 if the point is too far from the centre.

    It is the largest of |x|/limit, −y/limit and y/top, where the picture reaches from −1 to 1 in x and y.
    `limit` is MAX_LABEL_RADIUS for labels, otherwise MAX_GUIDE_RADIUS. `top` is MAX_LABEL_TOP for labels in
    3D, MAX_LINE_TOP for lines in 3D, otherwise `limit`.
    """
    label = mark.draws == "labels"
    limit = MAX_LABEL_RADIUS if label else MAX_GUIDE_RADIUS
    x, y = on_paper(view, points, view.camera)[0].T
    top = limit
    if view.dims == 3 and mark.draws in ("labels", "line"):
        top = MAX_LABEL_TOP if label else MAX_LINE_TOP
    return np.maximum(np.abs(x) / limit, np.maximum(-y / limit, y / top))
