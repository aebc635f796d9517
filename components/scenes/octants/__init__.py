"""A network learns the eight octants of a sphere, in two classes, and folds them apart layer by layer."""

from components.language.scene import Choice, Scene, Typed, Whole
from components.scenes.octants.build import TRAINING, build
from components.scenes.trained import TRAINED, results, shape, shown

SETS = {"octants": "a sphere in eight", "own": "my own points"}
EXAMPLE_POINTS = (
    "0, 0, 0, a; 0.3, 0.1, 0.2, a; -0.2, 0.3, -0.1, a; 0.1, -0.3, -0.2, a; "
    "1, 0, 0, b; -1, 0, 0, b; 0, 1, 0, b; 0, -1, 0, b; 0, 0, 1, b; 0, 0, -1, b"
)

SCENE = Scene(
    __name__,
    build,
    order=210,
    choices=(
        Choice("data", "data", "octants", SETS),
        Whole("n", "points", 400, 40, 400, 40, when=("data", ("octants",)), folded=True),
        Typed("points", "points: x, y, z, label", EXAMPLE_POINTS, when=("data", ("own",))),
        *shape(depth=4),
        *shown(seed=20),
        *results("data", "n", "points", *TRAINED),
    ),
    training=TRAINING,
)
