"""Spans: the coordinates of a tensor over which a mean is removed, such as an axis, or each part of an axis.

`sources` and `destinations` extend the functions `links` and `mapped` of `linear.py` from whole axes to
groups of coordinates. Groups are needed because a view may split an axis into attention heads, and a slice
may take some of the heads. As in `linear.py`, P is centring: it subtracts the mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from math import prod

import numpy as np

from learning.convert.linear import SLICING_OPS, VIEW_OPS, cut_axis, links, mapped
from learning.convert.trace import NORM, Call, Value

Labels = np.ndarray
Shape = tuple[int, ...]
End = tuple[Value, int, Value | None]


@dataclass(frozen=True)
class Span:
    """Axes of a tensor, and a division of their coordinates into groups, each of which is centred separately.

    groups: for each coordinate, the number of its group, or −1 for a coordinate in no group. The numbers are
    the bytes of an int32 array in row-major order; b"" means a single axis whose coordinates form one group.
    If the tensor has other axes, the same division holds at each of their indices, with separate groups.
    """

    axes: tuple[int, ...]
    groups: bytes = b""

    def labels(self, shape: Shape) -> Labels:
        """For a tensor of this shape, the group number of each index along the span's axes.

        −1 means no group. Without `groups`, all belong to group 0.
        """
        own = [shape[axis] for axis in self.axes]
        return np.frombuffer(self.groups, np.int32).reshape(own) if self.groups else np.zeros(own, np.int32)


@dataclass(frozen=True)
class Part:
    """A tensor at one end of an operator, and the span over which its coordinates are centred.

    scale: a parameter by which the operator multiplies its operand, coordinate by coordinate; None if there
    is none. With a `scale`, the product of operand and parameter is centred, not the operand alone.
    """

    value: Value
    span: Span
    scale: Value | None = None


def whole(axis: int) -> Span:
    """The span of one axis whose coordinates form a single group."""
    return Span((axis,))


def sources(call: Call, output: Value, span: Span, narrow: bool) -> list[Part] | None:
    """The operands of `call` that must be centred so that its `output` is centred over `span`.

    A `Part` says over which span an operand must be centred. Returns None if this is impossible.

    narrow: matters only if the output is a slice of the operand. If True, only this slice of the operand is
    centred. If False, the whole operand is centred, unless the slice is along an axis of the span.
    """
    if call.op in VIEW_OPS:
        view = reshaped(span, output.shape, call.args[0].shape)
        return None if view is None else [Part(call.args[0], view)]
    if call.op in SLICING_OPS:
        return [Part(call.args[0], _uncut(call, output, span, narrow))]
    if span.groups and call.op == NORM:
        return None
    ends = list[list[End]]()
    for axis in span.axes:
        found = links(call, output, axis)
        if found is None:
            return None
        ends.append([(each.value, each.axis, each.scale) for each in found])
    return _joined(span, output, ends)


def destinations(call: Call, value: Value, span: Span) -> list[Part] | None:
    """The outputs of `call` that become centred if its operand `value` is centred over `span`.

    A `Part` says over which span an output is then centred. If the `Part` has a `scale`, `value` times
    `scale` must be centred instead of `value`. Returns None if `call` does not commute with centring, or if
    an output would be centred only in part.
    """
    if call.op in VIEW_OPS:
        found = reshaped(span, value.shape, call.outputs[0].shape)
        return None if found is None else [Part(call.outputs[0], found)]
    if call.op in SLICING_OPS:
        return _cut(call, value, span)
    if span.groups and call.op == NORM:
        return None
    ends = [[(out, at, link.scale) for out, at, link in mapped(call, value, axis)] for axis in span.axes]
    return _joined(span, value, ends) or None


def _joined(span: Span, value: Value, ends: list[list[End]]) -> list[Part] | None:
    """Translate `span`, a span of the tensor `value`, to the tensors at the other end of an operator.

    ends: for each axis of the span, a list of the axes that correspond to it at the other end, as triples
    (tensor, axis, scale). For y = a + b, the list for axis 1 of y is [(a, 1, None), (b, 1, None)].

    Returns a list of parts. For a span of one axis, each triple gives a part. For a span of several axes, the
    k-th triples of all lists together give the k-th part. The result is None if the lists are not equally
    long, if a triple has a scale, or if the k-th triples do not name different axes of one tensor.
    """
    if len(ends) == 1:
        return [Part(other, Span((at,), span.groups), scale) for other, at, scale in ends[0]]
    found = []
    for each in zip_longest(*ends, fillvalue=(value, -1, value)):
        others, axes, scales = zip(*each, strict=True)
        if len({*others}) > 1 or any(scales) or len({*axes}) < len(axes):
            return None
        labels = _numbered(span.labels(value.shape).transpose(np.argsort(axes)))
        found.append(Part(others[0], Span(tuple(sorted(axes)), labels.tobytes())))
    return found


def reshaped(span: Span, before: Shape, after: Shape) -> Span | None:
    """The span with the same groups of elements after a tensor is reshaped; None if no span has these groups.

    before, after: the shapes of the tensor before and after.
    """
    first, last = span.axes[0], span.axes[-1]
    labels = _spread(span.labels(before), span.axes, before, range(first, last + 1)).reshape(-1)
    inner = prod(before[last + 1 :])
    within = [prod(after[k:]) for k in range(len(after) + 1)]
    end = next(k for k, size in enumerate(within) if size <= inner)
    begin = max((k for k, size in enumerate(within) if size >= inner * len(labels)), default=0)
    if not inner * len(labels) * within[begin]:  # the tensor is empty
        return None
    if inner % within[end] or within[begin] % (inner * len(labels)):
        return None
    outer, inner = within[begin] // (inner * len(labels)), inner // within[end]
    numbers = _apart(labels, outer * inner).reshape(len(labels), outer, inner).swapaxes(0, 1)
    return _span(after, range(begin, end), numbers)


def _apart(labels: Labels, copies: int) -> Labels:
    """Repeat the group numbers `labels` on a new last axis of size `copies`; each copy gets its own groups.

    The number −1, for no group, stays.
    """
    labels = labels[..., None]
    return np.where(labels < 0, -1, copies * labels + np.arange(copies))


def _spread(labels: Labels, axes: Sequence[int], shape: Shape, wanted: Sequence[int]) -> Labels:
    """Extend group numbers to more axes of a tensor: from `axes` to all `wanted` axes, which include `axes`.

    labels: the group numbers, an array with one axis for each of `axes`. shape: the shape of the tensor. Each
    index of an added axis gets groups of its own. The axes of the result are in increasing order.
    """
    axes = [*axes]
    for axis in wanted:
        if axis not in axes:
            labels, axes = _apart(labels, shape[axis]), [*axes, axis]
    return labels.transpose(np.argsort(axes))


def _span(shape: Shape, axes: Sequence[int], labels: Labels) -> Span:
    """The span over `axes` with the group numbers `labels`, described by as few axes as possible.

    shape: the shape of the tensor. An axis is left out if no group extends over two of its indices, and if
    the other axes are divided into groups in the same way at each of its indices.
    """
    labels, kept = labels.reshape([shape[axis] for axis in axes]), [*axes]
    for axis in axes:
        k = kept.index(axis)
        if len(kept) > 1 and _repeats(np.moveaxis(labels, k, 0)):
            labels = labels.take(0, k)
            del kept[k]
    labels = _numbered(labels)
    return Span(tuple(kept), labels.tobytes() if len(kept) > 1 or labels.any() else b"")


def _repeats(labels: Labels) -> bool:
    """Whether the other axes are divided into groups in the same way at each index of the first axis.

    False if a group extends over two indices of the first axis. labels: the group number of each coordinate,
    −1 for none.
    """
    each = [_numbered(row) for row in labels]
    groups = len(np.unique(labels[labels >= 0]))
    return groups == len(each) * (each[0].max() + 1) and all((row == each[0]).all() for row in each)


def _numbered(labels: Labels) -> Labels:
    """Renumber the groups from 0, in the order of their first occurrence in `labels`; −1 stays."""
    numbers, begin, inverse = np.unique(labels, return_index=True, return_inverse=True)
    begin = np.where(numbers < 0, -1, begin)
    rank = np.argsort(np.argsort(begin)) - (numbers < 0).any()
    return rank[inverse].reshape(labels.shape).astype(np.int32)


def _slices(call: Call) -> Iterator[tuple[Value, Labels]]:
    """Yield each output of a slicing operator, with the indices that it takes from the sliced axis."""
    size = call.args[0].shape[cut_axis(call)]
    if call.op in ("select", "unbind"):
        chosen = range(size) if call.op == "unbind" else [call.args[2] % size]
        yield from ((output, np.array([k])) for output, k in zip(call.outputs, chosen, strict=True))
    elif call.op == "slice":
        start, end, step = (*call.args[2:], None, None, None)[:3]
        yield call.outputs[0], np.arange(size)[start:end:step]
    elif call.op == "narrow":
        yield call.outputs[0], np.arange(size)[call.args[2] :][: call.args[3]]
    else:
        ends = np.cumsum([output.shape[cut_axis(call)] for output in call.outputs])
        yield from zip(call.outputs, np.split(np.arange(size), ends[:-1]), strict=True)


def _uncut(call: Call, output: Value, span: Span, narrow: bool) -> Span:
    """The span over which to centre a slicing operator's input, so that `output` is centred over `span`.

    span: a span of `output`. narrow: whether to centre only the slice, not the whole input, as in `sources`.
    """
    shape, at, gone = call.args[0].shape, cut_axis(call), call.op in ("select", "unbind")
    axes = [axis + (gone and axis >= at) for axis in span.axes]
    if not narrow and at not in axes:
        return Span(tuple(axes), span.groups)
    taken, wanted = dict(_slices(call))[output], sorted({*axes, at})
    cut = (*shape[:at], len(taken), *shape[at + 1 :])
    labels = _spread(span.labels(output.shape), axes, cut, wanted)
    every = np.full([shape[axis] for axis in wanted], -1)
    np.moveaxis(every, wanted.index(at), 0)[taken] = np.moveaxis(labels, wanted.index(at), 0)
    return _span(shape, wanted, every)


def _cut(call: Call, value: Value, span: Span) -> list[Part] | None:
    """The outputs of a slicing operator that are centred if its operand `value` is centred over `span`.

    Outputs without any group of the span are left out. Returns None if an output contains only a part of a
    group.
    """
    at, gone = cut_axis(call), call.op in ("select", "unbind")
    labels, found = span.labels(value.shape), list[Part]()
    axes = [axis - (gone and axis > at) for axis in span.axes if not (gone and axis == at)]
    for output, taken in _slices(call):
        if at not in span.axes:
            found.append(Part(output, Span(tuple(axes), span.groups)))
            continue
        k = span.axes.index(at)
        part, rest = labels.take(taken, k), np.delete(labels, taken, k)
        if not axes or np.isin(part[part >= 0], rest).any():
            return None
        if part.max(initial=-1) >= 0:
            found.append(Part(output, _span(output.shape, axes, part)))
    return found
