"""The activation surface: every curve of stretch, fold and a straight line is a slice of it."""

from components.scene import Choice, Scene
from components.scenes.surface.build import build

SCENE = Scene(
    slug="surface",
    title="One surface, every activation curve",
    lead="Stretch, fold and the sigmoid are three curves. All three are slices of one surface.",
    order=13,
    build=build,
    choices=(
        Choice(
            "slice",
            "Slice above",
            "fold",
            {"fold": "a shifted circle", "stretch": "an ellipse", "line": "a straight line"},
        ),
    ),
)
