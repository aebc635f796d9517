"""The feed-forward network: which points on the circle or sphere of a norm share their image under ReLU."""

from components.language.scene import Choice, Scene, Whole
from components.scenes.ffn.build import BY_HAND, FUNCTIONS, NORMS, SEEDS, WEIGHTS, build, files

OTHERS = tuple(name for name in WEIGHTS if name not in BY_HAND)

SCENE = Scene(
    __name__,
    build,
    order=430,
    choices=(
        Choice("norm", "norm", "layer_norm", NORMS),
        Choice("weights", "weights", "hand", WEIGHTS),
        Choice("function", "function", "relu", FUNCTIONS),
        Whole("expansion", "expansion factor (neurons ÷ 3)", 1, 1, 4, when=("weights", OTHERS), folded=True),
        Whole("seed", "seed", 0, 0, SEEDS - 1, when=("weights", OTHERS), folded=True),
    ),
    files=files,
)
