"""`contributions` finds the modules that write to a norm's input, and how much each of them writes.

The results are compared with the outputs of these modules, which hooks record.
"""

import numpy as np
import pytest
import torch
from torch import nn

from learning.convert import centring, contributions
from learning.file_error import FileError
from learning.recording import record
from learning.recording.recording import from_file, to_file
from learning.recording.sources import Sources
from tests.learning.convert.writers import WRITERS, agrees, sums, written
from tests.learning.recording.strangers import GATED, SMALL, stranger

IDS = torch.arange(2 * 11).reshape(2, 11) % 37 + 3
GPT2 = {"n_embd": 32, "n_layer": 2, "n_head": 2, **SMALL}
FEW = {**GATED, "num_key_value_heads": 1, "head_dim": 16}
SIZES = {"GPT2": GPT2, "Gemma2": FEW, "Mixtral": FEW}


@pytest.fixture(autouse=True)
def single_precision(double_precision):
    torch.set_default_dtype(torch.float32)


def shaken(name, **sizes):
    torch.manual_seed(0)
    model = stranger(name, **sizes)
    with torch.no_grad():
        for each in model.parameters():
            each.add_(0.2 * torch.randn(each.shape))
    return model


@pytest.mark.parametrize("name", WRITERS)
def test_shares_are_those_of_what_modules_write(name):
    model = shaken(name, **SIZES.get(name, GATED))
    with record(model, contributions=contributions) as seen, torch.no_grad():
        model(input_ids=IDS)
    parts = written(model, WRITERS[name], lambda: model(input_ids=IDS))
    checked = 0
    for norm in from_file(to_file(seen.recording)).norms:
        own = sums(parts, norm.x.astype(float))
        if own is None:
            assert norm.path not in ("ln_f", "norm", "final_layer_norm")
            continue
        checked += 1
        agrees(norm, own, close=1e-4)
    assert checked >= 5


def test_after_a_post_ln_norm_the_residual_is_a_source():
    model = shaken("Bert", **GATED)
    with record(model, contributions=contributions) as seen, torch.no_grad():
        model(input_ids=IDS)
    norms = {norm.path: norm.mean_sources for norm in seen.recording.norms}
    assert set(norms["embeddings.LayerNorm"].shares) == {"embedding"}
    assert set(norms["encoder.layer.0.attention.output.LayerNorm"].shares) == {"norm", "attention"}
    assert set(norms["encoder.layer.1.output.LayerNorm"].shares) == {"norm", "MLP"}


def test_padding_is_no_source():
    model = shaken("GPT2", **GPT2)
    mask = torch.ones_like(IDS)
    mask[1, 4:] = 0
    found = {}
    for name, given in (("all", IDS), ("cut", IDS[:, :4])):
        kept = mask if name == "all" else torch.ones_like(given)
        kept = kept.clone()
        kept[0, 4:] = 0
        with record(model, contributions=contributions) as seen, torch.no_grad():
            model(input_ids=given, attention_mask=kept)
        found[name] = seen.recording.norms[0].mean_sources
    assert found["all"].module == found["cut"].module
    assert found["all"].share == pytest.approx(found["cut"].share, abs=1e-5)


def test_heads_and_what_is_no_sum_have_no_sources():
    model = shaken("Qwen3", **FEW)
    with record(model, contributions=contributions) as seen, torch.no_grad():
        model(input_ids=IDS)
    norms = {norm.path: norm.mean_sources for norm in seen.recording.norms}
    assert norms["layers.0.self_attn.q_norm"] is None and norms["layers.0.input_layernorm"] is not None


class Images(nn.Module):
    """A model with two norm layers, which normalise different things.

    One normalises channels and pixels together, the other a sum of two embeddings. The input is pixels
    (batch, 3, 8, 8). The embeddings do not depend on the input; they require gradients.
    """

    def __init__(self):
        super().__init__()
        self.one, self.other, self.norm = nn.Conv2d(3, 4, 1), nn.Conv2d(4, 4, 1), nn.LayerNorm((4, 8, 8))
        self.words, self.places = nn.Embedding(5, 32), nn.Parameter(torch.ones(3, 32))
        self.last = nn.LayerNorm(32)

    def forward(self, x):
        y = self.one(x)
        return self.norm(y + self.other(y)), self.last(self.words(torch.tensor([[1, 2, 3]])) + self.places)


@pytest.mark.filterwarnings("error")
def test_a_norm_of_several_axes_hides_no_other_norms_sources():
    said, model = [], Images()
    with record(model, verdicts=centring, contributions=contributions, tell=said.append) as seen:
        model(torch.randn(2, 3, 8, 8))
    images, words = seen.recording.norms
    assert (images.folds, images.why) == ("unknown", "it normalises over more than one axis")
    assert images.mean_sources is None and words.mean_sources.shares == {"embedding": pytest.approx(1.0)}
    assert not any("not known" in line for line in said)


class Gain(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(8))

    def forward(self, x):
        x = x - x.mean(-1, keepdim=True)
        return self.scale * x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5)


def test_a_gain_with_another_name_is_not_folded():
    model = nn.Sequential(nn.Linear(8, 8), Gain(), nn.Linear(8, 8), nn.LayerNorm(8))
    with record(model, verdicts=centring) as seen:
        model(torch.randn(2, 8))
    first, last = seen.recording.norms
    assert (first.folds, first.kind, last.folds) == ("unknown", "layer_norm", "yes")
    assert "not called `weight`" in first.why


@pytest.mark.parametrize(
    "wrong", [({"mind": 1.0}, "a", 1.0), ({"MLP": np.nan}, "a", 1.0), ({}, "\n", 0.0), ({}, "a", "1")]
)
def test_sources_of_a_file_are_not_believed(wrong):
    with pytest.raises(FileError):
        Sources(*wrong)
