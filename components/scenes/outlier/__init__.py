"""One huge coordinate: what it does to all outputs of a norm, to gradients, and to 8-bit numbers."""

from components.language.scene import Choice, Scene
from components.scenes.outlier.build import build

NORM = Choice("norm", "norm", "layernorm", {"layernorm": "LayerNorm", "rmsnorm": "RMSNorm"})
DIMENSIONS = Choice("d", "dimensions", "3", {"3": "d = 3", "4": "d = 4"}, when=("norm", ("layernorm",)))
OUTPUT = Choice("output", "output", "exact", {"exact": "exact", "bits": "rounded to 8 bits"})

SCENE = Scene(__name__, build, order=302, choices=(NORM, DIMENSIONS, OUTPUT))
