"""Recognise which normalisation a PyTorch module computes, by comparing its output with known formulas.

Libraries have hundreds of normalisation classes. Some multiply by γ, others by 1 + γ; some call ε `eps`,
others `variance_epsilon`. A module that may be a norm is called on a few probe vectors, and recognised as
the norm whose formula reproduces its output. There are three ways in which a module may be a norm:

- its class name contains "norm", but not "batch" or "instance", and it has no running mean;
- it has one or two parameters, which are vectors of the same length, and no buffers or inner modules;
- the attribute that holds it is called like a norm, such as `ln_1`, and the module has parameters, but no
  buffers or inner modules.

This file does not import PyTorch: it uses only methods of the module and of the tensors that it is given.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import prod, sqrt
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from learning.file_error import FileError
from learning.recording.messages import with_noun
from learning.recording.recording import MAX_COORDINATES, PARTS, Norm

Array = np.ndarray
EPS_ATTRIBUTES = ("eps", "variance_epsilon", "epsilon", "norm_eps")  # names that modules give to ε
NORM_ATTRIBUTE = re.compile(r"(.*norm|ln)_?(\d+|f|final)?")  # attributes that hold norms
PROBE_MEAN = 0.7  # mean of the vectors on which a module is tried
MIN_PROBE_SCALE = 1e-3  # two of these vectors are scaled by √ε, but at least by this
GATED = "it takes a second tensor, such as a gate, by which its input or output is multiplied"
MAX_OUTPUT_ROUNDINGS = 32  # allowed error of an output, in machine epsilons of the largest output


@dataclass(frozen=True, eq=False)
class Known:
    """A recognised norm module: its `Norm`, and the axes of its input that hold the coordinates of a vector.

    `norm` has the module's parameters, but no recorded input vectors yet. `axes` lists the sizes of the
    input's last axes, which together hold the coordinates. With `channels_first` the input is (batch,
    channels, …), and `axes` has only the number of channels.
    """

    norm: Norm
    axes: tuple[int, ...]
    channels_first: bool = False

    def vectors(self, x: Any) -> Any:
        """Reshape `x`, an input or output of the module, to vectors (*lead, d) with d coordinates each.

        With `channels_first`, an image (batch, channels, height, width) becomes (batch, height · width,
        channels). Raises NotKnown for a tensor whose shape does not fit the module.
        """
        last = len(self.axes)
        if x is not None and self.norm.kind == "group_norm" and last == 1 and x.ndim > 2:
            raise NotKnown("it normalises over positions too, not over features alone")
        if x is None or tuple(x.shape[1:2] if self.channels_first else x.shape[-last:]) != self.axes:
            raise NotKnown("it was called with something else than vectors")
        if self.channels_first:
            return x.flatten(2).transpose(1, 2)
        return x.reshape(*x.shape[:-last], self.norm.d)

    def shaped(self, vectors: Any, x: Any) -> Any:
        """Reshape vectors (*lead, d) to the shape and dtype of `x`, an input of the module.

        This is the inverse of the method `vectors`.
        """
        return (vectors.transpose(1, 2) if self.channels_first else vectors).reshape(x.shape).to(x.dtype)


class NotKnown(ValueError):
    """Raised for a module that seems to be a norm but is not recognised, or for input that does not fit it.

    The message says why.
    """


def known(path: str, module: Any, like: Any) -> Known | None:
    """Recognise the norm that a module computes; None if the module is not meant to be a norm.

    A module is not meant to be a norm in three cases:

    - it cannot be a norm, as the docstring of this file defines it;
    - it contains modules, and has no parameters of its own;
    - it computes no known norm, and neither its class nor the attribute that holds it is called a norm.

    `path` is the module's path in its model. `like` is any tensor of the model; if the module has no
    parameters, its probe vectors get the dtype and device of `like`. Raises NotKnown for a module that is
    called a norm but matches no formula known here.
    """
    own = list(module.parameters(recurse=False))
    inner = [type(each).__name__ for each in module.children()]
    if _is_called_a_norm(module):
        return _recognised(path, module, like) if own or not inner else None
    if inner or not own or _has_buffers(module):
        return None
    lengths = {tuple(each.shape) for each in own}
    has_vectors = len(own) <= 2 and len(lengths) == 1 and len(*lengths) == 1
    named = NORM_ATTRIBUTE.fullmatch(path.rpartition(".")[2].lower()) and not _is_other_norm(module)
    if not (has_vectors or named):
        return None
    try:
        return _recognised(path, module, like)
    except NotKnown:
        if named:
            raise
        return None


def _recognised(path: str, module: Any, like: Any) -> Known:
    """The norm that a module computes, found by trying the module on random vectors.

    like: a tensor of the model. Raises NotKnown if the module is no LayerNorm, RMSNorm or GroupNorm, or
    cannot be tried.
    """
    inner = [type(each).__name__ for each in module.children()]
    if _needs_second_input(module):
        raise NotKnown(GATED)
    axes = _axes(module)
    if not axes:
        raise NotKnown("no parameter and no attribute says on how many coordinates it acts")
    if not 2 <= prod(axes) <= MAX_COORDINATES:
        size = with_noun(prod(axes), "coordinate")
        raise NotKnown(f"it acts on {size}, and 2 … {MAX_COORDINATES:,} are read")
    layouts = [(4, *axes), *([(4, *axes, 1, 1)] if len(axes) == 1 else [])]  # second: channels first
    problems = []
    for shape in layouts:
        try:
            x, y = _tried(module, shape, _like(module, like))
        except Exception as problem:  # third-party code may raise anything
            said = (str(problem) or type(problem).__name__).splitlines()[0]
            problems.append(f"it cannot be tried on vectors: {said}")
            continue
        for norm in _candidates(path, module, axes, like, x, y):
            if agrees(norm, x, y):
                return Known(_closer(norm, x, y), axes, len(shape) > 1 + len(axes))
    doing = f", and it has a {' and a '.join(inner)} within" if inner else ""
    raise NotKnown(
        problems[0]
        if len(problems) == len(layouts)
        else f"its output is not that of LayerNorm, RMSNorm or GroupNorm with its parameters{doing}"
    )


@np.errstate(invalid="ignore")  # x may be infinite
def agrees(norm: Norm, x: Array, y: Any, given: Any = None) -> bool:
    """Whether `y`, the module's output for x, equals the output of `norm` up to rounding.

    The allowed difference is MAX_OUTPUT_ROUNDINGS machine epsilons, times the largest output. The machine
    epsilon is the largest of three: for the dtype of y; for `given`, the dtype of the module's input, which
    can differ from that of y in mixed precision; and for float32, in which many modules compute. By default,
    `given` is the dtype of y.
    """
    xp = array_namespace(y)
    rounding = max(float(xp.finfo(each).eps) for each in (y.dtype, given or y.dtype, xp.float32))
    within = MAX_OUTPUT_ROUNDINGS * rounding * np.abs(norm.output(x)).max()
    return bool(np.abs(_error(norm, x, y)).max() <= within)


def _error(norm: Norm, x: Array, y: Any) -> Array:
    want = norm.output(x)
    return want - as_float64(y).reshape(want.shape)


def _closer(norm: Norm, x: Array, y: Any) -> Norm:
    """Choose between `norm`, whose gain is γ, and the same norm with the gain 1 + γ.

    The norm with 1 + γ is returned if its squared error is less than half that of `norm`. x, y: the inputs
    and the outputs of the module. In bfloat16 both norms may agree with y, because a large γ and 1 + γ are
    alike.
    """
    other = replace(norm, gamma=norm.gamma + 1)
    errors = [float(np.square(_error(each, x, y)).sum()) for each in (norm, other)]
    return other if errors[1] < errors[0] / 2 else norm


def as_float64(tensor: Any) -> Array:
    """A tensor of any dtype and device as a NumPy array of float64."""
    return tensor.detach().cpu().double().numpy()


def _is_called_a_norm(module: Any) -> bool:
    """Whether a module may be a norm according to its class name.

    False for batch and instance norms, and for other modules with a running mean.
    """
    called = "norm" in type(module).__name__.lower()
    return called and not _is_other_norm(module) and not hasattr(module, "running_mean")


def _is_other_norm(module: Any) -> bool:
    name = type(module).__name__.lower()
    return "batch" in name or "instance" in name


def _needs_second_input(module: Any) -> bool:
    """Whether a module, such as a gated norm of Qwen3-Next, cannot be called with one input alone."""
    try:
        given = inspect.signature(module.forward).parameters.values()
    except (TypeError, ValueError):  # compiled code may have no signature
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(each.default is each.empty and each.kind in positional for each in given) > 1


def _has_buffers(module: Any) -> bool:
    return any(True for _ in module.buffers())


def _gains_and_shifts(module: Any) -> list[tuple[Any, Any]]:
    """The pairs of parameters that may be the gain γ and the shift β of a module; a missing one is None.

    Usually one pair: (`weight`, `bias`). If a module has one or two parameters, and none is called `weight`,
    there are two pairs: its parameters in either order.
    """
    weight, bias = (getattr(module, name, None) for name in ("weight", "bias"))
    own = list(module.parameters(recurse=False))
    if weight is not None or not 1 <= len(own) <= 2:
        return [(weight, bias)]
    one, other = (*own, None)[:2]
    return [(one, other), (other, one)]


def _axes(module: Any) -> tuple[int, ...]:
    """The sizes of the axes over which a module normalises; () if neither parameters nor attributes tell."""
    own = next((each for pair in _gains_and_shifts(module) for each in pair if each is not None), None)
    said: Any = getattr(module, "normalized_shape", None) or getattr(module, "num_channels", None) or ()
    if own is not None:
        said = own.shape
    return tuple(said) if hasattr(said, "__iter__") else (int(said),)


def _like(module: Any, like: Any) -> Any:
    """A tensor with a module's dtype and device: the first of its own parameters; without any, `like`."""
    return next(iter(module.parameters(recurse=False)), like)


def _tried(module: Any, shape: tuple[int, ...], like: Any) -> tuple[Array, Any]:
    """Call a module on four random probe vectors; return the vectors (4, d) and the module's output.

    The vectors are the same in each call. Two are so short that ε matters for the output. `shape` is the
    shape of the module's input, (4, …), to which they are reshaped; `like` is a tensor with the input's dtype
    and device. Raises ValueError if the output has another shape.
    """
    n, d = shape[0], prod(shape[1:])
    short = max(sqrt(max(_eps(module, like), default=0.0)), MIN_PROBE_SCALE)
    x = np.random.default_rng(0).standard_normal((n, d)) + PROBE_MEAN
    x *= np.array([1, 3, short, short])[:, None]
    given = like.detach().new_tensor(x.astype(np.float32).tolist()).reshape(shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about vectors that are not the model's
        made = module.forward(given)  # module(given) would run the user's hooks
    if made.shape != given.shape:
        raise ValueError("its output has another shape")
    return as_float64(given).reshape(n, d), made


def _eps(module: Any, like: Any) -> tuple[float, ...]:
    """The possible values of a module's ε; () if the module has no attribute for ε.

    Usually there is one value. If the attribute is None, there are two, because PyTorch modules then use the
    machine epsilon either of the vectors' dtype or of float32.
    """
    said: Any = [getattr(module, name) for name in EPS_ATTRIBUTES if hasattr(module, name)]
    xp = array_namespace(like)
    if said[:1] == [None]:
        return tuple(float(xp.finfo(each).eps) for each in (like.dtype, xp.float32))
    return tuple(map(float, said[:1]))


def _candidates(path: str, module: Any, axes: tuple[int, ...], like: Any, x: Array, y: Any) -> Iterator[Norm]:
    """Yield each norm that the module may compute, as a `Norm`.

    They differ in kind, in ε, in which parameters are γ and β, in the gain (γ or 1 + γ), and in whether each
    attention head is normalised separately. `axes` is as in `Known`, and `y` is the module's output for the
    probe vectors x. Raises NotKnown if the parameters do not make a valid `Norm`.
    """
    d = prod(axes)
    groups = int(getattr(module, "num_groups", 1))
    kinds = [("group_norm", groups)] if groups > 1 else [("layer_norm", 1), ("rms_norm", 1)]
    kinds += [(kind, axes[0]) for kind in ("group_norm", "rms_norm") if len(axes) == 2 and axes[1] > 1]
    said, nothing = _eps(module, _like(module, like)), np.zeros(1, dtype=np.int64)
    for (weight, bias), plus, (kind, count) in product(_gains_and_shifts(module), (0, 1), kinds):
        beta = np.zeros(d) if bias is None else as_float64(bias).reshape(-1)
        gamma = plus + (np.ones(d) if weight is None else as_float64(weight).reshape(-1))
        parts: Any = dict(zip(PARTS, (gamma, beta, np.zeros((1, d)), nothing, nothing, nothing), strict=True))
        try:
            norm = Norm(path=path, kind=kind, eps=0.0, groups=count, seen=1, **parts)
            yield from (replace(norm, eps=eps) for eps in said or _fitted(norm, x, y))
        except FileError as problem:
            raise NotKnown(str(problem).removeprefix(f"{path!r}: ")) from None


def _fitted(norm: Norm, x: Array, y: Any) -> list[float]:
    """Solve for ε: the value with which the norm maps the last vector of x to the last output of y.

    This is for a module that does not state its ε. Returns the value twice, first rounded to one significant
    digit, as in a programmer's 1e-6, then unrounded. A negative ε becomes 0. Returns [] if the output minus β
    is orthogonal to γ ⊙ x (centred if the norm centres), or points away from it.
    """
    each = norm.blocks(x[-1:])[0]
    each = each - each.mean(axis=-1, keepdims=True) * norm.centres
    without = norm.gamma.reshape(each.shape) * each
    scale = np.sum((as_float64(y).reshape(x.shape)[-1] - norm.beta).reshape(each.shape) * without)
    if scale <= 0:
        return []
    eps = max(0.0, float((np.sum(without**2) / scale) ** 2 - np.mean(each**2)))
    return [float(f"{eps:.0e}"), eps]
