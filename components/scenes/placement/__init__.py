"""Pre-LN, post-LN, peri-LN and nGPT compared: a token's path through 24 blocks, and its gradient."""

from components.language.scene import Choice, Scene
from components.scenes.placement.build import BELOW, DATA_FILES, DRAWS, LABELS, SIZES, build

SCENE = Scene(
    __name__,
    build,
    order=330,
    choices=(
        Choice("norm", "norm", "pre", LABELS),
        Choice("below", "curves", "turn", BELOW),
        Choice("qk", "QK-norm", "no", {"no": "no", "yes": "yes: queries and keys"}),
        Choice("size", "queries and keys", "1", SIZES),
        Choice("draw", "seed", "1", DRAWS, folded=True),
    ),
    files=lambda choices: DATA_FILES,
)
