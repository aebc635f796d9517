"""The norm before the output layer W bounds the largest probability of the softmax.

Without the norm, a larger x gives larger logits. With it, they do not depend on the length of x, and a large
component of x that W maps to 0 makes all of them small.
"""

from components.language.scene import Scene
from components.scenes.confidence.build import build

SCENE = Scene(__name__, build, order=303, choices=())
