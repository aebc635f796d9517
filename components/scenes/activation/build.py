"""The recipe of u_ε in one dimension, x ↦ x/√(x² + ε): the curve and its slope, beside other functions."""

import numpy as np

from components.recipe import Cloud, Layer, Number, Parameter, Recipe, Row, Table, rows
from components.scene import Choices
from components.scenery import EPS, followed, graph, rooted
from geometry import Affine, Normalize, Pipeline, Pointwise, clouds

FUNCTIONS = {"tanh": "tanh", "sigmoid": "sigmoid", "erf": "erf", "relu": "ReLU", "gelu": "GELU"}
REACH, DOTS = 4, range(33)
ZERO = len(DOTS) // 2
X, ORDER = clouds.numbers(REACH, len(DOTS))
# Half the step of a central difference: for the least ε > 0, 1e-4, it is off by h²/2ε = 5e-9 of the slope.
H = 1e-6
CURVE = (Row((1,), stage=0), Row((1,)))
SLOPE = (Row((0.5, 0.5), stage=0), Row((1,), stage=2))
PLANE, BESIDE = rows(np.eye(2)), (Row((1, 0)), Row((0, 1), offset=0.13))


def build(choices: Choices) -> Recipe:
    others = {f: Pointwise(f) for f in FUNCTIONS if f in choices["others"].split(",")}
    maps = {"u_ε": Normalize(eps=EPS, groups=((0,),))} | others
    slopes = {"u_ε": Normalize(eps=EPS, groups=((0,), (1,)))} | others
    bounds, root = np.array([[-9.0, 1], [9, 1], [-9, -1], [9, -1]]), Pipeline(rooted("eps"))
    layers = (
        Layer("sphere", "line", "sphere", PLANE, order=np.array([0, 1, -1, 2, 3]), size=3, dash="dash"),
        *(Layer(f, "line", f, CURVE, FUNCTIONS[f], order=ORDER, size=4) for f in others),
        Layer("u_ε", "line", "input", CURVE, "x/√(x² + ε)", order=ORDER, size=6),
        Layer("tangent", "line", "formula", PLANE, "tangent at 0, slope 1/√ε", size=4, fade=[0, 1]),
        Layer("tangent end", "points", "formula", PLANE, size=9, hollow=True, fade=[0, 1]),
        Layer("tangent end", "labels", "formula", BESIDE, fade=[0, 1]),
        Layer("u_ε", "points", "input", CURVE, only=DOTS, size=9, pick=True),
        *followed("u_ε", CURVE, size=13, trail=0),
    )
    slope_layers = (
        *(Layer(f"slope of {f}", "line", f, SLOPE, order=ORDER, size=4) for f in others),
        Layer("slope of u_ε", "line", "input", SLOPE, order=ORDER, size=6),
        Layer("slope of u_ε", "points", "input", SLOPE, only=DOTS, size=9),
        *followed("slope of u_ε", SLOPE, size=13, trail=0),
    )
    x, y, slope_axis = ("x", -REACH, REACH), ("u<sub>ε</sub>(x)", -1.4, 1.6), ("slope", -0.2, 3.4)
    return Recipe(
        stages=("x", "normalised"),
        parameters=(Parameter("eps", "ε", 0.25, 1e-4, 10, scale="log", about="0: a jump from −1 to 1"),),
        clouds=(
            *(Cloud(f, X, Pipeline((step,))) for f, step in maps.items()),
            *(slope(f, step) for f, step in slopes.items()),
            Cloud("tangent", np.array([[-1.0], [1.0]]), place=root),
            Cloud("tangent end", np.array([[1.0]]), place=root, labels=["(√ε, 1)"]),
            Cloud("sphere", bounds),
        ),
        views=(
            graph("curve", "The curve", layers, x, y),
            graph("slope", "Its slope", slope_layers, x, slope_axis),
        ),
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


def slope(name: str, step: Normalize | Pointwise) -> Cloud:
    """The slope by a central difference, (f(x + h) − f(x − h))/2h."""
    ends, difference = Affine([[1], [1]], [H, -H]), Affine([[0.5 / H, -0.5 / H]])
    return Cloud(f"slope of {name}", X, Pipeline((step, difference)), Pipeline((ends,)))
