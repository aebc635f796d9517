"""In models of `transformers`, folding does for each norm what the verdict on the norm says.

The folded model computes the same with and without the centring of the norms whose verdict is "yes". If the
centring of any other norm is left out or added, the output changes.
"""

import copy

import pytest
import torch

from learning.convert import plan
from learning.convert.confirm import difference, outputs
from learning.convert.effect import centring_toggled, recognised
from tests.learning.convert.zoo import MODELS, small_model

# The number of norms whose centring folds, and of norms that centre. Models not listed have none of either.
FOLDS = {
    "GPT-2": (5, 5),
    "OPT": (5, 5),
    "GPT-NeoX": (5, 5),
    "XGLM": (0, 5),
    "BLOOM": (1, 6),
    "Falcon": (3, 3),
    "OLMo": (5, 5),
    "Cohere": (3, 3),
    "Cohere with norms of heads": (7, 7),
    "Persimmon": (9, 9),
    "Phi with norms of heads": (7, 7),
    "StableLM with norms of heads": (13, 13),
    "BERT": (1, 6),
    "DistilBERT": (1, 6),
    "ModernBERT": (1, 6),
    "RoBERTa": (1, 6),
    "ALBERT": (1, 4),
    "Whisper": (7, 12),
    "ViT": (5, 5),
    "DINOv2": (5, 5),
    "CLIP": (6, 11),
    "Swin": (6, 9),
    "ConvNeXt": (1, 6),
}
EXACT = 1e-12  # relative tolerance in float64, for sums in another order
SEEN = 1e-6  # a larger relative difference cannot be due to rounding


@pytest.fixture(autouse=True)
def single_precision(double_precision):
    torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("name", MODELS)
def test_a_verdict_is_what_the_fold_shows(name):
    model, inputs = small_model(name)
    found = plan(model, **inputs)
    assert {answer.verdict for norm in found.norms for answer in (norm.centring, norm.affine)} <= {
        "yes",
        "no",
    }
    yes = [norm.name for norm in found.norms if norm.centring.verdict == "yes"]
    assert (len(yes), sum(norm.kind == "LayerNorm" for norm in found.norms)) == FOLDS.get(name, (0, 0))

    before, folded = outputs(model.double(), (), inputs), copy.deepcopy(model)
    found.apply(folded)
    assert difference(before, outputs(folded, (), inputs)) <= EXACT
    norms = recognised(folded, [norm.name for norm in found.norms])
    with centring_toggled(folded, {path: norms[path] for path in yes}):
        assert difference(before, outputs(folded, (), inputs)) <= EXACT
    for path in norms.keys() - set(yes):  # toggling the centring changes the model's output
        with centring_toggled(folded, {path: norms[path]}):
            assert difference(before, outputs(folded, (), inputs)) > SEEN, path

    for norm in found.norms:
        for name, own in folded.get_submodule(norm.name).named_parameters():
            if norm.affine.verdict == "yes":
                assert own.unique().tolist() in ([0], [1])
            else:
                assert torch.equal(own, model.get_parameter(f"{norm.name}.{name}"))
