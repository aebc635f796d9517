"""Recipe → SVG: a still picture of a scene in any state, for the gallery, and where there is no WebGL.

The same layers as the figure's, projected by the same camera; what lies farther is drawn first. A mesh is its
shadow: all its triangles in one path, turned the same way, so that they do not add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from components import theme as themes
from components.cloud import Moment
from components.marks import Color, Mark, Trail
from components.recipe import Recipe, View
from components.state import State

WIDTH, HEIGHT = 640, 440
FIELD = np.tan(np.radians(22.5)) * 2  # what Plotly's perspective sees at distance 1
MARGIN = 40  # pixels, of a 2D view, both sides together
COARSE = 2  # a field is drawn with so many of its points in one, along each side
DASHES = {"dash": "6", "dot": "2", "dashdot": "6 2 2 2", "longdash": "10 4", "longdashdot": "10 4 2 4"}
MOST = 1500  # points drawn; more would only make the file large


def svg(recipe: Recipe, state: State) -> str:
    """The views side by side; theme "auto" follows the reader's system."""
    return _svg(recipe, state, f"<style>{_style(state.theme)}</style>", f'width="{WIDTH}" height="{HEIGHT}"')


def inline(recipe: Recipe, state: State, *, title: str) -> str:
    """The same inside a page, in the colours of the page, until the figure comes."""
    return _svg(recipe, state, "", f'class="poster" role="img" aria-label="{escape(title)}"')


def _svg(recipe: Recipe, state: State, style: str, attributes: str) -> str:
    panels = [
        f'<svg x="{x}" y="{y}" width="{w}" height="{h}" viewBox="{-w / 2} {-h / 2} {w} {h}">'
        f"{''.join(_layers(recipe, view, state, (w, h)))}</svg>"
        for view, (x, y, w, h) in zip(recipe.views, boxes(recipe.views), strict=True)
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" {attributes}>{style}'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="var(--paper)"/>{"".join(panels)}</svg>'
    )


def boxes(views: Sequence[View]) -> list[tuple[int, int, int, int]]:
    """(x, y, width, height) of each view, laid out as the style sheet does it."""
    main, half = WIDTH * 5 // 8, HEIGHT // 2
    if len(views) == 2 and views[1].strip:
        return [(0, 0, main, HEIGHT), (main, 0, WIDTH - main, HEIGHT)]
    if len(views) < 3:
        width = WIDTH // len(views)
        return [(n * width, 0, width, HEIGHT) for n in range(len(views))]
    if views[-1].strip:
        low, wide = HEIGHT * 3 // 4, WIDTH // 2
        return [(0, 0, wide, low), (wide, 0, wide, low), (0, low, WIDTH, HEIGHT - low)]
    return [(0, 0, main, HEIGHT), (main, 0, WIDTH - main, half), (main, half, WIDTH - main, HEIGHT - half)]


def _style(theme: str) -> str:
    def block(name: str) -> str:
        return "svg{" + "".join(f"--{role}:{color};" for role, color in themes.colors(name).items()) + "}"

    if theme == "auto":
        return block("light") + "@media (prefers-color-scheme: dark){" + block("dark") + "}"
    return block(theme)


ORDER = {"field": 0, "mesh": 0, "line": 1, "points": 3, "labels": 4}  # what is drawn over what


def _layers(recipe: Recipe, view: View, state: State, box: tuple[int, int]) -> list[str]:
    drawn, at = [], recipe.moment(state.params, state.progress, followed=state.follow)
    for mark in view.layers:
        opacity = mark.opacity_at(state.progress)
        if opacity <= 0:
            continue
        flat, depth = _project(view, mark.points(at), state.camera or view.camera, box)
        order = 2 if isinstance(mark, Trail) else ORDER[mark.draws]
        match mark.draws:
            case "field":
                shape = _field(view, mark, at, box)
            case "labels":
                shape = _texts(recipe, mark, flat)
            case "mesh":
                shape = _mesh(mark, flat)
            case "line":
                shape = _line(mark, flat)
            case _:
                shape = _points(mark, at, flat, depth)
        drawn.append((order, f'<g opacity="{opacity:.2f}">{shape}</g>'))
    return [shape for _, shape in sorted(drawn, key=lambda d: d[0])]


def _project(
    view: View, points: np.ndarray, camera: Any, box: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Pixels around the middle, and distance from the eye (0 for a 2D view)."""
    low, high = np.array(view.ranges, float).T
    if view.dims == 2:
        size = np.array(box) - MARGIN
        if view.equal:
            size = (size / (high - low)).min() * (high - low)
        size = size * [1, -1]
        return ((points - low) / (high - low) - 0.5) * size, np.zeros(len(points))
    scaled = (points - low) / (high - low) - 0.5  # the cube, 1 wide
    eye, center = np.array(camera[:3], float), np.array(list(camera[3:6]) or [0.0, 0.0, 0.0])
    forward = (center - eye) / np.linalg.norm(center - eye)
    right = np.cross(forward, [0, 0, 1])
    right = right / np.linalg.norm(right) if np.linalg.norm(right) > 0 else np.array([1.0, 0, 0])
    up = np.cross(right, forward)
    depth = np.maximum((scaled - eye) @ forward, 1e-3)
    scale = min(box) / FIELD / depth
    return np.stack([(scaled - eye) @ right * scale, -((scaled - eye) @ up) * scale], -1), depth


def _texts(recipe: Recipe, mark: Mark, flat: np.ndarray) -> str:
    labels = recipe.cloud(mark.cloud).labels or ()
    texts = [
        f'<text x="{x:.0f}" y="{y + 5:.0f}">{escape(label)}</text>'
        for (x, y), label in zip(flat, labels, strict=True)
    ]
    look = 'font-family="system-ui" font-size="15" text-anchor="middle"'
    return f'<g fill="var(--{mark.role})" {look}>{"".join(texts)}</g>'


def _mesh(mark: Any, flat: np.ndarray) -> str:
    return f'<path fill="var(--{mark.role})" d="{_triangles(flat[np.asarray(mark.triangles)])}"/>'


def _line(mark: Any, flat: np.ndarray) -> str:
    width = max(0.8, mark.size * 0.55)
    dash = f' stroke-dasharray="{DASHES[mark.dash]}"' if mark.dash != "solid" else ""
    look = f'fill="none" stroke="var(--{mark.role})" stroke-width="{width:.1f}"{dash}'
    return f'<path {look} d="{_path(flat)}"/>'


def _field(view: View, mark: Any, at: Moment, box: tuple[int, int]) -> str:
    """The field in rows of rectangles, each as long as its colour stays the same."""
    values = mark.values(at).reshape(-1, mark.columns)
    values = values[::COARSE, ::COARSE]
    (left, bottom), (right, top) = _project(view, np.array(view.ranges).T, None, box)[0]
    wide, high = (right - left) / values.shape[1], (bottom - top) / values.shape[0]
    out = []
    for k, row in enumerate(_shades(mark.color, values)):
        starts = np.flatnonzero(np.diff(row, prepend=-1))
        for a, b in zip(starts, [*starts[1:], len(row)], strict=True):
            x, y, w = left + a * wide, bottom - (k + 1) * high, (b - a) * wide
            fill = f"var(--{mark.color.scale}-{row[a]})"
            size = f'width="{w:.1f}" height="{high + 0.3:.1f}"'
            out.append(f'<rect x="{x:.1f}" y="{y:.1f}" {size} fill="{fill}"/>')
    return "".join(out)


def _points(mark: Any, at: Moment, flat: np.ndarray, depth: np.ndarray) -> str:
    shown = np.unique(np.linspace(0, len(flat) - 1, min(len(flat), MOST)).astype(int))
    shown = shown[np.argsort(-depth[shown], kind="stable")]
    fills = [""] * len(flat)
    if mark.color:
        fills = [f' fill="var(--{mark.color.scale}-{k})"' for k in _shades(mark.color, mark.values(at))]
    dots = "".join(_dot(flat[i], mark.size * 0.55, mark.glyph == "square", fills[i]) for i in shown)
    color = f"var(--{mark.role})"
    ring = f'fill="none" stroke="{color}" stroke-width="1.5"'
    return f"<g {ring if mark.glyph == 'ring' else f'fill={chr(34)}{color}{chr(34)}'}>{dots}</g>"


def _shades(color: Color, values: np.ndarray) -> np.ndarray:
    """Which colour of its scale each value has."""
    part = np.clip((values - color.low) / (color.high - color.low), 0, 1)
    return np.rint(part * (len(themes.scale(color.scale)) - 1)).astype(int)


def _dot(at: np.ndarray, radius: float, square: bool, fill: str) -> str:
    if square:
        side = f"{2 * radius:.0f}"
        return f'<path d="M{at[0] - radius:.0f} {at[1] - radius:.0f}h{side}v{side}h-{side}z"{fill}/>'
    return f'<circle cx="{at[0]:.0f}" cy="{at[1]:.0f}" r="{radius:.1f}"{fill}/>'


def _path(flat: np.ndarray) -> str:
    out, pen = [], "M"
    for x, y in flat:
        if np.isnan(x):
            pen = "M"
        else:
            out.append(f"{pen}{x:.0f} {y:.0f}")
            pen = "L"
    return "".join(out)


def _triangles(corners: np.ndarray) -> str:
    """(F, 3, 2) as one path, every triangle turned the same way."""
    a, b, c = np.moveaxis(np.rint(corners).astype(int), 1, 0)
    u, v = b - a, c - a
    area = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
    u[area < 0], v[area < 0] = v[area < 0], u[area < 0]
    return "".join(
        f"M{x} {y}l{s} {t} {p - s} {q - t}z"
        for (x, y), (s, t), (p, q), seen in zip(a.tolist(), u.tolist(), v.tolist(), area != 0, strict=True)
        if seen
    )
