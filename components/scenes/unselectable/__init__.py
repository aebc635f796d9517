"""Share of Gaussian keys that no query selects, by number and dimension, with and without LayerNorm."""

from components.language.scene import Choice, Scene
from components.scenes.unselectable.build import DATA_FILES, DIMENSIONS, build

OPTIONS = {str(d): str(d) for d in DIMENSIONS}

SCENE = Scene(
    __name__,
    build,
    order=120,
    choices=(Choice("d", "dimension d of the curve", "4", OPTIONS),),
    files=lambda choices: DATA_FILES,
)
