"""Recipe of the scene `stretch`: (x, y) ↦ u_ε(t·x, y) on the unit circle."""

from components.language.cloud import Row
from components.language.marks import Followed
from components.language.recipe import Number, Parameter, Recipe, Residual, Table
from components.language.scene import Choices
from components.scenes import circle


def build(choices: Choices) -> Recipe:
    count = int(choices["n"])
    t = Parameter("t", "t", 3, -5, 5, 0.01, symbol="t", about="factor on x; below 0 it also mirrors")
    return Recipe(
        stages=("circle", "ellipse", "normalised"),
        parameters=(t, circle.EPS_SLIDER),
        clouds=circle.clouds("t", None),
        views=(circle.plane_view(count, image="the ellipse (tx, y)"), circle.curve_view(count)),
        formula=circle.formula("tx"),
        table=Table("points", columns=("components", "norm")),
        readouts=(
            Number("x of the red point", "points", Row((1, 0)), Followed()),
            Residual("Largest distance to the closed form", "points", "closed form", coordinates=1),
        ),
        progress=2,
        follow=412,
    )
