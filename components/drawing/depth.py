"""Depth cues of 3D views: size, fading colour and halo of points, in figures and still pictures alike.

A nearer point is larger, in perspective; a point at the distance of the centre of the axes has its own size.
Beyond this distance, the colour of points fades into the background. A halo in the background's colour
separates a point from objects behind it. In still pictures, translucent surfaces also weaken the colour of
points behind them. assets/painter/plotly/depth.mjs uses the numbers of this file.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray

# distances from the camera are clipped to these limits, relative to the distance of the axes' centre
MIN_RELATIVE_DISTANCE, MAX_RELATIVE_DISTANCE = 0.6, 1.7
MAX_COLOUR_LOSS = 0.5  # share of its colour that the farthest point loses
FADE_DEPTH = 0.35  # distance beyond the centre where MAX_COLOUR_LOSS is reached, relative to the centre's
HALO_PX, MAX_HALO_FRACTION = 0.75, 0.16  # width in pixels; largest width relative to the point's radius
HALO_PAPER_FRACTION = 0.6  # opacity of the halo; less than 1, so that points in a dense row stay visible
MAX_VEIL_COLOUR_LOSS = 0.3  # largest share of its colour that a point loses behind a translucent surface
# Points are moved towards the camera by this share of their distance, so that no surface on which they lie
# cuts them.
POINT_LIFT = 0.012

# the same numbers for the browser's painter, in the layout of a 3D view
BROWSER_NUMBERS = {
    "fade": MAX_COLOUR_LOSS,
    "over": FADE_DEPTH,
    "halo": HALO_PX,
    "rim": MAX_HALO_FRACTION,
    "pale": HALO_PAPER_FRACTION,
    "lift": POINT_LIFT,
    "least": MIN_RELATIVE_DISTANCE,
    "most": MAX_RELATIVE_DISTANCE,
}


def size(away: Array) -> Array:
    """The factor on a point's size in perspective: 1 at the distance of the centre of the axes.

    away: the distance from the camera to the point, divided by the distance from the camera to this centre.
    The quotient is clipped to MIN_RELATIVE_DISTANCE and MAX_RELATIVE_DISTANCE.
    """
    return 1 / np.clip(away, MIN_RELATIVE_DISTANCE, MAX_RELATIVE_DISTANCE)


def halo(radius: float) -> float:
    """The width in pixels of the halo around a point whose radius in pixels is `radius`."""
    return min(HALO_PX, MAX_HALO_FRACTION * radius)


def strength(away: Array) -> Array:
    """The share of its colour that a point keeps as it fades with distance, at most 1.

    It is 1 up to the distance of the centre of the axes, then falls to 1 − MAX_COLOUR_LOSS, and stays there.
    away: the distance from the camera to the point, divided by the distance from the camera to this centre.
    """
    return 1 - MAX_COLOUR_LOSS * np.clip((away - 1) / FADE_DEPTH, 0, 1)


def veil(opacity: float) -> float:
    """The share of its colour that a point loses behind one translucent surface with this opacity."""
    return (1 - opacity) * min(MAX_VEIL_COLOUR_LOSS, 3 * opacity)
