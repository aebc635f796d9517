"""Plan which normalisation layers of a PyTorch model can be folded exactly into neighbouring layers.

The module `conversion` carries such a plan out for a checkpoint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from learning.convert.confirm import confirmed
from learning.convert.contributions import contributions
from learning.convert.plan import Answer, Edit, NormPlan, Plan
from learning.convert.planning import Draft, draft
from learning.convert.trace import trace

__all__ = ["Answer", "Edit", "NormPlan", "Plan", "centring", "contributions", "plan"]


def plan(model: Any, *args: Any, **kwargs: Any) -> Plan:
    """Plan which normalisation layers of a model can be folded, and how.

    The plan is made from one call, `model(*args, **kwargs)`, and confirmed numerically: it contains only
    folds that leave the model's outputs unchanged up to rounding.
    """
    model = getattr(model, "_orig_mod", model)  # the original module, if this one is compiled
    return confirmed(model, drafted(model, args, kwargs), args, kwargs)


def drafted(model: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Draft:
    """The plan for a model before it is confirmed numerically.

    Unlike `plan`, this needs no memory for copies of the model in float64.
    """
    own = dict(model.named_parameters(remove_duplicate=False))
    graph = trace(model, args, kwargs)
    return draft(graph, own.__getitem__, lambda path: type(model.get_submodule(path)).__name__)


def centring(model: Any, *args: Any, **kwargs: Any) -> dict[str, tuple[str, str]]:
    """Find out in which normalisation layers of a model the centring can be folded, and why or why not.

    Returns a pair for each layer, by the path of its module: the verdict ("yes", "no" or "unknown") and the
    reason. The arguments are those of `plan`. This function can be passed to `record` as `verdicts`.
    """
    return {
        norm.name: (norm.centring.verdict, norm.centring.reason)
        for norm in plan(model, *args, **kwargs).norms
    }
