"""Stretch: u_ε(t·x, y) on the circle, and the activation curve that it makes."""

from components.language.scene import Scene
from components.scenes.circle import POINTS
from components.scenes.stretch.build import build

SCENE = Scene(__name__, build, order=11, choices=(POINTS,))
