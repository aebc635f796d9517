"""Measure how a model's outputs change if LayerNorms whose centring cannot be folded no longer centre."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

from tqdm import tqdm

from learning.convert.checkpoint import NotConverted
from learning.convert.effect import ALL_NORMS, UnknownOutput, effects, recognised
from learning.convert.samples import Sample

MAX_SAMPLES = 1  # samples that are measured; each takes n + 2 forward passes for n norms
MAX_SUGGESTIONS = 3  # names that are listed if a pattern matches none


def check_patterns(patterns: Sequence[str], names: Sequence[str]) -> None:
    """Raise NotConverted for a pattern that matches none of the names.

    The message lists a few names, similar to the pattern if possible. Patterns are those of the module
    `fnmatch`.
    """
    for pattern in patterns:
        if any(fnmatchcase(name, pattern) for name in names):
            continue
        alike = [name for name in names if fnmatchcase(name, f"*{pattern}*")]
        alike = alike or get_close_matches(pattern, names, MAX_SUGGESTIONS) or list(names)
        listed = ", ".join(alike[:MAX_SUGGESTIONS])
        raise NotConverted(f"no norm of this model matches {pattern!r}; names of its norms are {listed}")


def costs(
    model: Any, norms: Sequence[str], samples: Sequence[Sample], patterns: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """Measure how the model's outputs change if one normalisation layer, or several, no longer centre.

    norms      the names of layers that centre; layers that are not recognised are left out
    samples    the inputs of the model; only the first MAX_SAMPLES are used
    patterns   patterns such as `*.h.1.*`; only layers whose names match one are measured. () for all layers

    Returns a list with a dict for each layer, and, if there are several layers, a last dict for all at once.
    A dict has the key "norm", which is the layer's name (in the last dict, what `together` returns), and the
    fields `kl`, `loss` and `change` of the `Effect`. The list is empty if there are no layers to measure, or
    if the model's output has neither logits nor a last hidden state.
    """
    known = recognised(model)
    chosen = [name for name in norms if name in known and any(fnmatchcase(name, p) for p in patterns or "*")]
    if not chosen:
        return []
    batches = [sample.batch for sample in samples[:MAX_SAMPLES]]
    passes = len(batches) * (len(chosen) + 2)
    with tqdm(total=passes, desc="dropping centring", unit=" passes", disable=None) as bar:
        try:
            found = effects(model, batches, chosen, tell=lambda _: bar.update())
        except UnknownOutput:  # for example CLIP's
            return []
    whole = found.pop(ALL_NORMS)
    found |= {together(len(chosen)): whole} if len(chosen) > 1 else {}
    return [
        {"norm": name, "kl": each.kl, "loss": each.loss, "change": each.change}
        for name, each in found.items()
    ]


def together(count: int) -> str:
    """The name under which a certificate lists `count` layers whose centring is dropped at the same time."""
    return f"these {count} norms together"
