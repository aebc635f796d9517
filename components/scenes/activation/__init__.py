"""The activation u_ε(x) = x/√(x² + ε) of one number: its curve and slope beside those of other functions."""

from components.language.scene import Scene, Several
from components.scenes.activation.build import FUNCTIONS, build

SCENE = Scene(__name__, build, order=10, choices=(Several("others", "other functions", "tanh", FUNCTIONS),))
