"""One layer answers two questions about made-up days: hot or cold, extreme or typical."""

from components.language.scene import Choice, Scene, Whole
from components.scenes.temperature.build import build

TASK = Choice("task", "find the", "extreme", {"extreme": "extreme days", "hot": "hot days"})
SEED = Whole("seed", "seed", 5, min=0, max=9999, folded=True)

SCENE = Scene(__name__, build, order=14, choices=(TASK, SEED))
