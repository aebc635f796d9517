"""The shipped data about trained models agree with data made again from the installed models."""

from importlib.util import find_spec

import numpy as np
import pytest

from learning.recording.analysis import MAX_SAMPLED_KEYS, lost
from learning.recording.digest import from_digest
from learning.shipped import read, table
from tools.films.atlas import MODELS, made, recording
from tools.films.attention import measured
from tools.films.trained_keys import NAMES
from tools.films.trained_keys import measured as measured_keys

ROUNDING = 0.02  # relative tolerance: single precision through all layers, on another machine
COUNTS = ("path", "kind", "d", "vectors", "massive", "longest_at", "top_dimension", "folds", "keys")
SIZES = ("share", "sigma", "size", "longest", "top_energy", "rank", "turn", "gain", "eps")


def skip_without(name):
    package = MODELS[name].package.partition("==")[0].replace("-", "_")
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed: see tools/films/atlas.py")


@pytest.mark.parametrize("name", MODELS)
def test_the_atlas_is_what_its_models_see(name):
    skip_without(name)
    again, shipped = made(name), read(f"norms_{name}.safetensors", from_digest)
    assert again.notice == shipped.notice and again.words == shipped.words
    for new, old in zip(again.rows, shipped.rows, strict=True):
        assert [new[column] for column in COUNTS] == [old[column] for column in COUNTS]
        for column in SIZES:
            assert new[column] == pytest.approx(old[column], rel=ROUNDING), (new["path"], column)
    for new, old in zip(again.norms, shipped.norms, strict=True):
        np.testing.assert_array_equal(new.position, old.position)
        np.testing.assert_array_equal(new.token, old.token)


@pytest.mark.parametrize("name", MODELS)
def test_the_lost_keys_are_copies(name):
    """At the first norm, the shipped number of unselectable keys is the number of keys that have a copy.

    If only one of each set of equal keys is kept, all keys are selectable.
    """
    skip_without(name)
    x = recording(name).norms[0].x.astype(float)
    keys = x[np.linspace(0, len(x) - 1, MAX_SAMPLED_KEYS).astype(int)]
    distinct, count = np.unique(keys, axis=0, return_counts=True)
    assert count[count > 1].sum() == read(f"norms_{name}.safetensors", from_digest).rows[0]["lost_before"]
    assert lost(distinct) == 0


@pytest.mark.parametrize("name", MODELS)
def test_the_scores_of_heads_are_those_of_the_models(name):
    skip_without(name)
    for new, old in zip(measured(name), (r for r in table("attention") if r["model"] == name), strict=True):
        assert new.keys() == old.keys()
        for column, value in new.items():
            expected = pytest.approx(old[column], rel=ROUNDING) if isinstance(value, list) else old[column]
            assert value == expected, (column, old["layer"])


@pytest.mark.parametrize("name", NAMES)
def test_the_lost_keys_of_heads_are_those_of_the_models(name):
    skip_without(name)
    assert measured_keys(name) == [row for row in table("trained_keys") if row["model"] == name]
