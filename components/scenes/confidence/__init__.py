"""The last norm bounds the largest probability; moving x in the null space of W scales all logits alike."""

from components.language.scene import Scene
from components.scenes.confidence.build import build

SCENE = Scene(__name__, build, order=303, choices=())
