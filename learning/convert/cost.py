"""What it costs to drop the centring of LayerNorms where it cannot be folded away, norm by norm."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

from tqdm import tqdm

from learning.convert.effect import effects
from learning.convert.samples import Sample

MAX_COST_WINDOWS = 1


def costs(
    model: Any, norms: Sequence[str], read: Sequence[Sample], patterns: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """KL, loss and change of the output for each norm alone and for all at once, as `effects` defines them.

    patterns: only norms whose names match one, such as `h.1.*`. Of the windows only the first few are read.
    """
    chosen = [name for name in norms if not patterns or any(fnmatchcase(name, each) for each in patterns)]
    if not chosen:
        return []
    batches = [sample.batch for sample in read[:MAX_COST_WINDOWS]]
    runs = len(batches) * (len(chosen) + 2)
    with tqdm(total=runs, desc="dropping centring", unit=" passes", disable=None) as bar:
        try:
            found = effects(model, batches, chosen, tell=lambda _: bar.update())
        except AttributeError:  # neither logits nor a last hidden state, as of CLIP
            return []
    return [
        {"norm": name, "kl": each.kl, "loss": each.loss, "change": each.change}
        for name, each in found.items()
    ]
