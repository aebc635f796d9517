"""Stretch: u_ε(t·x, y) on the unit circle, and its activation curve: final x against initial x."""

from components.language.scene import Scene
from components.scenes.circle import POINTS
from components.scenes.stretch.build import build

SCENE = Scene(__name__, build, order=11, choices=(POINTS,))
