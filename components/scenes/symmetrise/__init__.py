"""A learned LayerNorm: a ring of heads, trained to imitate it, is applied to vectors again and again."""

from components.language.scene import Choice, Scene
from components.scenes.symmetrise.build import HEADS, ITERATIONS, VECTORS, build, files

SCENE = Scene(
    __name__,
    build,
    order=460,
    choices=(
        Choice("iterations", "iterations", "4", {str(k): f"{k}" for k in ITERATIONS}),
        Choice("heads", "heads", "4", {str(h): f"{h}" for h in HEADS}),
        Choice("vectors", "tested on", "gaussian", VECTORS),
    ),
    files=files,
)
