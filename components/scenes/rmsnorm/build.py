"""The recipe of LayerNorm beside RMSNorm, in d = 3, with the mean direction 1 up.

A point is x = c + (q + δ)σ·1: c centered, σ its deviation, δ a small spread of its own. As a cloud it has the
coordinates (c + δσ·1, σ), so that q moves it by an affine map.
"""

from __future__ import annotations

import numpy as np

from components.recipe import Cloud, Color, Layer, Parameter, Recipe, Residual, Table, View, rows
from components.scene import Choices
from geometry import Affine, Entries, Normalize, Pipeline, center, clouds
from geometry.centering import centering_matrix, hyperplane_basis

D = 3
ONE = np.ones(D)
SPREAD = 0.25  # of μ/σ from point to point
SMALL = 0.4  # size of the cloud, so that q = ±5 stays in the picture
REACH = 4.4
STAGES = ("x", "center (LayerNorm only)", "unit sphere", "× √3")
UP = np.vstack([hyperplane_basis(D), ONE / np.sqrt(D)])


def build(choices: Choices) -> Recipe:
    rng = np.random.default_rng(choices["seed"])
    centered = SMALL * center(rng.standard_normal((choices["n"], D)))
    sigma = np.sqrt((centered**2).mean(-1, keepdims=True))
    spread = SPREAD * rng.standard_normal((choices["n"], 1))
    points = np.hstack([centered + spread * sigma, sigma])
    place = Pipeline((Affine(Entries(np.eye(D, D + 1), {"q": np.outer(ONE, np.eye(D + 1)[D])})),))
    eps = Entries(0.0, {"eps": np.float64(1.0)})
    out = (Normalize(eps=eps, convention="pytorch"), Affine(np.sqrt(D) * np.eye(D)))
    layer_norm = Cloud("layernorm", points, Pipeline((Affine(centering_matrix(D)), *out)), place)
    rms_norm = Cloud("rmsnorm", points, Pipeline((Affine(np.eye(D)), *out)), place)
    angle = np.arctan2(*(centered @ hyperplane_basis(D).T).T)
    around = scenery()
    return Recipe(
        stages=STAGES,
        parameters=(
            Parameter("q", "q = μ/σ", 1, -5, 5, 0.01, about="the mean of a point in units of its deviation"),
            Parameter("eps", "ε", 0, 1e-8, 1, scale="log", about="0: the relation is exact"),
        ),
        clouds=(layer_norm, rms_norm, relation(centered / sigma, spread), *(c for c, _ in around)),
        views=(
            view("LayerNorm", layer_norm, angle, [layer for _, layer in around], ()),
            view("RMSNorm", rms_norm, angle, [layer for _, layer in around], (overlay(),)),
        ),
        formula=r"\mathrm{RMS}(x) = \class{stage-3 role-formula}{\frac{\mathrm{LN}(x) + q\,𝟏}{\sqrt{1+q^2}}}, \quad q = \frac{\mu}{\sigma}",
        table=Table("rmsnorm", columns=("components", "mean", "std", "norm", "angle")),
        readouts=(Residual("Largest distance between RMSNorm and the relation", "rmsnorm", "relation"),),
        progress=3,
    )


def relation(normed: np.ndarray, spread: np.ndarray) -> Cloud:
    """(LN + q·1)/√(1+q²), without RMSNorm: ‖(LN, √d·q)‖ = √d·√(1+q²), since ‖LN‖ = √d."""
    shift = Entries(np.zeros(D + 1), {"q": np.sqrt(D) * np.eye(D + 1)[D]})
    add = np.hstack([np.eye(D), ONE[:, None] / np.sqrt(D)])
    steps = (Affine(np.eye(D + 1), shift), Normalize(radius=np.sqrt(D)), Affine(add))
    return Cloud("relation", np.hstack([normed, np.sqrt(D) * spread]), place=Pipeline(steps))


def overlay() -> Layer:
    return Layer(
        "relation",
        "points",
        "formula",
        rows(UP),
        "(LN + q𝟏)/√(1+q²)",
        size=8,
        hollow=True,
        fade=[0, 0, 0, 0.9],
    )


def scenery() -> list[tuple[Cloud, Layer]]:
    """The sphere of radius √3, its equator in the hyperplane, and the line along 1 with its poles."""
    show, size, u = rows(UP), np.sqrt(D), hyperplane_basis(D)
    ball, triangles = clouds.sphere_mesh()
    lines, order = clouds.graticule()
    pole = UP[2]
    return [
        (
            Cloud("mean line", np.stack([-pole, pole]) * REACH * 0.78),
            Layer("mean line", "line", "mean-direction", show, size=4, opacity=0.6),
        ),
        (
            Cloud("poles", np.stack([-pole, pole]) * size),
            Layer("poles", "points", "mean-direction", show, size=8),
        ),
        (
            Cloud("pole names", np.stack([-pole, pole]) * 0.84 * REACH, labels=["−𝟏", "+𝟏"]),
            Layer("pole names", "labels", "mean-direction", show),
        ),
        (
            Cloud("sphere", ball * size),
            Layer("sphere", "mesh", "sphere", show, order=triangles, fade=[0.07, 0.07, 0.12, 0.15]),
        ),
        (
            Cloud("graticule", lines * size @ UP),
            Layer("graticule", "line", "sphere", show, order=order, size=1, opacity=0.35),
        ),
        (
            Cloud("equator", clouds.ring(128, u[0], u[1], radius=size)),
            Layer("equator", "line", "hyperplane", show, order=clouds.closed(128), size=4, opacity=0.8),
        ),
    ]


def view(name: str, cloud: Cloud, angle: np.ndarray, around: list[Layer], over: tuple[Layer, ...]) -> View:
    show = rows(UP)
    color = Color("cyclic", -np.pi, np.pi, values=angle, title="direction in the hyperplane")
    few = sorted({int(i) for i in np.linspace(0, len(angle) - 1, 5)})
    layers = (
        *around,
        *over,
        Layer(
            cloud.name,
            "points",
            "input",
            show,
            "a point",
            color=color,
            size=5 if len(angle) <= 1500 else 2.5,
            pick=True,
        ),
        Layer(cloud.name, "trail", "trail", show, only=few, size=2, opacity=0.7),
        Layer(cloud.name, "points", "followed", show, only="followed", size=11),
        Layer(cloud.name, "trail", "followed", show, only="followed", size=4),
    )
    return View(name.lower(), name, layers, ((-REACH, REACH),) * 3)
