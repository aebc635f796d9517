"""Recipe of the scene `outlier`: one coordinate of all points is made huge, then a norm is applied.

A slider gives the number that is added to x₁ of random points. With the choice "smollm2" the points are
instead recorded vectors of a language model, and a slider multiplies their huge coordinate x₅₀₇
(`recorded.py`).

For LayerNorm with d = 3 the direction 𝟏 points up in the picture. With d = 4 the picture shows the hyperplane
Σx = 0.
"""

import numpy as np

from components.language.cloud import Cloud, Row, rows
from components.language.marks import Follow, Followed, Labels, Line, Mark, Mesh, Points
from components.language.recipe import Number, Parameter, Recipe, Residual, View
from components.language.scene import Choices, File
from components.scenes.outlier.recorded import DATA_FILE, INT8_LEVELS, Recorded, factor_view, recorded
from components.scenes.scenery import (
    Part,
    Rows,
    angle,
    draw,
    followed,
    globe,
    graph,
    mean_line,
    root_mean_square,
    space,
    split,
)
from geometry import Affine, Branches, Entries, Normalize, Pipeline, Pointwise, clouds
from geometry.centering import centering_matrix, hyperplane_basis, upright_basis
from geometry.pipeline import Step

POINT_COUNT, SEED, SPREAD = 220, 5, 0.7
CURVE_COUNT = 14  # points whose factor is drawn as a curve
LOG_OUTLIER = (-1.0, 3.0)  # range of log₁₀ of the outlier
OUTLIER_STOPS = np.logspace(*LOG_OUTLIER, 60)
NEAR_HALF_WIDTH = 0.16  # half the side of the magnified view
CAMERA = (0.9, -1.05, 0.6)


def files(choices: Choices) -> tuple[File, ...]:
    """The file of recorded vectors, if the choices show these; otherwise none."""
    return (DATA_FILE,) if choices["norm"] == "smollm2" else ()


def build(choices: Choices, found: Recorded | None = None) -> Recipe:
    if found is not None:
        return recorded(found)
    centred = choices["norm"] == "layernorm"
    d, rounded = int(choices["d"]) if centred else 3, choices["output"] == "bits"
    x = SPREAD * clouds.gaussian(POINT_COUNT, d, seed=SEED)
    shift = Affine(np.eye(d), Entries(np.zeros(d), {"a": np.eye(d)[0]}))
    norm = Branches((Pipeline((shift, *normalising(d, centred))),))
    steps: tuple[Step, ...] = (norm, *((rounding(d, centred),) if rounded else ()))
    show = rows(hyperplane_basis(4) if d == 4 else upright_basis(d) if centred else np.eye(3))
    shown, layers = split(*guides(d, centred, show))
    moving = Cloud("points", x, Pipeline(steps))
    exact = Cloud("exact", x, Pipeline((norm,)))
    ends = Cloud("ends", np.tile(limit(d, centred), (POINT_COUNT, 1)))
    log, law = factors(x, d, centred, shift), law_line(d, centred)
    name, divisor = ("LayerNorm", "1/σ") if centred else ("RMSNorm", "1/RMS")
    readouts = (
        Number(f"{divisor}, at the red point", "factor", Row((1.0,)), Followed(), digits=4),
        Residual("Largest distance of an output from the limit", "exact", "ends"),
        *((Residual("Largest rounding error", "points", "exact"),) if rounded else ()),
    )
    return Recipe(
        stages=("x, without the outlier", name, *(["8 bits"] if rounded else [])),
        parameters=(outlier(),),
        clouds=(moving, *shown, exact, ends, *log, law),
        views=(
            space("space", "", (*layers, *points(x, d, show)), camera=CAMERA, reach=2.1),
            factor_view(
                {"parameter": "a", "stops": OUTLIER_STOPS},
                "a point (14 are shown)",
                "law for a large outlier",
                ("log₁₀ of the outlier", *LOG_OUTLIER),
                (f"log₁₀ of {divisor}", -3.0, 1.2),
            ),
            near_view(d, centred, rounded),
        ),
        formula=formula(centred),
        readouts=readouts,
        progress=1,
        follow=20,
    )


def outlier() -> Parameter:
    """The slider a: the number that is added to x₁ of every point."""
    low, high = (10.0**end for end in LOG_OUTLIER)
    about = "added to x₁ of every point"
    return Parameter("a", "outlier", 3, low, high, scale="log", symbol="a", about=about)


def normalising(d: int, centred: bool) -> tuple[Step, ...]:
    sphere = Normalize(radius=np.sqrt(d))
    return (Affine(centering_matrix(d)), sphere) if centred else (sphere,)


def largest(d: int, centred: bool) -> float:
    """The supremum of a coordinate of an output: √d for RMSNorm, √(d − 1) for LayerNorm (`centred`)."""
    return float(np.sqrt(d - 1 if centred else d))


def rounding(d: int, centred: bool) -> Step:
    """Step that quantises coordinates to 8 bits: it rounds each to a multiple of `unit`.

    `unit` is chosen so that the largest coordinate that the norm can return is INT8_LEVELS times `unit`.
    """
    unit = largest(d, centred) / INT8_LEVELS
    steps = (Affine(np.eye(d) / unit), Pointwise("round"), Affine(unit * np.eye(d)))
    return Branches((Pipeline(steps),))


def limit(d: int, centred: bool) -> np.ndarray:
    """The limit (d,) of all outputs as the outlier grows: the norm applied to the unit vector e₁.

    centred: True for LayerNorm, False for RMSNorm.
    """
    return Pipeline(normalising(d, centred)).stages(np.eye(d)[:1], {})[-1][0]


def points(x: np.ndarray, d: int, show: Rows) -> tuple[Mark, ...]:
    color = angle(x @ hyperplane_basis(3)[::-1].T, "direction before the outlier") if d == 3 else None
    every = Points("points", "input", show, "a point", color=color, size=5, hand=Follow())
    return every, *followed("points", show, "the red point", trail=0)


def guides(d: int, centred: bool, show: Rows) -> list[Part]:
    """The sphere or circle on which the outputs lie, the positive x₁ axis, and the limit of the outputs.

    For LayerNorm with d = 3 there are also the plane Σx = 0 and the line along 𝟏.
    """
    end, flat = limit(d, centred), d == 3 and centred
    parts = mean_line(show, d, 1.5, 1.65, size=3, opacity=0.5) if flat else []
    if flat:
        u = hyperplane_basis(3)
        disc, circle = clouds.turned(clouds.disc_mesh(), 1.95 * u), clouds.circle(96, *np.sqrt(3) * u)
        parts += [
            draw("hyperplane", Mesh, "hyperplane", show, disc, "the plane Σx = 0", opacity=0.12, guide=True),
            draw("circle", Line, "meeting", show, circle, "circle of the outputs", size=4),
        ]
    else:
        radii = np.sqrt(d) * (hyperplane_basis(4) if d == 4 else np.eye(3))
        parts += globe(show, radii, "sphere of the outputs", mesh=0.1, net=0.3)
    # In three dimensions the axis itself is drawn. In four, its projection is drawn, along the limit.
    along = np.linalg.norm(end) * np.eye(d)[0] if flat else end
    return [
        *parts,
        draw("axis", Line, "axis", show, np.vstack([0 * end, 1.2 * along]), size=2, opacity=0.7),
        draw("axis name", Labels, "axis", show, 1.27 * along[None], labels=["x₁"]),
        draw("limit", Points, "formula", show, end[None], "the limit of the outputs", size=15, glyph="ring"),
    ]


def factors(x: np.ndarray, d: int, centred: bool, shift: Affine) -> tuple[Cloud, Cloud]:
    """Two clouds: 1/σ of each point, and (log₁₀ a, log₁₀ 1/σ) of the first CURVE_COUNT points.

    The slider's value a is the same for all points: the step `shift` adds it to one coordinate. σ is the
    standard deviation of a point's coordinates after that. If not `centred` (for RMSNorm), both clouds have
    1/RMS in place of 1/σ.
    """
    centre = (Affine(centering_matrix(d)),) if centred else ()
    factor = Pipeline((shift, *centre, *root_mean_square(d), Pointwise("reciprocal")))
    outlier = Pipeline((Affine(np.zeros((1, d)), Entries([0.0], {"a": [1.0]})),))
    place = Pipeline((Branches((outlier, factor), "concat"), Pointwise("log10")))
    return Cloud("factor", x, place=factor), Cloud("log factor", x[:CURVE_COUNT], place=place)


def law_line(d: int, centred: bool) -> Cloud:
    """Cloud of the ends of a line: log₁₀ of 1/σ against log₁₀ of the outlier a, as it is for large a.

    A point x with a large outlier is nearly a·e₁, for which 1/σ is d/(a√(d − 1)). If not `centred` (for
    RMSNorm), the line shows 1/RMS in place of 1/σ; for a·e₁ it is √d/a.
    """
    at = np.log10(d / np.sqrt(d - 1) if centred else np.sqrt(d))
    return Cloud("law", np.array([[end, at - end] for end in LOG_OUTLIER]))


def near_view(d: int, centred: bool, rounded: bool) -> View:
    """Magnified view of the outputs near their limit, in the coordinates y₂ and y₃.

    rounded: whether the title says that the outputs are rounded to 8 bits.
    """
    flat, end = rows(np.eye(3, d)[1:]), limit(d, centred)[1]
    marks = (
        Points("points", "input", flat, size=5, hand=Follow()),
        Points("limit", "formula", flat, size=13, glyph="ring"),
        Points("points", "followed", flat, only=Followed(), size=9),
    )
    ends = float(end) - NEAR_HALF_WIDTH, float(end) + NEAR_HALF_WIDTH
    title = "Near the limit, rounded to 8 bits" if rounded else "Near the limit"
    return graph("near", title, marks, ("y₂", *ends), ("y₃", *ends), equal=True)


def formula(centred: bool) -> str:
    end = (
        r"\sqrt{\tfrac{d}{d-1}} \left(\sqrt{d}\, e_1 - \tfrac{1}{\sqrt{d}} 𝟏\right)"
        if centred
        else r"\sqrt{d}\, e_1"
    )
    name = "LN" if centred else "RMS"
    return rf"\mathrm{{{name}}}(x + a\, e_1) \to {end}"
