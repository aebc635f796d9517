"""The norm before the output layer W bounds the largest probability of the softmax.

Without the norm, a larger x gives larger logits. With the norm, the logits do not depend on the length of x.
They are all small if x has a large component that W maps to 0.
"""

from components.language.scene import Scene
from components.scenes.confidence.build import build

SCENE = Scene(__name__, build, order=303, choices=())
