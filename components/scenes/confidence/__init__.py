"""The last norm as a thermostat: it sets a ceiling for confidence, and the null space of W cools it."""

from components.language.scene import Scene
from components.scenes.confidence.build import build

SCENE = Scene(__name__, build, order=303, choices=())
