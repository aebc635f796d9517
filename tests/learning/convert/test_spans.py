"""Centring of the groups (heads) of an axis commutes with views and slices of the tensor."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from learning.convert import plan
from learning.convert.plan import Edit, Plan
from learning.convert.spans import Span, destinations, reshaped, sources, whole
from learning.convert.trace import Call, Value
from tests.learning.convert.folds import folds_without_means

LENGTH, WIDTH, HEADS = 5, 24, 3


def centred(x, span):
    """The tensor x after the edit `center`, which subtracts from each group of coordinates its mean.

    span: a `Span`, which names axes of x and divides their coordinates into groups.
    """
    other = [axis for axis in range(x.ndim) if axis not in span.axes]
    moved = x.permute(*span.axes, *other)
    edit = Edit("x", "center", groups=span.groups)
    y = Plan((), (edit,), {"x": "x"}).tensor("x", lambda name: moved)
    return y.permute(*torch.tensor([*span.axes, *other]).argsort())


@st.composite
def reshapes(draw):
    """A strategy for two shapes with equally many elements, and an axis longer than 1 of the first shape."""
    factors = draw(st.lists(st.sampled_from([1, 2, 3]), min_size=2, max_size=6).filter(lambda f: max(f) > 1))

    def joined():
        cuts = draw(st.lists(st.booleans(), min_size=len(factors), max_size=len(factors)))
        shape = [1]
        for factor, cut in zip(factors, cuts, strict=True):
            shape = [*shape, factor] if cut else [*shape[:-1], shape[-1] * factor]
        return tuple(shape)

    before, after = joined(), joined()
    return before, after, draw(st.sampled_from([k for k, size in enumerate(before) if size > 1]))


@given(reshapes())
def test_a_reshape_keeps_groups(given):
    before, after, axis = given
    x = torch.from_numpy(np.random.default_rng(0).normal(size=before))
    found = reshaped(whole(axis), before, after)
    assert found is not None
    torch.testing.assert_close(centred(x.reshape(after), found), centred(x, whole(axis)).reshape(after))
    assert reshaped(found, after, before) == whole(axis)


def test_a_reshape_that_cuts_the_rows_has_no_groups():
    assert reshaped(whole(0), (4, 6), (6, 4)) is None


def call(op, x, *args):
    """Call the ATen operator named `op` with the tensor x and `args`.

    Returns an object with the call as `trace` records it (`call`), the record of x (`source`), and the list
    of output tensors (`made`).
    """
    made = getattr(torch.ops.aten, op)(x, *args)
    made = [made] if torch.is_tensor(made) else list(made)
    found = Call(op, "", (Value(tuple(x.shape)), *args))
    found.outputs += [Value(tuple(each.shape), found) for each in made]
    return SimpleNamespace(call=found, source=found.args[0], made=made)


CUTS = [("select", 1, 2), ("select", -1, -1), ("slice", 1, 1, 5, 2), ("slice", 2, 0, 4), ("unbind", 1)]
CUTS += [("split", 2, 1), ("split", 4, 2), ("split_with_sizes", [1, 5], 1), ("narrow", 0, 1, 2)]
SPANS = [whole(1), whole(2), Span((2,), np.repeat(np.int32([0, 1]), 4).tobytes())]
SPANS += [Span((2,), np.int32([0, 0, 0, 0, -1, -1, 1, 1]).tobytes())]


@pytest.mark.parametrize("span", SPANS, ids=str)
@pytest.mark.parametrize("cut", CUTS, ids=str)
def test_slices_of_a_centred_tensor_are_centred(cut, span):
    x = torch.randn(3, 6, 8, dtype=torch.float64)
    one, other = call(cut[0], x, *cut[1:]), call(cut[0], centred(x, span), *cut[1:])
    found = destinations(one.call, one.source, span)
    if found is None:  # the slice has only a part of a group
        assert any(
            not torch.allclose(each.double().sum(), other.made[k].sum()) for k, each in enumerate(one.made)
        )
        return
    spans = {part.value: part.span for part in found}
    for k, output in enumerate(one.call.outputs):
        want = centred(one.made[k], spans[output]) if output in spans else one.made[k]
        torch.testing.assert_close(other.made[k], want)


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("cut", CUTS, ids=str)
def test_a_slice_is_centred_by_centring_its_source(cut, axis, narrow):
    x = torch.randn(3, 6, 8, dtype=torch.float64)
    one = call(cut[0], x, *cut[1:])
    for k, output in enumerate(one.call.outputs):
        if axis >= len(output.shape) or output.shape[axis] == 1:
            continue
        (part,) = sources(one.call, output, whole(axis), narrow)
        again = call(cut[0], centred(x, part.span), *cut[1:])
        torch.testing.assert_close(again.made[k], centred(one.made[k], whole(axis)))
        if narrow:
            found = destinations(one.call, one.source, part.span)
            assert output in [each.value for each in found or ()]


class Heads(nn.Module):
    """Queries, keys and values from one Linear; queries and keys are normalised in each head.

    cut: a function of the Linear's output that returns queries, keys and values. change: a function of the
    queries and of the Linear's output that returns the queries to normalise.
    """

    def __init__(self, cut, change):
        super().__init__()
        self.embedding, self.all = nn.Embedding(40, WIDTH), nn.Linear(WIDTH, 3 * WIDTH)
        self.query, self.key = nn.LayerNorm(WIDTH // HEADS), nn.LayerNorm(WIDTH // HEADS)
        self.head, self.cut, self.change = nn.Linear(WIDTH, 3), cut, change
        with torch.no_grad():
            for each in self.parameters():
                each.add_(0.2 * torch.randn(each.shape))

    def forward(self, ids):
        qkv = self.all(self.embedding(ids))
        q, k, v = self.cut(qkv)
        q, k = self.query(self.change(q, qkv)), self.key(k)
        read = (q.transpose(1, 2) @ k.permute(0, 2, 3, 1)).softmax(-1) @ v.transpose(1, 2)
        return self.head(read.transpose(1, 2).flatten(-2))


ORDERS = {
    "parts of each head": lambda x: x.unflatten(-1, (HEADS, 3, -1)).unbind(3),
    "heads of each part": lambda x: x.unflatten(-1, (3, HEADS, -1)).unbind(2),
    "cut before": lambda x: (each.unflatten(-1, (HEADS, -1)) for each in x.split(WIDTH, -1)),
    "parts first": lambda x: x.unflatten(-1, (3, HEADS, -1)).permute(2, 0, 1, 3, 4).unbind(0),
    "coordinates of each head": lambda x: x.unflatten(-1, (-1, HEADS, 3)).transpose(-2, -3).unbind(-1),
    "cut in each head": lambda x: x.unflatten(-1, (HEADS, -1)).chunk(3, -1),
}
IDS = torch.arange(2 * LENGTH).reshape(2, LENGTH)


def mixed(q, qkv):
    return q.transpose(-1, -2).reshape(q.shape)


@pytest.mark.parametrize("change", [lambda q, qkv: q, mixed], ids=["plain", "mixed"])
@pytest.mark.parametrize("cut", ORDERS.values(), ids=ORDERS)
def test_heads_of_one_linear_fold(cut, change):
    torch.manual_seed(0)
    model = Heads(cut, change)
    folds_without_means(model, IDS)


CHANGED = {
    "rotated": (lambda q, qkv: q * torch.arange(8.0).cos(), "by the operator `mul`"),
    "doubled by values": (lambda q, qkv: q * qkv.unflatten(-1, (HEADS, 3, -1))[..., 2, :], "`mul`"),
    "activated": (lambda q, qkv: q.relu(), "by the operator `relu`"),
}


@pytest.mark.parametrize(("change", "reason"), CHANGED.values(), ids=CHANGED)
def test_heads_that_are_not_only_centred_stay(change, reason):
    torch.manual_seed(0)
    query, key = plan(Heads(ORDERS["parts of each head"], change), IDS).norms
    assert query.centring.verdict != "yes" and reason in query.centring.reason
    assert key.centring.verdict == ("no" if "`mul`" in reason and "doubled" in reason else "yes")
