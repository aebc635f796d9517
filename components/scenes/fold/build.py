"""Recipe of the scene `fold`: u_ε(x + t, y) on the unit circle, or with a stretch, u_ε(a·x + t, y).

The third view shows dx′/dt, where x′ is the first coordinate of a point after the map.
"""

import numpy as np

from components.language.cloud import Cloud, Row
from components.language.marks import Followed, Line
from components.language.recipe import Number, Parameter, Recipe, Residual, Table
from components.language.scene import Choices
from components.scenes import circle
from components.scenes.scenery import EPS, beads, graph
from geometry import Normalize, Pipeline
from geometry.differences import nudged, quotient

# The h of the central difference in t. Rounding to double precision leaves an error near
# 1e-16/h = 1e-11. Curvature leaves a relative error near (h/0.005)² = 4e-6 for the point that comes
# nearest to the origin (0.005 away, at t = 1).
HALF_STEP = 1e-5
SPEED = (Row((0, 0, 0, 0, 1), stage=0), Row((1,), stage=2))
STRETCH = Parameter("a", "a", 4, -5, 5, symbol="a", about="factor on x; below 0 it also mirrors")
SHIFT = Parameter("t", "t", 1.25, -3, 3, symbol="t", about="added to x; with a stretch, after it")


def build(choices: Choices) -> Recipe:
    count, both = int(choices["n"]), choices["map"] == "both"
    stretch, first, shape = ("a", "ax + t", "ellipse") if both else (None, "x + t", "shifted")
    image = f"the {'ellipse' if both else 'shifted circle'} ({first}, y)"
    speeds = (
        Line("speed", "trail", SPEED, order=circle.UPPER, size=3),
        *beads("speed", SPEED, **circle.dots(count)),
    )
    return Recipe(
        stages=("circle", shape, "normalised"),
        parameters=(STRETCH, SHIFT, circle.EPS_SLIDER) if both else (SHIFT, circle.EPS_SLIDER),
        clouds=(*circle.clouds(stretch, "t"), speed(stretch)),
        views=(
            circle.plane_view(count, image=image),
            circle.curve_view(count),
            graph("speed", "Speed when t moves", speeds, circle.X_BEFORE, ("dx′/dt", -0.2, 5)),
        ),
        formula=circle.formula(first),
        table=Table("points", columns=("components", "norm")),
        readouts=(
            Number("Speed of the red point when t moves", "speed", SPEED[1], Followed()),
            Residual("Largest distance to the closed form", "points", "closed form", coordinates=1),
        ),
        progress=2,
        follow=537,
    )


def speed(stretch: str | None) -> Cloud:
    """A cloud whose last stage is dx′/dt: how fast each point's x′ changes with the slider t.

    x′ is the point's first coordinate after the norm. The derivative is the central difference
    (x′(t + h) − x′(t − h))/2h. stretch: the parameter that multiplies x, or None.
    """
    place = Pipeline((*circle.ON_CIRCLE, nudged(circle.affine(stretch, "t"), HALF_STEP)))
    steps = (Normalize(eps=EPS, groups=((0, 1), (2, 3))), quotient(2, HALF_STEP))
    return Cloud("speed", np.stack([circle.angles()] * 2, -1), Pipeline(steps), place)
