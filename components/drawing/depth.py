"""Depth cues of 3D views (size, halo, fading), shared by assets/painter/plotly/depth.mjs and still pictures.

A point has the size of a ball in perspective, relative to one at the centre of the axes. Beyond the centre
its colour fades into the background. A halo in the background's colour separates it from objects behind it.
In still pictures, translucent meshes also weaken the colours of objects behind them.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray

# distances from the camera are clipped to these limits, relative to the distance of the axes' centre
MIN_RELATIVE_DISTANCE, MAX_RELATIVE_DISTANCE = 0.6, 1.7
MAX_COLOUR_LOSS = 0.5  # share of its colour that the farthest point loses
FADE_DEPTH = 0.35  # distance beyond the centre where MAX_COLOUR_LOSS is reached, relative to the centre's
HALO_PX, MAX_HALO_FRACTION = 0.75, 0.16  # width in pixels; largest width relative to the point's radius
HALO_PAPER_FRACTION = 0.6  # less than 1, so that points in a dense row stay visible
VEIL_COLOUR_LOSS = 0.3  # share of its colour that an object loses behind each translucent surface
# Points are moved towards the camera by this share of their distance, so that no surface on which they lie
# cuts them.
POINT_LIFT = 0.012

# numbers that the browser's painter gets with the layout of a 3D view
TOLD = {
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
    """The factor on a marker's size in perspective, for distances `away` from the camera.

    Distances are relative to that of the centre of the axes, where the factor is 1.
    """
    return 1 / np.clip(away, MIN_RELATIVE_DISTANCE, MAX_RELATIVE_DISTANCE)


def halo(radius: float) -> float:
    """The width in pixels of the halo around a point of this radius in pixels."""
    return min(HALO_PX, MAX_HALO_FRACTION * radius)


def strength(away: Array) -> Array:
    """The share of its colour that a faded point keeps, 0 to 1; `away` as in `size`."""
    return 1 - MAX_COLOUR_LOSS * np.clip((away - 1) / FADE_DEPTH, 0, 1)


def veil(opacity: float) -> float:
    """The share of its colour that an object loses behind a translucent surface of this opacity."""
    return (1 - opacity) * min(VEIL_COLOUR_LOSS, 3 * opacity)
