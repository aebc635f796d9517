"""The shuffle test: what it costs a language model to swap axes within attention heads and across them."""

from components.language.scene import Choice, Scene
from components.scenes.shuffle.build import DATA_FILES, LAYERS, MEASURES, build

SCENE = Scene(
    __name__,
    build,
    order=445,
    choices=(Choice("layer", "layer", "1", LAYERS), Choice("measure", "measure", "loss", MEASURES)),
    files=lambda choices: DATA_FILES,
)
