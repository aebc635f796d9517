from math import sqrt

import numpy as np
import pytest
import torch
from torch import nn

from learning.attention import NORMS, Attention
from learning.film import score
from learning.majority import majority

each_norm = pytest.mark.parametrize("norm", NORMS)
COUNTS = majority(8, seed=3, batch=1).points.astype(float)
ROUNDING = 1e-11  # of sums of some hundred products in double precision


class Plain(nn.Module):
    """The norms other than LayerNorm, written out."""

    def __init__(self, norm: str) -> None:
        super().__init__()
        self.norm = norm

    def forward(self, x):
        match self.norm:
            case "none":
                return x
            case "rms_norm":
                return sqrt(8) * nn.functional.normalize(x, dim=-1)
            case "short":
                return nn.functional.normalize(x, dim=-1) / sqrt(8)
            case "short_layer_norm":
                return nn.functional.layer_norm(x, (8,), eps=0.0) / 8
        return nn.functional.layer_norm(x, (8,), eps=0.0)


def torch_layer(model: Attention, flat: np.ndarray) -> tuple[nn.Module, torch.Tensor]:
    """PyTorch's own layer with these parameters, over sequences of tokens, and the embeddings."""
    of = {name: torch.from_numpy(part) for name, part in model.named(flat).items()}
    layer = nn.TransformerEncoderLayer(
        8, 1, dim_feedforward=8, dropout=0.0, layer_norm_eps=0.0, batch_first=True, norm_first=True
    ).double()
    layer.norm1 = Plain(model.norm)
    attention = layer.self_attn
    attention.in_proj_bias = None
    with torch.no_grad():
        attention.in_proj_weight.copy_(torch.cat([of["query"], of["key"], of["value"]]))
        for to, name in (
            (attention.out_proj.weight, "out"),
            (attention.out_proj.bias, "out_shift"),
            (layer.norm2.weight, "gain"),
            (layer.norm2.bias, "shift"),
            (layer.linear1.weight, "first"),
            (layer.linear1.bias, "first_shift"),
            (layer.linear2.weight, "second"),
            (layer.linear2.bias, "second_shift"),
        ):
            to.copy_(of[name])
    return layer, of["embedding"]


@each_norm
def test_counts_are_the_same_model_as_tokens(norm):
    """Each token of each sequence, in any order, gets the logits that its class has from the counts."""
    model, rng = Attention(norm=norm), np.random.default_rng(0)
    flat = model.initial([4])[0].astype(float) + 0.3 * rng.normal(size=584)
    layer, embedding = torch_layer(model, flat)
    tokens = np.array([rng.permutation(np.repeat(np.arange(20), row.astype(int))) for row in COUNTS])
    assert tokens.shape == (8, 50)
    layer.train()  # in evaluation PyTorch takes a way of its own, for its own norms alone
    with torch.no_grad():
        wanted = (layer(embedding[tokens]) @ embedding.mT).numpy()
    ours = model.logits(model.parts(flat), COUNTS).reshape(20, 8, 20)  # class, sequence, logit
    np.testing.assert_allclose(ours[tokens, np.arange(8)[:, None]], wanted, rtol=0, atol=ROUNDING)
    labels = COUNTS.argmax(-1)
    each, weight = model.answers(COUNTS, labels, np.ones(8))
    loss, accuracy = score(ours.reshape(-1, 20), each, weight)
    plain = nn.functional.cross_entropy(
        torch.from_numpy(wanted.reshape(-1, 20)), torch.from_numpy(labels.repeat(50))
    )
    assert loss == pytest.approx(plain.item(), abs=ROUNDING)
    assert accuracy == pytest.approx((wanted.argmax(-1) == labels[:, None]).mean())
