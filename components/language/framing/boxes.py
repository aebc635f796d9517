"""The ranges of the axes as a scene opens: around the points visible at first, with room for later ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from components.language.framing.extent import ViewExtent
from components.language.framing.paper import EYE_DISTANCE, HALF_VIEW_TANGENT, target_and_distance
from components.language.recipe import WIDE_ASPECT
from geometry.perspective import MIN_EYE_DISTANCE

Array = np.ndarray
Box = tuple[Array, Array]  # centre, and half of each side, in display coordinates

MAX_FIRST_FRACTION = 0.94  # share of the panel's smaller side that the content may take at first
# share of the panel's smaller side that a sphere or circle takes at least, unless the points shown at first
# need more room
MIN_SPHERE_FRACTION = 0.66
WIDE_PANEL_ASPECT = 2.3  # width over height of a panel that has the whole width of the figure
WIDE_SPHERE_FRACTION = 0.8  # share of the height of such a panel for a sphere or circle
CENTRING_ITERATIONS = 12  # each iteration leaves less than a third of the error
COINCIDENT = 1e-9  # points whose distance, relative to their coordinates, is smaller count as one point


def box_in_plane(extent: ViewExtent) -> Box:
    """The box that the axes of a 2D view span, as (centre, half of each side).

    The box is centred on the points visible at first. It is a square, unless these points spread much wider
    than high (WIDE_ASPECT). Then the box is only as high as these points and the view's smallest circle need.
    Points of later states enlarge the box, up to a limit (see `components.language.framing`).
    """
    low, high = extent.first.min(0), extent.first.max(0)
    center, spread = (low + high) / 2, (high - low) / 2 / MAX_FIRST_FRACTION
    diameter = min(float(np.ptp(sphere, axis=0).max()) for sphere in extent.spheres)
    largest_half = diameter / 2 / MIN_SPHERE_FRACTION
    if spread[0] > WIDE_ASPECT * spread[1] > 0:
        half = np.maximum(spread, [0, largest_half * MIN_SPHERE_FRACTION / WIDE_SPHERE_FRACTION])
        largest = np.maximum(half, [WIDE_PANEL_ASPECT * half[1], 0])
    else:
        half = np.full(2, spread.max() or 1.0)
        largest = np.maximum(half, largest_half)
    for points in extent.later():
        if (half >= largest).all():
            break
        needed = np.abs(points - center).max(0, initial=0) / MAX_FIRST_FRACTION
        wide = half[0] > WIDE_ASPECT * half[1]
        half = np.maximum(half, np.minimum(largest, needed if wide else needed.max()))
    return center, half


def boxes_in_space(extents: Sequence[ViewExtent]) -> list[Box]:
    """For each 3D view, the box that its picture shows, as (centre, half of each side).

    All boxes are cubes of the same size, seen from the direction of the first view's camera. In each picture
    the points visible at first are centred.
    """
    basis = extents[0].basis  # everything below is in the coordinates of this basis
    firsts = [extent.first @ basis.T for extent in extents]
    half = max(_half_for(first, MAX_FIRST_FRACTION) for first in firsts)
    largest = min(
        _half_for(sphere @ basis.T, MIN_SPHERE_FRACTION) for extent in extents for sphere in extent.spheres
    )
    for extent, first in zip(extents, firsts, strict=True):
        center, met = _middle(first, half), []
        for points in extent.later():
            if half >= largest:
                break
            met.append(points @ basis.T)
            half = max(half, min(largest, _half_needed(met[-1], center)))
        center = _middle(first, half)  # centre the points again: perspective differs in the larger box
        half = max(half, min(largest, max((_half_needed(points, center) for points in met), default=0)))
    return [(_middle(first, half) @ basis, np.full(3, half)) for first in firsts]


def _on_paper(points: Array, center: Array, half: float) -> Array:
    """Perspective projection of points into a cube's picture: (N, 2), with the picture's sides at −1 and 1.

    The cube has its centre at `center`, and sides of length 2 · `half`. The points and `center` are in camera
    coordinates: right, up, towards the camera.
    """
    near = (points - center) / half
    return near[:, :2] / (HALF_VIEW_TANGENT * np.maximum(EYE_DISTANCE - near[:, 2:], MIN_EYE_DISTANCE))


def _middle(points: Array, half: float) -> Array:
    """The centre (3,) of a cube with sides 2 · `half`, such that the points are centred in its picture.

    The points and the centre are in camera coordinates: right, up, towards the camera.
    """
    center = (points.min(0) + points.max(0)) / 2
    for _ in range(CENTRING_ITERATIONS):
        here = _on_paper(points, center, half)
        center[:2] += (here.min(0) + here.max(0)) / 2 * HALF_VIEW_TANGENT * EYE_DISTANCE * half
    return center


def _half_for(points: Array, fraction: float) -> float:
    """Half the side of a cube around the points, such that they take the share `fraction` of its picture.

    The picture is the cube's perspective projection. The points are in camera coordinates (right, up, towards
    the camera). The share is the points' width or height, whichever is larger, divided by the side of the
    picture. The result is 1 if all points coincide.
    """
    if float(np.ptp(points, axis=0).max()) <= COINCIDENT * float(np.abs(points).max()):
        return 1.0
    return target_and_distance(points, fraction)[1] / EYE_DISTANCE


def _half_needed(points: Array, center: Array) -> float:
    """Half the side of the smallest cube around `center` whose picture shows all points, with a margin.

    With this margin, no point is farther from the middle than MAX_FIRST_FRACTION of half the picture's side.
    points, center: in the coordinates of the camera, the third axis towards the eye.
    """
    off = points - center
    far = np.abs(off[:, :2]) / (MAX_FIRST_FRACTION * HALF_VIEW_TANGENT) + off[:, 2:]
    return float(far.max(initial=0)) / EYE_DISTANCE
