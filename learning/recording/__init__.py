"""Record the inputs of a model's normalisation layers, measure them, and report.

with record(model) as seen:
    model(batch)
seen.save("mine.safetensors")
"""

from learning.recording.recorder import record
from learning.recording.recording import Norm, Recording, from_file, to_file

__all__ = ["Norm", "Recording", "from_file", "record", "to_file"]
