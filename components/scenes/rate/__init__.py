"""A weight before a norm: its gradient is orthogonal to it, so steps lengthen it, and decay balances this."""

from components.language.scene import Choice, Scene
from components.scenes.rate.build import build

OPTIMISER = Choice("optimiser", "optimiser", "sgd", {"sgd": "gradient descent", "adam": "Adam"})

SCENE = Scene(__name__, build, order=301, choices=(OPTIMISER,))
