"""The activation u_ε(x + t, y) on the unit circle: a curve with a dip, and the points' speed as t changes.

u_ε(v) is v/√(‖v‖² + ε), for a vector v.
"""

from components.language.scene import Choice, Scene
from components.scenes.circle import POINTS
from components.scenes.fold.build import build

MAP = Choice("map", "before normalising", "fold", {"fold": "x + t", "both": "a·x + t"})

SCENE = Scene(__name__, build, order=12, choices=(MAP, POINTS))
