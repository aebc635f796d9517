"""Stretch and fold: u_ε as an activation function along the first coordinate."""

from array_api_compat import array_namespace
from jaxtyping import Float

from geometry.arrays import Array, Scalar, constant, number, taken
from geometry.sphere import on_sphere


def stretch(x: Float[Array, "*batch d"], *, t: Scalar, eps: Scalar = 0.0) -> Float[Array, "*batch d"]:
    """Scale the first coordinate, then normalise: u_ε(t·x₁, x₂, …); near sign(x₁) for large t.

    Source: 001; mathematics.md, section 2.
    """
    x, back = taken(x)
    t, units = _in_units(x, t)
    return back(_u_eps(t / units * x[..., :1], x[..., 1:] / units, eps, units))


def fold(x: Float[Array, "*batch d"], *, t: Scalar, eps: Scalar = 0.0) -> Float[Array, "*batch d"]:
    """Move along the first axis, then normalise: u_ε(x + t·e₁).

    For t > 1 both ends ±e₁ go to e₁ and what is between stays behind: near |x₁| on the sphere.

    Source: 001; mathematics.md, section 2.
    """
    x, back = taken(x)
    t, units = _in_units(x, t)
    return back(_u_eps(x[..., :1] / units + t / units, x[..., 1:] / units, eps, units))


def _in_units(x, t):
    """t, and units in which neither t·x nor t + x overflows."""
    t, xp = number(t, x, "t"), array_namespace(x)
    one = xp.ones_like(t)
    return t, xp.where(xp.abs(t) > 1, 2 * xp.abs(constant(t)), one)


def _u_eps(first, others, eps, units):
    y = array_namespace(first).concat([first, others], axis=-1)
    one, eps = number(1.0, y, "radius"), number(eps, y, "eps", least=0)
    return on_sphere(y, one, eps, "bare", units)
