"""LayerNorm is folded into the linear layers beside it, step by step, until RMSNorm without gain is left."""

from components.language.scene import Choice, Scene, Whole
from components.scenes.absorb.build import DATA_FILES, LAYERS, WEIGHT_LABELS, build

SCENE = Scene(
    __name__,
    build,
    order=470,
    choices=(
        Choice("weights", "weights", "drawn", WEIGHT_LABELS),
        Whole("seed", "seed", 1, min=0, max=9999, when=("weights", ("drawn",)), folded=True),
        Choice("layer", "layer", "1", LAYERS, when=("weights", ("trained",))),
    ),
    files=lambda choices: DATA_FILES,
)
