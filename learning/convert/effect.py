"""The effect of centring on a model's predictions, measured by toggling it in each normalisation layer.

If centring is toggled, a LayerNorm or GroupNorm no longer subtracts the mean, so it divides by √(mean x² + ε)
instead of √(σ² + ε), while an RMSNorm does subtract the mean, and divides by √(σ² + ε). γ, β and ε stay the
same, and nothing is retrained. Needs PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from math import nan, sqrt
from typing import Any

import torch

from learning.recording.known import Known, NotKnown, known

ALL_NORMS = "all norms"  # key in `effects` for all norms changed at once
NO_TARGET = -100  # label that PyTorch's loss ignores
PREDICTIONS_PER_CHUNK = 128  # number of predictions compared at once; limits memory for a large vocabulary
Batch = Mapping[str, Any]  # the keyword arguments of one call; with `labels` the model returns its loss


class UnknownOutput(ValueError):
    """Raised for a model whose output has neither logits nor a last hidden state."""


@dataclass(frozen=True)
class Effect:
    """The change of a model's outputs when some of its normalisation layers are changed.

    kl      the mean over predictions of KL(model ‖ changed model), in nats; NaN for a model without logits
    loss    the loss of the changed model minus that of the original, averaged over labels; NaN if the model
            returns no loss, as for batches without labels
    change  ‖y' − y‖/‖y‖, where y are all outputs of the model and y' those of the changed model: logits, or
            hidden states for a model without logits
    predictions  the number of vectors of logits, or of hidden states, that were compared: usually one for
            each token that is not padding, but one for each example if the model classifies whole texts
    """

    kl: float
    loss: float
    change: float
    predictions: int = 0


@dataclass
class _Sums:
    """Running sums over batches, from which the `Effect` of one change of the model is computed."""

    predictions: int = 0
    labels: int = 0
    kl: float = 0.0
    loss: float = 0.0
    moved: float = 0.0
    size: float = 0.0

    def effect(self) -> Effect:
        return Effect(
            kl=self.kl / self.predictions if self.predictions else nan,
            loss=self.loss / self.labels if self.labels else nan,
            change=sqrt(self.moved / self.size) if self.size else 0.0,
            predictions=self.predictions,
        )


def effects(
    model: Any,
    batches: Iterable[Batch],
    norms: Sequence[str] | None = None,
    tell: Callable[[int], None] = lambda done: None,
) -> dict[str, Effect]:
    """Measure the effect of toggling the centring of each normalisation layer alone, and of all at once.

    Toggling means: a layer that centres stops centring, and any other layer starts to centre. Returns an
    `Effect` for the path of each layer, and one for all layers under the name ALL_NORMS.

    model    a model whose output has `logits` or `last_hidden_state`; UnknownOutput is raised for others
    batches  the keyword arguments of each call of the model; the loss is measured if they have `labels`
    norms    the paths of the layers; `path#k` is the k-th call of a module in a forward pass. None: all that
             are recognised
    tell     is called with the number of finished forward passes; for n layers, each batch takes n + 2 passes

    Padding is left out. Raises NotKnown if a path leads to a module that is not a normalisation layer, and
    KeyError if it leads nowhere.
    """
    found = recognised(model, norms)
    changes = {path: {path: each} for path, each in found.items()} | {ALL_NORMS: found}
    sums = {name: _Sums() for name in changes}
    done = 0
    with torch.no_grad():
        for batch in batches:
            own = model(**batch)
            tell(done := done + 1)
            for name, change in changes.items():
                with centring_toggled(model, change):
                    _add(sums[name], batch, own, model(**batch))
                tell(done := done + 1)
    return {name: each.effect() for name, each in sums.items()}


def recognised(model: Any, norms: Sequence[str] | None = None) -> dict[str, Known]:
    """The normalisation layers of a model that are recognised, by path.

    norms: the paths of the layers, or `path#k` as in `effects`; None for all. For given paths, NotKnown is
    raised if a module is not a recognised normalisation layer, and KeyError if there is no module at a path.
    """
    modules, like = dict(model.named_modules()), next(chain(model.parameters(), model.buffers()))
    found: dict[str, Known] = {}
    for path in modules if norms is None else norms:
        try:
            each = known(path or "model", modules[path.partition("#")[0]], like)
        except NotKnown:
            if norms is not None:
                raise
            continue
        if each is not None:
            found[path] = each
        elif norms is not None:
            raise NotKnown(f"{path} is no norm")
    return found


@contextmanager
def centring_toggled(model: Any, norms: Mapping[str, Known]) -> Iterator[None]:
    """While the `with` block runs, toggle the centring of some normalisation layers of a model.

    A layer that subtracts the mean stops centring; any other layer, such as RMSNorm, starts to centre.
    norms: the recognised layers, by module path. The key `path#k` stands for the k-th call of the module in a
    forward pass; the other calls do not change.
    """
    handles, calls = [], dict.fromkeys((path.partition("#")[0] for path in norms), 0)

    def start(*_: Any) -> None:
        calls.update(dict.fromkeys(calls, 0))

    def hook(path: str) -> Callable[..., Any]:
        def other(module: Any, args: Any, kwargs: Any, output: Any) -> Any:
            calls[path] += 1
            each = norms.get(path) or norms.get(f"{path}#{calls[path]}")
            return output if each is None else toggled(each, next(iter((*args, *kwargs.values()))))

        return other

    handles.append(model.register_forward_pre_hook(start))
    handles += [
        model.get_submodule(path).register_forward_hook(hook(path), with_kwargs=True) for path in calls
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def toggled(recognised: Known, x: Any) -> Any:
    """The output of a normalisation layer for x with its centring toggled (left out, or added)."""
    norm, wide = recognised.norm, torch.promote_types(x.dtype, torch.float32)
    vectors = recognised.vectors(x).to(wide)
    blocks = vectors.unflatten(-1, (norm.groups, -1))
    if not norm.centres:
        blocks = blocks - blocks.mean(-1, keepdim=True)
    n = (blocks * torch.rsqrt(blocks.square().mean(-1, keepdim=True) + norm.eps)).flatten(-2)
    gamma, beta = (torch.as_tensor(each, dtype=wide, device=x.device) for each in (norm.gamma, norm.beta))
    return recognised.shaped(gamma * n + beta, x)


def divergence(before: Any, after: Any) -> float:
    """KL(softmax(before) ‖ softmax(after)) in nats, summed over all rows of logits."""
    one, other = before.log_softmax(-1), after.log_softmax(-1)
    return float((one.exp() * (one - other)).sum())


def _add(sums: _Sums, batch: Batch, own: Any, other: Any) -> None:
    """Add to `sums` how much two outputs for one batch differ: KL divergence, squared change, loss.

    own: the output of the model; other: the output of the changed model. Compared are the logits, or without
    them the last hidden states. Raises UnknownOutput if the outputs have neither.
    """
    has_logits = getattr(own, "logits", None) is not None
    if not has_logits and getattr(own, "last_hidden_state", None) is None:
        raise UnknownOutput(f"{type(own).__name__} has neither logits nor last_hidden_state")
    a, b = (each.logits if has_logits else each.last_hidden_state for each in (own, other))
    real = batch.get("decoder_attention_mask" if "decoder_input_ids" in batch else "attention_mask")
    if real is not None and real.shape == a.shape[:-1]:
        a, b = a[real.bool()], b[real.bool()]
    a, b = a.reshape(-1, a.shape[-1]), b.reshape(-1, b.shape[-1])
    sums.predictions += len(a)
    for one, two in zip(a.split(PREDICTIONS_PER_CHUNK), b.split(PREDICTIONS_PER_CHUNK), strict=True):
        one, two = one.double(), two.double()
        sums.moved += float((two - one).square().sum())
        sums.size += float(one.square().sum())
        sums.kl += divergence(one, two) if has_logits else nan
    count = int((batch["labels"] != NO_TARGET).sum()) if "labels" in batch else 0
    if count and getattr(own, "loss", None) is not None:
        sums.labels += count
        sums.loss += count * float(other.loss - own.loss)
