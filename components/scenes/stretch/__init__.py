"""The activation u_ε(t·x, y) on the unit circle, and the curve of the first coordinate after it.

u_ε(x) is x/√(‖x‖² + ε).
"""

from components.language.scene import Scene
from components.scenes.circle import POINTS
from components.scenes.stretch.build import build

SCENE = Scene(__name__, build, order=11, choices=(POINTS,))
