"""u_ε in one dimension: a curve, its slope, and its neighbours."""

from components.scene import Scene, Several
from components.scenes.activation.build import FUNCTIONS, build

SCENE = Scene(
    slug="activation",
    title="Normalising one number",
    lead="A number divided by its own size is a step from −1 to 1. The smaller ε, the steeper the step.",
    order=10,
    build=build,
    choices=(Several("others", "Beside it", "tanh", FUNCTIONS),),
)
