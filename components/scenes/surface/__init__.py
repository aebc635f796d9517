"""The first coordinate of u_ε(x, y) as a surface over the plane, and the slice of it above a curve.

u_ε(x) is x/√(‖x‖² + ε). Above an ellipse or a shifted circle, the slice is the activation curve of the scene
stretch or fold.
"""

from components.language.scene import Choice, Scene
from components.scenes.surface.build import build

SLICES = {"fold": "a shifted circle", "stretch": "an ellipse", "line": "a straight line"}

SCENE = Scene(__name__, build, order=13, choices=(Choice("slice", "slice above", "fold", SLICES),))
