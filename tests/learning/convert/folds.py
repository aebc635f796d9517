"""A check that all centring of a model folds."""

from learning.convert import plan
from learning.convert.confirm import difference, outputs
from learning.convert.trace import trace


def folds_without_means(model, ids):
    """Fold a model in place; assert that the centring of each of its norms folds.

    Also assert that the folded model has the same outputs for the token ids `ids`, and that all of its norms
    get inputs of mean 0.
    """
    found = plan(model, ids)
    assert {norm.centring.verdict for norm in found.norms} == {"yes"}
    before = outputs(model.double(), (ids,), {})
    found.apply(model)
    assert difference(before, outputs(model, (ids,), {})) <= 1e-12
    assert all(call.mean < 1e-12 for call in trace(model, (ids,)).norms)
