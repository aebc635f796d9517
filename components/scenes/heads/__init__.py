"""Attention heads divide the axes: each head's part of LayerNorm's sphere, and the cost of shuffling axes."""

from components.language.scene import Choice, Scene
from components.scenes.heads.build import DATA_FILES, HEADS, LAYERS, MEASURES, PICTURES, WINDOWS, build

CUT, TEST = ("picture", ("cut",)), ("picture", ("test",))

SCENE = Scene(
    __name__,
    build,
    order=440,
    choices=(
        Choice("picture", "picture", "cut", PICTURES),
        Choice("heads", "heads", "2", HEADS, when=CUT),
        Choice("window", "window of a head", "sine", WINDOWS, when=CUT),
        Choice("layer", "layer", "1", LAYERS, when=TEST),
        Choice("measure", "measure", "loss", MEASURES, when=TEST),
    ),
    files=lambda choices: DATA_FILES,
)
