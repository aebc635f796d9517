"""The recipe of u_ε in one dimension, x ↦ x/√(x² + ε): the curve and its slope, beside other functions."""

from __future__ import annotations

import numpy as np

from components.recipe import Cloud, Layer, Number, Parameter, Recipe, Row, Table, View, rows
from components.scene import Choices
from geometry import Affine, Entries, Normalize, Pipeline, Pointwise

FUNCTIONS = {"tanh": "tanh", "sigmoid": "sigmoid", "erf": "erf", "relu": "ReLU", "gelu": "GELU"}
REACH, DOTS = 4, 33
ZERO = DOTS // 2
EPS = Entries(0.0, {"eps": np.float64(1.0)})
# Half the step of a central difference: for the least ε > 0, 1e-4, it is off by h²/2ε = 5e-9 of the slope.
H = 1e-6
X, Y = Row((1,), stage=0), Row((1,))
SLOPE = (Row((0.5, 0.5), stage=0), Row((1,), stage=2))


def numbers() -> tuple[np.ndarray, np.ndarray]:
    """Numbers x, first the DOTS even ones, then fine near 0; their order, with a gap at the jump."""
    fine = np.concatenate([np.geomspace(1e-4, 1, 120), np.linspace(1, REACH, 60)])
    x = np.concatenate([np.linspace(-REACH, REACH, DOTS), -fine, fine])
    order = np.argsort(x)
    return x[:, None], np.where(x[order] == 0, -1, order)


def build(choices: Choices) -> Recipe:
    x, order = numbers()
    others = {f: Pointwise(f) for f in FUNCTIONS if f in choices["others"].split(",")}
    maps = {"u_ε": Normalize(eps=EPS, groups=((0,),))} | others
    slopes = {"u_ε": Normalize(eps=EPS, groups=((0,), (1,)))} | others
    return Recipe(
        stages=("x", "normalised"),
        parameters=(Parameter("eps", "ε", 0.25, 1e-4, 10, scale="log", about="0: a jump from −1 to 1"),),
        clouds=(
            *(Cloud(f, x, Pipeline((step,))) for f, step in maps.items()),
            *(slope(f, x, step) for f, step in slopes.items()),
            Cloud("tangent", np.array([[-1.0], [1.0]]), place=tangent()),
            Cloud("tangent end", np.array([[1.0]]), place=tangent(), labels=["(√ε, 1)"]),
            Cloud("sphere", np.array([[-9.0, 1], [9, 1], [-9, -1], [9, -1]])),
        ),
        views=(curve_view(list(others), order), slope_view(list(others), order)),
        formula=r"u_\varepsilon(x) = \class{stage-1 role-sphere}{\frac{x}{\sqrt{x^2 + \varepsilon}}}",
        table=Table("u_ε", columns=("components",)),
        readouts=(
            Number("√ε, where the tangent reaches 1", "tangent", Row((1, 0)), 1),
            Number("slope at 0, measured from −10⁻⁶ to 10⁻⁶", "slope of u_ε", SLOPE[1], ZERO),
            Number("slope at the followed point", "slope of u_ε", SLOPE[1], "followed"),
        ),
        progress=1,
        follow=ZERO + 4,
    )


def slope(name: str, x: np.ndarray, step: Normalize | Pointwise) -> Cloud:
    """The slope at x by a central difference, (f(x + h) − f(x − h))/2h."""
    ends, difference = Affine([[1], [1]], [H, -H]), Affine([[0.5 / H, -0.5 / H]])
    return Cloud(f"slope of {name}", x, Pipeline((step, difference)), Pipeline((ends,)))


def tangent() -> Pipeline:
    """±1 ↦ ±(√ε, 1).

    A tiny h, normalised with radius ε, becomes ε·h/√(h² + ε): √ε·h in all digits, and 0 for ε = 0.
    """
    tiny = 1e-12
    root = Normalize(radius=EPS, eps=EPS, groups=((0,),))
    return Pipeline((Affine([[tiny], [1]]), root, Affine(np.diag([1 / tiny, 1]))))


def curve_view(others: list[str], order: np.ndarray) -> View:
    plane, pair = rows(np.eye(2)), np.array([0, 1, -1, 2, 3])
    layers = (
        Layer("sphere", "line", "sphere", plane, order=pair, size=3, dash="dash"),
        *(Layer(f, "line", f, (X, Y), FUNCTIONS[f], order=order, size=4) for f in others),
        Layer("u_ε", "line", "input", (X, Y), "x/√(x² + ε)", order=order, size=6),
        Layer("tangent", "line", "formula", plane, "tangent at 0, slope 1/√ε", size=4, fade=[0, 1]),
        Layer("tangent end", "points", "formula", plane, size=9, hollow=True, fade=[0, 1]),
        Layer("tangent end", "labels", "formula", (plane[0], Row((0, 1), offset=0.13)), fade=[0, 1]),
        Layer("u_ε", "points", "input", (X, Y), only=range(DOTS), size=9, pick=True),
        Layer("u_ε", "points", "followed", (X, Y), only="followed", size=13),
    )
    ranges = ((-REACH, REACH), (-1.4, 1.6))
    return View("curve", "The curve", layers, ranges, dims=2, axes=("x", "u<sub>ε</sub>(x)"), equal=False)


def slope_view(others: list[str], order: np.ndarray) -> View:
    layers = (
        *(Layer(f"slope of {f}", "line", f, SLOPE, order=order, size=4) for f in others),
        Layer("slope of u_ε", "line", "input", SLOPE, order=order, size=6),
        Layer("slope of u_ε", "points", "input", SLOPE, only=range(DOTS), size=9),
        Layer("slope of u_ε", "points", "followed", SLOPE, only="followed", size=13),
    )
    ranges = ((-REACH, REACH), (-0.2, 3.4))
    return View("slope", "Its slope", layers, ranges, dims=2, axes=("x", "slope"), equal=False)
