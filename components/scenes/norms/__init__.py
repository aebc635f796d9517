"""One cloud through two norms: what each averages over, and where the points land."""

from components.language.scene import Choice, Scene, Whole
from components.scenes.norms.build import TITLES, build

SCENE = Scene(
    __name__,
    build,
    order=17,
    choices=(
        Choice("left", "Left", "layernorm", TITLES),
        Choice("right", "Right", "batchnorm", TITLES),
        Choice("d", "Dimension", "3", {"3": "d = 3", "4": "d = 4", "6": "d = 6"}),
        Whole("n", "How many", 400, min=3, max=5000, step=100),
        Whole("seed", "Seed", 1, min=0, max=9999),
    ),
)
