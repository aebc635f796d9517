"""One set of points goes through two norms: which numbers each norm averages, and where the points land."""

from components.language.scene import Choice, Scene, Whole
from components.scenes.norms.build import THIRD_VIEWS, TITLES, build

SCENE = Scene(
    __name__,
    build,
    order=17,
    choices=(
        Choice("left", "left", "layernorm", TITLES),
        Choice("right", "right", "batchnorm", TITLES),
        Choice("d", "dimension", "3", {"3": "d = 3", "4": "d = 4", "6": "d = 6"}),
        Choice("below", "third picture", "groups", THIRD_VIEWS, folded=True),
        Whole("n", "number of points", 400, min=3, max=5000, step=100, folded=True),
        Whole("seed", "seed", 1, min=0, max=9999, folded=True),
    ),
)
