"""Stretch: u_ε(t·x, y) on the circle, and the activation curve that it makes."""

from components.scene import Choice, Scene
from components.scenes.stretch.build import build

POINTS = Choice("n", "Points", "120", {"24": "24", "120": "120", "600": "600"})

SCENE = Scene(__name__, build, order=11, choices=(POINTS,))
