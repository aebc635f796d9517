"""The first coordinate of u_ε(x, y) as a surface over the plane, and the slice of it above a curve.

u_ε(v) is v/√(‖v‖² + ε), for a vector v. Above an ellipse the slice is the activation curve of the scene
`stretch`; above a shifted circle, that of the scene `fold`.
"""

from components.language.scene import Choice, Scene
from components.scenes.surface.build import build

SLICES = {"fold": "a shifted circle", "stretch": "an ellipse", "line": "a straight line"}

SCENE = Scene(__name__, build, order=13, choices=(Choice("slice", "slice above", "fold", SLICES),))
