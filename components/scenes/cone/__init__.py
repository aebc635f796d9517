"""Central projection: the points that the norm maps to a circle of the sphere, and the image of a line."""

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
