"""A network of linear layers and norms learns classes of points in the plane, by folding the plane."""

from components.language.scene import Choice, Scene, Typed, Whole
from components.scenes.spiral.build import TRAINING, build
from components.scenes.trained import TRAINED, results, shape, shown

TURNS = {"0.5": "½", "1": "1", "1.5": "1½", "2": "2"}
SETS = {"spiral": "two spirals", "rings": "two rings", "blobs": "two blobs", "own": "my own points"}
EXAMPLE_POINTS = (
    "0, 0, a; 1, 1, a; 0.1, 0.9, b; 0.9, 0.1, b; 0.5, 0.4, a; 0.2, 0.5, b; 0.8, 0.6, b; 0.3, 0, a"
)

SCENE = Scene(
    __name__,
    build,
    order=200,
    choices=(
        Choice("data", "data", "spiral", SETS),
        Choice("turns", "turns", "1", TURNS, when=("data", ("spiral",))),
        Whole("n", "points", 200, 20, 400, 20, when=("data", ("spiral", "rings", "blobs")), folded=True),
        Typed("points", "points: x, y, label", EXAMPLE_POINTS, when=("data", ("own",))),
        *shape(depth=2),
        *shown(seed=8),
        *results("data", "turns", "n", "points", *TRAINED),
    ),
    training=TRAINING,
)
