"""A pre-LN transformer block: the residual stream, and the attention and feed-forward updates added to it."""

from components.language.scene import Choice, Scene, Sentence, Whole
from components.scenes.block.build import HEADS, LAYERS, TEXT, WEIGHT_LABELS, build, files

SCENE = Scene(
    __name__,
    build,
    order=420,
    choices=(
        Choice("weights", "weights", "drawn", WEIGHT_LABELS),
        Choice("heads", "heads", "1", HEADS, when=("weights", ("drawn",))),
        Whole("n", "tokens", 6, min=4, max=8, when=("weights", ("drawn",)), folded=True),
        Whole("seed", "seed", 1, min=0, max=9999, when=("weights", ("drawn",)), folded=True),
        Choice("layer", "layer", "1", LAYERS, when=("weights", ("trained",)), folded=True),
        Sentence("text", "4 to 8 characters", TEXT, longest=8, when=("weights", ("trained",))),
    ),
    files=files,
)
