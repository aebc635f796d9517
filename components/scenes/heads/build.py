"""The recipe of the scene `heads`: the axes of LayerNorm's sphere divided among heads."""

from components.language.recipe import Recipe
from components.language.scene import Choices
from components.scenes.heads.cut import cut

HEADS = {"2": "2, with two axes each", "4": "4, with one axis each"}
WINDOWS = {"box": "box", "triangle": "triangle", "sine": "sine"}


def build(choices: Choices) -> Recipe:
    return cut(int(choices["heads"]), choices["window"])
