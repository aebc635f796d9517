"""Attention heads divide the axes: each head's part of LayerNorm's sphere, and the scores it gives."""

from components.language.scene import Choice, Scene
from components.scenes.heads.build import HEADS, WINDOWS, build

SCENE = Scene(
    __name__,
    build,
    order=440,
    choices=(Choice("heads", "heads", "2", HEADS), Choice("window", "window of a head", "sine", WINDOWS)),
    moved={
        ("picture", "test"): "shuffle",
        **{("tour", stop): "shuffle" for stop in "678"},
        ("picture", "cut"): "heads",
        **{("layer", layer): "heads" for layer in "12"},
        **{("measure", measure): "heads" for measure in ("loss", "guesses")},
    },
)
