"""The measured effect of a norm's centring equals the effect of replacing the norm by another norm.

A norm that centres is replaced in the model by one that does not, and the other way round.
"""

from dataclasses import astuple, replace

import numpy as np
import pytest
import torch
from torch import nn

from learning.convert.cost import costs
from learning.convert.effect import ALL_NORMS, Effect, UnknownOutput, effects, recognised, toggled
from learning.convert.samples import Sample
from learning.recording.known import NotKnown
from tests.learning.recording.strangers import GATED, SMALL, stranger
from tests.learning.recording.test_recorder import ChannelsNorm, HeadsNorm, shaken, some

IDS = torch.arange(3 * 14).reshape(3, 14) % 37 + 3
MASK = torch.ones_like(IDS)
MASK[0, 9:] = 0
BATCH = {"input_ids": IDS, "attention_mask": MASK, "labels": torch.where(MASK == 1, IDS, -100)}


class WithoutCentring(nn.Module):
    def __init__(self, own):
        super().__init__()
        self.own = own

    def forward(self, x):
        size = (x.square().mean(-1, keepdim=True) + self.own.eps).sqrt()
        return self.own.weight * x / size + self.own.bias


class WithCentring(nn.Module):
    def __init__(self, own):
        super().__init__()
        self.own = own

    def forward(self, x):
        return self.own(x - x.mean(-1, keepdim=True))


def language_model(name, **sizes):
    import transformers  # imported late, because it takes seconds and collecting tests does not need it

    torch.manual_seed(0)
    kind = getattr(transformers, name)
    model = kind(kind.config_class(**sizes))
    with torch.no_grad():
        for each in model.parameters():
            each.add_(0.2 * torch.randn(each.shape))
    return model.eval()


GPT2 = {"n_embd": 32, "n_layer": 2, "n_head": 2, **SMALL}
CASES = {
    "dropped": ("GPT2LMHeadModel", GPT2, "transformer.h.1.ln_1", WithoutCentring),
    "added": ("LlamaForCausalLM", GATED, "model.layers.0.input_layernorm", WithCentring),
}


def place(model, path, other):
    """Replace the module at `path` by `other(module)`; return a function that puts the module back."""
    parent, _, name = path.rpartition(".")
    own = model.get_submodule(path)
    setattr(model.get_submodule(parent), name, other(own))
    return lambda: setattr(model.get_submodule(parent), name, own)


@pytest.mark.parametrize(("name", "sizes", "path", "other"), CASES.values(), ids=CASES)
def test_it_is_that_of_another_norm_in_its_place(name, sizes, path, other):
    model, done = language_model(name, **sizes), []
    found = effects(model, [BATCH, BATCH], tell=done.append)
    assert len(found) == 6 and done == list(range(1, 2 * 7 + 1))
    for label, each in effects(model, [BATCH]).items():
        twice = replace(each, predictions=2 * each.predictions)
        assert astuple(found[label]) == pytest.approx(astuple(twice), rel=1e-9)
    with torch.no_grad():
        own = model(**BATCH)
        back = place(model, path, other)
        changed = model(**BATCH)
        back()
    real = MASK.bool()
    p, q = (each.logits[real].log_softmax(-1) for each in (own, changed))
    want = Effect(
        kl=nn.functional.kl_div(q, p, log_target=True, reduction="batchmean").item(),
        loss=(changed.loss - own.loss).item(),
        change=((changed.logits - own.logits)[real].norm() / own.logits[real].norm()).item(),
        predictions=2 * int(real.sum()),
    )
    assert astuple(found[path]) == pytest.approx(
        astuple(want), rel=1e-5, abs=1e-6
    )  # their losses are in single precision
    assert want.kl > 1e-4 and found[ALL_NORMS].kl > found[path].kl


def test_a_batch_whose_labels_are_all_left_out_does_not_count():
    model, nothing = language_model("GPT2LMHeadModel", **GPT2), BATCH | {"labels": torch.full_like(IDS, -100)}
    found = effects(model, [BATCH, nothing], ["transformer.ln_f"])
    assert found[ALL_NORMS].loss == pytest.approx(
        effects(model, [BATCH], ["transformer.ln_f"])[ALL_NORMS].loss
    )


def test_a_model_without_a_head_has_its_vectors_alone():
    model = stranger("Bert", **GATED)
    found = effects(model, [{"input_ids": IDS}], ["encoder.layer.0.output.LayerNorm"])
    for each in found.values():
        assert np.isnan([each.kl, each.loss]).all() and 0 < each.change < 1


def test_a_call_of_a_module_that_is_called_more_than_once():
    """The effect of a norm can be measured for all its calls (`path`) or for a single one, such as `path#2`.

    ALBERT calls its only layer twice. The effects of both calls together, of the first call alone and of
    the second alone are three different numbers. The effect of a third call, which does not happen, is 0.
    """
    model = language_model("AlbertForMaskedLM", **GATED, embedding_size=16)
    path = "albert.encoder.albert_layer_groups.0.albert_layers.0.full_layer_layer_norm"
    both, first, second = (
        effects(model, [BATCH], [f"{path}{call}"])[ALL_NORMS].kl for call in ("", "#1", "#2")
    )
    assert len({both, first, second}) == 3 and effects(model, [BATCH], [f"{path}#3"])[ALL_NORMS].kl == 0


def test_what_is_no_norm_is_refused_and_nothing_stays():
    model = language_model("GPT2LMHeadModel", **GPT2)
    with pytest.raises(NotKnown, match=r"transformer\.wte is no norm"):
        effects(model, [BATCH], ["transformer.wte"])
    two_heads = language_model("BertForPreTraining", **GATED)
    with pytest.raises(UnknownOutput, match="neither logits nor last_hidden_state"):
        effects(two_heads, [{"input_ids": IDS}])
    assert costs(two_heads, ["bert.embeddings.LayerNorm"], [Sample({"input_ids": IDS})]) == []
    with pytest.raises(IndexError):
        effects(model, [{"input_ids": IDS + 1000}])
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())


NORMS = {
    "LayerNorm": (nn.LayerNorm(12), (2, 5, 12), 1),
    "RMSNorm": (nn.RMSNorm(12), (2, 5, 12), 1),
    "GroupNorm": (nn.GroupNorm(3, 12), (10, 12), 3),
    "heads that centre": (HeadsNorm(1, 3, 4), (2, 5, 3, 4), 3),
    "heads that do not": (HeadsNorm(0, 3, 4), (2, 5, 3, 4), 3),
    "pixels": (ChannelsNorm(12), (2, 12, 3, 5), 1),
}


@pytest.mark.parametrize(("module", "shape", "groups"), NORMS.values(), ids=NORMS)
def test_centring_makes_no_difference_where_the_mean_is_zero(module, shape, groups):
    """Removing or adding the centring changes a norm's output, unless each group of the input has mean 0."""
    module, x = shaken(module.double()), some(*shape, dtype=torch.float64)
    found = recognised(module, [""])[""]
    blocks = found.vectors(x).unflatten(-1, (groups, -1))
    level = found.shaped((blocks - blocks.mean(-1, keepdim=True)).flatten(-2), x)
    for given, same in ((level, True), (x, False)):
        changed, own = toggled(found, given), module(given)
        assert changed.shape == own.shape and torch.allclose(changed, own, atol=1e-6) == same
