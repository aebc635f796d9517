"""Trace the computation graph of one forward pass: ATen operators over parameters, inputs and constants.

The model runs on real inputs under a `TorchDispatchMode`, so every model that runs can be traced. A module
that computes LayerNorm or RMSNorm becomes a single operator of the graph, called `norm`, however it is
implemented.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, is_dataclass
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map
from torch.utils.weak import WeakTensorKeyDictionary

from learning.recording.known import Known, NotKnown, agrees, as_float64, known
from learning.recording.recorder import OUTPUT_CHECK_VECTORS, copied_arguments
from learning.recording.recording import NORM_KINDS

Tensor = Any
NORM = "norm"  # the operator that stands for a whole norm module
ALIASED_WRITE = "written in place through a view"
SINKS = ("_local_scalar_dense", "is_nonzero", "equal")  # return Python values, for control flow


@dataclass(frozen=True)
class NormOperator:
    """The formula of a normalisation layer along `axis`: y = normalised(x) ⊙ (γ + 1 − neutral) + β.

    kind      "LayerNorm", "RMSNorm" …
    neutral   the value of the stored γ that leaves outputs unscaled: 1, or 0 in models that add 1 to γ
    even      whether all coordinates of γ are equal
    level     whether γ is even and β is 0; in this case the output of a LayerNorm has mean 0
    """

    kind: str
    axis: int
    neutral: int = 1
    even: bool = False
    level: bool = False


NOT_A_NORM = NormOperator("", 0)


@dataclass(eq=False)
class Value:
    """A tensor in the graph: the output of a call, or a leaf ("parameter", "buffer", "input", "constant").

    call     the call that computed it; None for a leaf
    leaf     the kind of leaf; "" for the output of a call. "constant": any other tensor that existed before
    name     the name of a parameter or buffer in the model; otherwise ""
    in_code  whether a call made it without any leaf, as `torch.arange(5)` does, or from such tensors alone
    users    the calls that read it
    """

    shape: tuple[int, ...]
    call: Call | None = None
    leaf: str = ""
    name: str = ""
    in_code: bool = False
    users: list[Call] = field(default_factory=list)


@dataclass(eq=False)
class Call:
    """A call of the operator `op` in a module. In its arguments, each tensor is replaced by its `Value`.

    module: the path of the module. outputs: the tensors that the call returned. norm: if `op` is NORM, the
    formula of the normalisation layer that this call stands for; otherwise NOT_A_NORM. mean: for a norm, the
    largest |mean|/RMS of its input vectors.
    """

    op: str
    module: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    outputs: list[Value] = field(default_factory=list)
    norm: NormOperator = NOT_A_NORM
    mean: float = 0.0

    @property
    def inputs(self) -> list[Value]:
        return [each for each in tree_leaves((self.args, self.kwargs)) if isinstance(each, Value)]


@dataclass(eq=False)
class Graph:
    """A traced graph: the calls on which the model's outputs or its control flow depend, in order.

    returned  the tensors in the output of the model
    skipped   for each module that looks like a normalisation layer but was not recognised as one, the reason
    names     maps every name of a parameter or saved buffer to the first name of the same tensor
    owners    for each name of a parameter or buffer, the `id` of the module that owns it
    output    the output of the model
    """

    calls: list[Call]
    returned: set[Value]
    skipped: Mapping[str, str]
    names: Mapping[str, str]
    owners: Mapping[str, int]
    output: Any

    @property
    def norms(self) -> Iterator[Call]:
        return (call for call in self.calls if call.op == NORM)


def trace(model: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None) -> Graph:
    """Trace the call `model(*args, **kwargs)`, without dropout and gradients, and return its graph."""
    tracer = Tracer(model)
    with tracer.hooked(), evaluating(model), tracer:
        args, kwargs = copied_arguments(args), copied_arguments(kwargs or {})
        for tensor in tensors((args, kwargs)):
            tracer.leaf(tensor, "input")
        output = model(*args, **kwargs)
    returned = {tracer.values[each] for each in tensors(output) if each in tracer.values}
    return Graph(_live(tracer.calls, returned), returned, tracer.skipped, tracer.first, tracer.owners, output)


@contextmanager
def evaluating(model: Any) -> Iterator[None]:
    """While the `with` block runs, the model is in evaluation mode.

    It runs without dropout, gradients, compiled code and fused layers.
    """
    training = {module for module in model.modules() if module.training}
    fast = torch.backends.mha.get_fastpath_enabled()
    model.eval()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with torch.no_grad(), torch.compiler.set_stance("force_eager"):
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
        for module in training:
            module.training = True


def tensors(found: Any, seen: set[int] | None = None) -> Iterator[Tensor]:
    """Yield all tensors in the nested container or object `found`.

    seen: the ids of objects that were visited before; these are skipped.
    """
    seen = set() if seen is None else seen
    if isinstance(found, torch.Tensor):
        yield found
    elif id(found) not in seen:
        seen.add(id(found))
        inner: Iterable[Any] = ()
        if isinstance(found, Mapping):
            inner = found.values()
        elif isinstance(found, (list, tuple, set)):
            inner = found
        elif is_dataclass(found) or (hasattr(found, "__dict__") and not callable(found)):
            inner = vars(found).values()
        for each in inner:
            yield from tensors(each, seen)


class Tracer(TorchDispatchMode):
    """Records the operators that run within its `with` block, as `Call`s."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model, self.calls, self.quiet = model, list[Call](), 0
        self.values = WeakTensorKeyDictionary()  # the `Value` of each tensor that still exists
        self.leaves: dict[tuple[int, str], Value] = {}
        self.storages: dict[int, WeakTensorKeyDictionary] = {}  # the tensors that share each storage
        self.stack = [""]
        self.like = next(each for each in model.state_dict().values() if each.is_floating_point())
        self.found: dict[str, Known | None] = {}
        self.skipped: dict[str, str] = {}
        saved = model.state_dict(keep_vars=True)
        every = [
            *model.named_parameters(remove_duplicate=False),
            *model.named_buffers(remove_duplicate=False),
        ]
        self.named: dict[int, list[str]] = {}
        for name, tensor in every:
            self.named.setdefault(id(tensor), []).append(name)
        self.owners = {name: id(model.get_submodule(name.rpartition(".")[0])) for name, _ in every}
        self.first = {name: self.named[id(tensor)][0] for name, tensor in every if name in saved}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if self.quiet:
            return func(*args, **kwargs)
        schema = func._schema
        given = {each.name: value for each, value in zip(schema.arguments, args, strict=False)} | kwargs
        written = [
            given[each.name]
            for each in schema.arguments
            if each.alias_info is not None and each.alias_info.is_write and each.name in given
        ]
        traced = tree_map(self.value, (args, kwargs))
        name = func.overloadpacket.__name__
        if name.startswith("as_strided") and _layout(args[0]) == _layout(*args[1:3]):
            name = "view"
        output = func(*args, **kwargs)
        if name == "native_layer_norm" and len(args[1]) == 1:
            gain, shift = (
                None if each is None else as_float64(each) for each in (*args[2:4], None, None)[:2]
            )
            norm = NormOperator("LayerNorm", args[0].ndim - 1, 1, *_even(gain, shift))
            weight, bias = (*traced[0][2:4], None, None)[:2]
            self._norm(norm, args[0], (weight, bias), output[0])
            return output
        changed = [each for each in tree_leaves(written) if isinstance(each, torch.Tensor)]
        made = [each for each in tree_leaves(output) if isinstance(each, torch.Tensor)] or changed
        self.call(name.rstrip("_") if changed else name, traced[0], traced[1], made)
        for tensor in changed:
            self._spoil_views(tensor)
        return output

    def call(
        self, op: str, args: Any, kwargs: Any, outputs: Sequence[Tensor], norm: NormOperator = NOT_A_NORM
    ) -> None:
        call = Call(op, self.stack[-1], tuple(args), kwargs, [], norm)
        in_code = all(each.in_code for each in call.inputs)
        for tensor in outputs:
            value = Value(tuple(tensor.shape), call, in_code=in_code)
            call.outputs.append(value)
            self._keep(tensor, value)
        self.calls.append(call)

    def _norm(self, norm: NormOperator, x: Tensor, parameters: Sequence[Any], output: Tensor) -> None:
        self.call(NORM, (self.value(x), *parameters), {}, [output], norm)
        self.quiet += 1
        rms = x.double().square().mean(norm.axis).sqrt()
        share = x.double().mean(norm.axis).abs() / rms.clamp(min=torch.finfo(torch.float64).tiny)
        self.calls[-1].mean = float(share.max()) if share.numel() else 0.0
        self.quiet -= 1

    def value(self, tensor: Any) -> Any:
        """The `Value` that stands for a tensor in the graph; anything else is returned unchanged."""
        if not isinstance(tensor, torch.Tensor):
            return tensor
        names = self.named.get(id(tensor))
        if names and tensor not in self.values:
            here = {name for name in names if name.rpartition(".")[0] == self.stack[-1]}
            name = next((name for name in names if name in here), names[0])
            key = (id(tensor), name)
            if key not in self.leaves:
                kind = "parameter" if name in self.first else "buffer"
                self.leaves[key] = Value(tuple(tensor.shape), leaf=kind, name=name)
            return self.leaves[key]
        return self.values.get(tensor) or self.leaf(tensor, "constant")

    def leaf(self, tensor: Tensor, kind: str) -> Value:
        value = Value(tuple(tensor.shape), leaf=kind)
        self._keep(tensor, value)
        return value

    def _keep(self, tensor: Tensor, value: Value) -> None:
        self.values[tensor] = value
        if tensor.layout == torch.strided:
            place = tensor.untyped_storage()._cdata
            self.storages.setdefault(place, WeakTensorKeyDictionary())[tensor] = None

    def _spoil_views(self, written: Tensor) -> None:
        """Give a new `Value` to each other tensor that shares memory with `written`.

        An operator has written into `written`, and so has changed all of them.
        """
        for other in self.storages.get(written.untyped_storage()._cdata, ()):
            if other is not written:
                old, new = self.values[other], self.values[written]
                call = Call(ALIASED_WRITE, self.stack[-1], (old, new))
                call.outputs.append(Value(old.shape, call, in_code=old.in_code and new.in_code))
                self.values[other] = call.outputs[0]
                self.calls.append(call)

    @contextmanager
    def hooked(self) -> Iterator[None]:
        """While the `with` block runs, all modules have hooks.

        The hooks note which module is running, recognise norms (by calling them), and record each norm as one
        call instead of the operators inside it.
        """
        with ExitStack() as stack:
            for path, module in self.model.named_modules():
                enter, leave = self._enter(path), self._leave(path)
                before = module.register_forward_pre_hook(enter, with_kwargs=True)
                after = module.register_forward_hook(leave, with_kwargs=True, always_call=True)
                stack.callback(before.remove)
                stack.callback(after.remove)
            yield

    def _enter(self, path: str) -> Callable[..., None]:
        def hook(module: Any, args: Any, kwargs: Any) -> None:
            self.stack.append(path)
            if path not in self.found and not self.quiet:
                self.quiet += 1
                self.found[path] = self._recognised(path, module, args, kwargs)
                self.quiet -= 1
            self.quiet += self.found.get(path) is not None

        return hook

    def _leave(self, path: str) -> Callable[..., None]:
        def hook(module: Any, args: Any, kwargs: Any, output: Any) -> None:
            found = self.found.get(path)
            self.quiet -= found is not None
            if found is not None and not self.quiet:
                own = [getattr(module, name, None) for name in ("weight", "bias")]
                x = next(tensors((args, kwargs)))
                norm = operator(found, module, x.ndim)
                self._norm(norm, x, [self.value(each) for each in own], output)
            self.stack.pop()

        return hook

    def _recognised(self, path: str, module: Any, args: Any, kwargs: Any) -> Known | None:
        try:
            found = known(path or "model", module, self.like)
            if found is None:
                return None
            named = {name for name, _ in module.named_parameters(recurse=False)}
            if named - {"bias"} and getattr(module, "weight", None) is None:
                raise NotKnown("its gain is not called `weight`, so it is not folded")
            given = [*tensors((args, kwargs))]
            if len(given) != 1:
                raise NotKnown("it was called with more than one tensor")
            both = (given[0], module.forward(*args, **kwargs))
            x, y = (found.vectors(each).reshape(-1, found.norm.d)[:OUTPUT_CHECK_VECTORS] for each in both)
            if not agrees(found.norm, as_float64(x), y):
                raise NotKnown("its output is not that of the norm alone")
            operator(found, module, given[0].ndim)
            return found
        except NotKnown as reason:
            self.skipped[path] = str(reason)
            return None


def operator(found: Known, module: Any, ndim: int) -> NormOperator:
    """The operator that stands in the graph for a recognised normalisation layer.

    ndim: the number of axes of its input. Raises NotKnown if it normalises over several axes at once.
    """
    norm, axis = found.norm, 1 if found.channels_first else ndim - 1
    heads = found.axes[0] if len(found.axes) == 2 else 1
    if len(found.axes) > 2 or (len(found.axes) == 2 and norm.groups != heads):
        raise NotKnown("it normalises over more than one axis")
    kind = "group_norm" if norm.groups != heads else "layer_norm" if norm.centres else "rms_norm"
    weight = getattr(module, "weight", None)
    plain = weight is None or bool((norm.gamma == as_float64(weight).reshape(-1)).all())
    return NormOperator(NORM_KINDS[kind], axis, int(plain), *_even(norm.gamma, norm.beta))


def _even(gain: Any, shift: Any) -> tuple[bool, bool]:
    """The fields `even` and `level` of a `NormOperator` with this gain and shift; either may be None."""
    even = gain is None or bool((gain == gain.flat[0]).all())
    return even, even and (shift is None or not shift.any())


def _layout(shape: Any, stride: Any = None) -> list[tuple[int, int]]:
    """The memory layout of a tensor: (size, stride) of each axis that is longer than 1.

    shape, stride: the shape of the tensor and the strides of its axes. If `stride` is None, `shape` is the
    tensor itself.
    """
    sizes, steps = (shape.shape, shape.stride()) if stride is None else (shape, stride)
    return [(size, step) for size, step in zip(sizes, steps, strict=True) if size > 1]


def _live(calls: Sequence[Call], returned: set[Value]) -> list[Call]:
    """The calls on which the tensors in `returned` or the control flow depend; all if `returned` is empty.

    Also fills the attribute `users` of each `Value` with those calls of the result that read the `Value`.
    """
    wanted, live = set(returned), list[Call]()
    for call in reversed(calls):
        if not returned or call.op in SINKS or wanted.intersection(call.outputs):
            live.append(call)
            wanted.update(call.inputs)
    live.reverse()
    for call in live:
        for value in dict.fromkeys(call.inputs):
            value.users.append(call)
    return live
