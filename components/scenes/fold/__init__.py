"""Fold: u_ε(x + t, y) on the circle, the dip that it makes, and how fast the points move with t."""

from components.scene import Choice, Scene
from components.scenes.fold.build import build

SCENE = Scene(
    slug="fold",
    title="Shift, then normalise: the fold",
    lead="Moved off the origin, the circle folds: both its ends land on one side, like an absolute value.",
    order=12,
    build=build,
    choices=(
        Choice("map", "Before normalising", "fold", {"fold": "x + t", "both": "a·x + t"}),
        Choice("n", "Points", "120", {"24": "24", "120": "120", "600": "600"}),
    ),
)
