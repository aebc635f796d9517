"""What the norms of a model do: their numbers over depth, and one with the vectors that came to it."""

from components.language.scene import Choice, Result, Scene, Whole
from components.scenes.model.build import BESIDE, COLOURS, SHIPPED, build, files
from learning.recording.recording import MAX_NORMS

SCENE = Scene(
    __name__,
    build,
    order=480,
    choices=(
        Choice("recording", "recording", "trained", SHIPPED),
        Result("own", "Your recording", of=("recording",), longest=32),
        Choice("beside", "beside it", "none", {"none": "nothing"} | BESIDE),
        Result("other", "Your recording beside it", of=("beside",), longest=32),
        Whole("norm", "norm, in the order of depth", 1, min=1, max=MAX_NORMS),
        Choice("colour", "colour", "position", COLOURS),
    ),
    files=files,
)
