"""Layers with norms fold a circle: how many pieces (strands) a ray from the origin crosses then."""

from components.language.scene import Scene
from components.scenes.strands.build import build
from components.scenes.strands.networks import DATA_FILES

SCENE = Scene(__name__, build, order=205, files=lambda choices: DATA_FILES)
