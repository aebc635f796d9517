"""The activation u_ε(t·x, y) on the unit circle, and the curve of the first coordinate after it.

u_ε(v) is v/√(‖v‖² + ε), for a vector v.
"""

from components.language.scene import Scene
from components.scenes.circle import POINTS
from components.scenes.stretch.build import build

SCENE = Scene(__name__, build, order=11, choices=(POINTS,))
