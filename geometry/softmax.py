"""Softmax over the coordinates of points. The engine in the browser mirrors this file."""

from math import inf

from array_api_compat import array_namespace, device
from jaxtyping import Float

from geometry.arrays import Array, Scalar, constant, like, taken


def softmax(
    x: Float[Array, "*batch n d"], *, temperature: Scalar = 1.0, causal: bool = False
) -> Float[Array, "*batch n d"]:
    """exp(xᵢ/T) / Σⱼ exp(xⱼ/T), with the largest xⱼ taken off first; T = 0 is the limit, the argmax.

    Several largest share the argmax evenly. causal: the point k sees its first k + 1 coordinates alone, the
    others become 0. Raises ValueError for a temperature below 0. Source: 004, section 3.
    """
    x, back = taken(x, axes=2 if causal else 1)
    xp = array_namespace(x)
    if not float(constant(temperature)) >= 0:
        raise ValueError(f"a temperature is 0 or more: got {float(constant(temperature))}")
    if not x.shape[-1]:
        return back(x)
    seen = xp.ones(x.shape[-2:] if causal else (), dtype=xp.bool, device=device(x))
    if causal:
        seen = xp.tril(seen)
    largest = xp.max(xp.where(seen, x, like(-inf, x)), axis=-1, keepdims=True)
    below = xp.where(seen, x - largest, xp.zeros_like(x))  # at most 0: nothing overflows
    each = xp.exp(below / temperature) if float(constant(temperature)) else xp.astype(below == 0, x.dtype)
    weights = xp.where(seen, each, xp.zeros_like(x))
    return back(weights / xp.sum(weights, axis=-1, keepdims=True))
