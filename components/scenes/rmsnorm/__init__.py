"""LayerNorm beside RMSNorm: how the mean of a vector changes the result of RMSNorm, but not of LayerNorm."""

from components.language.scene import Choice, Scene, Whole
from components.scenes.rmsnorm.build import BESIDE, build

RIGHT = Choice("beside", "on the right", "rmsnorm", BESIDE)
POINTS = Whole("n", "number of points", 300, min=1, max=10_000, step=100, folded=True)
SEED = Whole("seed", "seed", 3, min=0, max=9999, folded=True)

SCENE = Scene(__name__, build, order=2, choices=(RIGHT, POINTS, SEED))
