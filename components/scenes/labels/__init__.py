from components.scene import Choice, Scene, Whole
from components.scenes.labels.build import SETS, build
from components.trained import CURVE

SCENE = Scene(
    "labels",
    "Any labels at all",
    "Points with labels drawn by lot: how many layers of three neurons does it take to part them?",
    choices=(
        Choice("data", "labels", "16", SETS),
        Whole("depth", "depth", 4, 1, 6, when=("data", ("8", "16", "32"))),
        CURVE,
    ),
    build=build,
    order=220,
)
