"""The path of a point from one stage to the next. The drawing engine in the browser mirrors this file."""

from array_api_compat import device
from jaxtyping import Float

from geometry.arrays import Array, like, namespace, widened_and_cast_back


def between(
    a: Float[Array, "*batch m"], b: Float[Array, "*batch n"], f: int | float
) -> Float[Array, "*batch k"]:
    """The point at the fraction f of the straight line from a to b: (1 − f)·a + f·b.

    If a and b have different numbers of coordinates, the shorter one is padded with zeros.
    """
    a, cast_back = widened_and_cast_back(a)
    b = like(widened_and_cast_back(b)[0], a)
    k = max(a.shape[-1], b.shape[-1])
    return cast_back((1 - f) * padded(a, k) + f * padded(b, k))


def padded(x: Float[Array, "*batch m"], k: int) -> Float[Array, "*batch k"]:
    """x padded with zeros to k coordinates."""
    missing = k - x.shape[-1]
    if not missing:
        return x
    xp = namespace(x)
    zeros = xp.zeros((*x.shape[:-1], missing), dtype=x.dtype, device=device(x))
    return xp.concat([x, zeros], axis=-1)
