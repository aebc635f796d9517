"""Blocks in a row: what a norm bounds on the way through them, and what it does not."""

from components.language.scene import Choice, Scene, Whole
from components.scenes.depth.build import BELOW, FILES, KINDS, MOST, WIDTHS, build

SCENE = Scene(
    __name__,
    build,
    order=425,
    choices=(
        Choice("norm", "Norm", "layer_norm", KINDS),
        Whole("blocks", "Blocks", MOST, min=1, max=MOST),
        Choice("below", "Below", "turn", BELOW),
        Choice("width", "Curves of tokens with", "64", WIDTHS),
    ),
    files=lambda choices: FILES,
)
