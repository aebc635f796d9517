"""Where the norm stands in a block: length, turn and gradient of a token on its way through 24 blocks."""

from components.language.scene import Choice, Scene
from components.scenes.placement.build import BELOW, DATA_FILES, LABELS, SIZES, build

SCENE = Scene(
    __name__,
    build,
    order=330,
    choices=(
        Choice("norm", "norm", "pre", LABELS),
        Choice("below", "lower curves", "turn", BELOW),
        Choice("qk", "QK-norm", "no", {"no": "no", "yes": "yes: queries and keys"}),
        Choice("size", "queries and keys", "1", SIZES),
    ),
    files=lambda choices: DATA_FILES,
)
