"""Validate and convert the arguments of functions that map points: dtypes, shapes, and array libraries.

The first argument x of such a function decides the array library (NumPy, PyTorch), the device and the dtype;
every other argument is converted to them.

| input | computed in | returned as |
| --- | --- | --- |
| float32, float64, longdouble | the same | the same |
| float16, bfloat16 | float32 | the same as the input |
| integers, booleans, of NumPy or PyTorch | the library's default real dtype | the default real dtype |
| numbers and nested lists | NumPy's float64 | float64 |

For example, if x is a NumPy array and γ is a tensor, the result is a NumPy array. A conversion must not lose
a gradient silently, so ValueError is raised if γ requires a gradient and x is not a tensor. Complex numbers,
text, sparse tensors, and arrays that are ragged or have masked entries raise ValueError.
"""

import reprlib
from collections.abc import Callable
from math import inf
from operator import index
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_array_api_obj, numpy, to_device
from jaxtyping import Float

Array = Any  # NumPy, PyTorch, or another library that follows the array API standard
Numbers = Any  # an array, a number, or nested lists of numbers
Scalar = int | float | Float[Array, ""]


def namespace(x: Array) -> Any:
    """The module that has the array API's functions for x.

    For NumPy arrays and dual arrays, `array_namespace` is not called, because it is slow.
    """
    if type(x) is np.ndarray:
        return numpy
    own = None if isinstance(x, np.ndarray) else getattr(x, "__array_namespace__", None)
    return array_namespace(x) if own is None else own()


def real(x: Numbers, *, axes: int = 0) -> Array:
    """x as an array of a real floating dtype; x itself if it already is one.

    Raises ValueError if x has fewer than `axes` axes, or cannot be converted (see the module's docstring).
    """
    x = x if is_array_api_obj(x) else np.asarray(x)
    if np.ma.is_masked(x) or not _dense(x):
        raise ValueError("all numbers of an array are needed: some are masked, or left out")
    xp = namespace(x)
    if len(x.shape) < axes:
        raise ValueError(f"x needs {axes} or more axes, the last for coordinates: got shape {tuple(x.shape)}")
    if x.dtype in (xp.float64, xp.float32) or xp.isdtype(x.dtype, "real floating"):
        return x
    if xp.isdtype(x.dtype, ("bool", "integral")):
        return xp.astype(x, xp.asarray(0.0).dtype)
    raise ValueError(f"real numbers are needed: got {x.dtype}")


def widened_and_cast_back(x: Numbers, *, axes: int = 1) -> tuple[Array, Callable[[Array], Array]]:
    """x as a real array to compute with, and a function that casts results of the computation back.

    The array is `real(x)`, but in float32 if x has half precision. The function casts an array to the
    dtype of `real(x)`. axes: the least number of axes of x. Raises ValueError as `real` does.
    """
    if type(x) is np.ndarray and x.dtype.char in "df" and x.ndim >= axes:
        return x, _same  # fast path: called for each step of a pipeline and each cloud
    x = real(x, axes=axes)
    wide = widened(x)
    if wide is x:
        return x, _same
    xp, dtype = namespace(x), x.dtype
    return wide, lambda y: xp.astype(y, dtype)


def widened(x: Array) -> Array:
    """x in float32 if it is in half precision, otherwise x itself.

    The numbers of half precision have 11 significant bits or fewer, which are too few for sums.
    """
    xp = namespace(x)
    if x.dtype in (xp.float64, xp.float32) or xp.finfo(x.dtype).bits >= 32:
        return x
    return xp.astype(x, xp.float32)


def like(value: Numbers, x: Array) -> Array:
    """Convert `value` to x's library, device and real dtype; if it requires a gradient, so does the result.

    If x holds integers or booleans, the dtype is the library's default real dtype. Raises ValueError if
    `value` is not real, or is a tensor that requires a gradient while x is not a tensor.
    """
    if type(x) is np.ndarray and x.dtype.char in "df":
        if type(value) is np.ndarray and value.dtype == x.dtype:
            return value
        if isinstance(value, int | float):
            return np.asarray(_float(value), dtype=x.dtype)
    xp = namespace(x)
    known = x.dtype in (xp.float64, xp.float32) or xp.isdtype(x.dtype, "real floating")
    if type(value) is type(x) and value.dtype == x.dtype and known and device(value) == device(x):
        return value  # fast path: training calls this many times in each step
    dtype = x.dtype if known else xp.asarray(0.0).dtype
    if isinstance(value, int | float):
        return xp.asarray(_float(value), dtype=dtype, device=device(x))
    value = real(value)
    # torch.asarray cuts the gradient of a tensor, so only arrays of other libraries go through asarray
    if namespace(value) is not xp:
        if requires_gradient(value):
            raise ValueError("a tensor that requires a gradient needs x as a tensor too, or to be detached")
        # a native, writable copy in C order, which every library can read
        value = xp.asarray(np.array(numbers_of(value), dtype=np.float64, order="C"), dtype=dtype)
    return to_device(xp.astype(value, dtype, copy=False), device(x))


def number(value: Scalar, x: Array, name: str, *, least: float = -inf) -> Array:
    """Convert `value` to an array without axes, in x's library and dtype.

    name: what an error message calls `value`. Raises ValueError if `value` has axes; if `least` is given,
    also if `value` is below `least`, infinite or NaN.
    """
    value = like(value, x)
    if value.shape != ():
        raise ValueError(f"{name} is one number: got shape {tuple(value.shape)}")
    if least > -inf and has_values(value) and not least <= float(constant(value)) < inf:
        raise ValueError(f"{name} is a finite number, {least:g} or more: got {float(constant(value)):g}")
    return value


def whole(value: Any, name: str) -> int:
    """Convert an integer of any type to a Python integer. Raises ValueError for all else, such as 2.0.

    name: what the error message calls `value`.
    """
    try:
        return index(value)
    except TypeError:
        raise ValueError(f"{name} is a whole number: got {shown(value)}") from None


def single(value: Any, name: str) -> float:
    """Convert a number, a number as text, or an array without axes to a float; raise ValueError for others.

    name: what the error message calls `value`.
    """
    try:
        return float(constant(value))
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} is one number: got {shown(value)}") from None


def increasing(values: Any, name: str) -> np.ndarray:
    """Convert increasing numbers to a NumPy array (n,). Raises ValueError if they do not increase, or n is 0.

    name: what the error message calls them.
    """
    found = np.asarray(numbers_of(real(values)), dtype=np.float64)
    if found.ndim != 1 or not found.size or not np.all(np.diff(found) > 0):
        raise ValueError(f"{name} are increasing numbers, one or more: got {shown(values)}")
    return found


def index_groups(groups: Any, name: str) -> tuple[tuple[int, ...], ...]:
    """Convert groups of indices, such as [[0, 1], [2]], to tuples of Python integers.

    name: what the error message calls them. Raises ValueError if they are not lists of whole numbers.
    """
    try:
        return tuple(tuple(index(each) for each in group) for group in groups)
    except TypeError:
        raise ValueError(
            f"{name} are lists of whole numbers, such as [[0, 1], [2]]: got {shown(groups)}"
        ) from None


def members(values: Any, kind: Any, what: str) -> tuple[Any, ...]:
    """`values` as a tuple. Raises ValueError if one is no instance of `kind`.

    what: the beginning of the error message.
    """
    try:
        found = tuple(values)
    except TypeError:
        found = (None,)
    if not all(isinstance(each, kind) for each in found):
        raise ValueError(f"{what}: got {shown(values)}")
    return found


def shown(value: Any) -> str:
    """A short form of `value`, of one line, for error messages."""
    return " ".join(reprlib.repr(value).split())


def one_each(value: Numbers, x: Array, name: str) -> Array:
    """Convert `value` (d,), a number for each coordinate, to the library, device and dtype of x (*batch, d).

    Raises ValueError for any other shape. name: what the error message calls `value`.
    """
    value = like(value, x)
    if value.shape != x.shape[-1:]:
        raise ValueError(f"{name} needs a point's shape, {tuple(x.shape[-1:])}: got {tuple(value.shape)}")
    return value


def constant(x: Array) -> Array:
    """The array x as a constant, through which no gradient flows."""
    return x.detach() if hasattr(x, "detach") else x


def requires_gradient(x: Array) -> bool:
    return getattr(x, "requires_grad", False)


def has_values(x: Array) -> bool:
    """Whether an array has values. Tensors on PyTorch's "meta" device have none, only a shape and a dtype."""
    return not getattr(x, "is_meta", False)


def numbers_of(x: Array) -> np.ndarray:
    """A real floating-point array of any library as a NumPy array; half precision becomes float32."""
    x = constant(widened(x))
    return np.asarray(x.cpu() if hasattr(x, "cpu") else x)


def _dense(x: Array) -> bool:
    """Whether a tensor has PyTorch's usual layout: neither sparse nor nested."""
    return str(getattr(x, "layout", "torch.strided")) == "torch.strided" and not getattr(
        x, "is_nested", False
    )


def _float(value: int | float) -> float:
    """`value` as a float. Raises ValueError for an integer beyond the largest float."""
    try:
        return float(value)
    except OverflowError:
        raise ValueError("real numbers are needed: got an integer that no float is as large as") from None


def _same(x: Array) -> Array:
    return x
