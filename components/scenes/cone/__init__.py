"""Central projection: what a plane's cut through the sphere, and a line, are before the norm."""

from components.language.scene import Choice, Scene
from components.scenes.cone.build import build

WHAT = Choice("what", "show", "cut", {"cut": "a plane behind the norm", "line": "lines before the norm"})

SCENE = Scene(__name__, build, order=320, choices=(WHAT,))
