"""A context window slides over a text: how the vectors of its letters drift, with and without LayerNorm."""

from components.language.scene import Choice, Scene
from components.scenes.drift.build import BELOW, FORGETTING_LABELS, LAYERS, MODELS, WINDOWS, build, files

SCENE = Scene(
    __name__,
    build,
    order=450,
    choices=(
        Choice("model", "before attention", "language", MODELS),
        Choice("window", "window", "64", WINDOWS),
        Choice("kind", "as the window slides", "places", FORGETTING_LABELS),
        Choice("layer", "layer", "1", LAYERS),
        Choice("below", "curves", "distance", BELOW),
    ),
    files=files,
)
