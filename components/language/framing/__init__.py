"""Framing: computes the ranges of a view's axes from the points that the view shows.

A view without given `ranges` is framed when its recipe is finished (`components.language.finish`). All points
that are visible as the scene opens are then inside the picture, and centred. (Not every mark counts: see
`Mark.counts_for_axes`.)

The axes also leave room for points of other stages, and for points at the ends of sliders. This room is
limited: the view's sphere or circle must take at least `MIN_SPHERE_FRACTION` of the smaller side of the
panel. In a view without a sphere or circle, the limit applies to the points visible at first. If a 2D view is
much wider than high, its axes take the whole width of the figure (`View.wide`).

Axes can also change at a stage (`View.zooms`), in all 3D views and in 2D views with `reaching`. They widen if
the points of the stage need more room, narrow if these points are close together, and are centred on them. In
views with `reaching` the axes also widen when a slider moves points out (`View.wider`).

Guides, which are axes and planes drawn around the subject, do not affect the ranges. Where possible, they
are shortened to end inside the picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from components.language.cloud import Cloud
from components.language.framing.boxes import Array, Box, box_in_plane, boxes_in_space
from components.language.framing.extent import ViewExtent
from components.language.framing.guides import GuideShortener
from components.language.framing.paper import BOX_TO_PICTURE, eye
from components.language.framing.shown_points import ShownPoints
from components.language.framing.zooms import slider_zooms, stage_zooms
from components.language.recipe import Recipe, View


def framed(recipe: Recipe) -> tuple[tuple[Cloud, ...], tuple[View, ...]]:
    """The recipe's clouds and views, where every view has ranges and, if it needs them, zooms.

    A view that had no ranges gets computed ones, and its guides (axes, planes, their labels) are shortened to
    fit. All 3D views with computed ranges have the same scale; each is centred on its own points.
    """
    shown, clouds = ShownPoints(recipe), {cloud.name: cloud for cloud in recipe.clouds}
    boxes = _boxes(shown)
    views = [_placed(view, *boxes[view.name]) if view.name in boxes else view for view in recipe.views]
    views = _zooming(shown, views, boxes)
    guides = GuideShortener(recipe, clouds)
    views = [guides.shortened(view) if view.name in boxes else view for view in views]
    return tuple(clouds.values()), tuple(views)


def _boxes(shown: ShownPoints) -> dict[str, Box]:
    """For each view without given ranges, by its name: the box that its picture shows."""
    unframed = [view for view in shown.recipe.views if not view.ranges]
    spaces = [view for view in unframed if view.dims == 3]
    boxes = {v.name: box_in_plane(ViewExtent(shown, v)) for v in unframed if v.dims == 2}
    if spaces:
        found = boxes_in_space([ViewExtent(shown, view) for view in spaces])
        boxes |= {view.name: box for view, box in zip(spaces, found, strict=True)}
    return boxes


def _placed(view: View, center: Array, half: Array) -> View:
    """A copy of the view whose picture shows the box from `center` − `half` to `center` + `half`.

    The ranges of a 2D view are this box. Those of a 3D view are larger by the factor BOX_TO_PICTURE, so that
    points outside the picture are not cut off. The camera of a 3D view keeps its direction, moves to the
    standard distance, and looks at the centre of the box.
    """
    larger = BOX_TO_PICTURE if view.dims == 3 else 1
    ranges = tuple((float(c - larger * h), float(c + larger * h)) for c, h in zip(center, half, strict=True))
    return replace(view, ranges=ranges, camera=eye(view.camera) if view.dims == 3 else view.camera)


def _zooming(shown: ShownPoints, views: Sequence[View], boxes: dict[str, Box]) -> list[View]:
    """Copies of the views with computed zooms: `View.zooms` for the stages, `View.wider` for sliders.

    - Views that already have `zooms` keep them.
    - Other 3D views get `zooms`. At each stage, all of them get the same scale.
    - Other 2D views get `zooms` only if they are `reaching`.
    - All `reaching` views get `wider`.

    boxes: its keys are the names of the views without given ranges. In these views zooms may also make the
    axes shorter; in the others, only longer.
    """
    free = [view for view in views if not view.zooms]
    spaces = [view for view in free if view.dims == 3]
    planes = [[view] for view in free if view.dims == 2 and view.reaching]
    zooms: dict[str, tuple[tuple[float, ...], ...]] = {}
    for some in (spaces, *planes):
        zooms |= zip((view.name for view in some), stage_zooms(shown, some, boxes), strict=True)
    views = [replace(view, zooms=zooms.get(view.name, view.zooms)) for view in views]
    return [replace(view, wider=slider_zooms(shown, view)) if view.reaching else view for view in views]
