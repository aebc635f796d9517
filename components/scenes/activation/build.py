"""Recipe of the scene `activation`: the curve u_ε(x) = x/√(x² + ε) and its slope, beside other functions."""

import numpy as np

from components.language.cloud import Row, rows
from components.language.marks import Follow, Followed, Labels, Line, Points
from components.language.recipe import Number, Parameter, Recipe, Table
from components.language.scene import Choices
from components.scenes.scenery import EPS, Look, Part, beads, draw, graph, rooted, split
from geometry import Affine, Normalize, Pointwise, clouds
from geometry.differences import nudged, quotient

FUNCTIONS = {"tanh": "tanh", "sigmoid": "sigmoid", "erf": "erf", "relu": "ReLU", "gelu": "GELU"}
DASHES = dict(zip(FUNCTIONS, ("dash", "dot", "dashdot", "longdash", "longdashdot"), strict=True))
ROLES = {f: f"series-{k}" for k, f in enumerate(FUNCTIONS, 1)}
REACH, DOT_INDICES = 4, range(33)
ZERO_INDEX = len(DOT_INDICES) // 2
NUMBERS = clouds.numbers(REACH, len(DOT_INDICES))
# Half the step of a central difference: for the least ε > 0, 1e-4, it is off by h²/2ε = 5e-9 of the slope.
HALF_STEP = 1e-6
NORMALISE_EACH = Normalize(eps=EPS, groups=((0,), (1,)))
CURVE = (Row((1,), stage=0), Row((1,)))
SLOPE = (Row((0, 0, 1), stage=0), Row((1,), stage=2))
PLANE, LABEL_ROWS = rows(np.eye(2)), (Row((1, 0)), Row((0, 1), offset=0.2))
BOUND_LINES = np.array([[-9.0, 1], [9, 1], [-9, -1], [9, -1]]), np.array([0, 1, -1, 2, 3])
SLIDER = Parameter("eps", "ε", 0.25, 1e-4, 10, scale="log", symbol="ε", about="0: a jump from −1 to 1")


def build(choices: Choices) -> Recipe:
    others = {f: Pointwise(f) for f in FUNCTIONS if f in choices["others"].split(",")}
    (curves, curve_layers), (slopes, slope_layers) = split(*curve(others)), split(*slope(others))
    x, y, steepness = ("x", -REACH, REACH), ("u<sub>ε</sub>(x)", -1.4, 1.6), ("slope", -0.2, 3.4)
    return Recipe(
        stages=("x", "normalised"),
        parameters=(SLIDER,),
        clouds=(*curves, *slopes),
        views=(
            graph("curve", "The curve", curve_layers, x, y),
            graph("slope", "Its slope", slope_layers, x, steepness),
        ),
        formula=r"u_\varepsilon(x) = \class{stage-1 role-sphere}{\frac{x}{\sqrt{x^2 + \varepsilon}}}",
        table=Table("u_ε", columns=("components",)),
        readouts=(
            Number("Slope at the red point, after normalising", "slope of u_ε", SLOPE[1], Followed()),
            Number("√ε, where the tangent reaches 1", "tangent", Row((1, 0)), 1),
            Number("Slope at 0, measured from −10⁻⁶ to 10⁻⁶", "slope of u_ε", SLOPE[1], ZERO_INDEX),
        ),
        progress=1,
        follow=ZERO_INDEX + 4,
    )


def curve(others: dict[str, Pointwise]) -> list[Part]:
    """Clouds and marks of the curves of u_ε and of the functions `others`.

    They include dashed lines at ±1, and the tangent of u_ε at 0, drawn from (−√ε, −1) to (√ε, 1).
    """
    ends, late = np.array([[-1.0], [1]]), Look(place=rooted("eps"), fade=[0, 1])
    text, label = "tangent at 0, slope 1/√ε", ["(√ε, 1)"]
    return [
        draw("sphere", Line, "sphere", PLANE, BOUND_LINES, size=3, dash="dash"),
        *(
            draw(f, Line, ROLES[f], CURVE, NUMBERS, FUNCTIONS[f], steps=(g,), size=4, dash=DASHES[f])
            for f, g in others.items()
        ),
        draw(
            "u_ε", Line, "input", CURVE, NUMBERS, "x, then x/√(x² + ε)", steps=(Normalize(eps=EPS),), size=6
        ),
        draw("tangent", Line, "formula", PLANE, ends, text, size=4, **late),
        draw("tangent end", Points, "formula", PLANE, ends[1:], labels=label, size=9, glyph="ring", **late),
        (Labels("tangent end", "formula", LABEL_ROWS, fade=[0, 1]),),
        beads("u_ε", CURVE, only=DOT_INDICES, size=9, hand=Follow(), mark=13),
    ]


def slope(others: dict[str, Pointwise]) -> list[Part]:
    """Clouds and marks of the slopes of u_ε and `others`, as central differences (f(x + h) − f(x − h))/2h."""
    place, last = (nudged(Affine([[1]]), HALF_STEP),), quotient(1, HALF_STEP)

    def line(f: str, role: str, g: Normalize | Pointwise, size: float) -> Part:
        look = Look(size=size, dash=DASHES.get(f, "solid"))
        return draw(f"slope of {f}", Line, role, SLOPE, NUMBERS, place=place, steps=(g, last), **look)

    dots = beads("slope of u_ε", SLOPE, only=DOT_INDICES, size=9, mark=13)
    return [
        *(line(f, ROLES[f], g, 4) for f, g in others.items()),
        line("u_ε", "input", NORMALISE_EACH, 6),
        dots,
    ]
