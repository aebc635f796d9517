"""Dot products of random vectors: their size, their angles, and the softmax weights they give."""

from components.language.scene import Choice, Scene
from components.scenes.scores.build import DIMENSIONS, HEADS, SHARED, SHOW, build

SCENE = Scene(
    __name__,
    build,
    order=410,
    choices=(
        Choice("show", "show", "scores", SHOW),
        Choice("d", "dimension dₖ", "64", {str(d): str(d) for d in DIMENSIONS}),
        Choice("shared", "common number", "across", SHARED, when=("show", ("scores",))),
        Choice("heads", "heads", "1", HEADS, when=("show", ("angles",))),
    ),
)
