"""The recipe of unselectable keys: a table of shares counted by `make films`, and one row of it as a curve.

Every cell of the table is a point. Its coordinates are its positions in both views, and the percentages of
keys that no query can select. There is a stage for each way to treat the keys (`ARMS`); a step copies the
share of the next way into the coordinate that is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from components.language.cloud import Cloud, Row
from components.language.marks import Cells, Color, Followed, Labels, Line, Open, Points
from components.language.recipe import Number, Recipe, View
from components.language.scene import Choices, File
from components.scenes.scenery import Part, draw, split
from components.theme import UPON, upon
from geometry import Affine, Pipeline
from geometry.clouds import segments
from geometry.gaussian_hull import unselectable_share
from learning.film import json_table

Array = np.ndarray
Found = Mapping[str, Any]  # a row of the table: n, d, number of sets; per arm mean and standard deviation
ARMS = ("drawn", "centred", "layernorm", "eps")  # how the keys are treated before the count, at each stage
KEY_COUNTS, DIMENSIONS = (5, 10, 20, 50, 100, 200, 500), (2, 3, 4, 5, 6, 8, 10, 12, 16)
MAX_OPENED = 200, 4  # largest numbers of keys and dimensions that the scene `select` shows
STANDARD_ERRORS_DRAWN = 2  # standard errors of the mean that a bar spans, up and down
# Indices of the coordinates of a cell: column, row, log₁₀ n, the share that is shown, the shares of all arms,
# SCALED, n, d.
COLUMN, ROW, LOG, SHOWN, FIRST = 0, 1, 2, 3, 4
SCALED, N, D = (FIRST + len(ARMS) + k for k in range(3))
WIDTH = D + 1


def row(*places: int) -> tuple[Row, ...]:
    """Display coordinates: for each index in `places`, the `Row` that reads this coordinate of a point."""
    return tuple(Row(tuple(np.eye(WIDTH)[place])) for place in places)


GRID, GRAPH, SHARE = row(COLUMN, ROW), row(LOG, SHOWN), row(SHOWN)[0]
# Each step copies the share of the next arm into the coordinate that is drawn.
STEPS = tuple(
    Affine(np.eye(WIDTH) - np.outer(np.eye(WIDTH)[SHOWN], np.eye(WIDTH)[SHOWN] - np.eye(WIDTH)[FIRST + k]))
    for k in range(1, len(ARMS))
)


def build(choices: Choices, found: Sequence[Found]) -> Recipe:
    """The recipe, from the table `found` of the counted shares of keys that no query selects."""
    d, counted = int(choices["d"]), in_order(found)
    cells = cloud(counted)
    grid_clouds, grid = split(*numbers(cells, counted), *names())
    curve_clouds, curve = split(*frame(), *laws(d), *measured([each for each in counted if each["d"] == d]))
    followed = Points("cells", "followed", GRID, "the selected cell", only=Followed(), size=34, glyph="ring")
    hand = Points("cells", "input", GRID, size=38, glyph="square", opacity=0, hand=Open(links(counted)))
    color = Color("sequential", 0, 100, SHARE, "share of keys that no query selects, in percent")
    on_curve = Points("cells", "followed", GRAPH, only=Followed(), size=13, glyph="ring")
    return Recipe(
        stages=("random keys", "centred", "LayerNorm", "ε = 10⁻⁵"),
        parameters=(),
        clouds=(cells, *grid_clouds, *curve_clouds),
        views=(
            View(
                "grid",
                "Keys that no query selects, in percent",
                (Cells("cells", "sphere", GRID, columns=len(KEY_COUNTS), color=color), *grid, hand, followed),
                ((-0.6, len(KEY_COUNTS) + 0.55), (-0.25, len(DIMENSIONS) + 0.55)),
                2,
                equal=False,
            ),
            View(
                "curve",
                f"{d} dimensions, by number of keys",
                (*curve, on_curve),
                ((0.02, 2.92), (-11, 107)),
                2,
                equal=False,
                strip=True,
            ),
        ),
        formula=FORMULA,
        readouts=readouts(),
        follow=DIMENSIONS.index(4) * len(KEY_COUNTS) + KEY_COUNTS.index(50),
    )


FORMULA = (
    r"\text{share} = 1 - \frac{2}{n} \sum_{m = d,\, d-2,\, \ldots} m \binom{n}{m}\, \beta_m"
    r" \allowbreak \int \Phi(p)^{n-m} f_m(p)\, dp"
)


def in_order(found: Sequence[Found]) -> list[Found]:
    """The rows of the table in the order of the grid: by dimension, then by number of keys."""
    known = {(each["n"], each["d"]): each for each in found}
    return [known[n, d] for d, n in product(DIMENSIONS, KEY_COUNTS)]


def percent(found: Found, arm: str) -> float:
    """The percentage of keys that no query selects, for n keys in d dimensions: a mean over random sets.

    found: the row of the table for n and d. arm: how the keys are treated before the count, one of ARMS, or
    "scaled" (only normalised, not centred).
    """
    return 100 * found[arm][0]


def error(cell: Found, arm: str) -> float:
    """The standard error, in percentage points, of the mean that `percent` returns for the same arguments.

    The row `cell` must have more than one set of keys.
    """
    return float(100 * cell[arm][1] / np.sqrt(cell["sets"]))


def numbered(cell: Found, shares: list[float]) -> Array:
    """The coordinates (WIDTH,) of a cell's point. Their indices are the constants COLUMN, ROW, LOG, ….

    cell: the row of the table for n keys in d dimensions. shares: for each of ARMS, the percentage of keys
    that no query selects.
    """
    at = np.zeros(WIDTH)
    at[[COLUMN, ROW, LOG]] = (
        1 + KEY_COUNTS.index(cell["n"]),
        1 + DIMENSIONS.index(cell["d"]),
        np.log10(cell["n"]),
    )
    at[SHOWN], at[FIRST:SCALED] = shares[0], shares
    at[[SCALED, N, D]] = percent(cell, "scaled"), cell["n"], cell["d"]
    return at


def cloud(counted: Sequence[Found]) -> Cloud:
    """A point for each cell of the table, labelled with its hover text."""
    points = [numbered(found, [percent(found, arm) for arm in ARMS]) for found in counted]
    return Cloud("cells", np.asarray(points), Pipeline(STEPS), labels=[reading(found) for found in counted])


def reading(found: Found) -> str:
    """The hover text of a cell, in HTML: n, d, and the percentage of unselectable keys for each of ARMS.

    found: the row of the table about this cell. For random keys (no norm), the exact percentage is added.
    """
    n, d = found["n"], found["d"]
    said = [f"{percent(found, arm):.1f} ± {error(found, arm):.1f}" for arm in ARMS]
    exact = f"{100 * unselectable_share(n, d):.1f}"
    return (
        f"{n} keys in {d} dimensions<br>without a norm {said[0]} %, exactly {exact} %<br>"
        f"centred {said[1]} %<br>LayerNorm {said[2]} %<br>with ε {said[3]} %"
    )


def links(counted: Sequence[Found]) -> list[str]:
    """For each cell, a link to the scene `select` with the first of the cell's sets of keys.

    It is "" if the cell has more keys or dimensions than that scene can show (MAX_OPENED).
    """
    most, largest = MAX_OPENED
    return [
        f"select?keys=gaussian&n={found['n']}&d={found['d']}&seed=0"
        if found["n"] <= most and found["d"] <= largest
        else ""
        for found in counted
    ]


def short(share: float) -> str:
    """A percentage (0 to 100) as text of at most three characters without "%", such as "5.2" or ">99"."""
    if 0 < share < 0.05 or 99.5 <= share < 100:
        return "<.1" if share < 1 else ">99"
    return f"{share:.0f}" if share == 0 or share >= 9.5 else f"{share:.1f}"


def numbers(cells: Cloud, counted: Sequence[Found]) -> list[Part]:
    """Labels with the percentage in each cell, for each stage, in a colour that is legible on the cell.

    cells: the cloud with a point for each cell. counted: the rows of the table, in the same order.
    """
    parts: list[Part] = []
    for stage, arm in enumerate(ARMS):
        shares = np.array([percent(each, arm) for each in counted])
        fade = [float(stage == k) for k in range(len(ARMS))]
        roles = np.array([upon(share / 100) for share in shares])
        for role in UPON:
            if (own := roles == role).any():
                texts = [short(share) for share in shares[own]]
                parts.append(
                    draw(f"{arm} in {role}", Labels, role, GRID, cells.points[own], labels=texts, fade=fade)
                )
    return parts


def names() -> list[Part]:
    """Labels of the table's columns (n) and rows (d)."""
    across = [[1 + k, 0.12] for k in range(len(KEY_COUNTS))]
    up = [[-0.02, 1 + k] for k in range(len(DIMENSIONS))]
    plane = (Row((1, 0)), Row((0, 1)))
    columns, lines = named("n", KEY_COUNTS), named("d", DIMENSIONS)
    return [
        draw("columns", Labels, "soft", plane, np.array(across), labels=columns),
        draw("rows", Labels, "soft", plane, np.array(up), labels=lines),
    ]


def named(name: str, values: Sequence[int]) -> list[str]:
    """Numbers as text, with the name only at the first: "n = 5", "10", "20" for "n" and (5, 10, 20)."""
    return [f"{name} = {value}" if k == 0 else str(value) for k, value in enumerate(values)]


# --- the curve


def frame() -> list[Part]:
    """Lines at 0, 50 and 100 percent, and the labels of both axes."""
    plane = (Row((1, 0)), Row((0, 1)))
    heights = (0, 50, 100)
    low, high = np.log10(KEY_COUNTS[0]) - 0.08, np.log10(KEY_COUNTS[-1]) + 0.08
    levels = segments(np.array([[[low, y], [high, y]] for y in heights], float))
    some = KEY_COUNTS[::2]  # few enough that they never touch, even in a narrow view
    below = [[np.log10(n), -7] for n in some]
    return [
        draw("levels", Line, "axis", plane, levels, size=1.5, opacity=0.4),
        draw("numbers", Labels, "soft", plane, np.array(below), labels=named("n", some)),
        draw(
            "percent",
            Labels,
            "soft",
            plane,
            np.array([[0.31, y] for y in heights], float),
            labels=[f"{y} %" for y in heights],
        ),
    ]


@cache
def law(d: int) -> Array:
    """The curve of exact shares of unselectable keys in d dimensions: points (K, WIDTH) for K key counts.

    A point has log₁₀ of the key count, the share that is drawn at first, and the share for each of ARMS
    (ways to treat the keys), in percent. The shares are exact for random keys, for centred keys (whose
    dimension is d − 1), and for LayerNorm with ε = 0, where they are 0. For LayerNorm with ε no exact
    share is known: 0 stands in its place, and is not drawn.
    """
    several = np.unique(np.geomspace(KEY_COUNTS[0], KEY_COUNTS[-1], 60).astype(int))
    out = np.zeros((len(several), WIDTH))
    out[:, LOG] = np.log10(several)
    out[:, FIRST] = out[:, SHOWN] = [100 * unselectable_share(n, d) for n in several.tolist()]
    out[:, FIRST + 1] = [100 * unselectable_share(n, d - 1) for n in several.tolist()]
    return out


def laws(d: int) -> list[Part]:
    """A curve of the exact shares for each number of dimensions; the curve for `d` is emphasised.

    There are no curves at the stage with ε, for which no exact share is known.
    """
    fade, others = [1.0, 1.0, 1.0, 0.0], [other for other in DIMENSIONS if other != d]
    points = np.concatenate([law(other) for other in others])
    size = len(law(d))
    order = np.concatenate([[*range(size * k, size * (k + 1)), -1] for k in range(len(others))])
    look: dict[str, Any] = {"steps": STEPS, "fade": fade}
    return [
        draw("other laws", Line, "trail", GRAPH, (points, order), "other dimensions", size=1.5, **look),
        draw("law", Line, "formula", GRAPH, law(d), "exact mean share", size=5, **look),
    ]


def measured(cells: Sequence[Found]) -> list[Part]:
    """The counted shares of `cells`, which all have the same number of dimensions.

    They are drawn as means with two kinds of bars: ± STANDARD_ERRORS_DRAWN standard errors of the mean, and
    ± 1 standard deviation between the sets of keys.
    """

    def ends(size: Any) -> tuple[Array, Array]:
        low, high = (
            [numbered(f, [percent(f, arm) + sign * size(f, arm) for arm in ARMS]) for f in cells]
            for sign in (-1, 1)
        )
        return segments(np.stack([low, high], axis=1))

    def spread(f: Found, arm: str) -> float:
        return float(100 * f[arm][1])

    def twice(f: Found, arm: str) -> float:
        return STANDARD_ERRORS_DRAWN * error(f, arm)

    look: dict[str, Any] = {"steps": STEPS}
    middle = np.asarray([numbered(f, [percent(f, arm) for arm in ARMS]) for f in cells])
    return [
        draw(
            "spread",
            Line,
            "input",
            GRAPH,
            ends(spread),
            "± 1 standard deviation of a set",
            size=12,
            opacity=0.25,
            **look,
        ),
        draw(
            "errors",
            Line,
            "ink",
            GRAPH,
            ends(twice),
            f"± {STANDARD_ERRORS_DRAWN} standard errors",
            size=5,
            **look,
        ),
        draw("means", Points, "input", GRAPH, middle, "mean of 100 sets", size=5, **look),
    ]


def readouts() -> tuple[Number, ...]:
    """Readouts of the followed (selected) cell: n, d, and the share of keys that no query selects.

    There is a share for each way to treat the keys (ARMS) and for scaling alone, whatever the stage.
    """

    def of(label: str, place: int, digits: int = 1, unit: str = " %") -> Number:
        return Number(label, "cells", row(place)[0], Followed(), unit, digits)

    kinds = ("centring alone", "LayerNorm, ε = 0", "LayerNorm, ε = 10⁻⁵")
    return (
        of("Never selected, without a norm", FIRST),
        of("Keys n", N, 0, ""),
        of("Dimensions d", D, 0, ""),
        *(of(f"Never selected, {kind}", FIRST + k) for k, kind in enumerate(kinds, start=1)),
        of("Never selected, scaling alone", SCALED),
    )


DATA_FILES = (File("unselectable.json", json_table),)
