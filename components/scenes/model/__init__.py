"""The norms (normalisation layers) of a recorded model: statistics of each, and the input vectors of one."""

from components.language.scene import Choice, Result, Scene, Whole
from components.scenes.model.build import BESIDE, COLOURS, MASSIVE, SHIPPED, build, files
from components.scenes.model.strips import SET_NAMES
from learning.recording.recording import MAX_NORMS

SCENE = Scene(
    __name__,
    build,
    order=480,
    choices=(
        Choice("recording", "recording", "smollm2", SHIPPED),
        Result("own", "Your recording", of=("recording",), longest=32),
        Choice("beside", "second recording", "none", {"none": "nothing"} | BESIDE),
        Result("other", "Your second recording", of=("beside",), longest=32),
        Whole("norm", "norm, in the order of depth", 1, 1, MAX_NORMS, of=("recording", "own"), narrowed=True),
        Choice("strips", "strips", "massive", SET_NAMES),
        Choice("massive", "massive vectors", "shown", MASSIVE),
        Choice("colour", "colour", "position", COLOURS, folded=True),
    ),
    files=files,
    tour_choice="recording",
)
