"""The shipped data about trained models, for the claims of scenes about them."""

import numpy as np

from learning.recording.digest import Digest, from_digest
from learning.shipped import read, table

NAMES = ("smollm2", "minilm", "antiberty", "rxnmapper")


def digest(name: str) -> Digest:
    found: Digest = read(f"norms_{name}.safetensors", from_digest)
    return found


def every_row():
    """The statistics of all norms of all four models: a list with one table row (a dict) for each norm."""
    return [row for name in NAMES for row in digest(name).rows]


def heads(name: str, column: str) -> list[np.ndarray]:
    """A column of the table "attention" for the model `name`: for each layer, an array over its heads."""
    return [np.array(row[column]) for row in table("attention") if row["model"] == name]


def no_key_is_lost_in_a_head():
    """Assert that, according to the shipped table, no key of any head of SmolLM2 and MiniLM is unselectable.

    The table counts the unselectable keys of a text of 512 tokens, and lists those of a sentence. It has both
    for keys that are computed from a norm's output, as in the model ("after"), and for keys that are computed
    from the norm's input ("before").
    """
    for name, heads, d in (("smollm2", 90, 64), ("minilm", 72, 32)):
        rows = [row for row in table("trained_keys") if row["model"] == name]
        assert sum(row["heads"] for row in rows) == heads
        for row in rows:
            assert (row["keys"], row["d"]) == (512, d)
            assert row["before"] == row["after"] == 0 and row["lost_before"] == row["lost_after"] == []
