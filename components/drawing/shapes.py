"""SVG path data for lines, triangles, grid cells and dots, in pixels."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

import numpy as np


def above(corners: np.ndarray, values: np.ndarray, level: float) -> str:
    """Path data of the parts of triangles whose value, interpolated between corners, is at least `level`."""
    over = values >= level
    some = over.any(1) & ~over.all(1)
    pieces = []
    for points, here, inside in zip(corners[some], values[some], over[some], strict=True):
        way = []
        for a, b in ((0, 1), (1, 2), (2, 0)):
            if inside[a]:
                way.append(points[a])
            if inside[a] != inside[b]:
                way.append(points[a] + (level - here[a]) / (here[b] - here[a]) * (points[b] - points[a]))
        pieces.append("M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in way) + "z")
    return triangles(corners[over.all(1)]) + short("".join(pieces))


def cells(filled: np.ndarray) -> str:
    """Path data of the filled cells of a grid, run-length encoded as rectangles."""
    ends = np.diff(filled.astype(int), axis=1, prepend=0, append=0)
    rows, starts = np.nonzero(ends > 0)
    widths = np.nonzero(ends < 0)[1] - starts
    return "".join(f"M{x} {y}h{w}v1h-{w}z" for x, y, w in zip(starts, rows, widths, strict=True))


def coarse(grid: tuple[int, int], most: int) -> tuple[np.ndarray, np.ndarray]:
    """The row and column numbers that remain when a grid is thinned to at most `most` points.

    The axis with more remaining points is thinned first. The first and the last row and column always remain,
    so a grid of at least 2 × 2 keeps its four corners even if `most` is smaller.
    """
    steps = [1, 1]
    while True:
        rows, columns = (_spread(n, step) for n, step in zip(grid, steps, strict=True))
        if len(rows) * len(columns) <= most or max(len(rows), len(columns)) <= 2:
            return rows, columns
        steps[len(columns) > len(rows)] += 1


def _spread(n: int, step: int) -> np.ndarray:
    """Numbers from 0 to n − 1, both included, as evenly as possible and at most `step` apart."""
    return np.rint(np.linspace(0, n - 1, -(-(n - 1) // step) + 1)).astype(int)


def dot(at: Sequence[float], radius: float, square: bool, fill: str) -> str:
    if square:
        side = f"{2 * radius:.0f}"
        return f'<path d="M{at[0] - radius:.0f} {at[1] - radius:.0f}h{side}v{side}h-{side}z"{fill}/>'
    return f'<circle cx="{at[0]:.0f}" cy="{at[1]:.0f}" r="{radius:g}"{fill}/>'


def path(flat: np.ndarray) -> str:
    """Path data of a polyline with gaps (NaN); consecutive points in the same pixel are merged."""
    out, pen, last = [], "M", ""
    for x, y in flat.tolist():
        if isnan(x):
            pen = "M"
        elif (place := f"{x:.0f} {y:.0f}") != last or pen == "M":
            out.append(pen + place)
            pen, last = "L", place
    return short("".join(out))


def quadrangles(corners: Sequence[Sequence[Sequence[int]]]) -> str:
    """Path data of quadrangles, each with four corners (x, y), in whole pixels."""
    return short(
        "".join(
            f"M{x} {y}l{p - x} {q - y} {r - p} {s - q} {t - r} {u - s}z"
            for (x, y), (p, q), (r, s), (t, u) in corners
        )
    )


def triangles(corners: np.ndarray) -> str:
    """Path data of triangles (F, 3, 2), all written with the same orientation, without those of area 0."""
    corners = np.rint(corners).astype(int)
    area = areas(corners)
    a, u, v = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    u[area < 0], v[area < 0] = v[area < 0], u[area < 0]
    seen = np.hstack([a, u, v - u])[area != 0]
    return short("M%d %dl%d %d %d %dz" * len(seen) % tuple(seen.ravel().tolist()))


def short(way: str) -> str:
    """Shorten path data: no space is needed before a minus sign."""
    return way.replace(" -", "-")


def areas(corners: np.ndarray) -> np.ndarray:
    """Twice the signed area of each triangle (F, 3, 2); the sign is its orientation."""
    u, v = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    return u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
