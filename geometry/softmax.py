"""Softmax over the coordinates of each point. The engine in the browser mirrors this file."""

from math import inf

from array_api_compat import device
from jaxtyping import Float

from geometry.arrays import Array, Scalar, constant, namespace, number, widened_and_cast_back


def softmax(
    x: Float[Array, "*batch d"], *, temperature: Scalar = 1.0, causal: bool = False
) -> Float[Array, "*batch d"]:
    """Softmax over the coordinates of each point: exp(xᵢ/T) / Σⱼ exp(xⱼ/T).

    The largest coordinate is subtracted first, so nothing overflows.

    Parameters
    ----------
    x : array (*batch, d)
        Points, such as the scores of attention; (*batch, n, d) if `causal`.
    temperature : float
        T ≥ 0. T = 0 stands for the limit T → 0, in which the largest coordinate gets the weight 1; if several
        are largest, they get equal weights.
    causal : bool
        Whether to apply the causal mask: the softmax of the k-th of the n points (from 0) is over its first
        k + 1 coordinates only, and its other coordinates become 0.

    Returns
    -------
    array, shape of x
        Weights ≥ 0 that sum to 1 for each point.

    Raises
    ------
    ValueError
        If the temperature is negative or not a single number.

    Examples
    --------
    >>> import numpy as np
    >>> softmax(np.array([0.0, np.log(3.0)])).round(3)
    array([0.25, 0.75])
    >>> softmax(np.array([1.0, 2.0, 2.0]), temperature=0)
    array([0. , 0.5, 0.5])

    References
    ----------
    brody2023, section 3.
    """
    x, cast_back = widened_and_cast_back(x, axes=2 if causal else 1)
    xp, temperature = namespace(x), number(temperature, x, "temperature")
    if not float(constant(temperature)) >= 0:
        raise ValueError(f"a temperature is 0 or more: got {float(constant(temperature)):g}")
    if not x.shape[-1]:
        return cast_back(x)
    seen = xp.tril(xp.ones(x.shape[-2:], dtype=xp.bool, device=device(x))) if causal else None

    def hidden(y, value):
        """y with `value` in place of the coordinates that the causal mask hides; y itself without a mask."""
        return y if seen is None else xp.where(seen, y, value)

    below = hidden(x - xp.max(hidden(x, -inf), axis=-1, keepdims=True), 0.0)  # at most 0: nothing overflows
    each = xp.exp(below / temperature) if float(constant(temperature)) else xp.astype(below == 0, x.dtype)
    weights = hidden(each, 0.0)
    return cast_back(weights / xp.sum(weights, axis=-1, keepdims=True))
