"""Fixtures for checkpoints of small models."""

import pytest

from tests.learning.convert.checkpoints import SHARD, model, save


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A function that returns the folder of a saved model, by its name in MODELS; each model is made once."""
    kept = {}

    def made(name):
        if name not in kept:
            kept[name] = tmp_path_factory.mktemp(name)
            save(model(name), kept[name], max_shard_size=SHARD)
        return kept[name]

    return made
