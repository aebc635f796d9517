"""Load the model in this folder, which has RMSNorms in place of some of its LayerNorms.

To use it: `from load import load; model = load()`. `config.json` lists these RMSNorms under `rms_norms`.
Everything else is as in transformers.
"""

from pathlib import Path
from typing import Any

import torch
import transformers


class AffineRMSNorm(torch.nn.RMSNorm):
    """RMSNorm over the last axis, followed by a gain γ and a shift β, each of which may be left out.

    torch.nn.RMSNorm has no β, and no separate γ for each head. size: the shape of γ and β, which is (d,), or
    (heads, d) if the vectors of each attention head are normalised.
    """

    def __init__(self, size, eps, gain, shift):
        super().__init__(size[-1], eps, elementwise_affine=False)
        self.weight = torch.nn.Parameter(torch.ones(size)) if gain else None
        self.bias = torch.nn.Parameter(torch.zeros(size)) if shift else None

    def forward(self, x):
        y = torch.nn.functional.rms_norm(x, self.normalized_shape, eps=self.eps)
        y = y if self.weight is None else y * self.weight
        return y if self.bias is None else y + self.bias


def replace_norms(model):
    """Replace each LayerNorm that the model's configuration lists under `rms_norms` by an RMSNorm."""
    for name, norm in (getattr(model.config, "rms_norms", None) or {}).items():
        size, eps, gain, shift = norm["size"], norm["eps"], norm["gain"], norm["shift"]
        plain = not shift and not (gain and len(size) > 1)
        made = torch.nn.RMSNorm(size[-1], eps, gain) if plain else AffineRMSNorm(size, eps, gain, shift)
        model.set_submodule(name, made)


def load(folder=Path(__file__).parent, **options):
    """Load the model in `folder`. options: keyword arguments of `from_pretrained`."""
    config = transformers.AutoConfig.from_pretrained(folder)
    base = getattr(transformers, config.architectures[0])

    def start(self, config):
        base.__init__(self, config)
        replace_norms(self)

    kind: Any = type(base.__name__, (base,), {"__init__": start})
    return kind.from_pretrained(folder, config=config, **options)
