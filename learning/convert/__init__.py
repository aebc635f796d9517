"""Fold the norms of a PyTorch model into their neighbours, where that changes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from learning.convert.confirm import confirmed
from learning.convert.plan import Answer, Edit, NormPlan, Plan
from learning.convert.planning import Draft, draft
from learning.convert.trace import trace

__all__ = ["Answer", "Edit", "NormPlan", "Plan", "centring", "plan"]


def plan(model: Any, *args: Any, **kwargs: Any) -> Plan:
    """Which norms of a model fold, why, and how; seen in one forward pass on inputs of the model's own."""
    model = getattr(model, "_orig_mod", model)  # of a compiled one
    return confirmed(model, drafted(model, args, kwargs), args, kwargs)


def drafted(model: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Draft:
    """The plan before its numeric confirmation, which takes copies of the model in float64."""
    own = dict(model.named_parameters(remove_duplicate=False))
    graph = trace(model, args, kwargs)
    return draft(graph, own.__getitem__, lambda path: type(model.get_submodule(path)).__name__)


def centring(model: Any, *args: Any, **kwargs: Any) -> dict[str, tuple[str, str]]:
    """Whether the centring of each norm folds, and why, as `learning.recording.record` asks for it."""
    return {
        norm.name: (norm.centring.verdict, norm.centring.reason)
        for norm in plan(model, *args, **kwargs).norms
    }
