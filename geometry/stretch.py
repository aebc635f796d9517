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


def stretch_angle(theta: Float[Array, "*batch"], *, t: Scalar) -> Float[Array, "*batch"]:
    """Angle θ' of the stretched (cos θ, sin θ) for ε = 0, in (−π, π]: tan θ' = tan θ / t.

    Radians. Source: mathematics.md, section 2.
    """
    xp = array_namespace(theta)
    return xp.atan2(xp.sin(theta), like(t, theta) * xp.cos(theta))


def fold_first(theta: Float[Array, "*batch"], *, t: Scalar) -> Float[Array, "*batch"]:
    """First coordinate of the folded (cos θ, sin θ) for ε = 0: (cos θ + t)/√(1 + t² + 2t·cos θ).

    0 where the fold meets the origin. θ in radians. Source: mathematics.md, section 2.
    """
    xp = array_namespace(theta)
    first = xp.cos(theta) + like(t, theta)
    # 1 + t² + 2t·cos θ as a sum of squares: it cannot cancel
    length = xp.hypot(first, xp.sin(theta))
    return first / xp.where(length > 0, length, xp.ones_like(length))
