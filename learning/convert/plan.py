"""A folding plan: edits of a model's weights that fold its norms.

Each converted tensor is computed only from tensors of the original, so that a checkpoint can be converted
tensor by tensor and shard by shard.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from graphlib import TopologicalSorter
from math import prod
from typing import Any, Literal

import torch

Tensor = Any
Verdict = Literal["yes", "no", "unknown"]
EditKind = Literal["copy", "scale", "add_bias", "center", "ones", "zeros"]


@dataclass(frozen=True)
class Answer:
    """Whether a part of a norm can be folded, and why. The parts are its centring, and γ together with β."""

    verdict: Verdict
    reason: str


@dataclass(frozen=True)
class NormPlan:
    """For one norm, whether its centring can be folded, and whether its γ and β can.

    centring   whether the centring folds into the layers that write the norm's input
    affine     whether γ and β fold into the layers that read the norm's output
    kind       "LayerNorm", "RMSNorm" …, or the class of a module that was not recognised
    """

    name: str
    kind: str
    centring: Answer
    affine: Answer


@dataclass(frozen=True)
class Edit:
    """A change of one parameter of the model: an operation (`kind`) and its operands' names (`sources`).

    The edits of one parameter are applied in order.

    copy         replace the parameter by a copy of the source, the tensor to which it was tied
    scale        multiply it by (source + offset), broadcast along `axis`
    add_bias     add Wβ, where the sources are W and β; the sum is over `axis` of W
    center       subtract the mean over `axis`, or over each of the `groups` (`spans.Span`)
    ones, zeros  set all its numbers to 1 or 0
    """

    parameter: str
    kind: EditKind
    sources: tuple[str, ...] = ()
    axis: int = 0
    offset: int = 0
    groups: bytes = b""


@dataclass(frozen=True)
class Plan:
    """Which norms of a model can be folded, why, and the edits of weights that fold them.

    first: for each name of a tensor, the first of its names; tied tensors have several.
    """

    norms: tuple[NormPlan, ...]
    edits: tuple[Edit, ...]
    first: Mapping[str, str] = field(default_factory=dict)

    @property
    def untied(self) -> tuple[str, ...]:
        """Parameters that are tied to another one in the original, but not in the converted model."""
        return tuple(edit.parameter for edit in self.edits if edit.kind == "copy")

    def tensor(self, name: str, load: Callable[[str], Tensor]) -> Tensor:
        """The converted tensor called `name`, in float64 if it was edited.

        load: returns a tensor of the original by its first name.
        """
        found = load(self._original(name))
        edits = [edit for edit in self.edits if edit.parameter == name]
        if all(edit.kind == "copy" for edit in edits):
            return found
        found = found.detach().double()
        for edit in edits:
            sources = [load(self._original(each)).detach().double() for each in edit.sources]
            found = _edited(found, edit, sources)
        return found

    def _original(self, name: str) -> str:
        return self.first.get(name, name)

    def apply(self, model: Any) -> None:
        """Rewrite the parameters of a model in place.

        Each is rewritten before the parameters that its edits read, so that edits read the original ones.
        Raises ValueError if the edits differ for two names of one tensor, or if parameters read each other.
        """
        own = dict(model.named_parameters(remove_duplicate=False)) | dict(model.named_buffers())
        untied, edits = set(self.untied), defaultdict(list)
        for edit in self.edits:
            edits[edit.parameter].append(replace(edit, parameter=""))
        order: TopologicalSorter[str] = TopologicalSorter()
        for name, changes in edits.items():
            tensor = name if name in untied else self._original(name)
            if changes != edits.get(tensor):
                raise ValueError(f"{name} and {tensor} are one tensor, but their edits differ")
            order.add(tensor)
            for source in {self._original(each) for edit in changes for each in edit.sources} - {tensor}:
                order.add(source, tensor)
        with torch.no_grad():
            for name in order.static_order():
                if name in untied:
                    path, _, attribute = name.rpartition(".")
                    new = self.tensor(name, own.__getitem__).to(own[name].dtype, copy=True)
                    parameter = torch.nn.Parameter(new, own[name].requires_grad)
                    setattr(model.get_submodule(path), attribute, parameter)
                elif name in edits:
                    own[name].copy_(self.tensor(name, own.__getitem__))


def _edited(tensor: Tensor, edit: Edit, sources: list[Tensor]) -> Tensor:
    match edit.kind:
        case "scale":
            shape = [1] * tensor.ndim
            shape[edit.axis] = -1
            return tensor * (sources[0].reshape(shape) + edit.offset)
        case "add_bias":
            weight, beta = sources
            written = torch.tensordot(weight, beta.reshape(-1), dims=([edit.axis], [0]))
            return tensor + written.reshape(*tensor.shape, -1).sum(-1)
        case "center":
            if edit.groups:
                return _centred_groups(tensor, edit)
            return tensor - tensor.mean(edit.axis, keepdim=True)
        case "ones":
            return torch.ones_like(tensor)
        case "zeros":
            return torch.zeros_like(tensor)
    return tensor


def _centred_groups(tensor: Tensor, edit: Edit) -> Tensor:
    groups = torch.frombuffer(bytearray(edit.groups), dtype=torch.int32).long().to(tensor.device)
    rows = tensor.reshape(prod(tensor.shape[: edit.axis]), len(groups), -1).clone()
    for group in range(int(groups.max()) + 1):
        own = rows[:, groups == group]
        rows[:, groups == group] = own - own.mean(1, keepdim=True)
    return rows.reshape(tensor.shape)
