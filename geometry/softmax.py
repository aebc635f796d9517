"""Softmax over the coordinates of points. The engine in the browser mirrors this file."""

from math import inf

from array_api_compat import device
from jaxtyping import Float

from geometry.arrays import Array, Scalar, constant, namespace, taken


def softmax(
    x: Float[Array, "*batch n d"], *, temperature: Scalar = 1.0, causal: bool = False
) -> Float[Array, "*batch n d"]:
    """exp(xᵢ/T) / Σⱼ exp(xⱼ/T), with the largest xⱼ taken off first; T = 0 is the limit, the argmax.

    Several largest share the argmax evenly. causal: the point k sees its first k + 1 coordinates alone, the
    others become 0. Raises ValueError for a temperature below 0. Source: brody2023, section 3.
    """
    x, back = taken(x, axes=2 if causal else 1)
    xp = namespace(x)
    if not float(constant(temperature)) >= 0:
        raise ValueError(f"a temperature is 0 or more: got {float(constant(temperature))}")
    if not x.shape[-1]:
        return back(x)
    seen = xp.tril(xp.ones(x.shape[-2:], dtype=xp.bool, device=device(x))) if causal else None

    def hidden(y, value):
        """y with a fill value where the causal mask hides it."""
        return y if seen is None else xp.where(seen, y, value)

    below = hidden(x - xp.max(hidden(x, -inf), axis=-1, keepdims=True), 0.0)  # at most 0: nothing overflows
    each = xp.exp(below / temperature) if float(constant(temperature)) else xp.astype(below == 0, x.dtype)
    weights = hidden(each, 0.0)
    return back(weights / xp.sum(weights, axis=-1, keepdims=True))
