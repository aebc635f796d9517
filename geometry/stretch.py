"""Stretch and fold: u_ε as an activation function along the first coordinate."""

from array_api_compat import array_namespace
from jaxtyping import Float

from geometry.arrays import Array, Scalar, like
from geometry.sphere import u_eps


def stretch(x: Float[Array, "*batch d"], *, t: Scalar, eps: Scalar = 0.0) -> Float[Array, "*batch d"]:
    """Scale the first coordinate, then normalise: u_ε(t·x₁, x₂, …); near sign(x₁) for large t.

    Source: 001; mathematics.md, section 2.
    """
    xp = array_namespace(x)
    return u_eps(xp.concat([like(t, x) * x[..., :1], x[..., 1:]], axis=-1), eps=eps)


def fold(x: Float[Array, "*batch d"], *, t: Scalar, eps: Scalar = 0.0) -> Float[Array, "*batch d"]:
    """Move along the first axis, then normalise: u_ε(x + t·e₁).

    For t > 1 both ends ±e₁ go to e₁ and what is between stays behind: near |x₁| on the sphere.

    Source: 001; mathematics.md, section 2.
    """
    xp = array_namespace(x)
    return u_eps(xp.concat([like(t, x) + x[..., :1], x[..., 1:]], axis=-1), eps=eps)
