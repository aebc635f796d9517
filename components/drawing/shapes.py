"""SVG for still pictures: path data ("M0 0L…") of lines, triangles and grid cells, and elements for dots."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

import numpy as np


def above(corners: np.ndarray, values: np.ndarray, level: float) -> str:
    """SVG path data of the part of a surface of triangles where a value is at least `level`.

    corners (F, 3, 2): positions. values (F, 3): the value at each corner; inside triangles it is
    interpolated.
    """
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
    """Path data of the cells for which `filled` is true; neighbours in a row are drawn as one rectangle.

    filled (rows, columns): each cell is a square with side 1.
    """
    ends = np.diff(filled.astype(int), axis=1, prepend=0, append=0)
    rows, starts = np.nonzero(ends > 0)
    widths = np.nonzero(ends < 0)[1] - starts
    return "".join(f"M{x} {y}h{w}v1h-{w}z" for x, y, w in zip(starts, rows, widths, strict=True))


def coarse(grid: tuple[int, int], most: int) -> tuple[np.ndarray, np.ndarray]:
    """The indices of the rows and of the columns that remain when a grid is thinned to at most `most` points.

    The axis on which more points remain is thinned first. The first and the last row and column always
    remain, so the corners of the grid do too, even if `most` is less than 4.
    """
    steps = [1, 1]
    while True:
        rows, columns = (_spread(n, step) for n, step in zip(grid, steps, strict=True))
        if len(rows) * len(columns) <= most or max(len(rows), len(columns)) <= 2:
            return rows, columns
        steps[len(columns) > len(rows)] += 1


def _spread(n: int, step: int) -> np.ndarray:
    """Whole numbers from 0 to n − 1, at most `step` apart and as evenly spaced as possible.

    The first is 0, and the last is n − 1.
    """
    return np.rint(np.linspace(0, n - 1, -(-(n - 1) // step) + 1)).astype(int)


def dot(at: Sequence[float], radius: float, square: bool, fill: str) -> str:
    """An SVG element: a circle around `at` or, if `square`, a square with sides of length 2 · `radius`.

    at: the centre (x, y) in pixels. fill: the element's attribute `fill` with a space before it, or "".
    """
    if square:
        side = f"{2 * radius:.0f}"
        return f'<path d="M{at[0] - radius:.0f} {at[1] - radius:.0f}h{side}v{side}h-{side}z"{fill}/>'
    return f'<circle cx="{at[0]:.0f}" cy="{at[1]:.0f}" r="{radius:g}"{fill}/>'


def path(flat: np.ndarray) -> str:
    """Path data of a line through the points `flat` (N, 2), in pixels, with gaps at NaN.

    If consecutive points round to the same pixel, only the first is used.
    """
    out, pen, last = [], "M", ""
    for x, y in flat.tolist():
        if isnan(x):
            pen = "M"
        elif (place := f"{x:.0f} {y:.0f}") != last or pen == "M":
            out.append(pen + place)
            pen, last = "L", place
    return short("".join(out))


def quadrangles(corners: Sequence[Sequence[Sequence[int]]]) -> str:
    """Path data of quadrangles. Each is given by its four corners (x, y), in whole pixels."""
    return short(
        "".join(
            f"M{x} {y}l{p - x} {q - y} {r - p} {s - q} {t - r} {u - s}z"
            for (x, y), (p, q), (r, s), (t, u) in corners
        )
    )


def triangles(corners: np.ndarray) -> str:
    """SVG path data of triangles (F, 3, 2), written so that the corners of each are clockwise on the screen.

    Corners are rounded to whole pixels; triangles that then have no area are left out, and so are those with
    a corner that is NaN.
    """
    corners = np.rint(corners[np.isfinite(corners).all((1, 2))]).astype(int)
    area = areas(corners)
    a, u, v = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    u[area < 0], v[area < 0] = v[area < 0], u[area < 0]
    seen = np.hstack([a, u, v - u])[area != 0]
    return short("M%d %dl%d %d %d %dz" * len(seen) % tuple(seen.ravel().tolist()))


def short(way: str) -> str:
    """SVG path data `way` without the spaces before minus signs, which are superfluous."""
    return way.replace(" -", "-")


def areas(corners: np.ndarray) -> np.ndarray:
    """Twice the area (F,) of each triangle (F, 3, 2); positive if its corners are clockwise on the screen."""
    u, v = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    return u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
