"""The recipe of the fibre in d = 3: every x = αv + β𝟏 goes to ±√3·v. The mean direction is up.

Points of the plane come as (α, height), in units of length; v turns with φ along a track of directions.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from components.recipe import Cloud, Facts, Layer, Parameter, Recipe, Residual, Table, View, draw, rows
from components.scene import Choices
from geometry import Affine, Entries, Normalize, Pipeline, Track, clouds
from geometry.centering import centering_matrix, hyperplane_basis

ROOT, REACH, HALF, SIZE = np.sqrt(3.0), 2.9, 2.4, 2.2
PI, U, UP = centering_matrix(3), hyperplane_basis(3), np.ones(3) / np.sqrt(3.0)
SHOW, START = rows(np.vstack([U, UP])), rows(np.vstack([U, UP]), stage=0)
DEGREES = np.arange(0.0, 361, 3)
V = np.column_stack([np.cos(np.radians(DEGREES)), np.sin(np.radians(DEGREES))]) @ U
TURNED = Track(DEGREES, np.stack([V, 0 * V], -1))
PLANE = Affine(Entries(np.column_stack([0 * UP, UP]), tracks={"phi": TURNED}))
ON_PLANE, TWICE = Pipeline((PLANE,)), Pipeline((Affine(PI), Normalize(radius=ROOT)) * 2)
ONTO = Pipeline((Affine(PI), Affine(PI)))
STEP = np.arange(-2.25, 2.3, 0.3)  # without 0
GRID = np.stack(np.meshgrid(STEP, STEP), -1).reshape(-1, 2)
POINT = "The followed point: c·x + b·𝟏"
PHI = Parameter("phi", "angle of v", 12, 0, 360, 1, about="in degrees: turns v, and the plane with it")


def build(choices: Choices) -> Recipe:
    whole = choices["show"] == "fibre"
    drawn = [*scenery(), *((half("other", -1), half("input", 1), *fibre()) if whole else axes())]
    c = Parameter("c", "scale c", 1, -1.5, 1.5, group=POINT)
    b = Parameter("b", "shift b", 0, -0.8, 0.8, group=POINT)
    images = Cloud("images", np.array([[1.0, 0], [-1, 0]]), place=Pipeline((PLANE, Normalize(radius=ROOT))))
    goes = r"\class{stage-2 role-sphere}{\sqrt 3\; \mathrm{sign}(\alpha)\, v}"
    return Recipe(
        stages=("x", "center", "sphere", "center", "sphere") if whole else ("x", "Πx", "ΠΠx"),
        parameters=(PHI, c, b) if whole else (PHI,),
        clouds=(*(cloud for cloud, *_ in drawn), *((images,) if whole else ())),
        views=(
            View(
                "space",
                "",
                tuple(layer for _, *layers in drawn for layer in layers),
                ((-REACH, REACH),) * 3,
                camera=(0.66, -1.06, 0.47),
            ),
        ),
        formula=rf"\mathrm{{LN}}(\class{{stage-1 role-hyperplane}}{{\alpha v}} + \beta 𝟏) = {goes}"
        if whole
        else r"\Pi = I - \tfrac{1}{3}𝟏𝟏^\top, \quad \class{stage-2 role-hyperplane}{\Pi\Pi = \Pi}",
        table=Table("point", columns=("components", "mean", "std", "norm")) if whole else None,
        readouts=(Residual("From the followed point’s output to √3·v", "point", "images"),) if whole else (),
        facts=facts(),
        progress=2 if whole else 0.5,
    )


def half(role: str, sign: int) -> tuple[Cloud | Layer, ...]:
    """The points of one half-plane: where they come from, some of their ways, where they are."""
    own = GRID[np.sign(GRID[:, 0]) == sign]
    return (
        Cloud(role, own, TWICE, ON_PLANE),
        Layer(role, "points", role, START, size=2.5, opacity=0.45),
        Layer(role, "trail", role, SHOW, only=list(range(3, len(own), 23)), size=2, opacity=0.5),
        Layer(role, "points", role, SHOW, f"half-plane α {'>' if sign > 0 else '<'} 0", size=6),
    )


def fibre() -> list[tuple]:
    """The two half-planes, the line between them, and one point that slides in the plane."""
    corner = np.array([[a, h] for a in (-HALF, 0, HALF) for h in (-HALF, HALF)])
    slide = Affine(Entries(np.zeros((2, 2)), {"c": np.eye(2)}), Entries(np.zeros(2), {"b": [0, ROOT]}))
    nowhere = Cloud("nowhere", np.column_stack([0 * STEP, STEP]), TWICE, ON_PLANE)
    ends = Cloud("ends", 1.22 * ROOT * np.array([[1, 0], [-1, 0]]), place=ON_PLANE, labels=["√3 v", "−√3 v"])
    sheet = {"kind": "mesh", "rows": SHOW, "order": clouds.grid_mesh(2, 2), "opacity": 0.15}
    return [
        draw(Cloud("left", corner[:4], place=ON_PLANE), role="other", **sheet),
        draw(Cloud("right", corner[2:], place=ON_PLANE), role="input", **sheet),
        draw(nowhere, "points", "mean-direction", SHOW, "α = 0: no direction", size=4.5),
        draw(ends, "labels", "meeting", SHOW),
        (
            Cloud("point", np.array([[1.2, 0.6]]), TWICE, Pipeline((slide, PLANE))),
            Layer("point", "points", "followed", START, "the followed point and its output", size=10),
            Layer("point", "trail", "followed", SHOW, size=5),
            Layer("point", "points", "followed", SHOW, size=10),
        ),
    ]


def axes() -> list[tuple]:
    """What Π does to the axes, to a cube on them, to v and to 𝟏."""
    basis, order = clouds.segments(np.stack([np.zeros((3, 3)), SIZE * np.eye(3)], 1))
    cube = SIZE * np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
    pairs = [(p, q) for p in cube for q in cube if np.isclose((q - p).sum(), SIZE) and (q >= p).all()]
    edges, joined = clouds.segments(np.array(pairs))
    names = Cloud("names", SIZE * 1.1 * np.eye(3), ONTO, labels=["e₁", "e₂", "e₃"])
    v = Cloud("v", np.array([[0.0, 0], [ROOT, 0]]), ONTO, ON_PLANE)
    return [
        draw(Cloud("cube", edges, ONTO), "line", "trail", SHOW, "a cube", order=joined, size=2, opacity=0.7),
        (
            Cloud("axes", basis, ONTO),
            Layer("axes", "line", "axis", START, order=order, size=2, opacity=0.5),
            Layer("axes", "trail", "trail", SHOW, only=[1, 3, 5], size=2, opacity=0.8),
            Layer("axes", "line", "ellipsoid", SHOW, "the axes", order=order, size=6),
        ),
        draw(names, "labels", "ellipsoid", SHOW),
        draw(v, "line", "input", SHOW, "v in the plane: stays", size=6),
        draw(
            Cloud("one", np.outer([0, ROOT], UP), ONTO),
            "line",
            "mean-direction",
            SHOW,
            "𝟏: goes to 0",
            size=8,
        ),
    ]


def scenery() -> list[tuple]:
    """The hyperplane with the circle that LayerNorm reaches in it, and the line along 𝟏."""
    disc, order = clouds.disc_mesh()
    line, ring = Cloud("line", np.outer([-HALF, HALF], UP)), clouds.ring(128, *U, radius=ROOT)
    plane, name = Cloud("hyperplane", disc @ U * HALF), Cloud("name", 1.1 * HALF * UP[None], labels=["𝟏"])
    return [
        draw(plane, "mesh", "hyperplane", SHOW, "the hyperplane Σx = 0", order=order, opacity=0.15),
        draw(Cloud("circle", ring), "line", "meeting", SHOW, order=clouds.closed(128), size=3, opacity=0.8),
        draw(line, "line", "mean-direction", SHOW, size=3, opacity=0.8),
        draw(name, "labels", "mean-direction", SHOW),
    ]


def facts() -> Facts:
    """Π and its eigenvalues, as fractions."""
    words = [[str(Fraction(x).limit_denominator(9)).replace("-", "−") for x in row] for row in PI]
    table = [[f"row {i}", *row] for i, row in enumerate(words, 1)]
    eigen = [["eigenvalue", "1", "1", "0"], ["its vector", "(1, −1, 0)", "(1, 1, −2)", "(1, 1, 1)"]]
    return Facts("The matrix Π, which centers", ["", "column 1", "column 2", "column 3"], [*table, *eigen])
