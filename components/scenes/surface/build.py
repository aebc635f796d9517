"""The recipe of the activation surface: the first coordinate of u_ε(x, y) as a height above (x, y).

A point of a slice is (a, b, x, y, up): (a, b) goes through u_ε, (x, y) keeps its place on the floor, and up
is 1 on the surface and 0 on the floor (where a = b = 0), so that a curtain hangs between the two.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from components.circle import EPS, EPS_SLIDER, closed_form
from components.recipe import Cloud, Color, Layer, Parameter, Recipe, Residual, Row, View, draw
from components.scene import Choices
from geometry import Affine, Entries, Normalize, Pipeline, Pointwise, clouds

N, LONG = 120, 3.3  # points of a slice, half the length of the line
REACH, BOX, HEIGHT, FLOOR = 3.5, 3.6, 1.5, -2.2  # heights are drawn larger than they are
THETA = 2 * np.pi * (np.arange(N) + 0.5) / N - np.pi
ONE = np.eye(5)
U = Normalize(eps=EPS, groups=((0, 1),))
BEFORE, NOW = Row((0, 0, 1), stage=0), Row((1,))
SPACE = (Row((0, 0, 1)), Row((0, 0, 0, 1)), Row((HEIGHT, 0, 0, 0, -FLOOR), offset=FLOOR))
FLAT = (Row((1,)), Row((0, 1)), Row((), offset=FLOOR))
CLOSED = (Row((0, 0, 1), stage=0), Row((1,), stage=3))
STEPS = {
    "stretch": Affine(Entries(np.diag([0, 1, 0, 1, 1]), {"t": np.diag([1, 0, 1, 0, 0])})),
    "fold": Affine(Entries(ONE, {"t": np.outer(ONE[0], ONE[4])}), Entries(0 * ONE[2], {"t": ONE[2]})),
    "line": Affine(Entries(ONE, {"h": np.outer(ONE[1], ONE[4])}), Entries(0 * ONE[3], {"h": ONE[3]})),
}
WORDS = {
    "stretch": (("circle", "ellipse", "normalised"), r"t\,x", "the ellipse"),
    "fold": (("circle", "shifted", "normalised"), "x + t", "the shifted circle"),
    "line": (("line", "normalised"), "x", "the line y = h"),
}


def build(choices: Choices) -> Recipe:
    kind = choices["slice"]
    stages, moved, floor = WORDS[kind]
    last, straight = len(stages) - 1, kind == "line"
    x = np.linspace(-LONG, LONG, N)
    start = np.stack([x, 0 * x] if straight else [np.cos(THETA), np.sin(THETA)], -1)
    above = np.hstack([start, start, np.ones((N, 1))])
    below = np.hstack([0 * start, start, np.zeros((N, 1))])
    steps = ((), (U,), (STEPS[kind], U))
    place, pipeline = Pipeline((STEPS[kind],) if straight else ()), Pipeline(steps[last])
    t = Parameter("t", "t", 1.3, -2.5, 2.5, about="stretches or shifts the circle along x")
    h = Parameter("h", "h", 0.5, 0.05, 1.2, about="distance of the line from the origin")
    color = Color("cyclic", -np.pi, np.pi, THETA, title="where on the circle a point began")
    color = Color("diverging", -LONG, LONG, x, title="x before") if straight else color
    names = {"stretch": ("t", None), "fold": (None, "t")}
    closed = arctangent(x) if straight else (closed_form(THETA, *names[kind]),)
    angles = (Cloud("angle", above, Pipeline((U, Pointwise("arcsin"))), place),) if straight else ()
    scene = scenery(last - 1)
    curves = Residual("Largest distance between curve and closed form", "slice", "closed form", 1)
    turned = Residual("Largest distance between angle and arctangent", "angle", "arctangent", 1)
    layers = (*(layer for _, layer in scene), *space(color, floor, straight))
    square = "x^2" if straight else f"({moved})^2"
    fraction = rf"\frac{{\class{{stage-1 role-input}}{{{moved}}}}}{{\sqrt{{{square} + y^2 + \varepsilon}}}}"
    return Recipe(
        stages=stages,
        parameters=(h if straight else t, EPS_SLIDER),
        clouds=(
            Cloud("slice", above, pipeline, place),
            Cloud("curtain", np.vstack([above, below]), pipeline, place),
            *(*closed, *angles, *(cloud for cloud, _ in scene)),
        ),
        views=(
            View("surface", "", layers, ((-BOX, BOX),) * 3, camera=(0.7, -1.12, 0.55)),
            curve(color, straight),
            *((angle(),) if straight else ()),
        ),
        formula=rf"\text{{height}} = \class{{stage-{last} role-sphere}}{{{fraction}}}",
        readouts=(curves, turned)[: 1 + straight],
        progress=last,
        follow=4 * N // 5,
    )


def arctangent(x: np.ndarray) -> tuple[Cloud, Cloud]:
    """On the line y = h: its sine as the closed form of the curve, and arctan(x/h) as that of the angle.

    x/h without the root of the pipeline: (x, √(L² − x²)) has length L, and the division is by L + (h − L).
    """
    eps = Entries(-LONG / np.sqrt(2), {"h": 1 / np.sqrt(2)})
    steps = (Normalize(eps=eps, groups=((0, 1),), convention="std"), Pointwise("arctan"), Pointwise("sin"))
    arc = np.stack([x, np.sqrt(LONG**2 - x**2), x], -1)
    return Cloud("closed form", arc, Pipeline(steps)), Cloud("arctangent", arc, Pipeline(steps[:2]))


def space(color: Color, floor: str, straight: bool) -> list[Layer]:
    """A slice in space: its path on the floor, the curve on the surface above it, a curtain between them."""
    order = np.arange(N) if straight else clouds.closed(N)
    both = np.concatenate([order, N + order])[clouds.grid_mesh(2, len(order))]
    image = Layer("slice", "line", "meeting", FLAT, "its image: half a circle", size=6, fade=[0, 1])
    return [
        Layer("curtain", "mesh", "input", SPACE, order=both, opacity=0.16),
        Layer("curtain", "line", "input", SPACE, f"{floor}, on the floor", order=N + order, size=4),
        *((image,) if straight else ()),
        Layer("slice", "line", "input", SPACE, order=order, size=4),
        Layer("slice", "points", "input", SPACE, color=color, size=5.5, pick=True),
        Layer("slice", "points", "followed", SPACE, only="followed", size=11),
    ]


def curve(color: Color, straight: bool) -> View:
    """The slice as a curve: the first coordinate before and now; half the circle gives all of it."""
    show, plain, half = (BEFORE, NOW), replace(color, title=""), np.arange(0 if straight else N // 2, N)
    fade = [0.3] * (1 if straight else 2) + [1.0]
    layers = (
        Layer("slice", "points", "input", show, color=plain, size=6, pick=True),
        Layer("closed form", "line", "formula", CLOSED, "closed form, ε = 0", order=half, size=3, fade=fade),
        Layer("slice", "points", "followed", show, only="followed", size=12),
    )
    ranges = (((-LONG, LONG) if straight else (-1.1, 1.1)), (-1.2, 1.2))
    return View("curve", "The same curve, unrolled", layers, ranges, 2, ("x before", "x now"), equal=False)


def angle() -> View:
    """The angle of the image, on its half circle, against the position on the line."""
    show = (BEFORE, Row((1,), stage=2))
    layers = (
        Layer("angle", "points", "meeting", show, "angle of the image", size=6, fade=[0.15, 1]),
        Layer("arctangent", "line", "formula", show, "arctan(x / h)", size=3),
        Layer("angle", "points", "followed", show, only="followed", size=12),
    )
    ranges = ((-LONG, LONG), (-1.8, 1.8))
    return View("angle", "Its angle, an arctangent", layers, ranges, 2, ("x before", "angle"), equal=False)


def scenery(wait: int) -> list[tuple[Cloud, Layer]]:
    """The sheet, with circles and rays on it, at first a tilted plane; the floor and its axes."""
    turn = np.linspace(0, 2 * np.pi, 73)
    circle = np.stack([np.cos(turn), np.sin(turn)], -1)
    fine = np.linspace(0.02, 1, 24)[:, None, None] ** 2  # closer where the sheet is steep
    rays = np.linspace(0.02, 1, 73)[:, None] ** 2 * circle[:-1:6, None]
    net = np.concatenate([*rays, *(r / REACH * circle for r in (1, 2, 3, REACH))])
    bend = Pipeline((*[Affine(np.eye(2))] * wait, Normalize(eps=EPS)))
    show = (Row((1,), stage=0), Row((0, 1), stage=0), Row((HEIGHT,)))
    cross, order = clouds.segments(REACH * np.array([[[-1, 0], [1, 0]], [[0, -1], [0, 1]]]))
    names = Cloud("names", REACH * np.array([[0.92, -0.1], [0.1, 0.92]]), labels=["x", "y"])
    sheet = Cloud("sheet", REACH * (fine * circle).reshape(-1, 2), bend)
    mesh, joined = clouds.grid_mesh(24, 73), clouds.joined(16, 73)
    rims = Cloud("rims", np.vstack([circle, REACH * circle]))
    return [
        draw(sheet, "mesh", "sphere", show, "u_ε: the height", order=mesh, opacity=0.5),
        draw(Cloud("net", REACH * net, bend), "line", "sphere", show, order=joined, size=1.5, opacity=0.6),
        draw(Cloud("axes", cross), "line", "axis", FLAT, order=order, size=1.5, opacity=0.7),
        draw(rims, "line", "axis", FLAT, order=joined[:147], size=1.5, opacity=0.5),
        draw(names, "labels", "axis", FLAT),
    ]
