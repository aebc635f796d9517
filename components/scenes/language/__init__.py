"""The attention keys of a small language model, one per letter, and the keys that no query can select."""

from components.language.scene import Choice, Scene, Sentence
from components.scenes.language.build import ARMS, LAYERS, OWN, SENTENCES, begin, build, files

OFFERED = {name: begin(text) for name, text in SENTENCES.items()} | {OWN: "My own sentence"}

SCENE = Scene(
    __name__,
    build,
    order=340,
    choices=(
        Choice("sentence", "sentence", "film", OFFERED),
        Sentence(OWN, "my sentence", "What does a key want?", when=("sentence", (OWN,))),
        Choice("layer", "layer", "1", {str(k + 1): f"layer {k + 1}" for k in LAYERS}),
        Choice("model", "before attention", "language", ARMS),
    ),
    files=files,
)
