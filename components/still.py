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
from components.figure import LINES, fan
from components.link import State
from components.recipe import Layer, Recipe, View

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

    if theme in ("", "auto"):
        return block("light") + "@media (prefers-color-scheme: dark){" + block("dark") + "}"
    return block(theme)


def _layers(recipe: Recipe, view: View, state: State, box: tuple[int, int]) -> list[str]:
    drawn = []
    for layer in view.layers:
        opacity = layer.opacity_at(state.progress)
        if opacity <= 0:
            continue
        points = recipe.layer_points(layer, state.params, state.progress, followed=state.follow)
        flat, depth = _project(view, points, state.camera or view.camera, box)
        order = {"field": 0, "mesh": 0, "trail": 2, "points": 3, "labels": 4}.get(layer.kind, 1)
        if layer.kind == "field":
            shape = _field(recipe, view, layer, state, box)
        else:
            shape = _shape(recipe, layer, flat, depth, state)
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


def _shape(recipe: Recipe, layer: Layer, flat: np.ndarray, depth: np.ndarray, state: State) -> str:
    color = f"var(--{layer.role})"
    if layer.kind == "labels":
        labels = recipe.cloud(layer.cloud).labels or ()
        texts = [
            f'<text x="{x:.0f}" y="{y + 5:.0f}">{escape(label)}</text>'
            for (x, y), label in zip(flat, labels, strict=True)
        ]
        look = 'font-family="system-ui" font-size="15" text-anchor="middle"'
        return f'<g fill="{color}" {look}>{"".join(texts)}</g>'
    if layer.kind in ("mesh", "plane"):
        order = fan(layer.bins) if layer.kind == "plane" else np.asarray(layer.order)
        return f'<path fill="{color}" d="{_triangles(flat[order])}"/>'
    if layer.kind in LINES:
        width = max(0.8, layer.size * 0.55)
        dash = f' stroke-dasharray="{DASHES[layer.dash]}"' if layer.dash != "solid" else ""
        return f'<path fill="none" stroke="{color}" stroke-width="{width:.1f}"{dash} d="{_path(flat)}"/>'
    return _points(recipe, layer, flat, depth, state, color)


def _field(recipe: Recipe, view: View, layer: Layer, state: State, box: tuple[int, int]) -> str:
    """The field in rows of rectangles, each as long as its colour stays the same."""
    assert layer.color is not None
    values = recipe.layer_values(layer, state.params, state.progress).reshape(-1, layer.bins)
    values = values[::COARSE, ::COARSE]
    (left, bottom), (right, top) = _project(view, np.array(view.ranges).T, None, box)[0]
    wide, high = (right - left) / values.shape[1], (bottom - top) / values.shape[0]
    last = len(themes.scale(layer.color.scale)) - 1
    part = np.clip((values - layer.color.low) / (layer.color.high - layer.color.low), 0, 1)
    out = []
    for k, row in enumerate(np.rint(part * last).astype(int)):
        starts = np.flatnonzero(np.diff(row, prepend=-1))
        for a, b in zip(starts, [*starts[1:], len(row)], strict=True):
            x, y, w = left + a * wide, bottom - (k + 1) * high, (b - a) * wide
            fill = f"var(--{layer.color.scale}-{row[a]})"
            size = f'width="{w:.1f}" height="{high + 0.3:.1f}"'
            out.append(f'<rect x="{x:.1f}" y="{y:.1f}" {size} fill="{fill}"/>')
    return "".join(out)


def _points(
    recipe: Recipe, layer: Layer, flat: np.ndarray, depth: np.ndarray, state: State, color: str
) -> str:
    chosen = np.unique(np.linspace(0, len(flat) - 1, min(len(flat), MOST)).astype(int))
    chosen = chosen[np.argsort(-depth[chosen], kind="stable")]
    colors = _colors(recipe, layer, state)
    radius = layer.size * 0.55
    dots = "".join(_dot(flat[i], radius, layer.square, colors(i)) for i in chosen)
    paint = f'fill="none" stroke="{color}" stroke-width="1.5"' if layer.hollow else f'fill="{color}"'
    return f"<g {paint}>{dots}</g>"


def _dot(at: np.ndarray, radius: float, square: bool, fill: str) -> str:
    if square:
        side = f"{2 * radius:.0f}"
        return f'<path d="M{at[0] - radius:.0f} {at[1] - radius:.0f}h{side}v{side}h-{side}z"{fill}/>'
    return f'<circle cx="{at[0]:.0f}" cy="{at[1]:.0f}" r="{radius:.1f}"{fill}/>'


def _colors(recipe: Recipe, layer: Layer, state: State) -> Any:
    if layer.color is None:
        return lambda i: ""
    values = recipe.layer_values(layer, state.params, state.progress, followed=state.follow)
    last = len(themes.scale(layer.color.scale)) - 1
    at = np.clip((values - layer.color.low) / (layer.color.high - layer.color.low), 0, 1)
    return lambda i: f' fill="var(--{layer.color.scale}-{round(float(at[i]) * last)})"'


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
