from components.scene import Scene, Whole
from components.scenes.octants.build import TRAINING, build
from components.trained import MIDDLE, SHOWN, TRAINED, results

SCENE = Scene(
    "octants",
    "A sphere cut in eight",
    "Neighbouring eighths of a sphere are opposite classes; layer by layer, a network folds them apart.",
    choices=(
        Whole("n", "points", 400, 40, 400, 40),
        MIDDLE,
        Whole("width", "width", 3, 2, 8),
        Whole("depth", "depth", 4, 1, 6),
        *SHOWN,
        *results("n", *TRAINED),
    ),
    build=build,
    order=210,
    training=TRAINING,
)
