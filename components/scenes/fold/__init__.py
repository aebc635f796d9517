"""Fold: u_ε(x + t, y) on the unit circle, its activation curve with a dip, and the points' speed in t."""

from components.language.scene import Choice, Scene
from components.scenes.circle import POINTS
from components.scenes.fold.build import build

MAP = Choice("map", "before normalising", "fold", {"fold": "x + t", "both": "a·x + t"})

SCENE = Scene(__name__, build, order=12, choices=(MAP, POINTS))
