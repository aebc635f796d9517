"""Stretch and fold: u_ε as an activation function along the first coordinate."""

from jaxtyping import Float

from geometry.arrays import Array, Scalar, constant, namespace, number, taken
from geometry.sphere import on_sphere


def stretch(x: Float[Array, "*batch d"], *, t: Scalar, eps: Scalar = 0.0) -> Float[Array, "*batch d"]:
    """Scale the first coordinate, then normalise: u_ε(t·x₁, x₂, …); near sign(x₁) for large t.

    Source: winsor2022.
    """
    x, back = taken(x)
    t, units, k = number(t, x, "t"), _units(t, x), min(1, x.shape[-1])
    return back(_u_eps(t / units * x[..., :k], x[..., k:] / units, eps, units))


def fold(x: Float[Array, "*batch d"], *, t: Scalar, eps: Scalar = 0.0) -> Float[Array, "*batch d"]:
    """Move along the first axis, then normalise: u_ε(x + t·e₁).

    For t > 1 both ends ±e₁ go to e₁ and what is between stays behind: near |x₁| on the sphere.

    Source: winsor2022.
    """
    x, back = taken(x)
    t, units, k = number(t, x, "t"), _units(t, x), min(1, x.shape[-1])
    return back(_u_eps(x[..., :k] / units + t / units, x[..., k:] / units, eps, units))


def _units(t, x):
    """A scale in which neither t·x nor t + x overflows."""
    t = constant(number(t, x, "t"))
    size = namespace(x).abs(t)
    return namespace(x).where(size > 1, size, 1.0)


def _u_eps(first, others, eps, units):
    y = namespace(first).concat([first, others], axis=-1)
    one, eps = number(1.0, y, "radius"), number(eps, y, "eps", least=0)
    return on_sphere(y, one, eps, "bare", units)
