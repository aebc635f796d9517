"""Recipe of recorded vectors with massive activations: the inputs of one RMSNorm of SmolLM2.

A vector is reduced to four numbers: x₅₀₇, its components along two directions orthogonal to that axis, and
the length of the remainder. The picture shows the first three. The four numbers have the same length as
the whole vector, so RMSNorm of them is exact.
"""

import numpy as np

from components.language.cloud import Cloud, Row, rows
from components.language.marks import Follow, Followed, Line, Points, Way
from components.language.recipe import Facts, Number, Parameter, Recipe, Residual, View
from components.language.scene import File
from components.scenes.scenery import (
    Look,
    Part,
    draw,
    each_class,
    followed,
    globe,
    graph,
    root_mean_square,
    space,
    split,
)
from geometry import Affine, Branches, Entries, Normalize, Pipeline, Pointwise
from learning.safetensors import from_safetensors

D, MASSIVE = 576, 507  # coordinates; the massive one, counted from 0
RADIUS = D**0.5
LOG_FACTOR = (-3.0, 0.0)  # range of log₁₀ of the factor on the massive coordinate
FACTOR_STOPS = np.logspace(*LOG_FACTOR, 60)
CURVES = 7  # number of curves for each kind of token
INT8_LEVELS = 127  # positive levels of an 8-bit integer
SHOW = rows(np.eye(3))
TITLES = ("a later token", "a first token")
Recorded = tuple[np.ndarray, np.ndarray]


def read(data: bytes) -> Recorded:
    """The vectors of first tokens and of later tokens, (n, D) each, from the contents of the file."""
    arrays, _ = from_safetensors(data)
    return arrays["first"].astype(float), arrays["later"].astype(float)


DATA_FILE = File("outlier.safetensors", read)


def recorded(vectors: Recorded) -> Recipe:
    first = np.arange(sum(map(len, vectors))) < len(vectors[0])
    x = few_coordinates(np.vstack(vectors), first)
    scaled = Affine(Entries(np.diag([0.0, 1, 1, 1]), {"factor": np.diag([1.0, 0, 0, 0])}))
    without = Pipeline((Affine(np.diag([0.0, 1, 1, 1])), Normalize(radius=RADIUS)))
    norm = Branches((Pipeline((Affine(np.eye(4, 8, 4)), scaled, Normalize(radius=RADIUS))),))
    place = Pipeline((Branches((without, Pipeline(())), "concat"),))
    pole = RADIUS * np.eye(4)[:1]
    moving = Cloud("points", x, Pipeline((norm,)), place)
    exact = Cloud("first tokens", x[first], Pipeline((norm,)), place)
    inverse = (scaled, *root_mean_square(4), Pointwise("reciprocal"), Affine([[RADIUS / 2]]))
    one = Affine(np.zeros((1, 4)), Entries([0.0], {"factor": [1.0]}))
    log = Pipeline((Branches((Pipeline((one,)), Pipeline(inverse)), "concat"), Pointwise("log10")))
    some = np.flatnonzero(first)[:CURVES].tolist() + np.flatnonzero(~first)[:CURVES].tolist()
    at = np.log10(RADIUS / np.median(x[first, 0]))
    law = Cloud("law", np.array([[end, at - end] for end in LOG_FACTOR]))
    shown, layers = split(*guides())
    tokens = each_class(
        "points", Points, SHOW, first, TITLES, roles=("other", "input"), size=5, hand=Follow()
    )
    about = "multiplies coordinate 507 of every vector; 1: as it was recorded"
    return Recipe(
        stages=("without x₅₀₇", "RMSNorm"),
        parameters=(Parameter("factor", "factor on x₅₀₇", 1, 0.001, 1, scale="log", about=about),),
        clouds=(
            moving,
            *shown,
            exact,
            Cloud("ends", np.tile(pole, (first.sum(), 1))),
            Cloud("inverse", x, place=Pipeline(inverse)),
            Cloud("log factor", x[some], place=log),
            law,
        ),
        views=(
            space(
                "space",
                "",
                (*layers, *tokens, *followed("points", SHOW, "the red point", trail=0)),
                camera=(0.9, -1.05, 0.6),
                reach=1.22 * RADIUS,
            ),
            factor_view(
                {"parameter": "factor", "stops": FACTOR_STOPS},
                "a token (some are shown)",
                "law for x₅₀₇ alone",
                ("log₁₀ of the factor on x₅₀₇", *LOG_FACTOR),
                ("log₁₀ of 1/RMS", -3.2, -0.2),
            ),
            along_view(first),
        ),
        formula=r"\mathrm{RMS}(x) = \sqrt{d}\, \frac{x}{\lVert x \rVert}, \quad d = 576",
        readouts=(
            Number("1/RMS, at the red point", "inverse", Row((1.0,)), Followed(), digits=5),
            Residual("Largest distance of a first token from the pole", "first tokens", "ends"),
        ),
        facts=facts(vectors),
        progress=1,
        follow=0,
    )


def few_coordinates(x: np.ndarray, first: np.ndarray) -> np.ndarray:
    """The vectors x (n, D) as four numbers each, (n, 4): the massive coordinate, and three about the rest.

    The rest of x is x with 0 in place of its massive coordinate. Numbers 2 and 3 are coordinates of the rest
    along orthogonal axes: axis 1 is the mean direction of the rests of later tokens; axis 2 is the mean
    direction of the rests of first tokens, minus its part along axis 1. Number 4 is the length of the part of
    the rest that is perpendicular to both axes. first: for each vector, whether it belongs to a first token.
    """
    rest = x * (np.arange(D) != MASSIVE)
    unit = rest / np.linalg.norm(rest, axis=1, keepdims=True)
    directions, _ = np.linalg.qr(np.stack([unit[~first].mean(0), unit[first].mean(0)], axis=1))
    along = rest @ directions
    left = np.sqrt(np.maximum((rest**2).sum(1) - (along**2).sum(1), 0))
    return np.column_stack([x[:, MASSIVE], along, left])


def guides() -> list[Part]:
    """The sphere of radius √d, the half axis of the massive coordinate, and the pole where the two meet."""
    end = RADIUS * np.eye(3)[:1]
    return [
        *globe(SHOW, RADIUS * np.eye(3), "the sphere of radius √d", mesh=0.1, net=0.3),
        draw("axis", Line, "axis", SHOW, np.vstack([0 * end, 1.2 * end]), size=2, opacity=0.7),
        draw("limit", Points, "formula", SHOW, end, "the pole of x₅₀₇", size=15, glyph="ring"),
    ]


def factor_view(
    way: Look, points: str, law: str, x: tuple[str, float, float], y: tuple[str, float, float]
) -> View:
    """Graph of log₁₀ of the largest factor by which the norm multiplies a gradient.

    It draws the clouds "log factor" and "law" of the recipe. way: two fields of the mark `Way`, which draws
    a point's curve. They are the `parameter` that moves the point, and the parameter's values (`stops`) at
    which the curve is sampled. points: the legend of these curves. law: the legend of the dashed line, which
    shows what the factor would be if all coordinates but the largest were 0. x, y: title and ends of each
    axis.
    """
    flat = rows(np.eye(2))
    marks = (
        Way("log factor", "input", flat, points, **way, whole=True, size=1.5, opacity=0.6),
        Line("law", "formula", flat, law, size=3, dash="dash"),
        Points("log factor", "input", flat, size=6),
    )
    return graph("factor", "Largest factor on a gradient", marks, x, y)


def along_view(first: np.ndarray) -> View:
    """View of the outputs, seen along the axis of the massive coordinate.

    first: for each output, whether it belongs to a first token; this decides its colour.
    """
    flat = rows(np.eye(3)[1:])
    look: Look = {"roles": ("other", "input"), "size": 4, "hand": Follow()}
    marks = (
        *each_class("points", Points, flat, first, **look),
        Points("points", "followed", flat, only=Followed(), size=9),
    )
    reach = 1.05 * RADIUS
    sides = ("along later tokens", -reach, reach), ("along first tokens", -reach, reach)
    return graph("along", "Seen along the axis of x₅₀₇", marks, *sides, equal=True)


def facts(vectors: Recorded) -> Facts:
    """Table of the whole vectors, as recorded: lengths, massive coordinate, cosines, rounding to 8 bits."""
    lines = []
    for title, x in zip(("first tokens", "later tokens"), vectors, strict=True):
        length = np.linalg.norm(x, axis=1)
        z = RADIUS * x / length[:, None]
        cosines = (z @ z.T / D)[np.triu_indices(len(z), 1)]
        kept = (np.round(z * INT8_LEVELS / RADIUS) != 0).sum(1)
        ends = f"{x[:, MASSIVE].min():,.0f} to {x[:, MASSIVE].max():,.0f}"
        lines.append(
            (
                title,
                f"{np.median(length):,.0f}",
                ends,
                f"{np.median(cosines):.4f}",
                f"{np.median(kept):.0f} of {D}",
            )
        )
    columns = (
        "",
        "length, median",
        "x₅₀₇",
        "cosine of two outputs, median",
        "numbers that are not 0 in 8 bits, median",
    )
    title = "Vectors before attention's norm in layer 15 (from 0) of SmolLM2-135M-Instruct, 60 of each kind"
    return Facts(title, columns, lines)
