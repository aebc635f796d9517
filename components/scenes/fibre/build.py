"""Recipe of the scene `fibre` in d = 3: LayerNorm maps αv + μ𝟏 to √3·v or −√3·v, by the sign of α.

v is a unit vector orthogonal to 𝟏; the slider φ turns it. The direction 𝟏 is drawn upright. A point of the
plane spanned by v and 𝟏 is stored as two numbers: α, and its height along the unit vector 𝟏/√3.
"""

from fractions import Fraction

import numpy as np

from components.language.cloud import Cloud, rows
from components.language.marks import Labels, Line, Mesh, Points, Trail, Turn
from components.language.recipe import Facts, Parameter, Recipe, Residual, Table
from components.language.scene import Choices
from components.scenes.scenery import Part, draw, mean_line, seen, space, split, square
from geometry import Affine, Entries, Normalize, Pipeline, Track, clouds
from geometry.centering import centering_matrix, hyperplane_basis

RADIUS, REACH, EXTENT, AXIS, TIP_DISTANCE = np.sqrt(3.0), 2.9, 2.4, 2.2, 2.3
PI, U, UP = centering_matrix(3), hyperplane_basis(3), np.ones(3) / np.sqrt(3.0)
SHOW, START = rows(np.vstack([U, UP])), rows(np.vstack([U, UP]), stage=0)
DEGREES = np.arange(0.0, 361, 3)
V = np.column_stack([np.cos(np.radians(DEGREES)), np.sin(np.radians(DEGREES))]) @ U
TURNED = Track(DEGREES, np.stack([V, 0 * V], -1))
TO_PLANE = Affine(Entries(np.column_stack([0 * UP, UP]), tracks={"phi": TURNED}))
TO_SPHERE = Normalize(radius=RADIUS)
IN_PLANE, LN_TWICE, PI_TWICE = (TO_PLANE,), (Affine(PI), TO_SPHERE) * 2, (Affine(PI), Affine(PI))
TICKS = np.arange(-2.25, 2.3, 0.3)  # without 0
GRID = np.stack(np.meshgrid(TICKS, TICKS), -1).reshape(-1, 2)
POINT_GROUP = "The followed point: c·x + b·𝟏"
PHI = Parameter("phi", "angle of v", 12, 0, 360, 1, about="in degrees: turns v, and the plane with it")
FRAMED_ANGLES = range(30, 360, 30)  # the axes have room for the plane at these angles
SCALE = Parameter("c", "scale c", 1, -1.5, 1.5, group=POINT_GROUP)
SHIFT = Parameter("b", "shift b", 0, -0.8, 0.8, group=POINT_GROUP)
IMAGE = r"\class{stage-2 stage-4 role-sphere}{\sqrt 3\; \mathrm{sign}(\alpha)\, v}"
PROJECTION = r"\class{stage-2 role-hyperplane}{\Pi\Pi = \Pi}"


def build(choices: Choices) -> Recipe:
    whole = choices["show"] == "fibre"
    drawn, layers = split(*guides(), *(fibre() if whole else matrix()))
    hand, arrow = split(*handle())
    level = [layer for layer in layers if layer.role != "mean-direction" and layer.cloud != "ends"]
    above = (*arrow, *seen(level, rows(U), title=""))
    views = (
        space("space", "", layers, camera=(0.66, -1.06, 0.47), reaching=True, between={"phi": FRAMED_ANGLES}),
        square("above", "From above", above, REACH, strip=True),
    )
    if not whole:
        stages = ("x", "centre", "centre again")
        formula = r"\Pi = I - \tfrac{1}{3}𝟏𝟏^\top, \quad " + PROJECTION
        return Recipe(stages, (PHI,), (*drawn, *hand), views, formula, facts=facts(), progress=0.5)
    return Recipe(
        stages=("x", "centre", "sphere", "centre again", "sphere again"),
        parameters=(PHI, SCALE, SHIFT),
        clouds=(*drawn, *hand, Cloud("image", np.array([[1.0, 0]]), place=Pipeline((TO_PLANE, TO_SPHERE)))),
        views=views,
        formula=rf"\mathrm{{LN}}(\class{{stage-1 stage-3 role-hyperplane}}{{\alpha v}} + \mu 𝟏) = {IMAGE}",
        table=Table("point", columns=("components", "mean", "std", "norm")),
        readouts=(Residual("Distance of the followed output from √3·v", "point", "image"),),
        facts=facts(),
        progress=2,
    )


def fibre() -> list[Part]:
    """Clouds and marks of the choice "a fibre": the half-planes α > 0 and α < 0, and a point to move.

    Their points are αv + μ𝟏. The line between the half-planes is drawn too: there α = 0, and LayerNorm
    returns 0.
    """
    sheet, quad = (
        np.array([[a, h] for a in (-EXTENT, 0, EXTENT) for h in (-EXTENT, EXTENT)]),
        clouds.grid_mesh(2, 2),
    )
    slide = Affine(Entries(np.zeros((2, 2)), {"c": np.eye(2)}), Entries(np.zeros(2), {"b": [0, RADIUS]}))
    axis, title = np.column_stack([0 * TICKS, TICKS]), "α = 0: no direction"
    ends = RADIUS * np.array([[1.2, -0.2], [-1.2, -0.2]])  # below the numbers of points that lie there
    return [
        half("other", -1, "half-plane α < 0"),
        half("input", 1, "half-plane α > 0"),
        draw("left", Mesh, "other", SHOW, (sheet[:4], quad), place=IN_PLANE, opacity=0.15),
        draw("right", Mesh, "input", SHOW, (sheet[2:], quad), place=IN_PLANE, opacity=0.15),
        draw(
            "nowhere", Points, "mean-direction", SHOW, axis, title, place=IN_PLANE, steps=LN_TWICE, size=4.5
        ),
        draw("ends", Labels, "meeting", SHOW, ends, place=IN_PLANE, labels=["√3 v", "−√3 v"]),
        (
            Cloud("point", np.array([[1.2, 0.6]]), Pipeline(LN_TWICE), Pipeline((slide, TO_PLANE))),
            Points("point", "followed", START, "the followed point and its output", size=10),
            Trail("point", "followed", SHOW, size=5),
            Points("point", "followed", SHOW, size=10),
        ),
    ]


def half(role: str, sign: int, title: str) -> Part:
    """Cloud of the points of a half-plane, where α has the sign `sign`, and its marks.

    One mark shows all points at their start, another at the current stage; some points have trails. `role` is
    the colour role of the marks, and the name of the cloud; `title` is the legend.
    """
    own = GRID[np.sign(GRID[:, 0]) == sign]
    return (
        Cloud(role, own, Pipeline(LN_TWICE), Pipeline(IN_PLANE)),
        Points(role, role, START, size=2.5, opacity=0.45),
        Trail(role, role, SHOW, only=list(range(3, len(own), 23)), size=2, opacity=0.5),
        Points(role, role, SHOW, title, size=6),
    )


def matrix() -> list[Part]:
    """Clouds and marks of the choice "the matrix Π", which is applied to the axes, a cube, v and 𝟏."""
    basis, order = clouds.segments(np.stack([np.zeros((3, 3)), AXIS * np.eye(3)], 1))
    cube, tips = clouds.cube_edges(low=0, high=AXIS), 1.1 * AXIS * np.eye(3)
    v, one = np.array([[0.0, 0], [RADIUS, 0]]), np.outer([0, RADIUS], UP)
    return [
        draw("cube", Line, "trail", SHOW, cube, "a cube", steps=PI_TWICE, size=2, opacity=0.7),
        (
            Cloud("axes", basis, Pipeline(PI_TWICE)),
            Line("axes", "axis", START, order=order, size=2, opacity=0.5),
            Trail("axes", "trail", SHOW, only=[1, 3, 5], size=2, opacity=0.8),
            Line("axes", "ellipsoid", SHOW, "the axes", order=order, size=6),
        ),
        draw("names", Labels, "ellipsoid", SHOW, tips, steps=PI_TWICE, labels=["e₁", "e₂", "e₃"]),
        draw("v", Line, "input", SHOW, v, "v in the plane: stays", place=IN_PLANE, steps=PI_TWICE, size=6),
        draw("one", Line, "mean-direction", SHOW, one, "𝟏: goes to 0", steps=PI_TWICE, size=8),
    ]


def handle() -> list[Part]:
    """Clouds and marks of the vector v in the view from above: an arrow from 0, its tip, and the label "v".

    Readers turn v by dragging the tip, which sets the slider φ.
    """
    show, tip = rows(U), np.array([[TIP_DISTANCE, 0.0]])
    return [
        draw("v arrow", Line, "query", show, np.vstack([0 * tip, tip]), place=IN_PLANE, size=5, arrow=0.3),
        draw(
            "v tip", Points, "query", show, tip, "v", place=IN_PLANE, size=4, hand=Turn("phi"), hint="drag it"
        ),
        draw("v name", Labels, "query", show, 1.18 * tip, place=IN_PLANE, labels=["v"]),
    ]


def guides() -> list[Part]:
    """The hyperplane Σx = 0, the circle in it to which LayerNorm maps points, and the line along 𝟏."""
    disc, circle = clouds.turned(clouds.disc_mesh(), 0.92 * EXTENT * U), clouds.circle(128, *U, radius=RADIUS)
    return [
        draw("hyperplane", Mesh, "hyperplane", SHOW, disc, "the plane Σx = 0", opacity=0.15, guide=True),
        draw("circle", Line, "meeting", SHOW, circle, size=3, opacity=0.8),
        *mean_line(SHOW, 3, EXTENT, 1.05 * EXTENT, names=("line", "name"), size=3, opacity=0.8),
    ]


def facts() -> Facts:
    """Table of the matrix Π, which centres, and of its eigenvalues; entries are fractions."""
    words = [[str(Fraction(x).limit_denominator(9)).replace("-", "−") for x in row] for row in PI]
    table = [[f"row {i}", *row] for i, row in enumerate(words, 1)]
    eigen = [["eigenvalue", "1", "1", "0"], ["its vector", "(1, −1, 0)", "(1, 1, −2)", "(1, 1, 1)"]]
    return Facts("The matrix Π, which centres", ["", "column 1", "column 2", "column 3"], [*table, *eigen])
