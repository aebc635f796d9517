"""Confirm a folding plan numerically: fold a float64 copy of the model, and compare its outputs."""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from learning.convert.plan import Plan
from learning.convert.planning import Draft
from learning.convert.trace import evaluating, tensors, trace
from learning.file_error import one_line
from learning.memory import free_bytes
from learning.recording.recorder import copied_arguments

Tensor = Any
NARROW_DTYPES = (torch.float32, torch.float16, torch.bfloat16)
FLOAT64_COPIES = 2  # copies of the model in memory at the same time
MAX_ROUNDING_RATIO = 32  # allowed difference, as a multiple of what `rounding` measures


class Float64(TorchDispatchMode):
    """Run a float64 model in float64 throughout: casts to narrower types become casts to float64."""

    def __enter__(self) -> Any:
        self.default = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)
        return super().__enter__()

    def __exit__(self, *problem: Any) -> None:
        super().__exit__(*problem)
        torch.set_default_dtype(self.default)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if kwargs.get("dtype") in NARROW_DTYPES:
            kwargs = {**kwargs, "dtype": torch.float64}
        if func is torch.ops.aten._grouped_mm.default and args[0].dtype == torch.float64:
            return _grouped_mm(*args[:3])
        return func(*args, **kwargs)


def _grouped_mm(a: Tensor, b: Tensor, ends: Tensor) -> Tensor:
    """Grouped matrix product in float64, because `torch._grouped_mm` of PyTorch does not accept float64.

    The rows of `a` (n, k) are divided into pieces. Piece i ends before the row ends[i], and is multiplied by
    the matrix b[i] of `b` (pieces, k, m). Returns (n, m).
    """
    cuts = [0, *ends.tolist()]
    return torch.cat([a[start:end] @ each for start, end, each in zip(cuts, cuts[1:], b, strict=False)])


def in_float64(given: Any) -> Any:
    """A copy of the arguments of a model's call, with floating-point tensors converted to float64."""
    return copied_arguments(given, lambda each: each.double() if each.is_floating_point() else each)


def outputs(model: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Tensor]:
    """The floating-point tensors in the output of a float64 model.

    Steps that the model casts to a lower precision are computed in float64 too.
    """
    with evaluating(model), Float64():
        return floating_point_tensors(model(*in_float64(args), **in_float64(kwargs)))


def floating_point_tensors(found: Any) -> list[Tensor]:
    """The floating-point tensors in `found`, the output of a model, which may be a nested container."""
    return [each for each in tensors(found) if each.is_floating_point()]


def difference(one: Sequence[Tensor], other: Sequence[Tensor]) -> float:
    """The relative difference between the outputs of two models.

    one, other: the output tensors of the two models. Two corresponding tensors a and b have the relative
    difference max |a − b| / max |a|. The result is the largest of these numbers, NaN if one of them is NaN,
    and 0 if there are no numbers to compare.
    """
    each = [
        float((a - b).abs().max() / a.abs().max().clamp(min=torch.finfo(a.dtype).tiny))
        for a, b in zip(one, other, strict=True)
        if a.numel()
    ]
    return float(np.max(each, initial=0.0))  # Python's `max` could lose a NaN


def rounding(model: Any, before: Sequence[Tensor], args: Sequence[Any], kwargs: Mapping[str, Any]) -> float:
    """The rounding error of a model's outputs: their relative `difference` after perturbing its parameters.

    In a copy of the model, each number of each parameter is changed at random; the relative change is at most
    the machine epsilon of float64. before: the outputs without this change. The result is at least the
    machine epsilon of float64.
    """
    moved, generator = copy.deepcopy(model), torch.Generator().manual_seed(0)
    eps = torch.finfo(torch.float64).eps
    with torch.no_grad():
        for each in moved.parameters():
            lots = torch.rand(each.shape, generator=generator, dtype=torch.float64).to(each.device)
            each.mul_(1 + eps * (2 * lots - 1))
    return max(difference(before, outputs(moved, args, kwargs)), eps)


def confirmed(model: Any, draft: Draft, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Plan:
    """The plan with only those folds that leave the outputs of a float64 copy unchanged up to rounding.

    If a norm's centring is folded, the mean of its inputs must also be 0 up to rounding. The first try is
    with all folds. If it fails, each fold is tried alone; folds that share their edits count as one. The last
    try is with all folds that passed alone.

    A fold that fails alone gets the answer "unknown" in the plan. All folds get this answer if the last try
    fails, if there is too little memory, or if the model does not run in float64.
    """
    needed, free = FLOAT64_COPIES * 8 * sum(each.numel() for each in model.parameters()), free_bytes()
    if needed > free:
        reason = f"confirming it takes {needed / 1e9:.1f} GB, and {free / 1e9:.1f} GB are free"
        return draft.without(dict.fromkeys(draft.folds, reason)).plan()
    original = copy.deepcopy(model).double()
    try:
        before = outputs(original, args, kwargs)
    except Exception as problem:  # third-party model code
        reason = f"it cannot be run in float64 to confirm it: {one_line(problem)}"
        return draft.without(dict.fromkeys(draft.folds, reason)).plan()
    bound = MAX_ROUNDING_RATIO * rounding(original, before, args, kwargs)

    def differs(keys: Collection[Any]) -> float:
        folded = copy.deepcopy(original)
        draft.plan(keys).apply(folded)
        with Float64():
            graph = trace(folded, in_float64(args), in_float64(kwargs))
        means = [call.mean for call in graph.norms if (call.module, "centring") in keys]
        return float(np.max([difference(before, floating_point_tensors(graph.output)), *means]))

    if not draft.folds or differs(draft.folds) <= bound:
        return draft.plan()
    together: dict[Any, list[Any]] = {}
    for key, edits in draft.folds.items():
        together.setdefault(edits, []).append(key)
    alone = {key: size for keys in together.values() for size in [differs(keys)] for key in keys}
    failed = {key: size for key, size in alone.items() if not size <= bound}
    rest = draft.without({key: f"the numeric check differs by {size:.2g}" for key, size in failed.items()})
    size = differs(rest.folds) if rest.folds else 0.0
    if not size <= bound:
        rest = rest.without(
            dict.fromkeys(rest.folds, f"the numeric check of all folds differs by {size:.2g}")
        )
    return rest.plan()
