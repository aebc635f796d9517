"""The recipe of the activation surface: the first coordinate of u_ε(x, y) as a height above (x, y).

A slice is the part of the surface above a curve on the floor, the plane of x and y. A curtain is the wall
between that curve and the slice. The points of both have five coordinates (a, b, x, y, up). The place above
which a point is drawn is (x, y). The map u_ε is applied to (a, b), and a is then the height of the point.

A point of the slice begins with (a, b) = (x, y) and up = 1. A point of the floor has a = b = up = 0, so its
height stays 0. If a slider moves the curve by t, the step adds t to x, and t·up to a; so points of the floor
keep a = 0.
"""

from dataclasses import replace

import numpy as np

from components.language.cloud import Cloud, Row
from components.language.marks import Color, Follow, Followed, Labels, Line, Mesh, Points
from components.language.recipe import Number, Parameter, Recipe, Residual, View
from components.language.scene import Choices
from components.scenes.circle import EPS_SLIDER, closed_form
from components.scenes.scenery import EPS, Part, Steps, draw, followed, graph, rest, space, split
from geometry import Affine, Entries, Normalize, Pipeline, Pointwise, clouds

POINT_COUNT, LINE_HALF_LENGTH = 120, 3.3  # points of a slice; half the length of the straight line
FLOOR_RADIUS, FLOOR_HEIGHT = 3.5, -2.2
HEIGHT_SCALE = 1.5  # heights are drawn larger by this factor
THETA = 2 * np.pi * (np.arange(POINT_COUNT) + 0.5) / POINT_COUNT - np.pi
LINE = np.linspace(-LINE_HALF_LENGTH, LINE_HALF_LENGTH, POINT_COUNT)
IDENTITY = np.eye(5)
NORMALISE = Normalize(eps=EPS, groups=((0, 1),))
CURVE = (Row((0, 0, 1), stage=0), Row((1,)))
SPACE = (Row((0, 0, 1)), Row((0, 0, 0, 1)), Row((HEIGHT_SCALE, 0, 0, 0, -FLOOR_HEIGHT), offset=FLOOR_HEIGHT))
FLAT = (Row((1,)), Row((0, 1)), Row((), offset=FLOOR_HEIGHT))
SHEET = (Row((1,), stage=0), Row((0, 1), stage=0), Row((HEIGHT_SCALE,)))
ON_CIRCLE = Color("cyclic", -np.pi, np.pi, THETA, title="position on the circle at the start")
ON_LINE = Color("diverging", -LINE_HALF_LENGTH, LINE_HALF_LENGTH, LINE, title="x before")
STEPS = {
    "stretch": Affine(Entries(np.diag([0, 1, 0, 1, 1]), {"t": np.diag([1, 0, 1, 0, 0])})),
    "fold": Affine(
        Entries(IDENTITY, {"t": np.outer(IDENTITY[0], IDENTITY[4])}),
        Entries(0 * IDENTITY[2], {"t": IDENTITY[2]}),
    ),
    "line": Affine(
        Entries(IDENTITY, {"h": np.outer(IDENTITY[1], IDENTITY[4])}),
        Entries(0 * IDENTITY[3], {"h": IDENTITY[3]}),
    ),
}
SLICE_WORDS = {
    "stretch": (("circle", "ellipse", "normalised"), r"t\,x", "the ellipse"),
    "fold": (("circle", "shifted", "normalised"), "x + t", "the shifted circle"),
    "line": (("line", "normalised"), "x", "the line y = h"),
}
T = Parameter("t", "t", 1.3, -2.5, 2.5, symbol="t", about="multiplies x (ellipse), or is added to x (circle)")
H = Parameter("h", "h", 0.5, 0.05, 1.2, about="distance of the line from the origin")


def build(choices: Choices) -> Recipe:
    kind, step = choices["slice"], STEPS[choices["slice"]]
    (stages, moved, floor), straight = SLICE_WORDS[kind], kind == "line"
    last = len(stages) - 1
    start = np.stack([LINE, 0 * LINE] if straight else [np.cos(THETA), np.sin(THETA)], -1)
    above = np.hstack([start, start, np.ones((POINT_COUNT, 1))])
    below = np.hstack([0 * start, start, np.zeros((POINT_COUNT, 1))])
    place, pipeline = (
        (Pipeline((step,)), Pipeline((NORMALISE,)))
        if straight
        else (Pipeline(()), Pipeline((step, NORMALISE)))
    )
    guide_clouds, around = split(*guides(wait=last - 1))
    order, color = (np.arange(POINT_COUNT), ON_LINE) if straight else (clouds.closed(POINT_COUNT), ON_CIRCLE)
    curtain = np.concatenate([order, POINT_COUNT + order])[clouds.grid_mesh(2, len(order))]
    image = Line("slice", "meeting", FLAT, "its image, on a circle for ε = 0", size=6, fade=[0, 1])
    layers = (
        *around,
        Mesh("curtain", "input", SPACE, triangles=curtain, opacity=0.16),
        Line("curtain", "input", SPACE, f"{floor}, on the floor", order=POINT_COUNT + order, size=4),
        *((image,) if straight else ()),
        Line("slice", "input", SPACE, order=order, size=4),
        Points("slice", "input", SPACE, color=color, size=5.5, hand=Follow()),
        *followed("slice", SPACE, trail=0),
    )
    square = "x^2" if straight else f"({moved})^2"
    fraction = rf"\frac{{\class{{stage-1 role-input}}{{{moved}}}}}{{\sqrt{{{square} + y^2 + \varepsilon}}}}"
    names = {"stretch": ("t", None), "fold": (None, "t")}
    height = Number("Height of the red point", "slice", Row((1, 0, 0, 0, 0)), Followed())
    curves = Residual("Largest distance between curve and closed form", "slice", "closed form", 1)
    arctangent_error = Residual("Largest distance between angle and arctangent", "angle", "arctangent", 1)
    angle = Cloud(
        "angle", above, Pipeline((NORMALISE, replace(NORMALISE, eps=0.0), Pointwise("arcsin"))), place
    )
    return Recipe(
        stages=stages,
        parameters=(H if straight else T, EPS_SLIDER),
        clouds=(
            Cloud("slice", above, pipeline, place),
            Cloud("curtain", np.vstack([above, below]), pipeline, place),
            *((*arctangent(), angle) if straight else (closed_form(THETA, *names[kind]),)),
            *guide_clouds,
        ),
        views=(
            space("surface", "", layers, camera=(0.7, -1.12, 0.55)),
            curve_view(color, straight),
            *((angle_view(),) if straight else ()),
        ),
        formula=rf"\text{{height}} = \class{{stage-{last} role-sphere}}{{{fraction}}}",
        readouts=(height, curves, arctangent_error) if straight else (height, curves),
        progress=last,
        follow=4 * POINT_COUNT // 5,
    )


def arctangent() -> tuple[Cloud, Cloud]:
    """Two clouds that compute the height of the surface above the line y = h in another way, as a check.

    The first, "closed form", has the height sin arctan(x/h) at its last stage. The second, "arctangent", has
    the angle arctan(x/h) there.

    The cloud "slice" divides x by √(x² + h²); these two divide x by h. They use a norm that divides by the
    length of a point plus a number. So their points are (x, √(L² − x²)), all of the length
    L = LINE_HALF_LENGTH, and the number is h − L.
    """
    eps = Entries(-LINE_HALF_LENGTH / np.sqrt(2), {"h": 1 / np.sqrt(2)})
    steps = (Normalize(eps=eps, groups=((0, 1),), convention="std"), Pointwise("arctan"), Pointwise("sin"))
    arc = np.stack([LINE, np.sqrt(LINE_HALF_LENGTH**2 - LINE**2), LINE], -1)
    return Cloud("closed form", arc, Pipeline(steps)), Cloud("arctangent", arc, Pipeline(steps[:2]))


def curve_view(color: Color, straight: bool) -> View:
    """Graph of the slice: the first coordinate of each point now, against its first coordinate at the start.

    `color` is the colour scale of the points. `straight` says whether the slice follows a straight line in
    the plane, or a circle. For a circle the closed form (the curve's formula) is drawn for only one half, as
    the other half has the same curve.
    """
    half, reach = (
        (np.arange(POINT_COUNT), LINE_HALF_LENGTH)
        if straight
        else (np.arange(POINT_COUNT // 2, POINT_COUNT), 1.1)
    )
    closed, fade = (Row((0, 0, 1), stage=0), Row((1,), stage=3)), [0.3, 1.0] if straight else [0.3, 0.3, 1.0]
    layers = (
        Points("slice", "input", CURVE, color=replace(color, title=""), size=6, hand=Follow()),
        Line("closed form", "formula", closed, "closed form, ε = 0", order=half, size=3, fade=fade),
        *followed("slice", CURVE, size=12, trail=0),
    )
    x, y = ("x before", -reach, reach), ("x now", -1.2, 1.2)
    return replace(graph("curve", "The slice as a curve", layers, x, y), strip=not straight)


def angle_view() -> View:
    """Graph for the slice along y = h: the angle of each point's image on the half circle, against its x."""
    show = (CURVE[0], Row((1,), stage=3))
    layers = (
        Points("angle", "meeting", show, "angle of the image", size=6, fade=[0.15, 1]),
        Line("arctangent", "formula", (CURVE[0], Row((1,), stage=2)), "arctan(x / h)", size=3),
        *followed("angle", show, size=12, trail=0),
    )
    x, y = ("x before", -LINE_HALF_LENGTH, LINE_HALF_LENGTH), ("angle, radians", -1.8, 1.8)
    return graph("angle", "Its angle, an arctangent", layers, x, y)


def guides(wait: int) -> list[Part]:
    """The surface, with circles and rays on it, and the floor with its axes.

    The surface is drawn as a tilted plane for the first `wait` stages of the animation; then it bends.
    """
    turn = np.linspace(0, 2 * np.pi, 73)
    circle = np.stack([np.cos(turn), np.sin(turn)], -1)
    fine = np.linspace(0.02, 1, 24)[:, None, None] ** 2  # denser where the surface is steep
    sheet = (FLOOR_RADIUS * (fine * circle).reshape(-1, 2), clouds.grid_mesh(24, 73))
    rays = np.linspace(0.02, 1, 73)[:, None] ** 2 * circle[:-1:6, None]
    joined = clouds.joined([73] * 16)
    net = (
        FLOOR_RADIUS * np.concatenate([*rays, *(r / FLOOR_RADIUS * circle for r in (1, 2, 3, FLOOR_RADIUS))]),
        joined,
    )
    cross = clouds.segments(FLOOR_RADIUS * np.array([[[-1, 0], [1, 0]], [[0, -1], [0, 1]]]))
    rims, names = (
        (np.vstack([circle, FLOOR_RADIUS * circle]), joined[:147]),
        FLOOR_RADIUS * np.array([[0.92, -0.1], [0.1, 0.92]]),
    )
    bend: Steps = (*rest(2, wait), Normalize(eps=EPS))
    return [
        draw("sheet", Mesh, "sphere", SHEET, sheet, "the height", steps=bend, opacity=0.5),
        draw("net", Line, "sphere", SHEET, net, steps=bend, size=1.5, opacity=0.6),
        draw("axes", Line, "axis", FLAT, cross, size=1.5, opacity=0.7),
        draw("rims", Line, "axis", FLAT, rims, size=1.5, opacity=0.5),
        draw("names", Labels, "axis", FLAT, names, labels=["x", "y"]),
    ]
