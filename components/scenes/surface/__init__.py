"""The activation surface: the curves of stretch, fold and a straight line are slices of it."""

from components.language.scene import Choice, Scene
from components.scenes.surface.build import build

SLICES = {"fold": "a shifted circle", "stretch": "an ellipse", "line": "a straight line"}

SCENE = Scene(__name__, build, order=13, choices=(Choice("slice", "slice above", "fold", SLICES),))
