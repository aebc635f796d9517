"""How a model's outputs change if the centring of a LayerNorm is dropped although it cannot be folded."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

from tqdm import tqdm

from learning.convert.effect import UnknownOutput, effects
from learning.convert.samples import Sample

MAX_SAMPLES = 1  # samples that are measured; each takes n + 2 forward passes for n norms


def costs(
    model: Any, norms: Sequence[str], samples: Sequence[Sample], patterns: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """How the model's outputs change without the centring of each normalisation layer, and of all at once.

    An entry of the list has the name of the layer ("norm"), and the fields of its `Effect`, measured on the
    first MAX_SAMPLES samples. The layers are those in `norms` whose names match one of `patterns`, such as
    `h.1.*`; without patterns, all in `norms`. Returns [] if no name matches, or if the model's output has
    neither logits nor a last hidden state.
    """
    chosen = [name for name in norms if not patterns or any(fnmatchcase(name, each) for each in patterns)]
    if not chosen:
        return []
    batches = [sample.batch for sample in samples[:MAX_SAMPLES]]
    passes = len(batches) * (len(chosen) + 2)
    with tqdm(total=passes, desc="dropping centring", unit=" passes", disable=None) as bar:
        try:
            found = effects(model, batches, chosen, tell=lambda _: bar.update())
        except UnknownOutput:  # for example CLIP's
            return []
    return [
        {"norm": name, "kl": each.kl, "loss": each.loss, "change": each.change}
        for name, each in found.items()
    ]
