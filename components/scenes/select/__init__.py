"""Keys that a query can or cannot select: the convex hull, a proof for each key, the effect of LayerNorm."""

from components.language.scene import Choice, Scene, Typed, Whole
from components.scenes.select.build import COLORS, KEYS, NORMS, OWN_KEYS_EXAMPLE, build

SCENE = Scene(
    __name__,
    build,
    order=18,
    choices=(
        Choice("keys", "keys", "gaussian", KEYS),
        Typed("vectors", "my keys, one per line", OWN_KEYS_EXAMPLE, when=("keys", ("own",))),
        Whole("n", "number of keys", 50, min=3, max=200, step=10, when=("keys", ("gaussian", "ring"))),
        Choice("d", "dimension", "3", {"2": "d = 2", "3": "d = 3", "4": "d = 4"}),
        Whole("seed", "seed", 1, min=0, max=9999, when=("keys", ("gaussian",)), folded=True),
        Choice("norm", "norm", "layernorm", NORMS),
        Choice("color", "colour shows", "largest", COLORS, folded=True),
    ),
)
