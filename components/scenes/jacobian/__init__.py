"""The Jacobian of LayerNorm and RMSNorm: how it maps a small ball around x, and a gradient."""

from components.language.scene import Choice, Scene
from components.scenes.jacobian.build import build

PASS = Choice(
    "pass", "direction", "forward", {"forward": "forward: neighbours", "backward": "backward: a gradient"}
)
NORM = Choice("norm", "norm", "layernorm", {"layernorm": "LayerNorm", "rmsnorm": "RMSNorm"})
DIMENSIONS = Choice("d", "dimension", "3", {"3": "d = 3", "4": "d = 4"}, when=("norm", ("layernorm",)))

SCENE = Scene(__name__, build, order=300, choices=(PASS, NORM, DIMENSIONS))
