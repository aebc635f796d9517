"""Recipe of the scene `placement`: a token's path through transformer blocks, by the place of normalisation.

The numbers come from a table that `make films` writes. The large picture draws the token's path in space. Two
kinds of angles are true: those between the vectors before and after a block, and those to the vector at the
start. A point's distance from the origin grows with the logarithm of the token's length.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from components.language.cloud import Cloud, Row, rows
from components.language.marks import Color, Labels, Line, Mark, Points, Way
from components.language.recipe import Number, Parameter, Recipe, View
from components.language.scene import Choices, File
from components.scenes.scenery import Look, Part, draw, globe, graph, space, split
from geometry import Affine, Entries, Normalize, Pipeline, Track, clouds
from learning.film import json_table

Array = np.ndarray
TableRow = Mapping[str, Any]


@dataclass(frozen=True)
class Graph:
    """A graph of one `column` of the table, under a `title`; `axis` is the title of its vertical axis.

    low, high: the ends of that axis. loud: the upper end to use instead of `high` when queries and keys are
    three times as large; None to use `high` then too. log: whether log₁₀ of the column is drawn.
    """

    column: str
    title: str
    axis: str
    low: float
    high: float
    loud: float | None = None
    log: bool = False


LABELS = {
    "pre": "before the branch (pre-LN)",
    "post": "after the sum (post-LN)",
    "peri": "before and after (peri-LN)",
    "ngpt": "on branch output and sum (nGPT)",
}
SHORT = {"pre": "pre-LN", "post": "post-LN", "peri": "peri-LN", "ngpt": "nGPT"}
BELOW = {
    "turn": "length, angle per block",
    "start": "angle to start, token cosine",
    "gradient": "gradient: token, all tokens",
    "weight": "scores, attention weights",
}
SIZES = {"1": "unchanged", "3": "three times as large"}
DRAWS = {str(k + 1): str(k + 1) for k in range(5)}
LOOKS = {  # the role and dash of the curves
    "pre": ("series-1", "solid"),
    "post": ("series-3", "dashdot"),
    "peri": ("series-2", "dash"),
    "ngpt": ("series-4", "dot"),
}
GRAPHS = {
    "turn": (
        Graph("length", "Length of the token", "length", 0.0, 9.0),
        Graph("turn", "Turn in each block", "degrees", -3.0, 79.0),
    ),
    "start": (
        Graph("start", "Angle to the start", "degrees", -5.0, 112.0),
        Graph("cosine", "Mean cosine of two tokens", "cosine", -0.12, 1.08),
    ),
    "gradient": (
        Graph("gradient", "Gradient at the token", "log₁₀ gradient", -3.7, 1.2, 2.6, log=True),
        Graph("gradients", "Gradient at all 16 tokens", "log₁₀ gradient", -1.0, 1.5, 3.8, log=True),
    ),
    "weight": (
        Graph("score", "Largest score of the token", "log₁₀ score", -1.5, 1.2, 1.8, log=True),
        Graph("weight", "Largest weight that it gives", "weight", -0.05, 1.06),
    ),
}
WIDTH = 64  # number of coordinates of a token
BLOCKS = 24
FINE = 6  # points that a path has for each block
DOUBLINGS = 7.0  # number of doublings of the length that move a point out by the radius of the sphere
FIRST_AZIMUTH = -150.0  # degrees: the default path then ends in front of the sphere
TICKS = (2, 4, 8)  # lengths marked on the axis
REACH = 1.235  # half the side of the cube that fills the view, in radii of the sphere
RAISED = 0.13  # height of the middle of the view, in radii
CAMERA = (0.75, -1.15, 0.55)
AXIS_END = 1.5  # of the axis of lengths
MARGIN = 0.8  # margin at both sides of a graph, in blocks, so that no dot is cut
SHOW = rows(np.eye(3, 5))
NORM = Normalize(groups=((0, 1, 2),))
DATA_FILES = (File("placement.json", json_table),)
GRADIENT_COLOR = (-3.0, 1.0)  # the ends of the colour scale, log₁₀ of the gradient


def build(choices: Choices, table: Sequence[TableRow]) -> Recipe:
    qk_norm, size = choices["qk"] == "yes", int(choices["size"])
    rows_shown = (row for row in table if (row["qk_norm"], row["sharp"]) == (qk_norm, size))
    row_by_placement = {row["kind"]: row for row in rows_shown}
    kind, below = choices["norm"], choices["below"]
    seed = int(choices["draw"]) - 1
    path_clouds, path = path_view(row_by_placement, kind, seed, colored=below == "gradient")
    upper, lower = (
        curve_view(shown, row_by_placement, kind, qk_norm=qk_norm, loud=size > 1) for shown in GRAPHS[below]
    )
    return Recipe(
        stages=("stream", "norm"),
        parameters=(
            Parameter("block", "block", BLOCKS, 0, BLOCKS, 1, about="blocks that the token has passed"),
        ),
        clouds=(*path_clouds, *upper[0], *lower[0]),
        views=(path, upper[1], lower[1]),
        formula=FORMULAS[kind],
        readouts=(
            Number("Length now, this seed", "now", Row((0.0, 0.0, 0.0, 1.0)), digits=2),
            Number(
                "Angle to the start now, this seed", "now", Row((0.0, 0.0, 0.0, 0.0, 1.0)), unit="°", digits=0
            ),
        ),
        clock="block",
    )


FORMULAS = {
    "pre": r"x \leftarrow x + f(\class{role-sphere}{\mathrm{norm}}(x))",
    "post": r"x \leftarrow \class{role-sphere}{\mathrm{norm}}(x + f(x))",
    "peri": r"x \leftarrow x + \class{role-sphere}{\mathrm{norm}}(f(\class{role-sphere}{\mathrm{norm}}(x)))",
    "ngpt": r"x \leftarrow \class{role-sphere}{\mathrm{norm}}"
    r"(x + α\,(\class{role-sphere}{\mathrm{norm}}(f(x)) - x))",
}


# --- the path in space


def distance(length: Array) -> Array:
    """The distance from the origin at which a token of this length is drawn.

    It is 1 for length 1, and grows by 1 whenever the length is multiplied by 2^DOUBLINGS = 128.
    """
    return 1 + np.log2(length) / DOUBLINGS


def directions(start: Array, turn: Array, azimuth: float) -> Array:
    """Unit vectors in space (K + 1, 3), of which the first is upright, on a path with given angles.

    start: the angle of each vector to the first one (K + 1,). turn: the angle from each vector to the next
    (K,). azimuth: the azimuth of the second vector. All are in degrees. The azimuth only grows along the
    path, by an amount that the spherical law of cosines gives.

    The angles were measured between vectors in d dimensions. A path in space with the same angles exists,
    because any three vectors fit into three dimensions.
    """
    polar, turns = np.radians(start), np.radians(turn)
    products = np.sin(polar[:-1]) * np.sin(polar[1:])
    # vector 0 is the pole, which has no azimuth; the first step sets that of vector 1, later steps add to it
    cosines = (np.cos(turns) - np.cos(polar[:-1]) * np.cos(polar[1:]))[1:] / products[1:]
    around = np.radians(azimuth) + np.concatenate([[0, 0], np.cumsum(np.arccos(cosines.clip(-1, 1)))])
    return np.stack([np.sin(polar) * np.cos(around), np.sin(polar) * np.sin(around), np.cos(polar)], -1)


def path(row: TableRow, seed: int, azimuth: float) -> Array:
    """The path for one random seed, (BLOCKS·FINE + 1, 5). seed: its index in the table.

    Each row has the point in space (3 numbers), the token's length, and its angle to the start. There are
    FINE rows from one block to the next. Between two blocks, the direction of the point turns along a great
    circle, and its distance from the origin changes linearly.
    """
    length, start, turn = (np.array(row["paths"][seed][name]) for name in ("length", "start", "turn"))
    corners = directions(start, turn, azimuth)
    fine = [corners[:1]]
    fraction = np.arange(1, FINE + 1)[:, None] / FINE
    for a, b in pairwise(corners):
        angle = np.arccos(np.clip(a @ b, -1, 1))
        fine.append((np.sin((1 - fraction) * angle) * a + np.sin(fraction * angle) * b) / np.sin(angle))
    blocks_fine, blocks = np.arange(BLOCKS * FINE + 1) / FINE, np.arange(BLOCKS + 1)
    radius = np.interp(blocks_fine, blocks, distance(length))
    length_and_angle = [np.interp(blocks_fine, blocks, values) for values in (length, start)]
    return np.column_stack([radius[:, None] * np.vstack(fine), *length_and_angle])


def path_view(
    row_by_placement: Mapping[str, TableRow], kind: str, seed: int, *, colored: bool
) -> tuple[tuple[Cloud, ...], View]:
    """View of the paths of all placements around the sphere, and its clouds.

    There is one path for each placement: that of the random network `seed` (an index). The path of the
    placement `kind` is also drawn up to the slider's block. colored: whether the points of that path are
    coloured by the size of the gradient after each block. row_by_placement: for each placement, the table's
    row with the measured paths.
    """
    paths = {
        name: path(row, seed, FIRST_AZIMUTH + 90.0 * k)
        for k, (name, row) in enumerate(row_by_placement.items())
    }
    gradient = row_by_placement[kind]["paths"][seed]["gradient"] if colored else None
    parts: list[Part] = [
        *globe(SHOW, np.eye(3, 5), mesh=0.1, net=0.25),
        *length_axis(),
        draw("level", Line, "axis", SHOW, clouds.circle(96, *np.eye(3, 5)[:2]), "90° from the start", size=3),
        *(path_line(name, points) for name, points in paths.items()),
        path_so_far(LOOKS[kind][0], paths[kind]),
        points_after_blocks(LOOKS[kind][0], paths[kind], gradient),
        (Points("now", "followed", SHOW, "the token", size=8),),
    ]
    path_clouds, marks = split(*parts)
    view = space("path", "", marks, camera=CAMERA, reach=REACH)
    (low, high), *_ = view.ranges
    return path_clouds, replace(view, ranges=((low, high), (low, high), (low + RAISED, high + RAISED)))


def path_line(name: str, points: Array) -> Part:
    """The whole path of the token with the placement `name`, as a line through `points`."""
    role, dash = LOOKS[name]
    look: Look = {"size": 3, "dash": dash, "opacity": 0.8}
    return draw(name, Line, role, SHOW, points, SHORT[name], steps=(NORM,), **look)


def path_so_far(role: str, points: Array) -> Part:
    """Cloud and mark of the token's path up to the slider's block, a line through `points`.

    role: the colour role of the line.
    """
    stops, place = np.arange(BLOCKS * FINE + 1.0) / FINE, row_at_block(points, 0, FINE).steps
    look: Look = {"parameter": "block", "stops": stops, "size": 7}
    return draw("now", Way, role, SHOW, np.ones((1, 1)), place=place, steps=(NORM,), **look)


def points_after_blocks(role: str, points: Array, gradient: Sequence[float] | None) -> Part:
    """Cloud and mark of the token at its start and after each block, a point for each.

    role: the colour role of the points. gradient: the size of the gradient at each point, which colours the
    points; None to use the colour of the role.
    """
    look: Look = {"size": 4}
    if gradient is not None:
        color = Color("weight", *GRADIENT_COLOR, np.log10(gradient), title="log₁₀ of the gradient")
        look = {"size": 6, "color": color}
    return draw("places", Points, role, SHOW, points[::FINE], steps=(NORM,), **look)


def length_axis() -> list[Part]:
    """An axis with a logarithmic scale of the token's length, along the token's initial direction (z).

    It has a line, ticks, and labels at every other tick.
    """
    up, beside = np.array([0, 0, 1.0, 0, 0]), np.array([0.1, 0.065, -0.09, 0, 0])
    ticks = distance(np.array(TICKS))[:, None] * up
    ends, words = np.stack([up, AXIS_END * up]), [str(tick) for tick in TICKS[::2]]
    return [
        draw("length axis", Line, "axis", SHOW, ends, "length, logarithmic", size=2, guide=True),
        draw("ticks", Points, "axis", SHOW, ticks, size=3, guide=True),
        draw("lengths", Labels, "axis", SHOW, ticks[::2] + beside, labels=words, guide=True),
    ]


# --- curves


def curve_view(
    shown: Graph, row_by_placement: Mapping[str, TableRow], kind: str, *, qk_norm: bool, loud: bool
) -> tuple[tuple[Cloud, ...], View]:
    """Graph of one quantity against the number of the block, and the clouds that it draws.

    For each placement of the normalisation layers, it has a curve: the median over random networks. For the
    placement `kind` the smallest and largest values are drawn too, and a dot at the slider's block.

    shown: the quantity. row_by_placement: for each placement, the table's row with its values. qk_norm:
    whether to draw √d, the bound that QK-norm gives the scores, in the graph of scores. loud: whether queries
    and keys are three times as large, for which the vertical axis of some graphs reaches higher.
    """
    scale = np.log10 if shown.log else np.asarray
    # for each placement, the columns median, smallest and largest
    statistics = {name: scale(np.array(row[shown.column])) for name, row in row_by_placement.items()}
    what, first = shown.column, BLOCKS + 1 - len(statistics[kind])
    blocks = np.arange(first, BLOCKS + 1.0)
    block = Row((1.0,))
    median = block, Row((0.0, 1.0))
    low = block, Row((0.0, 0.0, 1.0))
    high = block, Row((0.0, 0.0, 0.0, 1.0))
    curve_clouds: list[Cloud] = []
    marks: list[Mark] = []
    for name, columns in statistics.items():
        role, dash = LOOKS[name]
        cloud = Cloud(f"{what} {name}", np.column_stack([blocks, columns]))
        curve_clouds.append(cloud)
        marks.append(Line(cloud.name, role, median, SHORT[name], size=5 if name == kind else 2, dash=dash))
        if name == kind:
            look: Look = {"size": 1.5, "dash": "dot", "opacity": 0.8}
            marks += [
                Line(cloud.name, role, low, "extremes of 20 seeds", **look),
                Line(cloud.name, role, high, **look),
            ]
    laws = {"length": (np.sqrt(1 + 2 * blocks), "√(1 + 2k)")}
    if qk_norm:
        laws["score"] = (np.full_like(blocks, np.log10(np.sqrt(WIDTH))), "√d, the bound")
    if what in laws:
        height, title = laws[what]
        curve_clouds.append(Cloud(f"law {what}", np.column_stack([blocks, height])))
        marks.append(Line(f"law {what}", "formula", median, title, size=1.5))
    place = row_at_block(np.column_stack([blocks, statistics[kind]]), first)
    curve_clouds.append(Cloud(f"{what} now", np.ones((1, 1)), place=place))
    marks.append(Points(f"{what} now", LOOKS[kind][0], median, size=10))
    x = ("block", -MARGIN, BLOCKS + MARGIN)
    high_end = shown.loud if loud and shown.loud else shown.high
    return tuple(curve_clouds), graph(what, shown.title, marks, x, (shown.axis, shown.low, high_end))


def row_at_block(values: Array, first: int = 0, rows_per_block: int = 1) -> Pipeline:
    """Steps that give the row of `values` (K, d) at the slider's block, interpolated linearly between rows.

    They are for points with one coordinate, whose value is ignored: every point becomes the same row. The
    first row belongs to the block `first`; there are `rows_per_block` rows from one block to the next.
    """
    track = Track(first + np.arange(len(values)) / rows_per_block, values)
    return Pipeline(
        (Affine(np.zeros((values.shape[1], 1)), Entries(np.zeros(values.shape[1]), tracks={"block": track})),)
    )
