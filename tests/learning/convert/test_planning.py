"""Verdicts on models, and the folds that prove them."""

import torch

from learning.convert import plan
from tests.learning.recording.strangers import SMALL

IDS = torch.arange(24).reshape(2, 12) % 37 + 3


def gpt2():
    import transformers

    torch.manual_seed(0)
    config = transformers.GPT2Config(n_embd=32, n_layer=2, n_head=2, **SMALL)
    model = transformers.GPT2LMHeadModel(config).double().eval()
    with torch.no_grad():
        for each in model.parameters():
            each.add_(0.2 * torch.randn(each.shape))
    return model


def test_a_plan_is_applied_in_place():
    model = gpt2()
    found = plan(model, input_ids=IDS)
    assert {norm.centring.verdict for norm in found.norms} == {"yes"}
    assert found.untied == ("lm_head.weight",)
    with torch.no_grad():
        before = model(input_ids=IDS).logits
        found.apply(model)
        after = model(input_ids=IDS).logits
    assert float((before - after).abs().max() / before.abs().max()) <= 1e-12
    assert not model.transformer.h[1].ln_2.bias.any()
