"""Recipe of the scene `symmetrise`: vectors after each iteration of a learned LayerNorm, a ring of heads.

`learning.symmetriser` explains the network. Each stage shows the vectors after one more iteration of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log10
from typing import Any

import numpy as np

from components.language.cloud import Cloud, Row, rows
from components.language.marks import Choose, Color, Follow, Followed, Labels, Line, Mark, Mesh, Points, Trail
from components.language.recipe import Facts, Mean, Number, Parameter, Recipe, View
from components.language.scene import Choices, File
from components.scenes.scenery import Part, draw, evenly, followed, globe, graph, space, split
from components.scenes.symmetrise.steps import (
    RADIUS,
    D,
    along,
    at,
    error,
    given,
    ideal,
    iteration,
    matrices,
    pick,
    whole_width,
)
from geometry import Affine, Branches, Entries, Of, Pipeline, Pointwise, clouds
from learning.film import json_table
from learning.safetensors import from_safetensors
from learning.symmetriser import SPREAD, Symmetriser, Trained, drawn, from_file

Array = np.ndarray
Rows = Sequence[Mapping[str, Any]]
HEADS, ITERATIONS = (2, 4, 8), (1, 2, 4, 8)
VECTORS = {
    "gaussian": "normal vectors, as in training",
    "uneven": "uneven standard deviations",
    "heavy": "heavy tails",
    "digits": "handwritten digits",
}
SHOWN_VECTOR_COUNT, SHOWN_VECTORS_SEED = 120, 3  # vectors in the picture, and the seed that draws them
PLANE_RADIUS, LINE_HALF_LENGTH = 4.7, 4.5  # lengths in the picture, whose edge at 8 is infinitely far
CAMERA = (1.15, -0.95, 0.42)
PATH_COUNT = 9  # vectors that draw their path
FACTORS = np.linspace(-2, 2, 25)  # log₁₀ of the factors on scale and mean in the table
FLAT, SPACE = rows(np.eye(2)), rows(np.eye(3))
LABEL_SPACING = 0.9  # least distance between two labels at the ends of curves, in log₁₀ of the error
MIN_LOG_ERROR, MAX_LOG_ERROR = -2.5, 2.4  # ends of the axis of the error


def files(choices: Choices) -> tuple[File, ...]:
    """The chosen block's weights, the table of the errors of all trained blocks, and the digits."""
    block = File(f"symmetrise_{choices['heads']}_{choices['iterations']}.safetensors", from_file)
    return block, File("symmetrise.json", json_table), File("symmetrise.safetensors", pictures)


def pictures(data: bytes) -> Array:
    """The handwritten digits as vectors (N, 16)."""
    return from_safetensors(data)[0]["digits"].astype(float)


def build(choices: Choices, trained: Trained, table: Rows, digits: Array) -> Recipe:
    last, block = int(choices["iterations"]), trained.block
    kind = choices["vectors"]
    x = (
        digits[:SHOWN_VECTOR_COUNT]
        if kind == "digits"
        else drawn(kind, SHOWN_VECTOR_COUNT, D, np.random.default_rng(SHOWN_VECTORS_SEED))
    )
    weights = matrices(trained)
    cloud = Cloud("points", x, Pipeline((iteration(trained, weights),) * last), given(block))
    mean, measured = average(cloud, last)
    around, guides = split(*surroundings())
    beside, lines = against_iterations(choices, table)
    range_, curves = against_factors(mean, choices, last, table)
    return Recipe(
        stages=("x", *map(str, range(1, last + 1))),
        parameters=parameters(trained),
        clouds=(ideal(block, x), *weights, cloud, *measured, *around, *lines, *curves),
        views=(space("space", "", (*guides, *marks(block, x)), camera=CAMERA, reaching=True), beside, range_),
        formula=FORMULA,
        readouts=readouts(block),
        facts=facts(table),
        progress=last,
        follow=FOLLOWED_VECTOR,
        clock="step",
    )


FOLLOWED_VECTOR = 0
FORMULA = (
    r"x_h' = \class{role-sphere}{g_h}\, (x_h - \class{role-hyperplane}{c_h}), \quad"
    r" (c_h, g_h, r_h') = f_h(\mu_h,\, \sigma_h,\, r_h,\, r_{h-1},\, r_{h+1})"
)


def parameters(trained: Trained) -> tuple[Parameter, ...]:
    end, about = float(trained.steps[-1]), "of each vector; LayerNorm ignores it"
    many: dict[str, Any] = {"min": 0.01, "max": 100.0, "scale": "log"}
    return (
        Parameter("scale", "scale ×", 1.0, **many, about=about),
        Parameter("mean", "mean ×", 1.0, **many, about=about),
        Parameter("step", "training step", end, 0.0, end, 1.0, about="interpolated between checkpoints"),
    )


# --- what is seen


def marks(block: Symmetriser, x: Array) -> tuple[Mark, ...]:
    show, few = at(block), evenly(len(x), PATH_COUNT)
    color = Color("weight", 0, 0.6, error(block), "error: distance from LayerNorm, in radii")
    return (
        Trail("points", "trail", show, only=few, size=2, opacity=0.7),
        Points("points", "input", show, "a vector", size=5, color=color, hand=Follow()),
        Points("ideal", "meeting", show, only=Followed(), size=16, glyph="ring"),
        *followed("points", show, "the followed vector"),
    )


def surroundings() -> list[Part]:
    """The line along 𝟏, the hyperplane Σx = 0, the sphere, and the circle in which the last two meet."""
    plane = clouds.turned(clouds.disc_mesh(), PLANE_RADIUS * np.eye(3)[:2])
    up, title = np.array([[0.0, 0.0, 1.0]]), "the hyperplane Σx = 0"
    edge = clouds.circle(96, *np.eye(3)[:2], radius=PLANE_RADIUS)
    return [
        draw(
            "line",
            Line,
            "mean-direction",
            SPACE,
            LINE_HALF_LENGTH * np.vstack([-up, up]),
            "the line along 𝟏",
            size=4,
            opacity=0.8,
            guide=True,
        ),
        draw("one", Labels, "mean-direction", SPACE, 1.06 * LINE_HALF_LENGTH * up, labels=["𝟏"], guide=True),
        draw("hyperplane", Mesh, "hyperplane", SPACE, plane, title, opacity=0.14, guide=True),
        draw("edge", Line, "hyperplane", SPACE, edge, size=2, opacity=0.5, guide=True),
        *globe(SPACE, RADIUS * np.eye(3), "the sphere", mesh=0.07, net=0.22),
        draw(
            "meeting",
            Line,
            "meeting",
            SPACE,
            clouds.circle(128, *np.eye(3)[:2], radius=RADIUS),
            "LayerNorm puts all points here",
            size=4,
        ),
    ]


def average(cloud: Cloud, last: int) -> tuple[Cloud, tuple[Cloud, ...]]:
    """The cloud "mean error"; and the tuple of the clouds "mean error", "curve" and "now".

    "mean error" has one point, whose coordinates are log₁₀ of the mean error of the vectors at each stage.
    "curve" has a point (stage, log₁₀ of the mean error) for each stage, and "now" only the point for the
    current stage. cloud: the vectors; its last coordinate is a vector's error. last: the number of the last
    stage.
    """
    n, end = len(cloud.points), cloud.widths[-1]
    each = (along(Affine(Of(cloud, k)), Affine(np.full((1, n), 1 / n))) for k in range(last + 1))
    mean = Cloud(
        "mean error", np.eye(end)[-1:], place=along(Branches(tuple(each), "concat"), Pointwise("log10"))
    )
    number = along(Affine(np.arange(last + 1.0)[None]))
    heights = Branches((number, along(Affine(Of(mean)))), "concat")
    curve = Cloud("curve", np.eye(last + 1), place=along(heights))
    first = Branches((along(Affine([[0.0]])), along(Affine(Of(mean, transposed=True)))), "concat")
    # each iteration moves the next height into the first place, and adds 1 to the count
    shift = np.eye(last + 2, k=1)
    shift[0] = np.eye(last + 2)[0]
    count = Affine(shift, np.eye(last + 2)[0])
    now = Cloud("now", np.ones((1, 1)), along(*[count] * last), along(first))
    return mean, (mean, curve, now)


def spaced(heights: Mapping[int, float], least: float) -> dict[int, float]:
    """Heights by label, moved up where needed so that any two are at least `least` apart."""
    moved: dict[int, float] = {}
    for name, height in sorted(heights.items(), key=lambda each: each[1]):
        moved[name] = max([height, *(other + least for other in moved.values())])
    return moved


def table_row(found: Rows, heads: int, iterations: int) -> Mapping[str, Any]:
    """The row of the table `found` for blocks with these numbers of heads and iterations.

    There can be several such rows, for several kinds of blocks (arms). The result is the row of the arm
    "ring": blocks that have messages, and the same weights in every iteration.
    """
    return next(
        row
        for row in found
        if row.get("arm") == "ring" and (row["heads"], row["iterations"]) == (heads, iterations)
    )


def against_iterations(choices: Choices, table: Rows) -> tuple[View, tuple[Cloud, ...]]:
    """Graph of the error against the number of iterations, and its clouds except "curve" and "now".

    It shows the mean error of the vectors in the picture at each stage (`average`). It also shows the errors
    of blocks that were trained with 1, 2, 4 or 8 iterations: for each number of heads the medians over seeds,
    and for the chosen number of heads also the error of each seed.
    """
    heads, parts = int(choices["heads"]), []
    for h in HEADS:
        ends = [[k, log10(np.median(table_row(table, h, k)["errors"]))] for k in ITERATIONS]
        own = h == heads
        title = "blocks, by iterations in training" if own else ""
        look: dict[str, Any] = {"size": 3.5 if own else 2, "opacity": 1 if own else 0.6, "dash": "dash"}
        role = "series-1" if own else "trail"
        parts.append(draw(f"{h} heads", Line, role, FLAT, np.array(ends), title, **look))
    heights = {h: log10(np.median(table_row(table, h, ITERATIONS[-1])["errors"])) for h in HEADS}
    for h, height in spaced(heights, LABEL_SPACING).items():
        name = np.array([[10.0, height]])
        label = f"H = {h}" if h == heads else str(h)
        parts.append(draw(f"name {h}", Labels, "soft", FLAT, name, labels=[label]))
    seeds = np.array([[k, log10(e)] for k in ITERATIONS for e in table_row(table, heads, k)["errors"]])
    numbers = np.array([k for k in ITERATIONS for _ in table_row(table, heads, k)["errors"]])
    look = {"size": 5, "hand": Choose("iterations", numbers), "hint": "click to open"}
    parts.append(draw("seeds", Points, "series-1", FLAT, seeds, "five seeds each", **look))
    lines, layers = split(*parts)
    shown = (
        Line("curve", "input", FLAT, "this block on these vectors", size=4),
        Points("now", "input", FLAT, size=10),
    )
    axes = ("iterations", -0.3, 11.5), ("log₁₀ error", MIN_LOG_ERROR, MAX_LOG_ERROR)
    return graph("iterations", "Error along the iterations", (*layers, *shown), *axes), lines


def against_factors(mean: Cloud, choices: Choices, last: int, found: Rows) -> tuple[View, tuple[Cloud, ...]]:
    """Graph of the error against a factor by which the vectors' scale or mean is multiplied, and its clouds.

    There are two curves from the table, one for the scale and one for the mean, and a point at the value of
    each slider. The height of both points is the last coordinate of the cloud `mean`: the error of the
    vectors in the picture after the last iteration.
    """
    row = table_row(found, int(choices["heads"]), last)
    learned = clouds.segments(
        np.array([[[s * log10(SPREAD), MIN_LOG_ERROR], [s * log10(SPREAD), MAX_LOG_ERROR]] for s in (-1, 1)])
    )
    parts = [draw("learned", Line, "axis", FLAT, learned, "scales in training", dash="dot", size=2)]
    looks = {"scale": ("series-2", "solid", "circle"), "mean": ("series-3", "dash", "square")}
    for name, (role, dash, glyph) in looks.items():
        line = np.stack([FACTORS, np.log10(row[name])], -1)
        parts.append(draw(f"{name} curve", Line, role, FLAT, line, f"{name} ×", dash=dash, size=3))
        end = pick([last], last + 1)
        height = along(Affine(Of(mean, transposed=True)), end)
        factor = along(Affine([[0.0]], Entries([0.0], {name: [1.0]})), Pointwise("log10"))
        place = [Branches((factor, height), "concat")]
        parts.append(
            draw(f"{name} now", Points, role, FLAT, np.ones((1, 1)), place=place, glyph=glyph, size=10)
        )
    guides, layers = split(*parts)
    axes = ("log₁₀ of the factor", -2.1, 2.1), ("log₁₀ error", MIN_LOG_ERROR, MAX_LOG_ERROR)
    return graph("factors", "Error at other scales and means", layers, *axes), guides


def readouts(block: Symmetriser) -> tuple[Mean | Number, ...]:
    v = whole_width(block)
    level = Row(tuple((np.arange(v) < D) / D))
    return (
        Mean("Mean error", "points", error(block), digits=3),
        Number("Error of the red vector", "points", error(block), Followed(), digits=3),
        Number("Mean of its coordinates", "points", level, Followed(), digits=3),
    )


def facts(found: Rows) -> Facts:
    """Table of median errors, by kind of training vectors (rows) and kind of test vectors (columns)."""
    by_training = [row for row in found if "learned" in row]
    short = {
        "gaussian": "normal",
        "uneven": "uneven",
        "heavy": "heavy tails",
        "digits": "digits",
        "all": "all four",
    }
    lines = [
        [short[row["learned"]], *(f"{np.median(row['used'][kind]):.3f}" for kind in VECTORS)]
        for row in by_training
    ]
    title = "Median error of 5 seeds, 4 heads, 4 iterations: trained on (rows), tested on (columns)"
    return Facts(title, ("", *(short[kind] for kind in VECTORS)), lines)
