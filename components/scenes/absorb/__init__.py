"""LayerNorm taken into its neighbours, step by step, until RMSNorm without a gain is left."""

from components.language.scene import Choice, Scene, Whole
from components.scenes.absorb.build import FILES, FROM, LAYERS, build

SCENE = Scene(
    __name__,
    build,
    order=470,
    choices=(
        Choice("weights", "Weights", "drawn", FROM),
        Whole("seed", "Seed", 1, min=0, max=9999, when=("weights", ("drawn",))),
        Choice("layer", "Layer", "1", LAYERS, when=("weights", ("trained",))),
    ),
    files=lambda choices: FILES,
)
