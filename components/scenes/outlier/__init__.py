"""One huge input coordinate: its effect on a norm's outputs, on gradients, and on rounding to 8 bits."""

from components.language.scene import Choice, Scene
from components.scenes.outlier.build import build, files

NORMS = {"layernorm": "LayerNorm", "rmsnorm": "RMSNorm", "smollm2": "RMSNorm, in SmolLM2"}
NORM = Choice("norm", "norm", "layernorm", NORMS)
DIMENSIONS = Choice("d", "dimension", "3", {"3": "d = 3", "4": "d = 4"}, when=("norm", ("layernorm",)))
OUTPUTS = {"exact": "exact", "bits": "rounded to 8 bits"}
OUTPUT = Choice("output", "output", "exact", OUTPUTS, when=("norm", ("layernorm", "rmsnorm")))

SCENE = Scene(__name__, build, order=302, choices=(NORM, DIMENSIONS, OUTPUT), files=files)
