"""Find which modules write the input of a normalisation layer, from the additions in one forward pass.

In a residual stream, this input is a sum; its summands are the operands of the additions that computed it.
The mean of the sum is the sum of the summands' means, so each summand contributes a part of the mean. In the
same way, each summand contributes a part of every coordinate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from learning.convert.linear import COPY_OPS, RESHAPING_OPS, VIEW_OPS
from learning.convert.trace import NORM, Call, NormOperator, Tracer, Value, evaluating, tensors
from learning.recording.recorder import Place, copied_arguments
from learning.recording.sources import Sources

Tensor = Any
PROBABILITY_OPS = {"_softmax", "_safe_softmax"}
MATRIX_PRODUCT_OPS = {"bmm", "mm", "baddbmm"}
SUM_ROUNDINGS = 32  # allowed error of the summands' sum, in machine epsilons of their largest number


class Summands(Tracer):
    """A tracer that also keeps tensors: those that are added, and the inputs of normalisation layers."""

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.kept: dict[Value, Tensor] = {}
        self.kinds: dict[Value, str] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if not self.quiet:
            given = [each for each in args if isinstance(each, torch.Tensor)]
            if func.overloadpacket.__name__ in ("add", "add_"):
                self.kept |= {self.value(each): each for each in given}
            if func._schema.is_mutable:
                changed = [each for each in given if self.value(each) in self.kept]
                self.kept |= {self.value(each): each.clone() for each in changed}
        return super().__torch_dispatch__(func, types, args, kwargs)

    def _norm(self, norm: NormOperator, x: Tensor, parameters: Sequence[Any], output: Tensor) -> None:
        self.kept[self.value(x)] = x
        super()._norm(norm, x, parameters, output)

    def summands(self, value: Value) -> list[Value]:
        """The summands of a value, found by following additions backwards.

        Views and copies are followed too. If the value is the sum of two tensors (with `alpha` 1), the result
        is the summands of both. If the value is anything else, such as a tensor plus a number, the result is
        the value alone.
        """
        call = _origin(value).call
        if call is None or call.op != "add" or call.kwargs.get("alpha", 1) != 1:
            return [value]
        if not all(isinstance(each, Value) and each in self.kept for each in call.args):
            return [value]
        return [part for each in call.args for part in self.summands(each)]

    def kind(self, value: Value) -> str:
        """The kind of module that computed the summand `value`: one of `sources.KINDS`."""
        origin = _origin(value)
        if origin not in self.kinds:
            self.kinds[origin] = self._kind(origin)
        return self.kinds[origin]

    def _kind(self, value: Value) -> str:
        if self._reads_stream(value.call):
            return "norm"
        todo, seen, read = [value], set[Value](), False
        while todo:
            call = todo.pop().call
            if call is None or self._reads_stream(call):
                read |= call is not None
                continue
            if _attends(call):
                return "attention"
            todo += [each for each in call.inputs if each not in seen]
            seen.update(call.inputs)
        return "MLP" if read else "embedding"

    def _reads_stream(self, call: Call | None) -> bool:
        """Whether `call` is a normalisation layer whose input is a residual stream.

        A residual stream is a sum, or the embedding alone.
        """
        if call is None or call.op != NORM:
            return False
        x = call.args[0]
        return len(self.summands(x)) > 1 or self.kind(x) == "embedding"


def contributions(
    model: Any, args: Sequence[Any], kwargs: Mapping[str, Any], dimensions: Mapping[Place, int]
) -> dict[Place, tuple[Sources, Sources]]:
    """For each normalisation layer, how much each kind of module contributes to its input.

    Returns two `Sources` for a layer: the contributions to the mean of its input vectors, and the
    contributions to one coordinate of its longest input vector. `dimensions` says which coordinate. The keys
    of `dimensions` and of the result are pairs: the path of the layer, and which of its calls in the forward
    pass is meant, counted from 1.

    Padding marked by an `attention_mask` is left out. The result lacks layers that are not in `dimensions`,
    whose input is not a residual stream, or that do not normalise along the last axis.
    """
    tracer = Summands(model)
    with tracer.hooked(), evaluating(model), tracer:
        args, kwargs = copied_arguments(args), copied_arguments(kwargs)
        for tensor in tensors((args, kwargs)):
            tracer.leaf(tensor, "input")
        model(*args, **kwargs)
    calls, found = Counter[str](), {}
    for call in tracer.calls:
        if call.op != NORM:
            continue
        calls[call.module] += 1
        place = (call.module, calls[call.module])
        if place in dimensions and call.norm.axis == len(call.args[0].shape) - 1:
            parts = _parts(tracer, call.args[0])
            if parts is not None:
                real = _real(kwargs.get("attention_mask"), tracer.kept[call.args[0]])
                found[place] = _shares(*parts, real, dimensions[place])
    return found


def _parts(tracer: Summands, x: Value) -> tuple[list[tuple[str, str]], Tensor] | None:
    """The summands of x: a list with a pair (kind, module) for each, and their vectors (summands, n, d).

    Returns None if x is not a residual stream, or if it differs from the sum of the summands by more than
    rounding.
    """
    whole, values = tracer.kept[x].detach(), tracer.summands(x)
    if len(values) == 1 and tracer.kind(x) != "embedding":
        return None
    every = [tracer.kept[each].detach().double().reshape(-1, *whole.shape[1:]) for each in values]
    stacked = torch.stack([each.expand(whole.shape).reshape(-1, whole.shape[-1]) for each in every])
    exact = whole.double().reshape(-1, whole.shape[-1])
    within = SUM_ROUNDINGS * torch.finfo(whole.dtype).eps * stacked.abs().max()
    if float((stacked.sum(0) - exact).abs().max()) > within:
        return None
    return [(tracer.kind(each), _module(each)) for each in values], stacked


def _shares(
    written: Sequence[tuple[str, str]], parts: Tensor, real: Tensor | None, dimension: int
) -> tuple[Sources, Sources]:
    parts = parts if real is None else parts[:, real]
    means, whole = parts.mean(-1), parts.sum(0)
    row = int(whole.square().sum(-1).argmax())
    together = means.sum(0)
    return (
        _sources(written, (means * together).sum(-1), together.square().sum()),
        _sources(written, parts[:, row, dimension], whole[row, dimension]),
    )


def _sources(written: Sequence[tuple[str, str]], numbers: Tensor, whole: Tensor) -> Sources:
    shares = (numbers / whole).tolist() if float(whole) else [0.0] * len(numbers)
    kinds, modules = Counter[str](), Counter[str]()
    for (kind, module), share in zip(written, shares, strict=True):
        kinds[kind] += share
        modules[module] += share
    module = max(modules, key=lambda each: abs(modules[each]))
    return Sources(dict(kinds), module, modules[module])


def _origin(value: Value) -> Value:
    """The value of which `value` is a view or a copy; `value` itself if it is neither.

    Copies into an existing tensor (`copy_`) do not count.
    """
    while value.call is not None and value.call.op in (COPY_OPS | VIEW_OPS) - {"copy"}:
        value = value.call.args[0]
    return value


def _module(value: Value) -> str:
    origin = _origin(value)
    return origin.call.module if origin.call is not None else origin.name or origin.leaf


def _attends(call: Call) -> bool:
    """Whether a call is an attention operator, or a matrix product with the output of a softmax."""
    if "attention" in call.op:
        return True
    return call.op in MATRIX_PRODUCT_OPS and any(_are_probabilities(each) for each in call.inputs)


def _are_probabilities(value: Value) -> bool:
    while value.call is not None and value.call.op in RESHAPING_OPS:
        value = value.call.inputs[0]
    return value.call is not None and value.call.op in PROBABILITY_OPS


def _real(mask: Any, x: Tensor) -> Tensor | None:
    """For each vector of x, True if it belongs to a real token, and False if it is padding.

    mask: the model's argument `attention_mask`. Returns None unless it is a tensor with two axes and as many
    entries as x has vectors.
    """
    rows = x.numel() // x.shape[-1]
    fits = isinstance(mask, torch.Tensor) and mask.ndim == 2 and mask.numel() == rows
    return mask.reshape(-1).bool() if fits else None
