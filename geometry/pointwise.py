"""Functions of one number, applied to every coordinate. The engine in the browser mirrors FUNCTIONS."""

from math import sqrt

import numpy as np
from array_api_compat import array_namespace
from jaxtyping import Float
from scipy import special

from geometry.arrays import Array, like


def _erf(x):
    xp = array_namespace(x)
    return xp.erf(x) if hasattr(xp, "erf") else like(special.erf(np.asarray(x)), x)


FUNCTIONS = {
    "identity": lambda x: x,
    "abs": abs,
    "tanh": lambda x: array_namespace(x).tanh(x),
    "sigmoid": lambda x: (1 + array_namespace(x).tanh(x / 2)) / 2,  # exp(−x) would overflow
    "erf": _erf,
    "sin": lambda x: array_namespace(x).sin(x),
    "cos": lambda x: array_namespace(x).cos(x),
    "arcsin": lambda x: array_namespace(x).asin(
        array_namespace(x).clip(x, -1.0, 1.0)
    ),  # rounding may exceed 1
    "arctan": lambda x: array_namespace(x).atan(x),
    "relu": lambda x: array_namespace(x).maximum(x, 0 * x),
    "gelu": lambda x: x * (1 + _erf(x / sqrt(2))) / 2,
}


def check_function(name: str) -> None:
    """Raise ValueError for a name that is not in FUNCTIONS."""
    if name not in FUNCTIONS:
        raise ValueError(f"no function {name!r}: take one of {', '.join(FUNCTIONS)}")


def apply(name: str, x: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """The named function of every coordinate of x.

    identity, abs, tanh, sigmoid 1/(1 + e⁻ˣ), erf, sin, cos, arcsin, arctan, relu max(x, 0),
    gelu x·(1 + erf(x/√2))/2. Raises ValueError for another name.
    """
    check_function(name)
    return FUNCTIONS[name](x)
