"""Recipes of the scene `rmsnorm`: LayerNorm of three numbers beside RMSNorm, with 𝟏 upright.

RMSNorm is applied either to the same three numbers, or to the two coordinates of their projection to the
plane Σx = 0. A point is x = c + (q + δ)σ·𝟏, where c is centred, σ is the standard deviation of its
coordinates, q = μ/σ is the slider, and δ is a small random offset of this point. The cloud stores (c + δσ·𝟏,
σ), so that an affine map adds q.
"""

from dataclasses import replace

import numpy as np

from components.language.cloud import Cloud, rows
from components.language.marks import Labels, Line, Mark, Points
from components.language.recipe import Parameter, Recipe, Residual, Table
from components.language.scene import Choices
from components.scenes.scenery import (
    EPS,
    TRAIL_COUNT,
    Look,
    Part,
    angle,
    clickable_points,
    draw,
    evenly,
    globe,
    rest,
    space,
    split,
    square,
)
from geometry import Affine, Entries, Normalize, Pipeline, center, clouds
from geometry.centering import centering_matrix, hyperplane_basis
from geometry.pipeline import Step

D, ROOT, ALL_ONES = 3, np.sqrt(3), np.ones(3)
U = hyperplane_basis(D)
UP = np.vstack([U, ALL_ONES / ROOT])
SHOW, POLES = rows(UP), np.stack([-UP[2], UP[2]])
OFFSET_STD = 0.25  # standard deviation of δ
CLOUD_STD = 0.4  # standard deviation of a coordinate, before centring
BESIDE = {"rmsnorm": "RMSNorm of x", "plane": "RMSNorm in the plane"}
FORMULA = (
    r"\mathrm{RMS}(x) = \class{stage-3 role-formula}{\frac{\mathrm{LN}(x) + q\,𝟏}{\sqrt{1+q^2}}},"
    r" \quad q = \frac{\mu}{\sigma}"
)
FORMULA_IN_PLANE = (
    r"\mathrm{LN}(x) = \class{stage-4 role-formula}{\sqrt{\tfrac{d}{d-1}}}\; U^\top"
    r"\class{stage-3 role-sphere}{\mathrm{RMS}(U x)}"
)
PARAMETERS = (
    Parameter("q", "q = μ/σ", 1, -5, 5, 0.01, symbol="q", about="each point adds a small random number"),
    Parameter("eps", "ε", 0, 1e-8, 1, scale="log", about="0: the relation is exact"),
)


def build(choices: Choices) -> Recipe:
    rng = np.random.default_rng(choices["seed"])
    centered = CLOUD_STD * center(rng.standard_normal((choices["n"], D)))
    sigma = np.sqrt((centered**2).mean(-1, keepdims=True))
    spread = OFFSET_STD * rng.standard_normal((choices["n"], 1))
    points = np.hstack([centered + spread * sigma, sigma])
    place = Pipeline((Affine(Entries(np.eye(D, D + 1), {"q": np.outer(ALL_ONES, np.eye(D + 1)[D])})),))
    color = angle(centered @ U[::-1].T, "direction in the plane")
    # for a large q, x is far outside the picture unless its σ is small
    trails = np.argsort(sigma[:, 0])[evenly(choices["n"] // 2, TRAIL_COUNT)].tolist()
    look: Look = {"color": color, "trails": trails}
    if choices["beside"] == "plane":
        return in_the_plane(points, place, look)
    out = (Normalize(eps=EPS, convention="pytorch"), Affine(ROOT * np.eye(D)))
    layer_norm = Cloud("layernorm", points, Pipeline((Affine(centering_matrix(D)), *out)), place)
    rms_norm = Cloud("rmsnorm", points, Pipeline((*rest(D, 1), *out)), place)
    guide_clouds, around = split(*guides())
    closed_form, overlay = relation(centered / sigma, spread)
    return Recipe(
        stages=("x", "centre (left only)", "unit sphere", "× √3"),
        parameters=PARAMETERS,
        clouds=(layer_norm, rms_norm, closed_form, *guide_clouds),
        views=(
            space("layernorm", "LayerNorm", (*around, *clickable_points(layer_norm, SHOW, **look))),
            space("rmsnorm", "RMSNorm", (*around, overlay, *clickable_points(rms_norm, SHOW, **look))),
        ),
        formula=FORMULA,
        table=Table("rmsnorm", columns=("components", "mean", "std", "norm", "angle")),
        readouts=(Residual("Largest distance to the formula", "rmsnorm", "relation"),),
        progress=3,
    )


def in_the_plane(points: np.ndarray, place: Pipeline, look: Look) -> Recipe:
    """The recipe of LayerNorm of x beside RMSNorm of the d − 1 coordinates of x in the plane Σx = 0.

    Both are shown step by step. points: the stored points of both clouds; `place` maps them to x. look:
    the colour of the points, and which of them have trails.
    """
    smaller = D - 1

    def steps(width: int, first: Affine, eps: float) -> tuple[Step, ...]:
        scales = [Affine(scale * np.eye(width)) for scale in (np.sqrt(smaller), np.sqrt(D / smaller))]
        return first, Normalize(eps=Entries(0.0, {"eps": eps}), convention="pytorch"), *scales

    centre = Affine(centering_matrix(D))
    layer_norm = Cloud("layernorm", points, Pipeline(steps(D, centre, 1.0)), place)
    # equal divisors: s/d + ε = (s/(d − 1) + ε·d/(d − 1))·(d − 1)/d, for a sum s of squares in the plane
    own = steps(smaller, Affine(np.eye(smaller)), D / smaller)
    plane = Cloud("plane", points, Pipeline(own), Pipeline((*place.steps, Affine(U))))
    target = Pipeline((*place.steps, *layer_norm.pipeline.steps, Affine(U)))
    flat = rows(np.eye(smaller))
    circles = [
        draw(f"circle {k}", Line, role, flat, clouds.circle(128, *np.eye(smaller), radius=np.sqrt(k)), title)
        for k, role, title in (
            (2, "sphere", "radius √2: RMSNorm's"),
            (3, "hyperplane", "radius √3: LayerNorm's"),
        )
    ]
    guide_clouds, around = split(*guides(5))
    circle_clouds, drawn_circles = split(*circles)
    ring = Points(
        "target", "formula", flat, "LayerNorm's points", size=8, glyph="ring", fade=[0, 0, 0, 0, 0.9]
    )
    return Recipe(
        stages=("x", "centre (left only)", "unit sphere", "× √2", "× √(3/2)"),
        parameters=(replace(PARAMETERS[0], symbol=""), PARAMETERS[1]),
        clouds=(layer_norm, plane, Cloud("target", points, place=target), *guide_clouds, *circle_clouds),
        views=(
            space("layernorm", "LayerNorm of x", (*around, *clickable_points(layer_norm, SHOW, **look))),
            square(
                "plane",
                "RMSNorm of two numbers, in the plane",
                (*drawn_circles, ring, *clickable_points(plane, flat, **look)),
            ),
        ),
        formula=FORMULA_IN_PLANE,
        table=Table("plane", columns=("components", "norm")),
        readouts=(Residual("Largest distance to LayerNorm", "plane", "target"),),
        progress=4,
    )


def relation(normed: np.ndarray, spread: np.ndarray) -> tuple[Cloud, Mark]:
    """Cloud and mark of the points (LN(x) + q·𝟏)/√(1 + q²), which equal RMSNorm(x), as a check.

    For each point x, q = μ/σ is the value of the slider plus the point's offset δ. A `Normalize` computes the
    division: the vector (LN(x), √d·q) has the length √d·√(1 + q²), so scaling it to the length √d divides it
    by √(1 + q²). normed: LN(x) of each point (n, d). spread: the offsets δ (n, 1).
    """
    shift = Entries(np.zeros(D + 1), {"q": ROOT * np.eye(D + 1)[D]})
    add = np.hstack([np.eye(D), ALL_ONES[:, None] / ROOT])
    cloud = Cloud(
        "relation",
        np.hstack([normed, ROOT * spread]),
        place=Pipeline((Affine(np.eye(D + 1), shift), Normalize(radius=ROOT), Affine(add))),
    )
    title, fade = "(LN + q𝟏)/√(1+q²)", [0, 0, 0, 0.9]
    return cloud, Points("relation", "formula", SHOW, title, size=8, glyph="ring", fade=fade)


def guides(stages: int = 4) -> list[Part]:
    """The sphere of radius √3, the circle in which the plane Σx = 0 cuts it, and the line along 𝟏.

    stages: the number of stages of the recipe.
    """
    equator = clouds.circle(128, *U, radius=ROOT)
    # labels are drawn above their place: the lower one is moved down, off the pole; the upper one is near its
    # pole, so that it is whole in a low panel too
    names = np.array([[1.7], [1.07]]) * ROOT * POLES
    return [
        draw("mean line", Line, "mean-direction", SHOW, 1.1 * ROOT * POLES, size=4, opacity=0.6, guide=True),
        draw("poles", Points, "mean-direction", SHOW, ROOT * POLES, size=8),
        draw("pole names", Labels, "mean-direction", SHOW, names, labels=["−𝟏", "+𝟏"], guide=True),
        *globe(SHOW, ROOT * UP, mesh=[0.07, 0.07, *[0.12] * (stages - 3), 0.15]),
        draw("equator", Line, "hyperplane", SHOW, equator, size=4, opacity=0.8),
    ]
