"""How depth is seen in a 3D view: what assets/painter/plotly/depth.mjs draws with, and stills on paper.

A point is as large as a ball would be, relative to the middle of the axes; beyond it, it fades into the
paper; a halo of the paper's colour parts it from what is behind; and a translucent mesh veils that.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray

LEAST, MOST = 0.6, 1.7  # of the distance of the middle: nearer or farther, a point changes its size no more
FADE = 0.5  # of its colour, that the farthest point loses
OVER = 0.35  # of the distance of the middle: how far beyond it that is
HALO, RIM = 0.75, 0.16  # pixels; of the radius of its point at most
PALE = 0.6  # how much paper is in its colour: with all, points in a dense row would be hidden by halos
VEIL = 0.3  # of the colour of what is behind a translucent surface: each takes so much away
LIFT = 0.012  # of its distance: so much nearer a point is drawn, not to be cut by the surface that it lies on

# what the painter is told, with the layout of a 3D view
TOLD = {
    "fade": FADE,
    "over": OVER,
    "halo": HALO,
    "rim": RIM,
    "pale": PALE,
    "veil": VEIL,
    "lift": LIFT,
    "least": LEAST,
    "most": MOST,
}


def size(away: Array) -> Array:
    """How large points are, by their distance, of which that of the middle is 1."""
    return 1 / np.clip(away, LEAST, MOST)


def halo(radius: float) -> float:
    """How wide it is around a point."""
    return min(HALO, RIM * radius)


def strength(away: Array) -> Array:
    """What is left of their colour."""
    return 1 - FADE * np.clip((away - 1) / OVER, 0, 1)


def veil(opacity: float) -> float:
    """What a surface of an opacity takes away of the colour behind it, beside its own."""
    return (1 - opacity) * min(VEIL, 3 * opacity)
