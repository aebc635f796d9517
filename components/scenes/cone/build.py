"""Recipe of the scene `cone`: the norm as a central projection, for one of two questions.

cut      which points does a plane separate after the norm? (`cut.py`)
line     to which curves does the norm map a straight line and a bent line? (`lines.py`)
"""

from components.language.recipe import Recipe
from components.language.scene import Choices
from components.scenes.cone.cut import cut
from components.scenes.cone.lines import lines


def build(choices: Choices) -> Recipe:
    return cut() if choices["what"] == "cut" else lines()
