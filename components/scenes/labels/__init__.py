"""A network learns labels that were drawn at random: how many layers of three neurons separate the points?"""

from components.language.scene import Choice, Picked, Scene, Whole
from components.scenes.labels.build import DATA_FILES, DEPTHS, SETS, TRAINING, build
from components.scenes.trained import CURVE, SEEDS, results

TASK = ("data", "depth")

SCENE = Scene(
    __name__,
    build,
    order=220,
    choices=(
        Choice("data", "labels", "16", SETS),
        Whole("depth", "depth", 4, min(DEPTHS), max(DEPTHS), when=("data", ("8", "16", "32"))),
        Picked("seed", "seed shown", 0, 0, SEEDS - 1, TASK),
        CURVE,
        *results(*TASK),
    ),
    training=TRAINING,
    files=lambda choices: DATA_FILES,
)
