"""Stretch: u_ε(t·x, y) on the circle, and the activation curve that it makes."""

from components.scene import Choice, Scene
from components.scenes.stretch.build import build

SCENE = Scene(
    slug="stretch",
    title="Stretch, then normalise",
    lead="Points on a circle bunch up left and right: their x goes through a curve like a sigmoid.",
    order=11,
    build=build,
    choices=(Choice("n", "Points", "120", {"24": "24", "120": "120", "600": "600"}),),
)
