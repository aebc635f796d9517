"""Central projection by a norm: the cone that it maps to a circle of the sphere, and images of lines."""

from components.language.scene import Choice, Scene
from components.scenes.cone.build import build
from components.scenes.cone.networks import files

SHOWN = {
    "cut": "a plane after the norm",
    "line": "lines before the norm",
    "layers": "norms in a row on one circle",
}
WHAT = Choice("what", "show", "cut", SHOWN)

SCENE = Scene(__name__, build, order=320, choices=(WHAT,), files=files)
