"""The recipe of the fold: (x, y) ↦ u_ε(x + t, y) on the unit circle, or with a stretch, u_ε(a·x + t, y).

Third view: how fast the result moves when t does, by a central difference.
"""

from __future__ import annotations

import numpy as np

from components.circle import (
    EPS,
    EPS_SLIDER,
    ON_CIRCLE,
    UPPER,
    angles,
    circle,
    circle_view,
    curve_view,
    dot,
    drawn,
)
from components.recipe import Cloud, Color, Layer, Number, Parameter, Recipe, Residual, Row, Table, View
from components.scene import Choices
from geometry import Affine, Entries, Normalize, Pipeline

# Half the step in t. Double precision leaves an error near 1e-16/h = 1e-11; the curvature, for the point
# nearest to the origin, at t = 1 and 0.005 away, one near (h/0.005)² = 4e-6 of the speed.
H = 1e-5
SPEED = (Row((0, 0, 0, 0, 1), stage=0), Row((1,), stage=2))


def build(choices: Choices) -> Recipe:
    count, both = int(choices["n"]), choices["map"] == "both"
    stretch, first = ("a", "ax + t") if both else (None, "x + t")
    image = f"the {'ellipse' if both else 'shifted circle'} ({first}, y)"
    factor = Parameter("a", "a", 4, -5, 5, 0.01, about="how far the circle is stretched along x")
    shift = Parameter("t", "t", 1.25, -3, 3, 0.01, about="how far it is then shifted along x")
    moved, root = (
        rf"\class{{stage-1 role-ellipsoid}}{{{first}}}",
        rf"\sqrt{{({first})^2 + y^2 + \varepsilon}}",
    )
    fraction = rf"\frac{{({moved},\, y)}}{{{root}}}"
    return Recipe(
        stages=("circle", "ellipse" if both else "shifted", "normalised"),
        parameters=(*((factor,) if both else ()), shift, EPS_SLIDER),
        clouds=(*circle(stretch, "t"), speed(stretch)),
        views=(
            circle_view(count, "", image=image, reach=3.15),
            curve_view(count),
            speed_view(count),
        ),
        formula=rf"u_\varepsilon({first}, y) = \class{{stage-2 role-sphere}}{{{fraction}}}",
        table=Table("points", columns=("components", "norm")),
        readouts=(
            Residual("Largest distance to the closed form", "points", "closed form", coordinates=1),
            Number("Speed dx/dt of the followed point", "speed", SPEED[1], "followed"),
        ),
        progress=2,
        follow=537,
    )


def speed(stretch: str | None) -> Cloud:
    """(first coordinate at t + h, less that at t − h)/2h, from (a·x + t + h, y, a·x + t − h, y, x)."""
    first, rest = np.outer([1, 0, 1, 0, 0], [1, 0]), np.array([[0, 0], [0, 1], [0, 0], [0, 1], [1, 0]])
    A = Entries(rest, {stretch: first}) if stretch else Entries(rest + first)
    b = Entries([H, 0, -H, 0, 0], {"t": [1, 0, 1, 0, 0]})
    difference = Affine(np.array([[1, 0, -1, 0, 0]]) / (2 * H))
    steps = (Normalize(eps=EPS, groups=((0, 1), (2, 3))), difference)
    return Cloud("speed", np.stack([angles()] * 2, -1), Pipeline(steps), Pipeline((*ON_CIRCLE, Affine(A, b))))


def speed_view(count: int) -> View:
    began = Color("cyclic", -np.pi, np.pi, values=angles())
    layers = (
        Layer("speed", "line", "trail", SPEED, order=UPPER, size=3),
        Layer("speed", "points", "input", SPEED, only=drawn(count), color=began, size=dot(count)),
        Layer("speed", "points", "followed", SPEED, only="followed", size=12),
    )
    ranges, axes = ((-1.2, 1.2), (-0.2, 5)), ("x before", "dx/dt")
    return View("speed", "Speed when t moves", layers, ranges, dims=2, axes=axes, equal=False)
