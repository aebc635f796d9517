"""Recipe of the scene `cone`: the norm as a central projection, for one of three questions.

cut      which points does a plane separate after the norm? (`cut.py`)
line     to which curves does the norm map a straight line and a bent line? (`lines.py`)
layers   how often do several layers, each with a norm, fold a circle? (`layers.py`)
"""

from components.language.recipe import Recipe
from components.language.scene import Choices
from components.scenes.cone.cut import cut
from components.scenes.cone.layers import layers
from components.scenes.cone.lines import lines
from components.scenes.cone.networks import Found


def build(choices: Choices, found: Found = ()) -> Recipe:
    if choices["what"] == "layers":
        return layers(found)
    return cut() if choices["what"] == "cut" else lines()
