"""Blocks in a row: what a norm bounds on the way through them, and what it does not."""

from components.language.scene import Choice, Scene, Whole
from components.scenes.depth.build import BELOW, FILES, KINDS, MOST, WIDTHS, build

SCENE = Scene(
    __name__,
    build,
    order=425,
    choices=(
        Choice("norm", "norm", "layer_norm", KINDS),
        Whole("blocks", "blocks", MOST, min=1, max=MOST),
        Choice("below", "below", "turn", BELOW),
        Choice("width", "curves of tokens with", "64", WIDTHS),
    ),
    files=lambda choices: FILES,
)
