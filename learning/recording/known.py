"""Recognise the norm that a PyTorch module computes, by its outputs rather than its name.

A library of models has hundreds of classes of norms: with γ or with 1 + γ, with `eps` or `variance_epsilon`.
A module is the norm whose formula gives its own output on some vectors. PyTorch's tensors are met as what
they are, so this file needs no PyTorch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import prod, sqrt
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from learning.recording.recording import PARTS, WIDEST, Norm
from learning.safetensors import FileError

Array = np.ndarray
EPS = ("eps", "variance_epsilon", "epsilon", "norm_eps")  # what modules call their ε
MEAN, SMALLEST = 0.7, 1e-3  # of the vectors that a module is tried on; the least that they are scaled by
ROUNDINGS = 32  # units in the last place of the largest output, in which a formula must agree


@dataclass(frozen=True, eq=False)
class Known:
    """A recognised module: its norm, without vectors yet, and where the coordinates of a vector are.

    axes: the last ones of its input, in order; or, channels_first, the second of (batch, channels, …).
    """

    norm: Norm
    axes: tuple[int, ...]
    channels_first: bool = False

    def vectors(self, x: Any) -> Any:
        """The tensor (*lead, d) of the vectors in an input or output; pixels of an image in one row.

        Raises NotKnown for a tensor of another shape.
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
        """Vectors (*lead, d) in the shape and dtype of the input x."""
        return (vectors.transpose(1, 2) if self.channels_first else vectors).reshape(x.shape).to(x.dtype)


class NotKnown(ValueError):
    """Raised for a module that is called a norm and computes something else; the message says what."""


def known(path: str, module: Any, like: Any) -> Known | None:
    """The norm that a module is, or None for a module of another kind. like: a tensor of its model.

    Raises NotKnown for what seems a norm and is none of ours.
    """
    inner = [type(each).__name__ for each in module.children()]
    if not _seems(module) or (inner and not any(True for _ in module.parameters(recurse=False))):
        return None
    axes = _axes(module)
    if not axes or not 2 <= prod(axes) <= WIDEST:
        raise NotKnown(f"it acts on {prod(axes) if axes else 'an unknown number of'} coordinates")
    layouts = [(4, *axes), *([(4, *axes, 1, 1)] if len(axes) == 1 else [])]  # the second: channels of pixels
    problems = []
    for shape in layouts:
        try:
            x, y = _tried(module, shape, _parameter(module, "weight", like))
        except (
            Exception
        ) as problem:  # a module of anybody's: whatever it raises, it takes other things than x
            problems.append(f"it cannot be tried on vectors: {str(problem).splitlines()[:1]}")
            continue
        for norm in _candidates(path, module, axes, like, x, y):
            if agrees(norm, x, y):
                return Known(norm, axes, len(shape) > 1 + len(axes))
    doing = f", and it has a {' and a '.join(inner)} within" if inner else ""
    raise NotKnown(
        problems[0]
        if len(problems) == len(layouts)
        else f"its output is not that of LayerNorm, RMSNorm or GroupNorm with its parameters{doing}"
    )


def agrees(norm: Norm, x: Array, y: Any) -> bool:
    """Whether a norm makes the tensor y of x, to the rounding of the tensor's dtype.

    In double precision to that of single, in which many modules compute whatever they are given.
    """
    want, xp = norm.output(x), array_namespace(y)
    rounding = max(float(xp.finfo(each).eps) for each in (y.dtype, xp.float32))
    within = ROUNDINGS * rounding * np.abs(want).max()
    return bool(np.abs(want - numbers(y).reshape(want.shape)).max() <= within)


def numbers(tensor: Any) -> Array:
    """A tensor of any dtype and device as float64 of NumPy."""
    return tensor.detach().cpu().double().numpy()


def _seems(module: Any) -> bool:
    """Whether a module looks like a norm: by its name or an ε, and without running statistics."""
    name = type(module).__name__.lower()
    called = "norm" in name and "batch" not in name and "instance" not in name
    return called and not hasattr(module, "running_mean")


def _axes(module: Any) -> tuple[int, ...]:
    """The shape of its weight, which may be of several heads; else what it says of itself."""
    weight = getattr(module, "weight", None)
    said: Any = getattr(module, "normalized_shape", None) or getattr(module, "num_channels", None) or ()
    if weight is not None:
        said = weight.shape
    return tuple(said) if hasattr(said, "__iter__") else (int(said),)


def _parameter(module: Any, name: str, like: Any) -> Any:
    own = getattr(module, name, None)
    return like if own is None else own


def _tried(module: Any, shape: tuple[int, ...], like: Any) -> tuple[Array, Any]:
    """Probe vectors, some so short that ε matters, and the module's outputs for them."""
    n, d = shape[0], prod(shape[1:])
    short = max(sqrt(max(_eps(module, like), default=0.0)), SMALLEST)
    x = np.random.default_rng(0).standard_normal((n, d)) + MEAN
    x *= np.array([1, 3, short, short])[:, None]
    given = like.detach().new_tensor(x.astype(np.float32).tolist()).reshape(shape)
    made = module.forward(given)  # not a call: nobody's hooks hear of it
    if made.shape != given.shape:
        raise ValueError("its output has another shape")
    return numbers(given).reshape(n, d), made


def _eps(module: Any, like: Any) -> tuple[float, ...]:
    """Possible values of ε. None means machine epsilon: of the vectors' dtype, or of float32. Empty where
    the module does not say."""
    said: Any = [getattr(module, name) for name in EPS if hasattr(module, name)]
    xp = array_namespace(like)
    if said[:1] == [None]:
        return tuple(float(xp.finfo(each).eps) for each in (like.dtype, xp.float32))
    return tuple(map(float, said[:1]))


def _candidates(path: str, module: Any, axes: tuple[int, ...], like: Any, x: Array, y: Any) -> Iterator[Norm]:
    """All candidate norms: each kind, of all coordinates or of each head, with gain γ or 1 + γ."""
    d, (weight, bias) = prod(axes), (getattr(module, name, None) for name in ("weight", "bias"))
    beta = np.zeros(d) if bias is None else numbers(bias).reshape(-1)
    own = np.ones(d) if weight is None else numbers(weight).reshape(-1)
    groups = int(getattr(module, "num_groups", 1))
    kinds = [("group_norm", groups)] if groups > 1 else [("layer_norm", 1), ("rms_norm", 1)]
    kinds += [(kind, axes[0]) for kind in ("group_norm", "rms_norm") if len(axes) == 2 and axes[1] > 1]
    said, nothing = _eps(module, _parameter(module, "weight", like)), np.zeros(1, dtype=np.int64)
    for gamma, (kind, count) in product((own, 1 + own), kinds):
        parts: Any = dict(zip(PARTS, (gamma, beta, np.zeros((1, d)), nothing, nothing, nothing), strict=True))
        try:
            norm = Norm(path=path, kind=kind, eps=0.0, groups=count, seen=1, **parts)
            yield from (replace(norm, eps=eps) for eps in said or _fitted(norm, x, y))
        except FileError as problem:
            raise NotKnown(str(problem)) from None


def _fitted(norm: Norm, x: Array, y: Any) -> list[float]:
    """ε where a module does not say it, of the scale that its output gives its shortest vector.

    First as it may be written, with one digit.
    """
    each = norm.blocks(x[-1:])[0]
    each = each - each.mean(axis=-1, keepdims=True) * norm.centres
    without = norm.gamma.reshape(each.shape) * each
    scale = np.sum((numbers(y).reshape(x.shape)[-1] - norm.beta).reshape(each.shape) * without)
    if scale <= 0:
        return []
    eps = max(0.0, float((np.sum(without**2) / scale) ** 2 - np.mean(each**2)))
    return [float(f"{eps:.0e}"), eps]
