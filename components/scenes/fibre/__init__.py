"""The fibres of LayerNorm: it maps a plane of vectors, except one line, to two points of its sphere."""

from components.language.scene import Choice, Scene
from components.scenes.fibre.build import build

SHOW = Choice("show", "show", "fibre", {"fibre": "a fibre", "axes": "the matrix Π"})

SCENE = Scene(__name__, build, order=16, choices=(SHOW,))
