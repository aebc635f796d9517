"""Elementwise functions (ReLU, GELU, tanh, …). The drawing engine in the browser mirrors FUNCTIONS."""

from math import pi, sqrt

import numpy as np
from jaxtyping import Float
from scipy import special

from geometry.arrays import Array, like, namespace, shown, widened_and_cast_back

SCIPY = {"erf": special.erf, "erfc": special.erfc, "sigmoid": special.expit}  # the array API lacks these


def elementary(xp, name):
    """The function `name` of the array library xp, or SciPy's if xp lacks it; None if neither has it.

    SciPy's functions compute in float64, and return the library and dtype of their argument.
    """
    own = getattr(xp, name, None)
    if own is None and name in SCIPY:
        # SciPy's functions have no dtype wider than float64
        return lambda x: like(SCIPY[name](np.asarray(x, dtype=np.float64)), x)
    return own


def _entr(x):
    xp = namespace(x)
    p = xp.where(x <= 0, 1.0, x)  # 1·ln 1 = 0; and no gradient where rounding gives x ≤ 0
    return -p * xp.log(p)


def _reciprocal(x):
    xp = namespace(x)
    return xp.where(x == 0, 0.0, 1 / xp.where(x == 0, 1.0, x))


def _sqrt(x):
    xp = namespace(x)
    return xp.where(x <= 0, 0.0, xp.sqrt(xp.where(x <= 0, 1.0, x)))  # no gradient at 0, rather than ∞


def _erfc(x):
    return elementary(namespace(x), "erfc")(x)


LOG_FLOOR = 1e-12  # lower bound for the argument of a logarithm


def _cubic(x):
    """The cubic polynomial inside GPT-2's tanh approximation of GELU.

    For |x| ≥ 20 the tanh of this polynomial rounds to ±1, so `gelu_tanh` may clip x to −20 … 20.
    """
    return sqrt(2 / pi) * (x + 0.044715 * x * x * x)


FUNCTIONS = {
    "identity": lambda x: x,
    "abs": abs,
    "tanh": lambda x: namespace(x).tanh(x),
    "sigmoid": lambda x: elementary(namespace(x), "sigmoid")(x),
    "erf": lambda x: elementary(namespace(x), "erf")(x),
    "sin": lambda x: namespace(x).sin(x),
    "cos": lambda x: namespace(x).cos(x),
    "arcsin": lambda x: namespace(x).asin(namespace(x).clip(x, -1.0, 1.0)),  # rounding may exceed 1
    "arctan": lambda x: namespace(x).atan(x),
    "sqrt": _sqrt,
    "log10": lambda x: namespace(x).log10(namespace(x).where(x > LOG_FLOOR, x, LOG_FLOOR)),
    "reciprocal": _reciprocal,
    "round": lambda x: namespace(x).floor(x + 0.5),  # halves up, as in JavaScript
    "relu": lambda x: namespace(x).where(x <= 0, 0.0, x),  # max(x, 0·x) would make NaN of ∞
    "entr": _entr,
    "gelu": lambda x: x * _erfc(-x / sqrt(2)) / 2,  # 1 + erf would round to 0 below −8.4
    "gelu_tanh": lambda x: x * (1 + namespace(x).tanh(_cubic(namespace(x).clip(x, -20, 20)))) / 2,
}


def check_function(name: str) -> None:
    """Raise ValueError for a name that is not in FUNCTIONS."""
    if not isinstance(name, str) or name not in FUNCTIONS:
        raise ValueError(f"no function {shown(name)}: take one of {', '.join(FUNCTIONS)}")


def apply(name: str, x: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """Apply the function called `name` to every coordinate of x. Raises ValueError for an unknown name.

    The names are identity, abs, tanh, erf, sin, cos, arctan, and these:

    sigmoid     1/(1 + e⁻ˣ)
    arcsin      arcsin of x, which is first clipped to −1 … 1
    sqrt        √max(x, 0)
    log10       log₁₀ max(x, LOG_FLOOR)
    reciprocal  1/x; 0 for x = 0
    round       the nearest whole number; halves are rounded up
    relu        max(x, 0)
    entr        −x·ln x for x > 0, otherwise 0; its sum over probabilities is their entropy
    gelu        x·erfc(−x/√2)/2
    gelu_tanh   x·(1 + tanh(√(2/π)·(x + 0.044715·x³)))/2, GPT-2's approximation of gelu; the two differ by
                less than 5e-4
    """
    check_function(name)
    x, cast_back = widened_and_cast_back(x, axes=0)
    return cast_back(FUNCTIONS[name](x))
