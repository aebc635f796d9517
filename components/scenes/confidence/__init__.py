"""The norm before the output layer W bounds the largest probability of the softmax.

Without the norm, a larger x gives larger logits. With it, adding a vector that W maps to 0 shrinks them all.
"""

from components.language.scene import Scene
from components.scenes.confidence.build import build

SCENE = Scene(__name__, build, order=303, choices=())
