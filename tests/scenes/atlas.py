"""The rows of the trained models that are shipped, for what the texts of scenes say of them."""

from learning.recording.digest import Digest, from_digest
from learning.shipped import read

NAMES = ("smollm2", "minilm", "antiberty", "rxnmapper")


def digest(name: str) -> Digest:
    found: Digest = read(f"norms_{name}.safetensors", from_digest)
    return found


def every_row():
    """Those of all norms of all four models."""
    return [row for name in NAMES for row in digest(name).rows]
