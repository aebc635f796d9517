"""The recipe of LayerNorm beside RMSNorm, in d = 3, with the mean direction 1 up.

A point is x = c + (q + δ)σ·1: c centred, σ its standard deviation, q = μ/σ the slider, δ a small random
offset of this point. The cloud stores (c + δσ·1, σ), so that q moves it by an affine map.
"""

import numpy as np

from components.language.cloud import Cloud, rows
from components.language.marks import Labels, Line, Mark, Points
from components.language.recipe import Parameter, Recipe, Residual, Table
from components.language.scene import Choices
from components.scenes.scenery import EPS, Part, angle, crowd, draw, globe, rest, space, split
from geometry import Affine, Entries, Normalize, Pipeline, center, clouds
from geometry.centering import centering_matrix, hyperplane_basis

D, ROOT, ALL_ONES = 3, np.sqrt(3), np.ones(3)
U = hyperplane_basis(D)
UP = np.vstack([U, ALL_ONES / ROOT])
SHOW, POLES = rows(UP), np.stack([-UP[2], UP[2]])
OFFSET_STD = 0.25  # standard deviation of δ
CLOUD_STD = 0.4  # standard deviation of a coordinate, before centring
FORMULA = (
    r"\mathrm{RMS}(x) = \class{stage-3 role-formula}{\frac{\mathrm{LN}(x) + q\,𝟏}{\sqrt{1+q^2}}},"
    r" \quad q = \frac{\mu}{\sigma}"
)


def build(choices: Choices) -> Recipe:
    rng = np.random.default_rng(choices["seed"])
    centered = CLOUD_STD * center(rng.standard_normal((choices["n"], D)))
    sigma = np.sqrt((centered**2).mean(-1, keepdims=True))
    spread = OFFSET_STD * rng.standard_normal((choices["n"], 1))
    points = np.hstack([centered + spread * sigma, sigma])
    place = Pipeline((Affine(Entries(np.eye(D, D + 1), {"q": np.outer(ALL_ONES, np.eye(D + 1)[D])})),))
    out = (Normalize(eps=EPS, convention="pytorch"), Affine(ROOT * np.eye(D)))
    layer_norm = Cloud("layernorm", points, Pipeline((Affine(centering_matrix(D)), *out)), place)
    rms_norm = Cloud("rmsnorm", points, Pipeline((*rest(D, 1), *out)), place)
    guide_clouds, around = split(*guides())
    closed_form, overlay = relation(centered / sigma, spread)
    color = angle(centered @ U[::-1].T, "direction in the plane")
    return Recipe(
        stages=("x", "centre (left only)", "unit sphere", "× √3"),
        parameters=(
            Parameter(
                "q",
                "q = μ/σ",
                1,
                -5,
                5,
                0.01,
                symbol="q",
                about="of every point, before its own small addition",
            ),
            Parameter("eps", "ε", 0, 1e-8, 1, scale="log", about="0: the relation is exact"),
        ),
        clouds=(layer_norm, rms_norm, closed_form, *guide_clouds),
        views=(
            space("layernorm", "LayerNorm", (*around, *crowd(layer_norm, SHOW, color))),
            space("rmsnorm", "RMSNorm", (*around, overlay, *crowd(rms_norm, SHOW, color))),
        ),
        formula=FORMULA,
        table=Table("rmsnorm", columns=("components", "mean", "std", "norm", "angle")),
        readouts=(Residual("Largest distance to the formula", "rmsnorm", "relation"),),
        progress=3,
    )


def relation(normed: np.ndarray, spread: np.ndarray) -> tuple[Cloud, Mark]:
    """The points (LN + q·1)/√(1+q²), computed without RMSNorm: ‖(LN, √d·q)‖ = √d·√(1+q²), since ‖LN‖ = √d."""
    shift = Entries(np.zeros(D + 1), {"q": ROOT * np.eye(D + 1)[D]})
    add = np.hstack([np.eye(D), ALL_ONES[:, None] / ROOT])
    cloud = Cloud(
        "relation",
        np.hstack([normed, ROOT * spread]),
        place=Pipeline((Affine(np.eye(D + 1), shift), Normalize(radius=ROOT), Affine(add))),
    )
    title, fade = "(LN + q𝟏)/√(1+q²)", [0, 0, 0, 0.9]
    return cloud, Points("relation", "formula", SHOW, title, size=8, glyph="ring", fade=fade)


def guides() -> list[Part]:
    """The sphere of radius √3, its equator in the hyperplane, and the line along 1 with its poles."""
    equator = clouds.circle(128, *U, radius=ROOT)
    # labels are drawn above their place: the lower one is moved down, off the line
    names = np.array([[1.6], [1.36]]) * ROOT * POLES
    return [
        draw("mean line", Line, "mean-direction", SHOW, 1.24 * ROOT * POLES, size=4, opacity=0.6, guide=True),
        draw("poles", Points, "mean-direction", SHOW, ROOT * POLES, size=8),
        draw("pole names", Labels, "mean-direction", SHOW, names, labels=["−𝟏", "+𝟏"], guide=True),
        *globe(SHOW, ROOT * UP, mesh=[0.07, 0.07, 0.12, 0.15]),
        draw("equator", Line, "hyperplane", SHOW, equator, size=4, opacity=0.8),
    ]
