"""A shear is a linear map of space, but it maps the shadow (projection) of a sphere nonlinearly."""

from components.language.scene import Choice, Scene
from components.scenes.shear.build import build

PAIRS = {f"{a}-{b}": f"{a} by {b}" for a in "xyz" for b in "zyx" if a != b}
BRANCHES = {"upper": "upper +", "lower": "lower −", "both": "both"}
PAIR, BRANCH = (
    Choice("pair", "shear", "x-z", PAIRS),
    Choice("branch", "half of the sphere in the map", "upper", BRANCHES),
)

SCENE = Scene(__name__, build, order=15, choices=(PAIR, BRANCH))
