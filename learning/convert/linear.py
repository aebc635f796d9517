"""ATen operators that commute with centring along an axis, and the operands that must be centred instead.

Centring is the map P = I − 11ᵀ/d. An operator's output can be centred along an axis by centring some of its
operands instead. `links` lists these operands, each with the axis along which it must be centred; it returns
None if no such operands exist. `contraction` and `leaf_of` also find the weights into which γ and β are
folded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from learning.convert.trace import NORM, Call, Value


@dataclass(frozen=True)
class Link:
    """An operand of an operator, and the axis along which it must be centred.

    scale: another operand, by which the operator multiplies this operand, coordinate by coordinate; None if
    there is none. With a `scale`, the product of both operands must be centred, not this operand alone.
    """

    value: Value
    axis: int
    scale: Value | None = None


COPY_OPS = {"_to_copy", "alias", "clone", "contiguous", "copy", "detach", "lift_fresh", "lift_fresh_copy"}
VIEW_OPS = {"view", "_unsafe_view", "reshape", "_reshape_alias", "_reshape_copy", "squeeze", "unsqueeze"}
SLICING_OPS = {"select", "slice", "narrow", "split", "split_with_sizes", "chunk", "unbind"}
REORDERING_OPS = {"t", "transpose", "permute", "expand", "repeat", "roll", "flip"}
INDEXING_OPS = {"index", "index_select", "embedding"}
# operators that only copy, move or select numbers: each number of the output occurs in the input
RESHAPING_OPS = COPY_OPS | VIEW_OPS | SLICING_OPS | REORDERING_OPS | INDEXING_OPS
POOLING_OPS = {
    "mean",
    "sum",
    "cumsum",
    "avg_pool1d",
    "avg_pool2d",
    "_adaptive_avg_pool2d",
    "upsample_nearest2d",
}
POOLING_OPS |= {
    "upsample_bilinear2d",
    "upsample_bicubic2d",
    "_upsample_bilinear2d_aa",
    "_upsample_bicubic2d_aa",
}
ZERO_OPS = {"zeros", "zeros_like", "new_zeros"}
SUM_OPS = {"add", "sub", "rsub", "neg", "mul", "div"}
SUM_OPS |= {"cat", "stack", "where", "masked_fill", "index_add", "constant_pad_nd"}
PRODUCT_OPS = {"mm", "bmm", "addmm", "linear", "_grouped_mm", "convolution"}
ACTIVATION_OPS = {"relu", "gelu", "silu", "tanh", "sigmoid", "_softmax"}
ACTIVATION_OPS |= {"hardtanh", "leaky_relu", "elu", "softplus", "mish", "glu"}
ELEMENTWISE_OPS = {"exp", "log", "erf", "pow", "square", "reciprocal", "sqrt"}
ELEMENTWISE_OPS |= {"rsqrt", "sin", "cos", "abs", "clamp", "clamp_min"}
NORM_OPS = {NORM, "native_layer_norm", "native_group_norm", "native_batch_norm"}
NORM_OPS |= {"_native_batch_norm_legit_no_training"}
MAXIMUM_OPS = {"topk", "max", "amax", "max_pool2d_with_indices"}
# for these operators, None from `links` means "does not commute"; for others, and for views, which may cut
# vectors into heads, it means "unknown"
UNDERSTOOD_OPS = RESHAPING_OPS | POOLING_OPS | ZERO_OPS | SUM_OPS | PRODUCT_OPS
UNDERSTOOD_OPS |= ACTIVATION_OPS | ELEMENTWISE_OPS | NORM_OPS | MAXIMUM_OPS


def links(call: Call, output: Value, axis: int) -> list[Link] | None:
    """The operands of `call` that must be centred in order to centre its `output` along `axis`.

    Centring means applying P = I − 11ᵀ/d; each Link names an operand and the axis along which P is applied to
    it. Returns [] if no operand must change because P leaves the output as it is: for example, an output of
    zeros. Returns None if no choice of operands works, or if the operator is unknown.
    """
    op, args = call.op, call.args
    if op in ZERO_OPS:
        return []
    if op == NORM:  # if all γ are equal, the output has mean 0 except for β
        level = call.norm.kind == "LayerNorm" and call.norm.axis == axis and call.norm.even
        return [Link(each, 0) for each in args[2:3] if each is not None] if level else None
    if op in RESHAPING_OPS or op in POOLING_OPS:
        source = args[0]
        if op == "copy":
            return _aligned([args[1]], output, axis)
        if op == "embedding":
            return [Link(source, 1)] if axis == len(output.shape) - 1 else None
        found = source_axis(call, source, output, axis)
        return None if found is None else [Link(source, found)]
    if op in ("add", "sub", "rsub"):
        return _aligned(args[:2], output, axis)
    if op in ("cat", "stack"):
        along = _axis(args[1] if len(args) > 1 else 0, len(output.shape))
        if along == axis:
            return None
        return [Link(each, axis - (op == "stack" and along < axis)) for each in args[0]]
    if op == "where":
        return _aligned(args[1:3], output, axis) if _absent(args[0], output, axis) else None
    if op == "masked_fill":
        zero = not isinstance(args[2], Value) and args[2] == 0
        return [Link(args[0], axis)] if zero and _absent(args[1], output, axis) else None
    if op == "index_add":
        other = _axis(args[1], len(output.shape)) != axis
        return [Link(args[0], axis), Link(args[3], axis)] if other else None
    if op == "constant_pad_nd":
        padded = {len(output.shape) - 1 - k // 2 for k, width in enumerate(args[1]) if width}
        value = args[2] if len(args) > 2 else 0
        return [Link(args[0], axis)] if axis not in padded and value == 0 else None
    if op == "neg":
        return [Link(args[0], axis)]
    if op in ("mul", "div"):
        return _product(op, args, output, axis)
    if op == "mm":
        return [Link(args[axis], axis)]
    if op == "bmm":
        return [Link(args[axis - 1], axis)] if axis else None
    if op == "addmm":
        bias = _aligned(args[:1], output, axis)
        return None if bias is None else [*bias, Link(args[1 + axis], axis)]
    if op == "_grouped_mm":
        return [Link(args[axis], 2 * axis)] if len(args[0].shape) == 2 and axis else None
    if op == "linear":
        last = axis == len(output.shape) - 1
        return [Link(each, 0) for each in args[1:3] if each is not None] if last else None
    if op == "convolution":
        plain = axis == len(output.shape) - len(args[1].shape) + 1 and not args[6] and args[8] == 1
        return [Link(each, 0) for each in args[1:3] if each is not None] if plain else None
    return None


def mapped(call: Call, value: Value, axis: int) -> Iterator[tuple[Value, int, Link]]:
    """Find the outputs of `call` that can be centred only if its operand `value` is centred along `axis`.

    This is the inverse of `links`. Yields triples: an output, the axis along which it is centred, and the
    `Link` that names `value` and `axis`.
    """
    for output in call.outputs:
        for each in range(len(output.shape)):
            for link in links(call, output, each) or ():
                if link.value is value and link.axis == axis:
                    yield output, each, link


@dataclass(frozen=True)
class Contraction:
    """A product of a weight and an operand, summed over `axis` of the weight: a Linear or a convolution.

    bias: the bias that the same operator adds; None if it adds none. padded: whether the operator is a
    convolution that pads its operand.
    """

    weight: Value
    axis: int
    bias: Value | None
    padded: bool = False


def contraction(call: Call, value: Value, axis: int) -> Contraction | None:
    """Describe `call` as a product of its operand `value` and a weight, summed over `axis` of `value`.

    Returns None if `call` is neither a matrix product nor a convolution, or does not sum over this axis.
    """
    op, args = call.op, call.args
    if op in ("mm", "bmm", "addmm") and not call.kwargs:
        bias, (a, b) = (args[0] if op == "addmm" else None), args[-2:]
        k = len(a.shape) - 1
        if value is a and value is not b and axis == k:
            return Contraction(b, k - 1, bias)
        if value is b and value is not a and axis == k - 1:
            return Contraction(a, k, bias)
    if op == "_grouped_mm" and value is args[0] and axis == 1 and len(value.shape) == 2:
        return Contraction(args[1], 1, None)
    if op == "linear" and value is args[0] and axis == len(value.shape) - 1:
        return Contraction(args[1], 1, args[2] if len(args) > 2 else None)
    plain = op == "convolution" and args[8] == 1 and not args[6]
    if plain and value is args[0] and axis == len(value.shape) - len(args[1].shape) + 1:
        return Contraction(args[1], 1, args[2], padded=any(args[4]))
    return None


def leaf_of(value: Value, axis: int) -> tuple[Value, int] | None:
    """The parameter from which `value` comes, and the axis of this parameter that became `axis` of `value`.

    All operations between them must be RESHAPING_OPS, such as views, copies and slices. Returns None if there
    is no such parameter, or if none of its axes became `axis`.
    """
    while value.call is not None:
        found = links(value.call, value, axis) if value.call.op in RESHAPING_OPS else None
        if not found:
            return None
        value, axis = found[0].value, found[0].axis
    return (value, axis) if value.leaf == "parameter" else None


def source_axis(call: Call, source: Value, output: Value, axis: int) -> int | None:
    """The axis of the operand `source` that becomes `axis` of the output of `call`.

    Returns None if there is no such axis, or if the operator keeps only a part of it or reorders its entries.
    """
    op, args, before, after = call.op, call.args, source.shape, output.shape
    n = len(before)
    if op in COPY_OPS:
        return axis
    if op in VIEW_OPS:
        return _same_axis(before, after, axis)
    if op == "t":
        return n - 1 - axis
    if op == "transpose":
        one, other = (_axis(each, n) for each in args[1:3])
        return {one: other, other: one}.get(axis, axis)
    if op == "permute":
        return _axis(args[1][axis], n)
    if op in ("expand", "repeat"):
        found = axis - len(after) + n
        return found if found >= 0 and before[found] == after[axis] else None
    if op in SLICING_OPS or op == "index_select":
        at = cut_axis(call)
        found = axis + (op in ("select", "unbind") and at <= axis)
        return found if found != at else None
    if op in ("roll", "flip"):
        moved = args[2] if op == "roll" and len(args) > 2 else args[1] if op == "flip" else ()
        return axis if moved and axis not in {_axis(each, n) for each in moved} else None
    if op == "index":
        return _indexed(args[1], n, len(after), axis)
    if op == "cumsum":
        return axis if _axis(args[1], n) != axis else None
    if op in ("mean", "sum"):
        return _reduced(call, n, axis)
    if op in POOLING_OPS:  # these operators take images (batch, channels, …)
        return axis if axis < 2 and n == len(after) and before[axis] == after[axis] else None
    return None


def cut_axis(call: Call) -> int:
    """The axis along which `call`, one of SLICING_OPS, takes a part of its input."""
    place = 2 if call.op in ("split", "split_with_sizes", "chunk") else 1
    axis = call.args[place] if len(call.args) > place else call.kwargs.get("dim", 0)
    return _axis(axis, len(call.args[0].shape))


def _axis(axis: int, n: int) -> int:
    return axis % n if n else 0


def _same_axis(before: Sequence[int], after: Sequence[int], axis: int) -> int | None:
    """The axis of shape `before` that becomes `axis` of shape `after` in a reshape; None if none does.

    Its size and its stride in memory must stay the same. An axis of size 1 never corresponds to another.
    """
    size, inner = after[axis], prod(after[axis + 1 :])
    fits = (k for k in range(len(before)) if before[k] == size and prod(before[k + 1 :]) == inner)
    return next(fits, None) if size > 1 else None


def _indexed(indices: Sequence[Any], n: int, m: int, axis: int) -> int | None:
    """The axis of a tensor x that becomes `axis` of x[indices].

    indices: for each axis of x an index tensor, or None for an axis that is kept whole. n, m: the numbers of
    axes of x and of x[indices]. Returns None if `axis` comes from an index tensor, or if a boolean mask of
    several axes is combined with another index.
    """
    used = [k for k, each in enumerate(indices) if each is not None]
    width = max(len(indices[k].shape) for k in used)
    gone = [*used]
    if m != n - len(used) + width:  # a boolean mask replaces all axes that it covers by one
        gone, width = [*range(used[0], used[0] + width)], 1
        if len(used) > 1 or m != n - len(gone) + width:
            return None
    whole = [k for k in range(n) if k not in gone]
    first = gone[0] if gone == [*range(gone[0], gone[-1] + 1)] else 0
    return [*whole[:first], *[None] * width, *whole[first:]][axis]


def _reduced(call: Call, n: int, axis: int) -> int | None:
    if len(call.args) < 2 or call.args[1] is None:
        return None
    dims = call.args[1] if isinstance(call.args[1], (list, tuple)) else [call.args[1]]
    gone = {_axis(each, n) for each in dims}
    kept = (len(call.args) > 2 and call.args[2] is True) or call.kwargs.get("keepdim")
    found = axis if kept else [k for k in range(n) if k not in gone][axis]
    return None if found in gone else found


def _absent(value: Any, output: Value, axis: int) -> bool:
    """Whether an operand has the same value at every index of `axis` of the output, by broadcasting.

    Such an operand is a number, or a tensor in which this axis is missing or has size 1.
    """
    if not isinstance(value, Value):
        return True
    own = axis - len(output.shape) + len(value.shape)
    return own < 0 or value.shape[own] == 1


def _aligned(operands: Sequence[Any], output: Value, axis: int) -> list[Link] | None:
    """The links to all operands of a sum, except to operands that are the number 0.

    Returns None if an operand other than 0 is constant along `axis` of the output. Such an operand cannot be
    centred, because it adds the same number to every coordinate.
    """
    found = []
    for each in operands:
        if not isinstance(each, Value) and each == 0:
            continue
        if not isinstance(each, Value) or _absent(each, output, axis):
            return None
        found.append(Link(each, axis - len(output.shape) + len(each.shape)))
    return found


def _product(op: str, args: Sequence[Any], output: Value, axis: int) -> list[Link] | None:
    one, other = args[:2]
    if _absent(one, output, axis) and op == "mul":
        one, other = other, one
    if not isinstance(one, Value) or _absent(one, output, axis):
        return None
    at = axis - len(output.shape) + len(one.shape)
    if _absent(other, output, axis):
        return [Link(one, at)]
    for factor, scale in ((one, other), (other, one)):
        own = axis - len(output.shape) + len(scale.shape)
        leaf = leaf_of(scale, own) if op == "mul" else None
        if leaf is not None and prod(leaf[0].shape) == scale.shape[own]:
            return [Link(factor, axis - len(output.shape) + len(factor.shape), scale)]
    return None
