"""Stretch and fold: activation functions that scale or shift the first coordinate, then normalise."""

from jaxtyping import Float

from geometry.arrays import Array, Scalar, constant, namespace, number, widened_and_cast_back
from geometry.sphere import on_sphere


def stretch(x: Float[Array, "*batch d"], *, t: Scalar, eps: Scalar = 0.0) -> Float[Array, "*batch d"]:
    """Scale the first coordinate, then normalise: u_ε(t·x₁, x₂, …). For large t it is near sign(x₁)·e₁.

    Parameters
    ----------
    x : array (*batch, d)
        Points.
    t : float
        Factor of the first coordinate.
    eps : float
        ε ≥ 0, as in `u_eps`.

    Returns
    -------
    array (*batch, d)
        The normalised points.

    Raises
    ------
    ValueError
        If t or ε is not one number, or ε is negative.

    Examples
    --------
    >>> import numpy as np
    >>> stretch(np.array([1.0, 4.0]), t=3.0, eps=0)
    array([0.6, 0.8])

    References
    ----------
    winsor2022.
    """
    x, cast_back = widened_and_cast_back(x)
    t, units, k = number(t, x, "t"), _units(t, x), min(1, x.shape[-1])
    return cast_back(_u_eps(t / units * x[..., :k], x[..., k:] / units, eps, units))


def fold(x: Float[Array, "*batch d"], *, t: Scalar, eps: Scalar = 0.0) -> Float[Array, "*batch d"]:
    """Shift along the first axis, then normalise: u_ε(x + t·e₁).

    For t > 1 and ε = 0 both ends ±e₁ of the sphere go to e₁, but the points between them do not. So for
    points on the sphere, the first coordinate of the result behaves like |x₁|.

    Parameters
    ----------
    x : array (*batch, d)
        Points.
    t : float
        Shift along the first axis.
    eps : float
        ε ≥ 0, as in `u_eps`.

    Returns
    -------
    array (*batch, d)
        The normalised points.

    Raises
    ------
    ValueError
        If t or ε is not one number, or ε is negative.

    Examples
    --------
    >>> import numpy as np
    >>> fold(np.array([[1.0, 0.0], [-1.0, 0.0]]), t=2.0, eps=0)
    array([[1., 0.],
           [1., 0.]])

    References
    ----------
    winsor2022.
    """
    x, cast_back = widened_and_cast_back(x)
    t, units, k = number(t, x, "t"), _units(t, x), min(1, x.shape[-1])
    return cast_back(_u_eps(x[..., :k] / units + t / units, x[..., k:] / units, eps, units))


def _units(t, x):
    """max(|t|, 1): if x is divided by this number first, neither t·x nor t + x overflows."""
    t = constant(number(t, x, "t"))
    size = namespace(x).abs(t)
    return namespace(x).where(size > 1, size, 1.0)


def _u_eps(first, others, eps, units):
    y = namespace(first).concat([first, others], axis=-1)
    one, eps = number(1.0, y, "radius"), number(eps, y, "eps", least=0)
    return on_sphere(y, one, eps, "bare", units)
