"""What is added up before a norm: sums of Linears' outputs, embeddings and constants, and what is none."""

import pytest
import torch
from torch import nn

from learning.recording import record
from learning.recording.analysis import measured, verdict
from learning.recording.writers import linear
from tests.learning.recording.strangers import GATED, SMALL, stranger
from tests.learning.recording.test_transformers import IDS, MODELS

D = 6
HEAD, TABLE = nn.Linear(D, D), nn.Embedding(9, D)
BARE = nn.Linear(D, D, bias=False)
X = torch.arange(24.0).reshape(2, 2, D) / 7
SUMS = {
    "a Linear": lambda: HEAD(X),
    "without bias": lambda: BARE(X) + X,
    "an embedding, scaled": lambda: 3 * TABLE(torch.arange(4)) + torch.ones(D),
    "a parameter": lambda: HEAD.bias + 0,
    "of a norm, through a Linear": lambda: HEAD(X) + HEAD(nn.functional.layer_norm(HEAD(X), (D,)).relu()),
}
OTHERS = {
    "a norm": lambda: nn.functional.layer_norm(HEAD(X), (D,)),
    "a sum with one": lambda: HEAD(X) + nn.functional.layer_norm(HEAD(X), (D,)),
    "an activation": lambda: torch.relu(HEAD(X)),
    "a gate": lambda: HEAD(X) * BARE(X),
    "a product of two that are computed": lambda: HEAD(X[0]) @ BARE(X[0]).T,
    "a dropout": lambda: nn.functional.dropout(HEAD(X), 0.5),
}


@pytest.fixture(autouse=True)
def single_precision(double_precision):
    torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("make", SUMS.values(), ids=SUMS)
def test_sums(make):
    assert linear(make()) is True


@pytest.mark.parametrize("make", OTHERS.values(), ids=OTHERS)
def test_others(make):
    assert linear(make()) is False


def test_without_gradients_it_is_not_known():
    with torch.no_grad():
        assert linear(HEAD(X)) is None


@pytest.mark.parametrize(("name", "folds"), [("GPT-2", 5), ("Llama", 0), ("T5", 0)])
def test_a_model_that_norms_before_it_reads_adds_up_linears(name, folds):
    own, sizes, count, _ = MODELS[name]
    model = stranger(own, **sizes)
    decoder = {"decoder_input_ids": IDS[:, :10]} if model.config.is_encoder_decoder else {}
    with record(model) as seen:
        with seen.looking():
            model(input_ids=IDS[:, :4], **({"decoder_input_ids": IDS[:, :4]} if decoder else {}))
        with torch.no_grad():
            model(input_ids=IDS, **decoder)
    norms = seen.recording.norms
    assert len(norms) == count and all(norm.linear is True for norm in norms)
    assert all(norm.seen == (30 if norm.path.startswith("decoder") else IDS.numel()) for norm in norms)
    (line,) = [each for each in verdict(measured(seen.recording)) if each.name == "folds"]
    assert line.answer.startswith(f"in {folds} of 5 norms that centre" if folds else "there is no centring")


def test_a_model_that_norms_afterwards_does_not():
    model = stranger("Bert", **GATED)
    with record(model) as seen:
        model(input_ids=IDS)
    assert [norm.linear for norm in seen.recording.norms] == [True, False, False, False, False]


def test_a_recording_without_gradients_does_not_know():
    model = stranger("GPT2", n_embd=32, n_layer=1, n_head=2, **SMALL)
    with record(model) as seen, torch.no_grad():
        model(input_ids=IDS)
    assert {norm.linear for norm in seen.recording.norms} == {None}
    (line,) = [each for each in verdict(measured(seen.recording)) if each.name == "folds"]
    assert line.answer.endswith("of 3 it is not known")


def test_a_sum_of_linears_without_their_means_comes_centred():
    """What the column promises, on a model of blocks: its outputs stay, and centring has nothing to do."""
    torch.manual_seed(0)
    model = stranger("GPT2", n_embd=32, n_layer=2, n_head=2, **SMALL)
    with torch.no_grad():
        for each in model.parameters():
            each.add_(0.1 * torch.randn(each.shape))
        before = model(input_ids=IDS).last_hidden_state
        own = [model.wte.weight, model.wpe.weight]
        for block in model.h:
            own += [
                part for each in (block.attn.c_proj, block.mlp.c_proj) for part in (each.weight, each.bias)
            ]
        for each in own:
            each.sub_(each.mean(-1, keepdim=True))
        with record(model) as seen:
            after = model(input_ids=IDS).last_hidden_state
    torch.testing.assert_close(after, before, atol=1e-4, rtol=1e-4)
    assert all(row["share_high"] < 1e-10 for row in measured(seen.recording))
