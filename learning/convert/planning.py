"""Decide which normalisation layers can be folded, from the operators around them in a traced graph."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from learning.convert.linear import RESHAPING_OPS, UNDERSTOOD_OPS, VIEW_OPS, contraction, leaf_of
from learning.convert.plan import Answer, Edit, NormPlan, Plan
from learning.convert.spans import Span, destinations, sources, whole
from learning.convert.trace import ALIASED_WRITE, NORM, Call, Graph, Value

CENTRING_FOLDS_REASON = "only Linears, embeddings and parameters write its input"
AFFINE_FOLDS_REASON = "only Linears read its output"
NO_AFFINE_REASON = "it has no γ and no β"
LAYER_NUMBER = re.compile(r"\.\d+\.")  # where a parameter's name has the number of a layer or an expert
RESIDUAL = re.compile("the residual( stream)?")  # as reasons call it
RESIDUAL_OPS = {"add", "embedding"}  # a residual stream is a sum, or an embedding alone
NO_CENTRING = Answer("no", "it does not centre")
Tensor = Any


@dataclass
class Fold:
    """The edits that fold a part of a normalisation layer, or the obstacles to folding it.

    blocks: the obstacles, beginning with the one closest to the layer in the graph.
    """

    edits: list[Edit] = field(default_factory=list)
    blocks: list[Answer] = field(default_factory=list)

    def answer(self, yes: str) -> Answer:
        no = [each for each in self.blocks if each.verdict == "no"]
        return next(iter(no or self.blocks), Answer("yes", yes))

    def block(self, verdict: Any, reason: str) -> None:
        self.blocks.append(Answer(verdict, reason))


Part = Literal["centring", "affine"]


@dataclass(frozen=True)
class Draft:
    """For each normalisation layer of a graph, whether its parts can be folded, and the edits that fold them.

    norms: the answers, by the layer's name. folds: the edits of weights for each part that can be folded. The
    keys are pairs: a layer's name, and the part, which is "centring", or "affine" for γ and β.
    """

    norms: Mapping[str, NormPlan]
    folds: Mapping[tuple[str, Part], tuple[Edit, ...]]
    graph: Graph

    def plan(self, only: Collection[tuple[str, Part]] | None = None) -> Plan:
        """The plan that consists of the folds in `only`; by default, of all folds."""
        wanted = [key for key in self.folds if only is None or key in only]
        wanted.sort(key=lambda key: key[1] == "centring")  # scale first, subtract means last
        edits = dict.fromkeys(edit for key in wanted for edit in self.folds[key])
        return Plan(tuple(self.norms.values()), _tied(self.graph, list(edits)), self.graph.names)

    def without(self, failed: Mapping[tuple[str, Part], str]) -> Draft:
        """The draft without the folds in `failed`, which maps each of them to a reason.

        For these parts of layers, the answer becomes "unknown", with this reason.
        """
        norms = dict(self.norms)
        for (name, part), reason in failed.items():
            norms[name] = _answered(norms[name], part, Answer("unknown", reason))
        return Draft(norms, {key: each for key, each in self.folds.items() if key not in failed}, self.graph)


def draft(graph: Graph, load: Callable[[str], Tensor], kinds: Callable[[str], str]) -> Draft:
    """Decide which parts of each normalisation layer can be folded, and collect the edits that fold them.

    `load` returns a parameter by name. `kinds` returns the class name of a module by its path.
    """
    modules: dict[str, list[Call]] = {}
    for call in graph.norms:
        modules.setdefault(call.module, []).append(call)
    streams: dict[tuple[Value, Span], Stream] = {}
    norms, folds = dict[str, NormPlan](), dict[tuple[str, Part], tuple[Edit, ...]]()
    for name, calls in modules.items():
        kind = calls[0].norm.kind
        centring, read = NO_CENTRING, read_by(graph, calls, load)
        if kind == "GroupNorm":
            centring = Answer("no", "it centres each of its groups, not all coordinates together")
        if kind == "LayerNorm":
            written = [_stream(graph, streams, call).fold for call in calls]
            answers = [each.answer(CENTRING_FOLDS_REASON) for each in written]
            centring = min(answers, key=lambda each: ("no", "unknown", "yes").index(each.verdict))
            folds[name, "centring"] = tuple(edit for each in written for edit in each.edits)
        folds[name, "affine"] = tuple(read.edits)
        plain = calls[0].args[1:] == (None, None)
        affine = read.answer(NO_AFFINE_REASON if plain else AFFINE_FOLDS_REASON)
        norms[name] = NormPlan(name, kind, centring, affine)
    for name, reason in graph.skipped.items():
        if any(inner.startswith(f"{name}.") for inner in modules):  # the module contains a recognised norm
            continue
        unknown = Answer("unknown", reason)
        norms.setdefault(name, NormPlan(name, kinds(name), unknown, unknown))
    for (name, part), edits in folds.items():
        if getattr(norms[name], part).verdict == "yes" and (idle := _idle(graph, edits)):
            norms[name] = _answered(
                norms[name], part, Answer("unknown", f"`{idle}` did not run on these inputs")
            )
    yes = {key: each for key, each in folds.items() if getattr(norms[key[0]], key[1]).verdict == "yes"}
    return Draft(norms, yes, graph)


def _answered(norm: NormPlan, part: Part, answer: Answer) -> NormPlan:
    return replace(norm, centring=answer) if part == "centring" else replace(norm, affine=answer)


def _idle(graph: Graph, edits: Iterable[Edit]) -> str | None:
    """Find an unused counterpart of an edited parameter; returns its name, or None if there is none.

    Counterparts are parameters that have the same name in different layers or experts. If the forward pass
    did not use one of them, the trace does not show how the model reads it, so `edits` may be incomplete.
    """
    kinds = {LAYER_NUMBER.sub(".#.", edit.parameter) for edit in edits}
    used = {value.name for call in graph.calls for value in call.inputs}
    ran = {first for name, first in graph.names.items() if name in used}
    idle = (name for name, first in graph.names.items() if first not in ran)
    return next(
        (name for name in idle if LAYER_NUMBER.search(name) and LAYER_NUMBER.sub(".#.", name) in kinds), None
    )


@dataclass
class Stream:
    """Tensors of a graph that can only be centred together, such as those of a residual stream.

    fold: the edits that centre these tensors, or the obstacles. scales: a dict with a key (tensor, span) for
    each tensor that is centred over a span. Its value is a tuple of gains: the parameters by which the tensor
    is multiplied before it is added to the stream.
    """

    fold: Fold = field(default_factory=Fold)
    scales: dict[tuple[Value, Span], tuple[Value, ...]] = field(default_factory=dict)


def _stream(graph: Graph, streams: dict[tuple[Value, Span], Stream], norm: Call) -> Stream:
    start = (norm.args[0], whole(norm.norm.axis))
    if start not in streams:
        stream = written_by(graph, *start)
        if stream.fold.blocks:  # try to centre only a part of each Linear's output
            alone = written_by(graph, *start, narrow=True)
            stream = stream if alone.fold.blocks else alone
        streams |= {state: stream for state, scales in stream.scales.items() if not scales}
    return streams[start]


def written_by(graph: Graph, value: Value, span: Span, narrow: bool = False) -> Stream:
    """Find the edits that centre the tensor `value` over `span`, or the obstacles to centring it.

    Other tensors must be centred too; together they are usually a residual stream. A breadth-first search
    finds them. From each tensor the search goes to the operands of the operator that computed the tensor, and
    to the outputs of all operators that read it. It passes only operators that commute with centring. It
    stops at the output of a LayerNorm that has mean 0 already, and before a LayerNorm or GroupNorm that
    centres its input anyway. The edits centre all parameters that the search reaches.

    Obstacles are operators that do not commute with centring, leaves that are no parameters, tensors that the
    model returns, gains that scale only some uses of a tensor, and gains that also scale other tensors. The
    reasons call the tensors a residual stream only if one of them is a sum or an embedding.
    narrow: if True, only slices that are used are centred (`spans.sources`), and the search ends at the first
    obstacle.
    """
    stream, todo = Stream(), deque[tuple[Value, Span, tuple[Value, ...]]]([(value, span, ())])
    fold, scaling = stream.fold, set[Call]()
    units: dict[Value, None] = {}
    while todo and not (narrow and fold.blocks):
        value, span, scales = todo.popleft()
        if (value, span) in stream.scales:
            if stream.scales[value, span] != scales:
                fold.block("no", "a parameter is added into it both scaled and as it is")
            continue
        stream.scales[value, span] = scales
        if _is_level(value, span):
            continue
        if value in graph.returned:
            fold.block("no", "the model returns the residual stream")
        if value.call is None:
            _leaf(fold, value, span, scales)
        else:
            found = sources(value.call, value, span, narrow)
            if found is None:
                fold.block(*_writer(value.call, value))
            for part in found or ():
                scale = _scale(part.scale, scaling, value.call)
                units |= dict.fromkeys(scale)
                todo.append((part.value, part.span, scales + scale))
        for user in value.users:
            if user.op == NORM and user.args[0] is value and not scales and _centres(user, span):
                continue
            outputs = destinations(user, value, span)
            if outputs is None:
                fold.block(*_reader(user))
            for part in outputs or ():
                scale = _scale(part.scale, scaling, user)
                if scales[len(scales) - len(scale) :] != scale:
                    fold.block("no", f"{_module(user)} scales what is also added as it is")
                else:
                    todo.append((part.value, part.span, scales[: len(scales) - len(scale)]))
    if not any(each.call and each.call.op in RESIDUAL_OPS for each, _ in stream.scales):
        blocks, own = fold.blocks, "the norm's input"
        fold.blocks = [replace(each, reason=RESIDUAL.sub(own, each.reason)) for each in blocks]
    for unit in units:
        if not _uses(unit) <= scaling:
            fold.block("no", f"`{unit.name}` scales other values, too")
        fold.edits.append(Edit(unit.name, "ones"))
    return stream


def _is_level(value: Value, span: Span) -> bool:
    """Whether `value` is the output of a LayerNorm, and therefore has mean 0 over `span`.

    This needs a LayerNorm over exactly this span, with equal numbers in γ, and with β = 0.
    """
    norm = None if value.call is None else value.call.norm
    return norm is not None and norm.kind == "LayerNorm" and whole(norm.axis) == span and norm.level


def _scale(scale: Value | None, scaling: set[Call], call: Call) -> tuple[Value, ...]:
    if scale is None:
        return ()
    scaling.add(call)
    found = leaf_of(scale, next(k for k, size in enumerate(scale.shape) if size > 1))
    assert found is not None  # all scales in links are parameters
    return (found[0],)


def _leaf(fold: Fold, value: Value, span: Span, scales: tuple[Value, ...]) -> None:
    if value.leaf == "parameter" and len(span.axes) > 1:
        fold.block("unknown", f"`{value.name}` is centred in groups across its axes")
    elif value.leaf == "parameter":
        fold.edits += [Edit(value.name, "scale", (each.name,), span.axes[0]) for each in reversed(scales)]
        fold.edits.append(Edit(value.name, "center", (), span.axes[0], groups=span.groups))
    elif value.leaf == "input":
        fold.block("no", "the model's own input is part of the residual")
    elif value.leaf == "buffer":
        fold.block("no", f"`{value.name}`, which is not among the saved weights, is added into it")
    else:
        fold.block("no", "numbers that are no parameters are added into it")


def _centres(norm: Call, span: Span) -> bool:
    return norm.norm.kind in ("LayerNorm", "GroupNorm") and whole(norm.norm.axis) == span


def _module(call: Call) -> str:
    return f"`{call.module}`" if call.module else "the model"


def _judged(call: Call) -> str:
    """The verdict on a fold if the operator `call` is an obstacle to it: "no" or "unknown".

    The verdict is "no" if the operator is known not to commute with centring. It is "unknown" for operators
    that are not known, and for views, because a view may mix axes.
    """
    return "no" if call.op in UNDERSTOOD_OPS - VIEW_OPS else "unknown"


def _writer(call: Call, value: Value) -> tuple[str, str]:
    if call.op == NORM:
        return "no", f"the residual is the output of {_module(call)}"
    if value.in_code:
        return "no", f"{_module(call)} adds numbers that are made in code"
    if call.op == ALIASED_WRITE:
        return "unknown", f"{_module(call)} writes its input in place"
    return _judged(call), f"{_module(call)} writes its input by the operator `{call.op}`, not by a Linear"


def _reader(call: Call) -> tuple[str, str]:
    if call.op == NORM:
        return (
            "no",
            f"{_module(call)}, which does not centre over the same axis, reads the residual stream, too",
        )
    return _judged(call), f"{_module(call)} reads the residual stream, too, by the operator `{call.op}`"


def _reshaped(call: Call) -> Call:
    """Skip reshaping calls: return `call`, or the first later call that does more than reshape its input.

    The search goes from each reshaping call to the first call that reads its output. If no call reads it, the
    reshaping call itself is returned.
    """
    while call.op in RESHAPING_OPS and call.outputs[0].users:
        call = call.outputs[0].users[0]
    return call


def _other_reader(call: Call) -> str:
    if call.op == NORM:
        return f"{_module(call)} normalises its output"
    if call.op == "add":
        return f"its output is a residual, to which {_module(call)} adds"
    return f"{_module(call)} reads its output by the operator `{call.op}`, not as a Linear"


def _uses(leaf: Value) -> set[Call]:
    """The calls that use the parameter `leaf`, directly or through calls that only rearrange its numbers.

    Calls that only rearrange numbers are those of RESHAPING_OPS, such as a view, a slice or a copy. They are
    not in the result, except calls of `embedding`, which count as uses.
    """
    found, todo = set(), [leaf]
    while todo:
        for user in todo.pop().users:
            if user.op in RESHAPING_OPS and user.op != "embedding":
                todo += user.outputs
            else:
                found.add(user)
    return found


def read_by(graph: Graph, calls: Iterable[Call], load: Callable[[str], Tensor]) -> Fold:
    """The edits that fold a layer's γ and β into the Linears that read its output, or the obstacles.

    calls: all calls of this layer in the forward pass. load: returns a parameter by name.
    """
    fold, calls = Fold(), list(calls)
    parameters = [
        leaf_of(each, len(each.shape) - 1) if each is not None else None for each in calls[0].args[1:]
    ]
    gamma, beta = (each and each[0] for each in parameters)
    if calls[0].args[1:] == (None, None):
        return fold
    if any(
        leaf is None for leaf, each in zip(parameters, calls[0].args[1:], strict=True) if each is not None
    ):
        fold.block("no", "its gain or shift is no parameter")
        return fold
    if any(len(each.shape) != 1 for each in (gamma, beta) if each is not None):
        fold.block("no", "its gain has more than one axis")
        return fold
    if any(not _uses(each) <= set(calls) for each in (gamma, beta) if each is not None):
        fold.block("no", "its parameters are used elsewhere, too")
    shifts = beta is not None and bool(load(beta.name).any())
    todo = deque((call.outputs[0], whole(call.norm.axis)) for call in calls)
    readers: dict[tuple[Value, int], list[tuple[Call, Value | None, bool]]] = {}
    while todo:
        value, span = todo.popleft()
        if value in graph.returned:
            fold.block("no", "the model returns its output")
        for user in value.users:
            product = contraction(user, value, span.axes[0]) if span == whole(span.axes[0]) else None
            weight = product and leaf_of(product.weight, product.axis)
            # a product with a mask or a gain commutes with γ, but would also multiply β
            follows = user.op in RESHAPING_OPS or user.op == "mean" or (user.op == "mul" and not shifts)
            outputs = destinations(user, value, span) if follows else None
            if product and weight:
                readers.setdefault(weight, []).append((user, product.bias, product.padded))
            elif outputs:
                todo += [(part.value, part.span) for part in outputs]
            else:
                fold.block("no" if user.op in UNDERSTOOD_OPS else "unknown", _other_reader(_reshaped(user)))
    for (matrix, axis), uses in readers.items():
        _reader_edits(fold, matrix, axis, uses, gamma, beta if shifts else None, calls[0])
    if gamma is not None:
        fold.edits.append(Edit(gamma.name, "ones" if calls[0].norm.neutral else "zeros"))
    if beta is not None and shifts:
        fold.edits.append(Edit(beta.name, "zeros"))
    return fold


def _reader_edits(
    fold: Fold,
    weight: Value,
    axis: int,
    uses: list[tuple[Call, Value | None, bool]],
    gamma: Value | None,
    beta: Value | None,
    norm: Call,
) -> None:
    calls = {call for call, _, _ in uses}
    if not _uses(weight) <= calls:
        fold.block("no", f"`{weight.name}` reads other values, too")
    if gamma is not None:
        fold.edits.append(Edit(weight.name, "scale", (gamma.name,), axis, 1 - norm.norm.neutral))
    if beta is None:
        return
    biases = [_bias(call, bias) for call, bias, _ in uses]
    bias = biases[0]
    if bias is None or any(each is None or each[0] is not bias[0] for each in biases):
        fold.block("no", f"`{weight.name}` has no bias that could take its shift")
    elif not _uses(bias[0]) <= {each[1] for each in biases if each}:
        fold.block("no", f"`{bias[0].name}` is added elsewhere, too")
    elif any(padded for _, _, padded in uses):
        fold.block("no", f"`{weight.name}` reads a padded border, too, which has no shift")
    else:
        fold.edits.append(Edit(bias[0].name, "add_bias", (weight.name, beta.name), axis))


def _bias(call: Call, bias: Value | None) -> tuple[Value, Call] | None:
    """The bias that is added to the product `call`, and the call that adds it.

    bias: the bias that the product adds itself. If it is None, an addition after the product may add one.
    Returns None if no parameter is added, or if something else reads the product before the addition.
    """
    while bias is None:
        output = call.outputs[0]
        if len(output.users) != 1:
            return None
        (call,) = output.users
        if call.op == "add" and call.kwargs.get("alpha", 1) == 1:
            bias = next(
                (each for each in call.args[:2] if isinstance(each, Value) and each is not output), None
            )
            if bias is None:
                return None
        elif call.op not in RESHAPING_OPS:
            return None
    found = leaf_of(bias, len(bias.shape) - 1)
    return found and (found[0], call)


def _tied(graph: Graph, edits: list[Edit]) -> tuple[Edit, ...]:
    """Complete `edits` for tied tensors, which have several names because several modules share them.

    `edits` has only the names that the forward pass used. An unused name gets the edits of a used name of the
    same tensor if both belong to the same module. Any other unused name gets no edits, and keeps the original
    tensor. If two names of one tensor then have different edits, they are untied: each gets a tensor of its
    own.
    """
    used = {value.name for call in graph.calls for value in call.inputs if value.leaf == "parameter"}
    found: list[Edit] = []
    for first in dict.fromkeys(graph.names.values()):
        names = [name for name, each in graph.names.items() if each == first]
        own: dict[str, list[Edit]] = {}
        for name in names:
            twins = [each for each in names if each in used and graph.owners[each] == graph.owners[name]]
            source = name if name in used else next(iter(twins), "")
            own[name] = [replace(edit, parameter="") for edit in edits if edit.parameter == source]
        for name in names:
            copied = [] if own[name] == own[first] else [Edit(name, "copy", (first,))]
            found += [*copied, *(replace(edit, parameter=name) for edit in own[name])]
    return tuple(found)
