"""Fold the norms of a PyTorch model into their neighbours, where that changes nothing."""

from __future__ import annotations

from typing import Any

from learning.convert.confirm import confirmed
from learning.convert.plan import Answer, Edit, NormPlan, Plan
from learning.convert.planning import draft
from learning.convert.trace import trace

__all__ = ["Answer", "Edit", "NormPlan", "Plan", "centring", "plan"]


def plan(model: Any, *args: Any, **kwargs: Any) -> Plan:
    """Which norms of a model fold, why, and how; seen in one forward pass on inputs of the model's own."""
    model = getattr(model, "_orig_mod", model)  # of a compiled one
    graph = trace(model, args, kwargs)
    own = dict(model.named_parameters(remove_duplicate=False))
    found = draft(graph, own.__getitem__, lambda path: type(model.get_submodule(path)).__name__)
    return confirmed(model, found, args, kwargs)


def centring(model: Any, *args: Any, **kwargs: Any) -> dict[str, tuple[str, str]]:
    """Whether the centring of each norm folds, and why, as `learning.recording.record` asks for it."""
    return {
        norm.name: (norm.centring.verdict, norm.centring.reason)
        for norm in plan(model, *args, **kwargs).norms
    }
