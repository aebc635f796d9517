"""Framing: computes the ranges of a view's axes from what the view shows, for all scenes.

A view without `ranges` is framed when its recipe is finished (`components.language.finish`). Everything that
is visible as the scene opens is wholly inside the picture, and centred. The axes also leave room for the
other stages and the ends of the sliders, but only so much that the sphere or circle (without one: the points
visible at first) takes at least `MIN_SPHERE_FRACTION` of the smaller side of the panel. A 2D view that is
much wider than high gets axes as wide as the whole figure (`View.wide`). In 3D views and `reaching` 2D views,
the axes widen for a stage that needs more room, and narrow for a small one, around the centre of the stage's
points (`View.zooms`). In `reaching` views they also widen when a slider moves points out (`View.wider`).
Guides do not count.
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
    """The recipe's clouds and views, with the ranges that were missing and with shorter guides.

    All 3D views have the same scale; each is centred on its own points.
    """
    shown, clouds = ShownPoints(recipe), {cloud.name: cloud for cloud in recipe.clouds}
    boxes = _boxes(shown)
    views = [_placed(view, *boxes[view.name]) if view.name in boxes else view for view in recipe.views]
    views = _zooming(shown, views, boxes)
    guides = GuideShortener(recipe, clouds)
    views = [guides.shortened(view) if view.name in boxes else view for view in views]
    return tuple(clouds.values()), tuple(views)


def _boxes(shown: ShownPoints) -> dict[str, Box]:
    """The boxes (centre and half sides of the axes) of the views whose ranges are not given, by view name."""
    open_views = [view for view in shown.recipe.views if not view.ranges]
    deep = [view for view in open_views if view.dims == 3]
    boxes = {v.name: box_in_plane(ViewExtent(shown, v)) for v in open_views if v.dims == 2}
    if deep:
        found = boxes_in_space([ViewExtent(shown, view) for view in deep])
        boxes |= {view.name: box for view, box in zip(deep, found, strict=True)}
    return boxes


def _placed(view: View, center: Array, half: Array) -> View:
    """The view, with axes over the box from center − half to center + half."""
    larger = BOX_TO_PICTURE if view.dims == 3 else 1
    ranges = tuple((float(c - larger * h), float(c + larger * h)) for c, h in zip(center, half, strict=True))
    return replace(view, ranges=ranges, camera=eye(view.camera) if view.dims == 3 else view.camera)


def _zooming(shown: ShownPoints, views: Sequence[View], boxes: dict[str, Box]) -> list[View]:
    """The views with their zooms added: `zooms` for stages (same scale in 3D views), `wider` for sliders."""
    spaces = [view for view in views if view.dims == 3 and not view.zooms]
    planes = [[view] for view in views if view.dims == 2 and view.reaching]
    zooms: dict[str, tuple[tuple[float, ...], ...]] = {}
    for some in (spaces, *planes):
        zooms |= zip((view.name for view in some), stage_zooms(shown, some, boxes), strict=True)
    views = [replace(view, zooms=zooms.get(view.name, view.zooms)) for view in views]
    return [replace(view, wider=slider_zooms(shown, view)) if view.reaching else view for view in views]
