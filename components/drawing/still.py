"""Still pictures: any state of a recipe as SVG, which needs neither scripts nor WebGL.

Marks are projected with the camera of the figure, and drawn in the order of their kinds, from surfaces to
labels. Points have the depth cues of `components.drawing.depth`; points behind a closed, opaque surface are
left out. A surface of one colour is one SVG path of triangles with the same orientation, so that a
translucent colour does not add up where triangles overlap. A `Sheet` coloured by value is drawn in
quadrangles, the nearest last. Any other surface coloured by value must be convex: only its front is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

from components import fonts
from components import theme as themes
from components.drawing import depth
from components.drawing.crowds import crowds_of
from components.drawing.projection import Size, behind, fitting, middle, paper, project, triangles_before
from components.drawing.shapes import above, areas, cells, coarse, dot, path, quadrangles, triangles
from components.language.cloud import Moment
from components.language.link import State
from components.language.marks import Color, Followed, Sheet, color_of
from components.language.recipe import Recipe, View

WIDTH, HEIGHT = 640, 440
DASHES = {"dash": "6", "dot": "2", "dashdot": "6 2 2 2", "longdash": "10 4", "longdashdot": "10 4 2 4"}
MAX_SHEET_POINTS = 470  # points of a surface (`Sheet`); with fewer, edges between its colours look torn
MAX_DRAWN_POINTS = 1500  # of a mark; more would make the file larger without a visible difference
BLEED_PX = 6  # pixels outside the axes, for half of a marker on their edge
MAX_LABEL_PX, MIN_LABEL_PX = 15, 9  # pixels; labels have the largest size at which none overlap
OPACITY_STEP = 0.2  # opacities of faded points are rounded to this, so that points can share an SVG group
COUNT_LABEL_PX, COUNT_OFFSET_PX = 11, 4  # pixels: font size of a count, and its offset from the points
CHARACTER_WIDTH_EM = 0.6  # width of a character relative to the font size, with some room


def svg(recipe: Recipe, state: State) -> str:
    """An SVG document with all views of a recipe in a state.

    If the theme of the state is "auto", the reader's system decides between light and dark colours.
    """
    return _svg(
        recipe,
        state,
        f"<style>{style(state.theme)}</style>",
        f'width="{WIDTH}" height="{HEIGHT}" font-family="{fonts.STACK}"',
    )


def inline(recipe: Recipe, state: State, *, title: str) -> str:
    """SVG to put into a page, with all views of a recipe in a state; it has the colours of the page.

    The page shows it until the interactive figure has started. title: a text for screen readers.
    """
    return _svg(recipe, state, "", f'class="poster" role="img" aria-label="{escape(title)}"')


def _svg(recipe: Recipe, state: State, style: str, attributes: str) -> str:
    at = moment(recipe, state)
    panels = [
        _panel(recipe, view, state, at, box)
        for view, box in zip(recipe.views, boxes(recipe.views), strict=True)
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" {attributes}>{style}'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="var(--paper)"/>{"".join(panels)}</svg>'
    )


def _panel(recipe: Recipe, view: View, state: State, at: Moment, box: tuple[int, int, int, int]) -> str:
    """SVG of one view, centred in its box and clipped to it.

    A 2D view is clipped to the rectangle of its axes, with BLEED_PX more on each side.
    """
    x, y, *room = box
    axes = view.at(state.progress, state.params)
    size = paper(axes, (room[0], room[1]))
    w, h = (min(whole, part + 2 * BLEED_PX) for whole, part in zip(room, size, strict=True))
    left, top = x + (room[0] - w) / 2, y + (room[1] - h) / 2
    place = f'x="{left:.1f}" y="{top:.1f}" width="{w:.1f}" height="{h:.1f}"'
    drawn, zoom = seen(view, state, at, size), 1.0
    if view.dims == 3 and state.camera is None:
        zoom = fitting([each.flat for each in drawn], size)
        drawn = zoomed(drawn, zoom)
    layers = "".join(layers_of(recipe, drawn, size))
    counts = _counts(recipe, axes, state.camera, drawn, size, zoom)
    return f'<svg {place} viewBox="{-w / 2:.1f} {-h / 2:.1f} {w:.1f} {h:.1f}">{layers}{counts}</svg>'


def _counts(
    recipe: Recipe,
    view: View,
    camera: Sequence[float] | None,
    drawn: Sequence[Drawn],
    size: Size,
    zoom: float,
) -> str:
    """SVG of the numbers of points, such as "×3", beside places where several points coincide.

    A number is left out if it would overlap a label or another number. view: the view, with the axes that it
    has in this state. camera: None for the view's own. zoom: the scale of the positions in `drawn`.
    """
    crowds = crowds_of(view, drawn[0].at) if drawn else []
    if not crowds:
        return ""
    flat, _ = project(view, np.array([place for place, _, _ in crowds]), camera or view.camera, size)
    taken = [
        (x, y, max(MAX_LABEL_PX, CHARACTER_WIDTH_EM * MAX_LABEL_PX * len(label)))
        for each in drawn
        if each.mark.draws == "labels"
        for (x, y), label in zip(each.flat, recipe.cloud(each.mark.cloud).labels or (), strict=True)
    ]
    texts = []
    for (x, y), (_, count, _) in zip(zoom * flat, crowds, strict=True):
        x, y = x + COUNT_OFFSET_PX, y - COUNT_OFFSET_PX
        wide = CHARACTER_WIDTH_EM * COUNT_LABEL_PX * (len(str(count)) + 1)
        if all(abs(x - u) > (wide + w) / 2 + 2 or abs(y - v) > MAX_LABEL_PX for u, v, w in taken):
            taken.append((x, y, wide))
            texts.append(f'<text x="{x:.0f}" y="{y:.0f}">×{count}</text>')
    look = f'font-size="{COUNT_LABEL_PX}" stroke="var(--paper)" stroke-width="2"'
    return f'<g fill="var(--ink)" paint-order="stroke" {look}>{"".join(texts)}</g>'


def boxes(views: Sequence[View]) -> list[tuple[int, int, int, int]]:
    """For each view, the box in pixels (x, y, width, height) that it takes in the picture.

    The layout is much like that of the page's style sheet.
    """
    main, half, low = WIDTH * 5 // 8, HEIGHT // 2, HEIGHT * 7 // 10
    if len(views) > 1 and views[0].wide:
        high, width = HEIGHT * 3 // 5, WIDTH // (len(views) - 1)
        below = [(n * width, high, width, HEIGHT - high) for n in range(len(views) - 1)]
        return [(0, 0, WIDTH, high), *below]
    if len(views) == 2 and views[1].strip:
        return [(0, 0, main, HEIGHT), (main, 0, WIDTH - main, HEIGHT)]
    if len(views) != 3:
        columns, lines = min(len(views), 2), (len(views) + 1) // 2
        width, high = WIDTH // columns, HEIGHT // lines
        return [(n % columns * width, n // columns * high, width, high) for n in range(len(views))]
    wide = WIDTH // 2
    if views[1].rows > 1:
        return [(0, 0, wide, half), (wide, 0, WIDTH - wide, HEIGHT), (0, half, wide, HEIGHT - half)]
    if views[-1].strip:
        return [(0, 0, wide, low), (wide, 0, wide, low), (0, low, WIDTH, HEIGHT - low)]
    return [(0, 0, main, HEIGHT), (main, 0, WIDTH - main, half), (main, half, WIDTH - main, HEIGHT - half)]


def style(theme: str) -> str:
    """The style sheet that defines a theme's colours, for a picture that is not part of a page.

    theme: "light" or "dark"; for "auto" or "", the reader's system decides.
    """

    def block(name: str) -> str:
        return "svg{" + "".join(f"--{role}:{color};" for role, color in themes.colors(name).items()) + "}"

    if theme in ("", "auto"):
        return block("light") + "@media (prefers-color-scheme: dark){" + block("dark") + "}"
    return block(theme)


def dressed(picture: str, theme: str) -> str:
    """A copy of `picture` in the colours of another theme. The picture is SVG with the theme "auto"."""
    return picture.replace(style("auto"), style(theme), 1)


@dataclass(frozen=True)
class Drawn:
    """A mark, projected to the picture.

    flat: the positions of its points in pixels, from the centre of the picture. depth: the distances of its
    points from the camera. middle: the distance from the camera to the centre of the axes.
    """

    mark: Any
    at: Moment
    opacity: float
    flat: np.ndarray
    depth: np.ndarray
    middle: float

    @property
    def front(self) -> np.ndarray:
        """The triangles of a closed convex mesh that face the camera, as indices (F, 3) of its points."""
        every = self.mark.triangles
        sides = areas(self.flat[every])
        return every[sides * sides[self.depth[every].mean(1).argmin()] > 0]

    @property
    def solid(self) -> bool:
        """Whether the mark is a closed, opaque surface, which hides the points behind it."""
        return self.mark.closed and self.opacity >= 1

    @property
    def veil(self) -> bool:
        """Whether the mark is a translucent surface, which weakens the colour of points behind it."""
        return self.mark.draws == "mesh" and self.opacity < 1

    @property
    def deep(self) -> bool:
        """Whether the mark is in a 3D view."""
        return len(self.mark.rows) == 3


# higher values are drawn on top
DRAWING_ORDER = {"field": 0, "cells": 0, "mesh": 0, "line": 1, "points": 2, "labels": 3}


def moment(recipe: Recipe, state: State) -> Moment:
    """The clouds of the recipe in a state. Use the same object for all views: it caches its results."""
    return recipe.moment(state.params, state.progress, followed=state.follow)


def seen(view: View, state: State, at: Moment, size: Size) -> list[Drawn]:
    """The marks of a view that are visible in a state, projected and in the order in which to draw them."""
    drawn, camera, axes = [], state.camera or view.camera, view.at(state.progress, state.params)
    far = middle(axes, camera)
    for mark in view.layers:
        if (opacity := view.opacity_of(mark, state.progress, state.params)) > 0:
            flat, away = project(axes, mark.points(at), camera, size)
            drawn.append(Drawn(mark, at, opacity, flat, away, far))
    return sorted(drawn, key=lambda each: DRAWING_ORDER[each.mark.draws])


def zoomed(drawn: Sequence[Drawn], zoom: float) -> list[Drawn]:
    return [replace(each, flat=zoom * each.flat) for each in drawn]


def layers_of(
    recipe: Recipe,
    drawn: Sequence[Drawn],
    size: Size,
    *,
    most: int = MAX_DRAWN_POINTS,
    sheet: int = MAX_SHEET_POINTS,
) -> list[str]:
    """For each projected mark, its SVG.

    most: the largest number of points to draw of a mark that consists of points. sheet: the largest number
    of grid points to use of a coloured surface (`Sheet`).
    """
    letters = _label_px(recipe, drawn)
    return [_faded(_shape(recipe, each, size, drawn, letters, most, sheet), each.opacity) for each in drawn]


def _label_px(recipe: Recipe, drawn: Sequence[Drawn]) -> float:
    """The font size of a view's labels: the largest at which no two of them overlap.

    It is at most MAX_LABEL_PX, and at least MIN_LABEL_PX even if labels then overlap.
    """
    labels = [each for each in drawn if each.mark.draws == "labels"]
    texts = [text for each in labels for text in recipe.cloud(each.mark.cloud).labels or ()]
    if len(texts) < 2:
        return MAX_LABEL_PX
    at, (i, j) = np.concatenate([each.flat for each in labels]), np.triu_indices(len(texts), 1)
    across, down = np.abs(at[i] - at[j]).T
    lengths = np.array([len(text) for text in texts])
    fits = np.maximum(down, 2 * across / (CHARACTER_WIDTH_EM * (lengths[i] + lengths[j])))
    return float(np.clip(fits.min(), MIN_LABEL_PX, MAX_LABEL_PX))


def _shape(
    recipe: Recipe, drawn: Drawn, size: Size, others: Sequence[Drawn], letters: float, most: int, sheet: int
) -> str:
    mark, color = drawn.mark, f"var(--{drawn.mark.role})"
    match mark.draws:
        case "field":
            return _field(mark, drawn.at, size)
        case "cells":
            return _cells(drawn)
        case "labels":
            return _labels(recipe, drawn, f"var(--{themes.word(mark.role)})", letters)
        case "mesh":
            if isinstance(mark, Sheet) and mark.color:
                return _sheet(drawn, sheet)
            if color_of(mark):
                return _colored_mesh(drawn)
            return f'<path fill="{color}" d="{triangles(drawn.flat[mark.triangles])}"/>'
        case "line":
            width = max(0.8, mark.size * 0.55)
            dash = f' stroke-dasharray="{DASHES[mark.dash]}"' if mark.dash != "solid" else ""
            look = f'stroke="{color}" stroke-width="{width:.1f}"{dash}'
            return f'<path fill="none" {look} d="{path(drawn.flat)}"/>'
    return _points(drawn, color, others, most)


def _labels(recipe: Recipe, drawn: Drawn, color: str, letters: float) -> str:
    texts = [
        f'<text x="{x:.0f}" y="{y + letters / 3:.0f}">{escape(label)}</text>'
        for (x, y), label in zip(drawn.flat, recipe.cloud(drawn.mark.cloud).labels or (), strict=True)
    ]
    look = f'font-size="{letters:.1f}" text-anchor="middle"'
    return f'<g fill="{color}" {look}>{"".join(texts)}</g>'


def _colored_mesh(drawn: Drawn) -> str:
    """SVG of the front of a mesh coloured by value: for each colour of the scale, a band of the surface.

    A band contains the values nearest to its colour. It extends under the next band, so that no gap shows.
    """
    front, values, color = drawn.front, drawn.mark.values(drawn.at), drawn.mark.color
    corners, steps = drawn.flat[front], _steps(values, color)[front]
    shades, pieces = _shades(values[front], color), []
    for k in range(shades.min(), shades.max() + 1):
        paint, level = f"var(--{color.scale}-{k})", k - 0.5 if k > shades.min() else -np.inf
        # the band of the next level is drawn over the others
        seen = (steps < k + 0.5).any(1) | (k == shades.max())
        pieces.append(
            f'<path fill="{paint}" stroke="{paint}" d="{above(corners[seen], steps[seen], level)}"/>'
        )
    return f'<g stroke-width="0.7" stroke-linejoin="round">{"".join(pieces)}</g>'


def _sheet(drawn: Drawn, most: int) -> str:
    """SVG of a surface (`Sheet`): quadrangles, each of one colour, drawn from back to front.

    most: the largest number of grid points to use.
    """
    mark, flat = drawn.mark, np.rint(drawn.flat).astype(int)
    number = np.arange(len(flat)).reshape(mark.grid)[np.ix_(*coarse(mark.grid, most))]
    around = number[:-1, :-1], number[:-1, 1:], number[1:, 1:], number[1:, :-1]
    corners = np.stack(list(map(np.ravel, around)), axis=1)
    corners = corners[np.argsort(-drawn.depth[corners].mean(1), kind="stable")]
    shades = _shades(mark.values(drawn.at)[corners].mean(1), mark.color)
    name, pieces = mark.color.scale, []
    for shade, run in groupby(zip(shades, flat[corners].tolist(), strict=True), key=itemgetter(0)):
        pieces.append(f'<path color="var(--{name}-{shade})" d="{quadrangles([each for _, each in run])}"/>')
    look = 'fill="currentColor" stroke="currentColor" stroke-width="0.7" stroke-linejoin="round"'
    return f"<g {look}>{''.join(pieces)}</g>"


def _last(color: Color) -> int:
    return len(themes.scale(color.scale)) - 1


def _steps(values: np.ndarray, color: Color) -> np.ndarray:
    """The positions of values on the colour scale of `color`: 0 at its first colour, 1 at its second, …"""
    return _last(color) * (values - color.low) / (color.high - color.low)


def _shades(values: np.ndarray, color: Color) -> np.ndarray:
    """For each value, the index of the nearest colour of the scale, also for values beyond its two ends."""
    return np.rint(np.clip(_steps(values, color), 0, _last(color))).astype(int)


def _field(mark: Any, at: Moment, size: Size) -> str:
    """SVG of colours that fill a view, in layers, so that no seams show between colours.

    Layer k covers all cells whose colour has the index k or higher; it is drawn over layer k − 1.
    """
    shades = _shades(mark.values(at), mark.color).reshape(-1, mark.columns)[::-1]  # from top to bottom
    high, wide = shades.shape
    dx, dy = size[0] / (wide - 1), size[1] / (high - 1)  # the outermost points are on the edges of the axes
    place = f"translate({-size[0] / 2 - dx / 2:.2f} {-size[1] / 2 - dy / 2:.2f}) scale({dx:.4f} {dy:.4f})"
    steps = [
        f'<path fill="var(--{mark.color.scale}-{k})" d="{cells(shades >= k)}"/>'
        for k in range(shades.min(), shades.max() + 1)
    ]
    return f'<g transform="{place}" shape-rendering="crispEdges">{"".join(steps)}</g>'


def _cells(drawn: Drawn) -> str:
    """SVG of a grid of coloured rectangles.

    A rectangle whose value is between those of two neighbouring colours of the scale gets a mixture of them:
    it is drawn in the first colour, and on top in the second colour with an opacity.
    """
    mark, flat = drawn.mark, drawn.flat
    (dx, _), (_, dy) = flat[1] - flat[0], flat[0] - flat[mark.columns]
    name, last = mark.color.scale, _last(mark.color)
    pieces = []
    for (x, y), step in zip(flat, np.clip(_steps(mark.values(drawn.at), mark.color), 0, last), strict=True):
        place = f'd="M{x - dx / 2:.1f} {y - dy / 2:.1f}h{dx:.1f}v{dy:.1f}h-{dx:.1f}z"'
        k, part = min(int(step), last - 1), step - min(int(step), last - 1)
        over = (
            f'<path fill="var(--{name}-{k + 1})" fill-opacity="{part:.2f}" {place}/>' if part > 0.005 else ""
        )
        pieces.append(f'<path fill="var(--{name}-{k})" {place}/>{over}')
    return f'<g shape-rendering="crispEdges">{"".join(pieces)}</g>'


def _points(drawn: Drawn, color: str, others: Sequence[Drawn], most: int) -> str:
    mark, flat, away = drawn.mark, drawn.flat, drawn.depth
    chosen = np.flatnonzero(~np.isnan(flat[:, 0]))  # without NaN, which marks points that are not selected
    chosen = chosen[np.unique(np.linspace(0, len(chosen) - 1, min(len(chosen), most)).astype(int))]
    for wall in (placed for placed in others if placed.solid):
        front = wall.front
        chosen = chosen[~behind(flat[chosen], away[chosen], wall.flat[front], wall.depth[front])]
    chosen = chosen[np.argsort(-away[chosen], kind="stable")]
    colors = _colors(mark, drawn.at)
    ring = mark.glyph == "ring"
    own = [colors(i).replace("fill", "stroke") if ring else colors(i) for i in chosen]
    sizes = depth.size(away[chosen] / drawn.middle) if drawn.deep else np.ones(len(chosen))
    square, usual = mark.glyph == "square", mark.size * 0.55
    radii = usual * sizes if square else np.round(usual * sizes, 1)
    placed = zip(flat[chosen].tolist(), radii.tolist(), own, strict=True)
    dots = [dot(at, radius, square, paint) for at, radius, paint in placed]
    paint = f'fill="none" stroke="{color}" stroke-width="1.5"' if ring else f'fill="{color}"'
    if drawn.deep and not ring:
        halo = f'stroke-opacity="{depth.HALO_PAPER_FRACTION}" stroke-width="{2 * depth.halo(usual):.2g}"'
        paint += f' stroke="var(--paper)" {halo} paint-order="stroke"'
    left = _remaining_colour(drawn, chosen, others)
    runs = [list(run) for _, run in groupby(range(len(dots)), key=left.__getitem__)]
    faded = (_faded("".join(dots[k] for k in run), left[run[0]], single=len(run) == 1) for run in runs)
    return f"<g {paint}>{''.join(faded)}</g>"


def _remaining_colour(drawn: Drawn, chosen: np.ndarray, others: Sequence[Drawn]) -> np.ndarray:
    """For each point in `chosen` (indices), the share of its colour that remains, from 0 to 1.

    Points far from the camera fade, and translucent surfaces in front of a point weaken its colour. The share
    is a multiple of OPACITY_STEP; it is 1 in a 2D view, and for a mark that shows only the followed point.
    others: the marks whose surfaces can be in front.
    """
    left = np.ones(len(chosen))
    if not drawn.deep or isinstance(getattr(drawn.mark, "only", None), Followed):
        return left
    left = depth.strength(drawn.depth[chosen] / drawn.middle)
    for veil in (each for each in others if each.veil):
        every = veil.mark.triangles
        corners, depths = veil.flat[every], veil.depth[every]
        count = triangles_before(
            drawn.flat[chosen], drawn.depth[chosen], corners, depths, touching=depth.POINT_LIFT
        )
        left = left * (1 - depth.veil(veil.opacity)) ** count
    return np.asarray(np.round(left / OPACITY_STEP) * OPACITY_STEP)


def _faded(shape: str, left: float, *, single: bool = False) -> str:
    """SVG of a shape with the opacity `left`. single: whether the shape is one element, so needs no group."""
    if left >= 1:
        return shape
    look = f'opacity="{round(left, 2):g}"'
    return f"{shape.removesuffix('/>')} {look}/>" if single else f"<g {look}>{shape}</g>"


def _colors(mark: Any, at: Moment) -> Any:
    """A function from a point's index to its SVG attribute `fill`, which is "" if the mark has one colour."""
    color = color_of(mark)
    if color is None:
        return lambda i: ""
    shades = _shades(np.nan_to_num(mark.values(at)), color)
    return lambda i: f' fill="var(--{color.scale}-{shades[i]})"'
