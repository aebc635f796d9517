"""Recognise the norm that a PyTorch module computes, by its outputs rather than its name.

A library of models has hundreds of classes of norms: with γ or with 1 + γ, with `eps` or `variance_epsilon`.
A module is the norm whose formula gives its own output on some vectors. PyTorch's tensors are met as what
they are, so this file needs no PyTorch.
"""

from __future__ import annotations

from dataclasses import dataclass
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
    """A recognised module: its norm, without vectors yet, and the axes that it normalises, in order."""

    norm: Norm
    axes: tuple[int, ...]


class NotKnown(ValueError):
    """Raised for a module that is called a norm and computes something else; the message says what."""


def known(path: str, module: Any, like: Any) -> Known | None:
    """The norm that a module is, or None for a module of another kind. like: a tensor of its model.

    Raises NotKnown for what seems a norm and is none of ours.
    """
    if any(True for _ in module.children()) or not _seems(module):
        return None
    axes = _axes(module)
    if not axes or not 2 <= prod(axes) <= WIDEST:
        raise NotKnown(f"it acts on {prod(axes) if axes else 'an unknown number of'} coordinates")
    try:
        x, y = _tried(module, axes, _parameter(module, "weight", like))
    except Exception as problem:  # a module of anybody's: whatever it raises, it takes other things than x
        raise NotKnown(f"it cannot be tried on vectors: {str(problem).splitlines()[:1]}") from None
    for norm in _candidates(path, module, prod(axes), like):
        if agrees(norm, x, y):
            return Known(norm, axes)
    raise NotKnown("its output is not that of LayerNorm, RMSNorm or GroupNorm with its parameters")


def agrees(norm: Norm, x: Array, y: Any) -> bool:
    """Whether a norm makes the tensor y of x, to the rounding of the tensor's dtype."""
    want = norm.output(x)
    within = ROUNDINGS * float(array_namespace(y).finfo(y.dtype).eps) * np.abs(want).max()
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
    said: Any = getattr(module, "normalized_shape", None) or getattr(module, "num_channels", None)
    if said is None:
        weight = getattr(module, "weight", None)
        said = () if weight is None else weight.shape
    return tuple(said) if hasattr(said, "__iter__") else (int(said),)


def _parameter(module: Any, name: str, like: Any) -> Any:
    own = getattr(module, name, None)
    return like if own is None else own


def _tried(module: Any, axes: tuple[int, ...], like: Any) -> tuple[Array, Any]:
    """Probe vectors, some so short that ε matters, and the module's outputs for them."""
    d = prod(axes)
    short = max(sqrt(max(_eps(module, like))), SMALLEST)
    x = np.random.default_rng(0).standard_normal((4, d)) + MEAN
    x *= np.array([1, 3, short, short])[:, None]
    given = like.detach().new_tensor(x.astype(np.float32).tolist()).reshape(4, *axes)
    # forward, not a call: nobody's hooks hear of it
    return numbers(given).reshape(4, d), module.forward(given)


def _eps(module: Any, like: Any) -> tuple[float, ...]:
    """Possible values of ε. None means machine epsilon: of the vectors' dtype, or of float32."""
    said = next((getattr(module, name) for name in EPS if hasattr(module, name)), 0.0)
    xp = array_namespace(like)
    return (
        tuple(float(xp.finfo(each).eps) for each in (like.dtype, xp.float32))
        if said is None
        else (float(said),)
    )


def _candidates(path: str, module: Any, d: int, like: Any) -> list[Norm]:
    """All candidate norms: each kind, with gain γ or 1 + γ."""
    weight, bias = (getattr(module, name, None) for name in ("weight", "bias"))
    beta = np.zeros(d) if bias is None else numbers(bias).reshape(-1)
    own = np.ones(d) if weight is None else numbers(weight).reshape(-1)
    groups = int(getattr(module, "num_groups", 1))
    kinds = ["group_norm"] if groups > 1 else ["layer_norm", "rms_norm"]
    possible, nothing = _eps(module, _parameter(module, "weight", like)), np.zeros(1, dtype=np.int64)
    candidates = []
    for gamma in (own, 1 + own):
        for kind, eps in product(kinds, possible):
            arrays = (gamma, beta, np.zeros((1, d)), nothing, nothing, nothing)
            try:
                parts: Any = dict(zip(PARTS, arrays, strict=True))
                candidates.append(Norm(path=path, kind=kind, eps=eps, groups=groups, seen=1, **parts))
            except FileError as problem:
                raise NotKnown(str(problem)) from None
    return candidates
