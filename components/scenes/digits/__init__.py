"""A network that classifies handwritten digits; its last hidden layer is a sphere."""

from components.language.scene import Choice, Scene
from components.scenes.digits.build import BESIDE, DATA_FILES, build

SCENE = Scene(
    __name__,
    build,
    order=230,
    choices=(Choice("beside", "curves", "depth", BESIDE),),
    files=lambda choices: DATA_FILES,
)
