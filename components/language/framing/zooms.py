"""Compute zooms of a view's axes: at stages (`View.zooms`), and at values of sliders (`View.wider`).

A zoom is a factor by which the axes become longer, and an offset of their centre along each axis. With a
factor above 1 the picture shows a larger region.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import prod

import numpy as np

from components.language.cloud import Params
from components.language.framing.boxes import (
    CENTRING_ITERATIONS,
    COINCIDENT,
    MAX_FIRST_FRACTION,
    MIN_SPHERE_FRACTION,
)
from components.language.framing.extent import ViewExtent
from components.language.framing.paper import (
    center_and_side,
    eye_basis,
    on_paper,
    target_and_distance,
    target_of,
)
from components.language.framing.shown_points import ShownPoints
from components.language.recipe import Parameter, View, Wider, identity_zoom

Array = np.ndarray
Zoom = tuple[float, Array]  # the scale of the axes, and the offset of their centre in display coordinates
ZoomRow = tuple[float, ...]  # the same as a row of numbers, as recipes have it: (scale, offset, offset …)

MAX_STAGE_RADIUS = 0.95  # in halves of the panel's side: the axes zoom out at a stage with points beyond it
MIN_STAGE_FRACTION = 0.52  # the axes zoom in on a stage whose points take less than this share of the picture
# share of the picture that points take after a slider has moved them out and the axes have followed
MOVED_FRACTION = 0.82
DECIMALS = 3  # to which the numbers of a zoom are rounded


def stage_zooms(
    shown: ShownPoints, views: Sequence[View], framed: Collection[str]
) -> list[tuple[ZoomRow, ...]]:
    """For each view, its zooms: one for each stage. If no view needs a zoom, each view has an empty tuple.

    Axes widen so that all points of a stage are visible. In the views named in `framed` the axes also narrow,
    so that points that are close together appear large. At each stage, all views have the same scale.
    """
    stages = range(len(shown.recipe.stages))
    view_zooms = [
        [_stage_zoom(ViewExtent(shown, view), view, k, nearer=view.name in framed) for k in stages]
        for view in views
    ]
    if not any(zoom for zooms in view_zooms for zoom in zooms):
        return [()] * len(views)
    scales = [max((zoom[0] if zoom else 1.0) for zoom in at) for at in zip(*view_zooms, strict=True)]
    still = np.zeros(views[0].dims)
    return [
        tuple(_row(scale, zoom[1] if zoom else still) for scale, zoom in zip(scales, zooms, strict=True))
        for zooms in view_zooms
    ]


def slider_zooms(shown: ShownPoints, view: View) -> tuple[Wider, ...]:
    """The zooms (`Wider`) that follow sliders: of single sliders, then of each pair in `View.together`.

    A slider gets a zoom if it moves points out of the view. In a view with `View.between`, a slider also gets
    one if it moves points so close together that they look small. When both sliders of a pair are moved,
    three zooms apply (one for each slider, one for the pair), and their offsets add up. So the pair's zoom
    stores the offset that both sliders need together, minus the offsets of the two single sliders.
    """
    extent, recipe, widenings, identity = ViewExtent(shown, view), shown.recipe, [], identity_zoom(view.dims)
    usual = view.zooms or [identity] * len(recipe.stages)

    def zoom(params: Params, stage: int, row: Sequence[float]) -> ZoomRow:
        held = extent.held(params, float(stage))
        return shown.memoised(
            lambda: _holding_zoom(extent, view, held, row), "holding", view.name, row, of=held
        )

    for p in recipe.parameters:
        stops = {*slider_ends(p), *view.between.get(p.name, ())}
        at = {value: recipe.defaults | {p.name: value} for value in stops}
        zooms_at = {value: [zoom(params, *row) for row in enumerate(usual)] for value, params in at.items()}
        if any(row != identity for rows in zooms_at.values() for row in rows):
            zooms_at[p.value] = [identity] * len(usual)
            log = p.scale == "log" and p.min > 0
            widenings.append(Wider((p.name,), log, *zip(*sorted(zooms_at.items()), strict=True)))
    for pair in view.together:
        params = recipe.defaults | {p.name: p.max for p in recipe.parameters if p.name in pair}
        rows = np.array([zoom(params, *row) for row in enumerate(usual)])
        rows[:, 1:] -= sum(each.at(params)[:, 1:] for each in widenings)
        products = (0.0, float(prod(params[name] for name in pair)))
        zooms = [identity] * len(rows), [_row(scale, offset) for scale, *offset in rows]
        widenings.append(Wider(pair, False, products, zooms))
    return tuple(widenings)


def slider_ends(p: Parameter) -> list[float]:
    """The ends of a slider's range, without an end that is the default value.

    Returns [] for a parameter that has no slider (`quiet`).
    """
    return [end for end in (p.min, p.max) if end != p.value and not p.quiet]


def _row(scale: float, offset: Sequence[float] | Array) -> ZoomRow:
    return tuple(round(float(x), DECIMALS) for x in (scale, *offset))


def _stage_zoom(extent: ViewExtent, view: View, stage: int, *, nearer: bool) -> Zoom | None:
    """The zoom with which all points of a stage are in the picture.

    None if the stage shows no points, or needs no zoom because its points are in the picture already. nearer:
    whether also to zoom in on a stage whose points take only a small part of the picture.
    """
    points, spheres = extent.at(float(stage)), extent.spheres_at(float(stage))
    if not len(points):
        return None
    flat, _ = on_paper(view, points, view.camera)
    fraction, outside = float(np.ptp(flat, axis=0).max()) / 2, np.abs(flat).max() > MAX_STAGE_RADIUS
    if fraction <= COINCIDENT:  # a single point
        return (1.0, points.mean(0) - np.mean(view.ranges, axis=1)) if outside else None
    if outside:
        own = MAX_FIRST_FRACTION if len(spheres) else min(fraction, MAX_FIRST_FRACTION)
        return _centring_zoom(view, points, own, spheres)
    if nearer and fraction < MIN_STAGE_FRACTION:
        return _centring_zoom(view, points, MIN_SPHERE_FRACTION, spheres)
    return None


def _holding_zoom(extent: ViewExtent, view: View, held: Sequence[Array], usual: Sequence[float]) -> ZoomRow:
    """The zoom that, together with the stage's zoom `usual`, keeps the points `held` inside the picture.

    Both zooms apply at once: their factors are multiplied, their offsets added. The result is the identity
    zoom if there are no points, or if `usual` alone keeps all of them inside. Otherwise the two zooms centre
    the points, which then take at most MOVED_FRACTION of the picture. The axes are at least as long as with
    `usual` alone.

    There are two exceptions, if the view has `between` and `usual` makes its axes longer than `View.ranges`.
    First, the axes may become shorter than with `usual`, down to `View.ranges`. Second, points that `usual`
    keeps inside are centred all the same if they take less than MIN_STAGE_FRACTION of the picture.
    """
    if not held:
        return identity_zoom(view.dims)
    (scale, *offset), points = usual, np.concatenate(held)
    flat, _ = on_paper(view.moved(scale, offset), points, view.camera)
    first, last = flat.min(0), flat.max(0)
    small = bool(view.between) and scale > 1 and (last - first).max() / 2 < MIN_STAGE_FRACTION
    if max(-first.min(), last.max()) <= 1 and not small:
        return identity_zoom(view.dims)
    low, high = np.array(view.ranges, float).T
    center, side = _center_and_side(extent, view, (points - (low + high) / 2) / (high - low))
    side = max(side, min(scale, 1.0) if view.between else scale)
    return _row(side / scale, center * (high - low) - offset)


def _center_and_side(extent: ViewExtent, view: View, scaled: Array) -> tuple[Array, float]:
    """The centre and the length of axes with which points take at most MOVED_FRACTION of the picture.

    scaled: the points (N, dims). They, and both results, are in units of the length of the axes in
    `View.ranges`.
    """
    if view.dims == 2:
        return center_and_side(scaled, MOVED_FRACTION)
    target, distance = target_and_distance(scaled @ extent.basis.T, MOVED_FRACTION)
    center, side = target @ extent.basis, distance / float(np.linalg.norm(view.camera))
    return center, max(side, 2 * float(np.abs(scaled - center).max()))


def _centring_zoom(view: View, points: Array, fraction: float, spheres: Array) -> Zoom:
    """The zoom that centres the points and lets them take the share `fraction` of the picture.

    spheres: the outermost points of spheres and circles; it may be empty. The axes are so long that `spheres`
    takes at most MIN_SPHERE_FRACTION of the picture; then `points` may take less than `fraction`.
    """
    low, high = np.array(view.ranges, float).T
    side = high - low
    scaled = (points - (low + high) / 2) / side
    if view.dims == 2:
        center, scale = center_and_side(scaled, fraction)
        own = center_and_side(spheres / side, MIN_SPHERE_FRACTION)[1] if len(spheres) else 0
        return max(scale, own), center * side
    eye, target = np.array(view.camera[:3]), target_of(view.camera)
    far = float(np.linalg.norm(eye - target))
    basis = eye_basis((eye - target) / far)
    middle, distance = target_and_distance(scaled @ basis.T, fraction)
    scale = distance / far
    for _ in range(CENTRING_ITERATIONS):
        offset = (middle @ basis - scale * target) * side
        flat = on_paper(view.moved(scale, offset), spheres, view.camera)[0]
        excess = float(np.ptp(flat, axis=0).max()) / 2 / MIN_SPHERE_FRACTION if len(flat) else 0.0
        if excess <= 1:
            break
        scale *= excess
    return scale, offset
