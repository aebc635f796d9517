"""Central projection by a norm: the cone that it maps to a circle of the sphere, and images of lines."""

from components.language.scene import Choice, Scene
from components.scenes.cone.build import build

SHOWN = {"cut": "a plane after the norm", "line": "lines before the norm"}
WHAT = Choice("what", "show", "cut", SHOWN)

SCENE = Scene(
    __name__,
    build,
    order=320,
    choices=(WHAT,),
    moved={("what", "layers"): "strands", ("tour", "7"): "strands", ("tour", "8"): "strands"},
)
