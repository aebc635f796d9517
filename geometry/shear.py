"""A shear: linear in space, not linear on a curved surface."""

from array_api_compat import array_namespace, device
from jaxtyping import Float

from geometry.arrays import Array, Scalar, like


def shear(x: Float[Array, "*batch d"], *, s: Scalar, onto: int = 0, by: int = 2) -> Float[Array, "*batch d"]:
    """Slide every point along one axis by s times its coordinate on another: x + s·x_by·e_onto.

    Raises ValueError unless `onto` and `by` are two different axes of x. Source: 003; addendum 11.
    """
    xp, d = array_namespace(x), x.shape[-1]
    if onto == by or not (0 <= onto < d and 0 <= by < d):
        raise ValueError(f"shear needs two different axes in 0 … {d - 1}: got {onto=}, {by=}")
    e = like(xp.arange(d, device=device(x)) == onto, x)
    return x + like(s, x) * x[..., by : by + 1] * e


def sheared_shadow(
    x: Float[Array, "*batch"], y: Float[Array, "*batch"], *, s: Scalar, radius: Scalar
) -> tuple[Float[Array, "*batch 2"], Float[Array, "*batch 2"]]:
    """Where the sheared sphere x² + y² + z² = r² casts the points above and below (x, y).

    (x ± s·√(r² − x² − y²), y): the upper hemisphere first. NaN outside the disc.
    Source: 003; addendum 11; mathematics.md, section 4.
    """
    xp, r = array_namespace(x), like(radius, x)
    square = r * r - x * x - y * y
    # On the rim the three squares cancel; what remains is rounding, of either sign.
    rounding = 4 * xp.finfo(x.dtype).eps * r * r
    square = xp.where(xp.abs(square) <= rounding, xp.zeros_like(square), square)
    z = xp.sqrt(xp.where(square < 0, xp.nan * square, square))
    slide = like(s, x) * z
    return xp.stack([x + slide, y], axis=-1), xp.stack([x - slide, y], axis=-1)
