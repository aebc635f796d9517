"""A recording stores the verdicts on folding from `record(…, verdicts=…)`, with the reasons."""

import json
from dataclasses import replace

import pytest
import torch

from learning.convert import centring
from learning.file_error import FileError
from learning.recording import record
from learning.recording.analysis import measured
from learning.recording.recording import UNTRACED, from_file, to_file
from learning.recording.verdict import verdict
from learning.safetensors import from_safetensors, to_safetensors
from tests.learning.recording.strangers import GATED, SMALL, stranger
from tests.learning.recording.test_transformers import IDS


@pytest.fixture(autouse=True)
def single_precision(double_precision):
    torch.set_default_dtype(torch.float32)


def recorded(model, **how):
    with record(model, vectors=20, **how) as seen, torch.no_grad():
        model(input_ids=IDS)
    return from_file(to_file(seen.recording))


def trained(model):
    """Add noise to all parameters of a model, as if it had been trained, and return the model."""
    with torch.no_grad():
        for each in model.parameters():
            each.add_(0.1 * torch.randn(each.shape))
    return model


def line(recording):
    return next(each.answer for each in verdict(measured(recording)) if each.name == "folds")


def test_a_model_that_norms_before_it_reads():
    found = recorded(stranger("GPT2", n_embd=32, n_layer=2, n_head=2, **SMALL), verdicts=centring)
    assert {norm.folds for norm in found.norms} == {"yes"}
    assert line(found) == "in 5 of 5 norms that centre"


def test_a_model_that_norms_afterwards():
    found = recorded(trained(stranger("Bert", **GATED)), verdicts=centring)
    assert [norm.folds for norm in found.norms] == ["yes", "no", "no", "no", "no"]
    assert found.norms[1].why == "the residual is the output of `embeddings.LayerNorm`"
    first, second = (f"not in {norm.path}: {norm.why}" for norm in found.norms[1:3])
    rest = "nor in 2 others (their reasons are in the CSV and JSON)"
    assert line(found) == f"in 1 of 5 norms that centre; {first}; {second}; {rest}"
    same = replace(found, norms=[replace(norm, why=found.norms[1].why) for norm in found.norms])
    one = first.replace(":", " and 3 others:")
    assert line(same) == f"in 1 of 5 norms that centre; {one}"


def test_each_call_of_a_layer_has_the_layer_s_verdict():
    found = recorded(trained(stranger("Albert", **GATED, embedding_size=16)), verdicts=centring)
    assert [norm.folds for norm in found.norms] == ["yes", "no", "no", "no", "no"]


def test_nobody_who_judges():
    found = recorded(stranger("GPT2", n_embd=32, n_layer=1, n_head=2, **SMALL))
    assert {norm.folds for norm in found.norms} == {"unknown"}
    assert line(found) == "in 0 of 3 norms that centre; of 3 it is not known"


def test_a_model_that_cannot_be_traced():
    def fails(model, **inputs):
        raise RuntimeError("out of\nmemory")

    found = recorded(stranger("GPT2", n_embd=32, n_layer=1, n_head=2, **SMALL), verdicts=fails)
    assert {norm.why for norm in found.norms} == {"the model cannot be traced: out of memory"}


def test_the_cache_of_a_generation_is_not_read_twice():
    model = stranger("GPT2", n_embd=32, n_layer=1, n_head=2, **SMALL)
    from transformers import DynamicCache

    with record(model, verdicts=centring) as seen, torch.no_grad():
        cache = DynamicCache(config=model.config)
        for k in range(3):
            model(input_ids=IDS[:, k : k + 1], past_key_values=cache)
    assert {norm.folds for norm in seen.recording.norms} == {"yes"} and cache.get_seq_length() == 3


def test_a_file_from_before_the_verdicts_had_reasons():
    """Verdicts in a file of the old format count as "unknown": they have no reasons, and some were wrong."""
    model = stranger("GPT2", n_embd=32, n_layer=1, n_head=2, **SMALL)
    arrays, meta = from_safetensors(to_file(recorded(model, verdicts=centring)))
    about = json.loads(meta["about"])
    for each in about["norms"]:
        del each["folds"], each["why"]
        each["linear"] = True
    found = from_file(to_safetensors(arrays, meta | {"about": json.dumps(about)}))
    assert {(norm.folds, norm.why) for norm in found.norms} == {("unknown", UNTRACED)}


@pytest.mark.parametrize(
    "said", [{"folds": "perhaps"}, {"folds": None}, {"why": "two\nlines"}, {"why": "x" * 501}]
)
def test_a_verdict_that_is_none(said):
    (norm, *_) = recorded(stranger("GPT2", n_embd=32, n_layer=1, n_head=2, **SMALL)).norms
    with pytest.raises(FileError, match="ln_1"):
        replace(norm, **said)
