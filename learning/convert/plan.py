"""A folding plan: edits of a model's weights that fold its normalisation layers.

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
    """Whether a part of a normalisation layer can be folded ("yes", "no" or "unknown"), and why.

    The two parts of a layer are its centring, and its gain γ together with its shift β.
    """

    verdict: Verdict
    reason: str


@dataclass(frozen=True)
class NormPlan:
    """For one normalisation layer, whether its centring can be folded, and whether γ and β can be folded.

    name       the path of the module
    centring   whether the centring can be folded into the layers that compute the input
    affine     whether γ and β can be folded into the layers that read the output
    kind       "LayerNorm", "RMSNorm" …, or the class of a module that was not recognised
    """

    name: str
    kind: str
    centring: Answer
    affine: Answer


@dataclass(frozen=True)
class Edit:
    """A change of one parameter of the model.

    If a parameter has several edits, they are applied in order. The operation is `kind`; its operands are the
    parameter and the tensors whose names are in `sources`:

    copy         replace the parameter by a copy of the source, the tensor to which it was tied
    scale        multiply the parameter by source + offset, a vector along `axis`
    add_bias     add Wβ, where the sources are W and β; the sum is over `axis` of W, and over the axes of its
                 kernel if W is a convolution
    center       subtract the mean over `axis`, or over each of the `groups` of coordinates (`spans.Span`)
    ones, zeros  set all numbers of the parameter to 1 or 0
    """

    parameter: str
    kind: EditKind
    sources: tuple[str, ...] = ()
    axis: int = 0
    offset: int = 0
    groups: bytes = b""


@dataclass(frozen=True)
class Plan:
    """A folding plan: which normalisation layers of a model can be folded, why, and the edits that fold them.

    A tensor that several modules share is tied: it has several names. first: maps every name of a tensor to
    the first name of this tensor.
    """

    norms: tuple[NormPlan, ...]
    edits: tuple[Edit, ...]
    first: Mapping[str, str] = field(default_factory=dict)

    @property
    def untied(self) -> tuple[str, ...]:
        """The parameters that are tied to another one in the original, but not in the converted model."""
        return tuple(edit.parameter for edit in self.edits if edit.kind == "copy")

    def tensor(self, name: str, load: Callable[[str], Tensor]) -> Tensor:
        """The tensor called `name` of the converted model, in float64 if its numbers were edited.

        load: returns a tensor of the original model by its name. If a tensor has several names (tied
        weights), `load` gets the first one. The result is the loaded tensor itself, not a copy, if its
        numbers were not edited.
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

        Edits read the original numbers: a parameter is rewritten only after all others that are computed from
        it. Raises ValueError if parameters are computed from one another in a circle. Also raises it if two
        names of one tensor have different edits, unless the plan gives one of them its own tensor (`untied`).
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
