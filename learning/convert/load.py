"""Load the model in this folder, with RMSNorms for LayerNorms: `from load import load; model = load()`.

`config.json` lists these norms under `rms_norms`. Everything else is as in transformers.
"""

from pathlib import Path
from typing import Any

import torch
import transformers


class ShiftedRMSNorm(torch.nn.RMSNorm):
    """RMSNorm with a shift β, for a norm whose β could not be folded into the next layer."""

    def __init__(self, size, eps, elementwise_affine):
        super().__init__(size, eps, elementwise_affine)
        self.bias = torch.nn.Parameter(torch.zeros(size))

    def forward(self, x):
        return super().forward(x) + self.bias


def replace_norms(model):
    """Replace each norm that the model's configuration lists by an RMSNorm."""
    for name, norm in (getattr(model.config, "rms_norms", None) or {}).items():
        kind = ShiftedRMSNorm if norm["shift"] else torch.nn.RMSNorm
        model.set_submodule(name, kind(norm["size"], norm["eps"], norm["gain"]))


def load(folder=Path(__file__).parent, **options):
    """Load the model. options: as for `from_pretrained`."""
    config = transformers.AutoConfig.from_pretrained(folder)
    base = getattr(transformers, config.architectures[0])

    def start(self, config):
        base.__init__(self, config)
        replace_norms(self)

    kind: Any = type(base.__name__, (base,), {"__init__": start})
    return kind.from_pretrained(folder, config=config, **options)
