"""Depth cues of 3D views (size, halo, fading), shared by assets/painter/plotly/depth.mjs and still pictures.

A point is as large as a ball would be, relative to the middle of the axes; beyond it, it fades into the
paper; a halo of the paper's colour parts it from what is behind; and a translucent mesh veils that.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray

MIN_RELATIVE_DISTANCE, MAX_RELATIVE_DISTANCE = (0.6, 1.7)  # clip, in distances of the middle
MAX_COLOUR_LOSS = 0.5  # of its colour, that the farthest point loses
FADE_DEPTH = 0.35  # of the distance of the middle: how far beyond it that is
HALO_PX, MAX_HALO_FRACTION = 0.75, 0.16  # pixels; of the radius of its point at most
HALO_PAPER_FRACTION = 0.6  # all paper would hide points in a dense row
VEIL_COLOUR_LOSS = 0.3  # of the colour of what is behind a translucent surface: each takes so much away
POINT_LIFT = 0.012  # of its distance, towards the eye: the surface that a point lies on does not cut it

# what the painter is told, with the layout of a 3D view
TOLD = {
    "fade": MAX_COLOUR_LOSS,
    "over": FADE_DEPTH,
    "halo": HALO_PX,
    "rim": MAX_HALO_FRACTION,
    "pale": HALO_PAPER_FRACTION,
    "veil": VEIL_COLOUR_LOSS,
    "lift": POINT_LIFT,
    "least": MIN_RELATIVE_DISTANCE,
    "most": MAX_RELATIVE_DISTANCE,
}


def size(away: Array) -> Array:
    """Relative marker size by distance from the eye (1 at the middle of the axes)."""
    return 1 / np.clip(away, MIN_RELATIVE_DISTANCE, MAX_RELATIVE_DISTANCE)


def halo(radius: float) -> float:
    """Width of the halo around a point, in pixels."""
    return min(HALO_PX, MAX_HALO_FRACTION * radius)


def strength(away: Array) -> Array:
    """The fraction of a point's colour that fading leaves."""
    return 1 - MAX_COLOUR_LOSS * np.clip((away - 1) / FADE_DEPTH, 0, 1)


def veil(opacity: float) -> float:
    """The colour that a translucent surface takes from what is behind it."""
    return (1 - opacity) * min(VEIL_COLOUR_LOSS, 3 * opacity)
