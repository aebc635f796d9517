"""What is shipped of the trained models, for what the texts of scenes say of them."""

import numpy as np

from learning.recording.digest import Digest, from_digest
from learning.shipped import read, table

NAMES = ("smollm2", "minilm", "antiberty", "rxnmapper")


def digest(name: str) -> Digest:
    found: Digest = read(f"norms_{name}.safetensors", from_digest)
    return found


def every_row():
    """Those of all norms of all four models."""
    return [row for name in NAMES for row in digest(name).rows]


def heads(name: str, column: str) -> list[np.ndarray]:
    """A column of the table "attention", for each layer of a model: an array of its heads."""
    return [np.array(row[column]) for row in table("attention") if row["model"] == name]
