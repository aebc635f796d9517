"""Shear, which is linear in space but not on a curved surface: as a map, and as steps of a pipeline."""

import numpy as np
from array_api_compat import device
from jaxtyping import Float

from geometry.arrays import Array, Scalar, like, namespace, number, whole, widened_and_cast_back
from geometry.pipeline import Affine, Entries, Pointwise


def shear(x: Float[Array, "*batch d"], *, s: Scalar, onto: int = 0, by: int = 2) -> Float[Array, "*batch d"]:
    """Move every point along one axis by s times its coordinate on another axis: x + s·x_by·e_onto.

    Parameters
    ----------
    x : array (*batch, d)
        Points.
    s : float
        Strength of the shear.
    onto, by : int
        The axis along which points move, and the axis whose coordinate decides how far.

    Returns
    -------
    array (*batch, d)
        The sheared points.

    Raises
    ------
    ValueError
        If `onto` and `by` are not two different axes of x, or s is not one number.

    Examples
    --------
    >>> import numpy as np
    >>> shear(np.array([1.0, 0.0, 2.0]), s=0.5, onto=0, by=2)
    array([2., 0., 2.])

    References
    ----------
    symmetrize2025, addendum 11.
    """
    x, cast_back = widened_and_cast_back(x)
    xp, d = namespace(x), x.shape[-1]
    onto, by = whole(onto, "onto"), whole(by, "by")
    if onto == by or not (0 <= onto < d and 0 <= by < d):
        raise ValueError(f"shear needs two different axes in 0 … {d - 1}: got {onto=}, {by=}")
    e = like(xp.arange(d, device=device(x)) == onto, x)
    return cast_back(x + number(s, x, "s") * x[..., by : by + 1] * e)


def shear_step(s: str, *, onto: int = 0, by: int = 2) -> Affine:
    """The map `shear` as a pipeline step for points in 3D. Raises ValueError as `shear` does.

    `s` is the name of the parameter that gives the strength of the shear.
    """
    slide = shear(np.eye(3), s=1.0, onto=onto, by=by) - np.eye(3)
    return Affine(Entries(np.eye(3), {s: slide.T}))


def shadow_coordinates(x: Float[np.ndarray, "n 3"]) -> Float[np.ndarray, "n 4"]:
    """Convert points (u, v, h) of the unit sphere to (ρ, ±1, u, v), the input of `shadow_steps`.

    Here ρ = √(u² + v²) is the distance from the vertical axis, and ±1 is the sign of h.
    """
    return np.column_stack([np.hypot(x[:, 0], x[:, 1]), np.copysign(1, x[:, 2]), x[:, :2]])


def shadow_steps(*, s: str, r: str) -> tuple[Affine | Pointwise, ...]:
    """Pipeline steps that compute the shadow of each point of a sheared sphere, and its height.

    The shadow of a point is its projection to the horizontal plane. The steps map (ρ, ±1, u, v), as
    `shadow_coordinates` makes it, to r·(u + s·h, v, h), where the first two coordinates are the shadow. The
    height h = ±√(1 − ρ²) is computed as sin(arcsin ρ ± π/2), because `Pointwise` has these functions. s, r:
    the names of the parameters for shear and radius. Source: symmetrize2025, addendum 11.
    """
    add = np.array([[0.0, 0, 1, 0], [0, 0, 0, 1], [1, 1, 0, 0]])
    scale = Affine(Entries(np.zeros((3, 3)), {r: np.eye(3)}))
    return Pointwise("arcsin"), Affine(add), Pointwise("sin"), scale, shear_step(s)
