"""Certify that two checkpoints are numerically the same model, by their outputs on the same inputs.

The outputs of the two models are compared in each of three precisions. The conversion passes if the largest
difference is at most `MAX_ROUNDING_RATIO` times the rounding difference: the largest difference that rounding
alone causes in the outputs of the original model. To measure it, the original also runs in another precision;
with another text in its batch; and with each weight changed at random by up to half a machine epsilon of its
size.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
import transformers
from tqdm import tqdm

from learning.convert.checkpoint import Checkpoint, Load, NotConverted, one_line_errors
from learning.convert.effect import NO_TARGET, divergence
from learning.convert.forward import Inputs, output
from learning.convert.samples import MEDIA, Sample

PRECISIONS = {"float64": torch.float64, "float32": torch.float32, "bfloat16": torch.bfloat16}
MAX_ROUNDING_RATIO = 10  # allowed difference, as a multiple of the difference that rounding alone causes
SIZES = {  # sizes of a model that limit its inputs, with the entries of a configuration that may state them
    "vocabulary": ("vocab_size",),
    "context length": ("max_position_embeddings", "max_target_positions"),
    "image size": ("image_size",),
}
# allowed error in float64, before weights are rounded: of outputs, relative to the largest output; of the
# means of a norm's input, which should be 0, relative to the largest number in this input
MAX_FOLD_ERROR = 1e-10


@dataclass
class Difference:
    """The differences between the outputs of two models.

    largest       the largest absolute difference between two corresponding numbers; ∞ if one is NaN
    kl            the mean KL divergence per position, in nats
    same_choice   the fraction of positions at which both models find the same token most likely

    `kl` and `same_choice` are None if no finite logits were compared.
    """

    largest: float = 0.0
    kl: float | None = None
    same_choice: float | None = None


@dataclass
class Tally:
    """Running sums over samples, from which a `Difference` is made.

    predicts: whether the outputs are logits; the KL divergence is computed only for logits.
    """

    largest: float = 0.0
    kl: float = 0.0
    same: int = 0
    positions: int = 0
    predicts: bool = True

    def add(self, before: Any, after: Any) -> None:
        if before.shape != after.shape:
            shapes = " and ".join(str(list(each.shape)) for each in (before, after))
            raise ValueError(f"the outputs have different shapes: {shapes}")
        difference = (before - after).abs().max().item()
        self.largest = max(self.largest, math.inf if math.isnan(difference) else difference)
        if not self.predicts or math.isinf(self.largest):
            return
        for one, other in zip(_rows(before), _rows(after), strict=True):
            self.kl += divergence(one, other)
            self.same += int((one.argmax(-1) == other.argmax(-1)).sum())
            self.positions += len(one)

    def difference(self) -> Difference:
        if not self.positions:
            return Difference(self.largest)
        return Difference(self.largest, max(self.kl, 0.0) / self.positions, self.same / self.positions)


@dataclass
class Precision:
    """The comparison of two models in one precision, such as float32.

    difference                the difference between the two models
    loss_before, loss_after   the losses of the two models in nats; None for models that predict no tokens
    rounding                  how much rounding alone changes the outputs of the original model: a difference
                              for each cause of rounding, such as "other_batch" (a batch with another text)
    bound                     the largest `difference.largest` with which the comparison passes
    passed                    whether it passes
    """

    difference: Difference
    loss_before: float | None
    loss_after: float | None
    rounding: dict[str, Difference]
    bound: float
    passed: bool


@dataclass
class Certificate:
    """The result of comparing the outputs of two checkpoints: are they the same model up to rounding?

    verdict, reason       "passed" or "refused", and why
    original, converted   the name, architecture and hashes of both checkpoints
    output                which outputs were compared, in words
    read                  a description of the inputs
    precisions            the comparison in each of PRECISIONS
    fold                  the difference of the outputs in float64, with converted weights that are not yet
                          rounded to their stored dtype; None if unknown
    means                 for each norm whose centring was folded, how far its inputs are from mean 0: the
                          largest |mean| of a vector, divided by the largest |number| of all vectors that
                          came in the same call
    norms                 for each norm, what was folded and why; empty unless `convert` made the certificate
    cost                  for the norms that still centre, how dropping their centring changes the outputs (as
                          `cost.costs` returns it); empty unless `convert` made the certificate
    software              the versions of PyTorch and transformers
    """

    verdict: str
    reason: str
    original: dict[str, Any]
    converted: dict[str, Any]
    output: str
    read: dict[str, Any]
    precisions: dict[str, Precision]
    fold: Difference | None = None
    means: dict[str, float] = field(default_factory=dict)
    norms: list[dict[str, Any]] = field(default_factory=list)
    cost: list[dict[str, Any]] = field(default_factory=list)
    software: dict[str, str] = field(
        default_factory=lambda: {"torch": str(torch.__version__), "transformers": transformers.__version__}
    )

    @property
    def passed(self) -> bool:
        return self.verdict == "passed"


def certify(
    original: Checkpoint,
    converted: Checkpoint,
    read: list[Sample],
    *,
    about: Mapping[str, Any],
    exact: Load | None = None,
    centred: Collection[str] = (),
) -> Certificate:
    """Compare the outputs of two checkpoints on the samples in `read`, and return the result.

    about     a description of the samples, for the certificate
    exact     a function that returns a converted weight by name, not yet rounded to its stored dtype; None if
              these exact weights are unknown
    centred   names of the normalisation layers of the converted model whose inputs must have mean 0

    Raises NotConverted if one of the models cannot be run, if the shapes of their outputs differ, or if the
    outputs of the original are not finite.
    """
    comparison = _Comparison(original, converted, exact, centred, predicts=_predicts(original, read))
    bars = {"total": comparison.passes(len(read)), "desc": "comparing", "unit": " passes", "disable": None}
    with (
        one_line_errors("the models cannot be compared"),
        _explained(original, converted),
        tqdm(**bars) as bar,
    ):
        for k, sample in enumerate(read):
            comparison.add(sample, bar, rounding=k == 0)
    return comparison.certificate(about)


class _Comparison:
    """The measurements of two checkpoints, collected sample by sample.

    exact: returns a converted weight before it is rounded, by name; or None. centred: the names of the layers
    whose inputs must have mean 0. predicts: whether the outputs are logits.
    """

    def __init__(
        self,
        original: Checkpoint,
        converted: Checkpoint,
        exact: Load | None,
        centred: Collection[str],
        *,
        predicts: bool,
    ) -> None:
        self.original, self.converted, self.exact, self.predicts = original, converted, exact, predicts
        self.jittered = _jittered(original)
        self.outlines = {
            name: (original.outline(dtype), converted.outline(dtype)) for name, dtype in PRECISIONS.items()
        }
        self.tallies = {name: _Tallies(predicts) for name in PRECISIONS}
        self.folded, self.stored = Tally(predicts=predicts), Tally(predicts=predicts)
        self.largest, self.means = 0.0, dict.fromkeys(centred, 0.0)

    def passes(self, samples: int) -> int:
        """The number of forward passes that are needed to compare the models on that many `samples`."""
        return samples * (2 * len(PRECISIONS) + (self.exact is not None)) + len(PRECISIONS) + 1

    def add(self, sample: Sample, bar: Any, *, rounding: bool) -> None:
        """Run both models on a sample in each precision, and add up the differences of their outputs.

        bar: a progress bar; each forward pass advances it by one. rounding: if True, the original model also
        runs with another text in its batch, and in float64 with slightly changed weights, to measure how much
        rounding changes its outputs. If False, only the effect of the precision is measured.
        """
        truth = None
        for name, dtype in PRECISIONS.items():
            ours, theirs = self.outlines[name]
            tallies = self.tallies[name]
            before = _ran(ours, self.original.load, dtype, sample.inputs, bar)
            tallies.add(before, _ran(theirs, self.converted.load, dtype, sample.inputs, bar), sample.targets)
            if truth is None:  # the first precision, float64
                if not before.isfinite().all():
                    raise NotConverted(f"the outputs of {self.original.name} contain NaN or infinity")
                truth, self.largest = before, max(self.largest, before.abs().max().item())
                if rounding:
                    self.stored.add(truth, _ran(ours, self.jittered, dtype, sample.inputs, bar))
                if self.exact:
                    with _means(theirs, self.means):
                        self.folded.add(truth, _ran(theirs, self.exact, dtype, sample.inputs, bar))
            else:
                tallies.rounding["other_precision"].add(truth, before)
            if rounding:
                other = _ran_with_other_text(ours, self.original.load, dtype, sample.inputs, bar)
                tallies.rounding["other_batch"].add(before, other)

    def certificate(self, about: Mapping[str, Any]) -> Certificate:
        other_batch = self.tallies["float64"].rounding["other_batch"]
        self.tallies["float64"].rounding = {"other_batch": other_batch, "stored_weights": self.stored}
        precisions = {name: each.result(self.stored.largest) for name, each in self.tallies.items()}
        fold = self.folded.difference() if self.exact else None
        reason = _reason(precisions, fold, self.largest, self.means)
        passed = f"no difference is larger than {MAX_ROUNDING_RATIO} times what rounding alone gives"
        return Certificate(
            verdict="refused" if reason else "passed",
            reason=reason or f"on {_amount(about)} {passed}",
            original=_identity(self.original),
            converted=_identity(self.converted),
            output="logits" if self.predicts else "last hidden state or embeddings",
            read=dict(about),
            precisions=precisions,
            fold=fold,
            means=self.means,
        )


class _Tallies:
    """Running sums over samples in one precision, from which a `Precision` is made."""

    def __init__(self, predicts: bool) -> None:
        self.difference = Tally(predicts=predicts)
        self.rounding = {name: Tally(predicts=predicts) for name in ("other_precision", "other_batch")}
        self.losses, self.targets = [0.0, 0.0], 0

    def add(self, before: Any, after: Any, targets: Any) -> None:
        self.difference.add(before, after)
        if targets is None:
            return
        self.targets += int((targets != NO_TARGET).sum())
        for k, each in enumerate((before, after)):
            self.losses[k] += loss(each, targets)

    def result(self, stored: float) -> Precision:
        rounding = {name: each.difference() for name, each in self.rounding.items()}
        bound = MAX_ROUNDING_RATIO * max(stored, *(each.largest for each in rounding.values()))
        difference = self.difference.difference()
        before, after = (each / self.targets if self.targets else None for each in self.losses)
        return Precision(difference, before, after, rounding, bound, difference.largest <= bound)


def loss(logits: Any, targets: Any) -> float:
    """The cross entropy in nats, summed over all positions whose target is not NO_TARGET."""
    rows, wanted = logits.flatten(0, -2), targets.flatten()
    return float(torch.nn.functional.cross_entropy(rows, wanted, ignore_index=NO_TARGET, reduction="sum"))


def _ran(model: Any, weights: Load, dtype: Any, inputs: Inputs, bar: Any) -> Any:
    bar.update()
    return output(model, weights, dtype, inputs)


def _ran_with_other_text(model: Any, weights: Load, dtype: Any, inputs: Inputs, bar: Any) -> Any:
    """The output for `inputs` from a forward pass over a batch of `inputs` and a reversed copy of them.

    The copy serves as another text in the same batch. It changes the output for `inputs` only by rounding.
    model, weights, dtype: as in `forward.output`. bar: a progress bar, which is advanced by one.
    """
    pairs = {
        name: torch.cat([each.flip(-1), each]) if torch.is_tensor(each) else each
        for name, each in inputs.items()
    }
    said = _ran(model, weights, dtype, pairs, bar)
    return said[len(said) // 2 :]


def _jittered(source: Checkpoint) -> Load:
    """A function that loads the weights of a checkpoint by name, and changes each number a little at random.

    The relative change is at most half a machine epsilon of the dtype in which the weight is stored. Tensors
    of integers and booleans stay the same.
    """

    def jittered(name: str) -> Any:
        tensor = source.load(name)
        if not tensor.is_floating_point():
            return tensor
        lot = torch.Generator().manual_seed(zlib.crc32(name.encode()))
        noise = torch.rand(tensor.shape, generator=lot).double() - 0.5
        return tensor.double() * (1 + torch.finfo(tensor.dtype).eps * noise)

    return jittered


@contextmanager
def _explained(one: Checkpoint, other: Checkpoint) -> Iterator[None]:
    """If the block fails, and the models differ in architecture or size, raise a ValueError that says so.

    If the models do not differ, or if the block raises NotConverted, the exception is raised unchanged.
    """
    try:
        yield
    except NotConverted:
        raise
    except Exception as problem:  # third-party model code
        if differences := ", ".join(_differences(one, other)):
            raise ValueError(f"they differ in {differences}; the comparison ended with: {problem}") from None
        raise


def _differences(one: Checkpoint, other: Checkpoint) -> Iterator[str]:
    """Yield the differences between two checkpoints in architecture and in SIZES, in words.

    For example: "vocabulary (40 and 50)".
    """
    kinds = [each.architecture.__name__ for each in (one, other)]
    if kinds[0] != kinds[1]:
        yield f"architecture ({' and '.join(kinds)})"
    configs = [each.config.get_text_config() for each in (one, other)]
    for title, names in SIZES.items():
        sizes = [
            next((size for name in names if (size := getattr(each, name, None))), None) for each in configs
        ]
        if None not in sizes and sizes[0] != sizes[1]:
            yield f"{title} ({' and '.join(map(str, sizes))})"


def _rows(logits: Any) -> Any:
    return logits.flatten(0, -2).split(256)


def _predicts(source: Checkpoint, read: list[Sample]) -> bool:
    """Whether the outputs of a model are logits, so that KL divergence and most likely token are defined.

    They are if the samples `read` have targets, as for a model that predicts tokens, or if the class name of
    the model ends with "Classification" or "ForMaskedLM".
    """
    kind = source.architecture.__name__
    return read[0].targets is not None or kind.endswith(("Classification", "ForMaskedLM"))


def _amount(about: Mapping[str, Any]) -> str:
    """The amount of input that the models have read, such as "508 tokens of text" or "4 random images"."""
    parts = [f"{about['tokens']} tokens of text"] if "tokens" in about else []
    for made, origin in (("random", ""), ("given", f" of {about.get('inputs')}")):
        for name, count in about.get(f"{made} inputs", {}).items():
            kind = MEDIA[name] + "s" * (count != 1)
            parts.append(f"{count} random {kind}" if made == "random" else f"{count} {kind}{origin}")
    return " and ".join(parts)


def _identity(source: Checkpoint) -> dict[str, Any]:
    return {
        "name": source.name,
        "architecture": source.architecture.__name__,
        "sha256": source.sha256(),
        "unused_tensors": list(source.unused),
    }


@contextmanager
def _means(model: Any, means: dict[str, float]) -> Iterator[None]:
    """While the block runs, measure how far the inputs of some normalisation layers are from mean 0.

    The keys of `means` are the names of the layers. For each input of a layer, max |μ| / max |x| is computed,
    where x are all numbers of the input, and μ are the means of its vectors. If this ratio is larger than
    the layer's value in `means`, the ratio replaces that value.
    """

    def heard(name: str) -> Any:
        def hear(module: Any, args: Any, kwargs: Any) -> None:
            x, size = next(iter((*args, *kwargs.values()))), getattr(module, "weight", None)
            axis = 1 if size is not None and size.shape[-1] != x.shape[-1] else -1  # 1: channels first
            found = (x.mean(axis).abs().max() / x.abs().max()).item()
            means[name] = max(means[name], found)

        return hear

    handles = [
        model.get_submodule(name).register_forward_pre_hook(heard(name), with_kwargs=True) for name in means
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _reason(
    measured: Mapping[str, Precision], fold: Difference | None, largest: float, means: Mapping[str, float]
) -> str:
    """The reason why a certificate must be refused; "" if it passes.

    measured: the comparison in each precision. fold: the difference before the weights were rounded; None if
    unknown. largest: the largest output in absolute value. means: for each norm whose centring was folded,
    how far its inputs are from mean 0.
    """
    for name, mean in means.items():
        if not mean <= MAX_FOLD_ERROR:
            return (
                f"before any rounding the input of {name} has means of up to {mean:.2g} of its largest number"
            )
    if fold is not None and not fold.largest <= MAX_FOLD_ERROR * largest:
        return f"before any rounding the outputs, up to {largest:.3g}, differ by {fold.largest:.2g}"
    for name, each in measured.items():
        if not math.isfinite(each.difference.largest):
            return f"in {name} the outputs contain NaN or infinity"
        if not each.passed:
            rounding = each.bound / MAX_ROUNDING_RATIO
            return (
                f"in {name} the outputs differ by up to {each.difference.largest:.2g}, more than"
                f" {MAX_ROUNDING_RATIO} times what rounding alone gives ({rounding:.2g})"
            )
    return ""
