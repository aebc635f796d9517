"""Dual numbers: forward-mode automatic differentiation of code that uses the functions of `Namespace`.

A dual array x + ε·v, with ε² = 0, consists of a value x and a tangent v. If a function f is computed with
it, the result has the value f(x), and its tangent is the derivative of f at x along v. So a pipeline is
differentiated by running its steps on a dual array. Only elementary functions need a formula for their
derivative, which is in SLOPES. Source: baydin2018.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log, pi, sqrt
from typing import Any

from geometry.arrays import Array, namespace
from geometry.pointwise import elementary


class Dual:
    """A dual array: a value, and a tangent (derivative along a direction) of the same shape and dtype."""

    __array_ufunc__ = None  # so that NumPy leaves products array · dual to this class

    def __init__(self, value: Array, tangent: Array):
        self.value, self.tangent = value, tangent

    def __array_namespace__(self, api_version: str | None = None) -> Namespace:
        return Namespace(namespace(self.value))

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.value.shape)

    @property
    def dtype(self) -> Any:
        return self.value.dtype

    @property
    def device(self) -> Any:
        return getattr(self.value, "device", "cpu")

    @property
    def mT(self) -> Dual:
        return Dual(self.value.mT, self.tangent.mT)

    def detach(self) -> Array:
        """The value as a plain array, which is a constant: its derivative is 0."""
        return self.value

    def __getitem__(self, key: Any) -> Dual:
        return Dual(self.value[key], self.tangent[key])

    def __add__(self, other: Any) -> Dual:
        a, v = parts(other)
        return Dual(self.value + a, self.tangent + v)

    __radd__ = __add__

    def __neg__(self) -> Dual:
        return Dual(-self.value, -self.tangent)

    def __sub__(self, other: Any) -> Dual:
        return self + -other

    def __rsub__(self, other: Any) -> Dual:
        return -self + other

    def __mul__(self, other: Any) -> Dual:
        a, v = parts(other)
        return Dual(self.value * a, self.tangent * a + self.value * v)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Dual:
        a, v = parts(other)
        quotient = self.value / a
        return Dual(quotient, (self.tangent - quotient * v) / a)

    def __rtruediv__(self, other: Any) -> Dual:
        quotient = other / self.value
        return Dual(quotient, -quotient / self.value * self.tangent)

    def __matmul__(self, other: Array) -> Dual:
        return Dual(self.value @ other, self.tangent @ other)

    def __rmatmul__(self, other: Array) -> Dual:
        return Dual(other @ self.value, other @ self.tangent)

    def __abs__(self) -> Dual:
        return self.__array_namespace__().abs(self)

    def __eq__(self, other: Any) -> Any:
        return self.value == parts(other)[0]

    def __le__(self, other: Any) -> Any:
        return self.value <= other

    def __gt__(self, other: Any) -> Any:
        return self.value > other

    __hash__ = None  # type: ignore[assignment]  # == compares numbers, as for arrays


# The slope of each function, computed from its argument x and its result y; xp is their library.
SLOPES: dict[str, Callable[[Any, Array, Array], Array]] = {
    "abs": lambda xp, x, y: xp.sign(x),
    "floor": lambda xp, x, y: 0 * x,
    "sqrt": lambda xp, x, y: 0.5 / y,
    "exp": lambda xp, x, y: y,
    "log": lambda xp, x, y: 1 / x,
    "log10": lambda xp, x, y: 1 / (x * log(10)),
    "tanh": lambda xp, x, y: 1 - y * y,
    "sigmoid": lambda xp, x, y: y * (1 - y),
    "sin": lambda xp, x, y: xp.cos(x),
    "cos": lambda xp, x, y: -xp.sin(x),
    "asin": lambda xp, x, y: 1 / xp.sqrt(1 - x * x),
    "atan": lambda xp, x, y: 1 / (1 + x * x),
    "erf": lambda xp, x, y: 2 / sqrt(pi) * xp.exp(-x * x),
    "erfc": lambda xp, x, y: -2 / sqrt(pi) * xp.exp(-x * x),
}
LINEAR = ("astype", "reshape", "sum", "take")  # linear functions: applied to value and tangent alike


class Namespace:
    """The functions of the array API for dual arrays: those in SLOPES and LINEAR, and the methods below.

    own: the module that has these functions for plain arrays. It also gets all calls with plain arrays.
    """

    def __init__(self, own: Any):
        self.own = own

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Namespace) and self.own is other.own

    def __hash__(self) -> int:
        return hash(self.own)

    def __getattr__(self, name: str) -> Any:
        function = elementary(self.own, name)
        if function is None:
            raise AttributeError(name)
        if name in SLOPES:
            return lambda x: lifted(self.own, name, x, function)
        if name in LINEAR:
            return lambda x, *args, **options: (
                Dual(function(x.value, *args, **options), function(x.tangent, *args, **options))
                if isinstance(x, Dual)
                else function(x, *args, **options)
            )
        return function

    def where(self, condition: Array, x: Any, y: Any) -> Any:
        if not isinstance(x, Dual) and not isinstance(y, Dual):
            return self.own.where(condition, x, y)
        (a, v), (b, w) = parts(x), parts(y)
        return Dual(self.own.where(condition, a, b), self.own.where(condition, v, w))

    def max(self, x: Any, *, axis: int, keepdims: bool) -> Any:
        if not isinstance(x, Dual):
            return self.own.max(x, axis=axis, keepdims=keepdims)
        first = self.own.argmax(x.value, axis=axis, keepdims=True)
        largest = [self.own.take_along_axis(each, first, axis=axis) for each in (x.value, x.tangent)]
        return Dual(*(each if keepdims else self.own.squeeze(each, axis=axis) for each in largest))

    def clip(self, x: Any, low: float, high: float) -> Any:
        a, v = parts(x)
        clipped = self.own.clip(a, low, high)
        return Dual(clipped, v * (clipped == a)) if isinstance(x, Dual) else clipped

    def concat(self, arrays: Sequence[Dual], *, axis: int) -> Dual:
        values, tangents = zip(*map(parts, arrays), strict=True)
        return Dual(self.own.concat(values, axis=axis), self.own.concat(tangents, axis=axis))


def parts(x: Any) -> tuple[Any, Any]:
    """The value and the tangent of x. Anything but a dual array is a constant; its tangent is 0."""
    if isinstance(x, Dual):
        return x.value, x.tangent
    return x, 0.0 if isinstance(x, int | float) else 0 * x


def lifted(own: Any, name: str, x: Any, function: Callable[[Array], Array]) -> Any:
    """Apply an elementary function to a dual or plain array x.

    function: the elementary function for plain arrays. name: its name, which is also the key of its
    derivative in SLOPES. own: the module with the array API's functions for plain arrays.
    """
    if not isinstance(x, Dual):
        return function(x)
    y = function(x.value)
    return Dual(y, SLOPES[name](own, x.value, y) * x.tangent)


def concatenated(arrays: Sequence[Any]) -> Any:
    """Concatenate arrays, dual or plain, along the last axis, which holds coordinates."""
    first = next((each for each in arrays if isinstance(each, Dual)), arrays[0])
    return namespace(first).concat(arrays, axis=-1)
