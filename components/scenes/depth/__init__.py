"""A stack of transformer blocks: how vectors grow with depth, and what a norm and its placement change."""

from components.language.scene import Choice, Scene, Whole
from components.scenes.depth.build import BELOW, DATA_FILES, MAX_DEPTH, NORM_LABELS, WIDTHS, build

SCENE = Scene(
    __name__,
    build,
    order=425,
    choices=(
        Choice("norm", "norm", "layer_norm", NORM_LABELS),
        Whole("blocks", "blocks", MAX_DEPTH, min=1, max=MAX_DEPTH),
        Choice("below", "lower curves", "turn", BELOW),
        Choice("width", "dimension in the curves", "64", WIDTHS),
    ),
    files=lambda choices: DATA_FILES,
)
