"""Pictures of the first view of a recipe, as SVG cropped to what is drawn: for cards and link previews.

Cards are the thumbnails on the home page. A card can be animated without scripts, as a flip-book. It then
contains several drawings of a mark that moves, and one drawing of a mark that never moves. Each drawing is an
SVG group, and a style sheet says in which frames it is visible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np

from components import fonts
from components.drawing.projection import Size, fitting, paper
from components.drawing.still import (
    CHARACTER_WIDTH_EM,
    DRAWING_ORDER,
    MAX_LABEL_PX,
    Drawn,
    layers_of,
    moment,
    seen,
    style,
    zoomed,
)
from components.language.link import State
from components.language.recipe import Recipe

WIDTH, HEIGHT = 320, 240
EDGE_PX = 6  # pixels between the drawing and the edge
MAX_POINTS_AT_REST, MAX_POINTS_MOVING = 300, 120  # points of a mark, at rest and in motion
MAX_SHEET_POINTS_MOVING = 330  # points of a surface (`Sheet`) in motion
FRAMES_PER_ANIMATION = 24  # approximately
FRAME_SECONDS, LAST_FRAME_SECONDS = 0.1, 0.8  # duration of a frame, and additional duration of the last
Box = tuple[float, float, float, float]  # left, top, width, height


def card(recipe: Recipe, state: State) -> str:
    """The thumbnail of a recipe: its first view in a state, without animation, as an SVG document."""
    return _document(state.theme, *first_view(recipe, state))


def first_view(recipe: Recipe, state: State) -> tuple[Box, str]:
    """The first view of a recipe in a state, without animation: its bounding box, and its marks as SVG.

    The box has the proportions of a card.
    """
    size, box, (drawn,) = _run(recipe, [state])
    return box, "".join(layers_of(recipe, drawn, size, most=MAX_POINTS_AT_REST))


def moving(recipe: Recipe, state: State) -> str:
    """The thumbnail with an animation, as an SVG document. It plays all stages in a loop."""
    states = [replace(state, progress=float(p)) for p in eased(len(recipe.stages) - 1)]
    size, box, run = _run(recipe, states)
    shapes = [
        dict(
            zip(
                (id(each.mark) for each in drawn),
                layers_of(recipe, drawn, size, most=MAX_POINTS_MOVING, sheet=MAX_SHEET_POINTS_MOVING),
                strict=True,
            )
        )
        for drawn in run
    ]
    pieces, times = [], set()
    for mark in sorted(recipe.views[0].layers, key=lambda mark: DRAWING_ORDER[mark.draws]):
        end = 0
        for shape, same in groupby(frame.get(id(mark), "") for frame in shapes):
            first, end = end, end + len(list(same))
            times.add((first, end))
            pieces.append(f'<g class="f{first}-{end}">{shape}</g>' if shape else "")
    sheet = "".join(_group_css(*time, len(states)) for time in sorted(times))
    return _document(state.theme, box, "".join(pieces), sheet)


def eased(last: int) -> np.ndarray:
    """The progress at each frame of the animation, (frames,): numbers from 0 to `last`, the last stage.

    The progress changes slowly near each stage, and faster between stages.
    """
    t = np.linspace(0, 1, FRAMES_PER_ANIMATION // max(last, 1) + 1)[1:]
    leg = np.where(t < 0.5, 4 * t**3, 1 - (2 - 2 * t) ** 3 / 2)
    return np.concatenate([[0.0], *(k + leg for k in range(last))])


def _run(recipe: Recipe, states: Sequence[State]) -> tuple[Size, Box, list[list[Drawn]]]:
    """Project the marks of the first view in several states, at the scale at which they fill a card.

    The scale is the same for all states. Returns the size of the view in pixels, the bounding box of the
    marks in all states, and for each state its projected marks.
    """
    view = recipe.views[0]
    size = paper(view, (WIDTH, HEIGHT))
    whole = [seen(view, state, moment(recipe, state), size) for state in states]
    for _ in range(2):  # the first pass only measures the size
        run = whole
        if view.dims == 3:
            zoom = fitting([each.flat for drawn in run for each in drawn], size)
            run = [zoomed(drawn, zoom) for drawn in run]
        box = _box(recipe, run, size)
        larger = WIDTH / box[2]
        size = (larger * size[0], larger * size[1])
        whole = [zoomed(drawn, larger) for drawn in whole]
    return size, box, run


def _box(recipe: Recipe, run: Sequence[Sequence[Drawn]], size: Size) -> Box:
    """The bounding box of all marks in all states, with EDGE_PX around it, in the proportions of a card.

    run: for each state, the projected marks of the first view.
    """
    ends = np.concatenate([_ends(recipe, each, size) for drawn in run for each in drawn])
    low, high = np.nanmin(ends, 0) - EDGE_PX, np.nanmax(ends, 0) + EDGE_PX
    wide, tall = high - low
    wide, tall = max(wide, tall * WIDTH / HEIGHT), max(tall, wide * HEIGHT / WIDTH)
    x, y = (low + high) / 2
    return float(x - wide / 2), float(y - tall / 2), float(wide), float(tall)


def _ends(recipe: Recipe, drawn: Drawn, size: Size) -> np.ndarray:
    """Corners (2N, 2), in pixels, of rectangles around the N points of a mark, to find its bounding box.

    Each rectangle has a point in the middle, and is given by two opposite corners. For cells the rectangle is
    the cell; for labels it has room for the mark's longest label; for other marks it has size 0. Corners are
    clipped to the picture plus a margin of half a rectangle on each side. size: the width and height of the
    picture in pixels.
    """
    mark, around = drawn.mark, np.zeros(2)
    if mark.draws == "labels":
        longest = max(map(len, recipe.cloud(mark.cloud).labels or ("",)))
        around = np.array([CHARACTER_WIDTH_EM * MAX_LABEL_PX * longest / 2, MAX_LABEL_PX / 2])
    if mark.draws == "cells":
        around = np.abs(drawn.flat[mark.columns + 1] - drawn.flat[0]) / 2
    half = np.array(size) / 2 + around
    return np.clip(np.concatenate([drawn.flat - around, drawn.flat + around]), -half, half)


def _group_css(first: int, end: int, count: int) -> str:
    """The CSS rules that show a group of shapes during the frames `first` … `end` − 1 of an animation.

    count: the number of frames. If `end` is `count`, the group is also shown during the pause after the last
    frame.
    """
    whole = count * FRAME_SECONDS + LAST_FRAME_SECONDS
    a, b = 100 * first * FRAME_SECONDS / whole, 100 * end * FRAME_SECONDS / whole if end < count else 100
    name = f"f{first}-{end}"
    steps = f"0%{{visibility:{'hidden' if first else 'visible'}}}"
    steps += f"{a:.2f}%{{visibility:visible}}" if first else ""
    steps += f"{b:.2f}%{{visibility:hidden}}" if end < count else ""
    return (
        f".{name}{{visibility:hidden;animation:{name} {whole:.1f}s step-end infinite}}"
        f"@keyframes {name}{{{steps}}}"
    )


def _document(theme: str, box: Box, inner: str, sheet: str = "") -> str:
    place = " ".join(f"{each:.1f}" for each in box)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{place}" width="{WIDTH}" height="{HEIGHT}"'
        f' font-family="{fonts.STACK}">'
        f"<style>{style(theme)}{sheet}</style>{inner}</svg>"
    )
