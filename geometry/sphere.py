"""Normalisation to a sphere: the radial map x ↦ R·x/‖x‖, which all normalisation layers use."""

from collections.abc import Sequence
from math import inf, nan, sqrt

from array_api_compat import device
from jaxtyping import Float

from geometry.arrays import (
    Array,
    Scalar,
    constant,
    index_groups,
    namespace,
    number,
    shown,
    widened_and_cast_back,
)
from geometry.dual import Dual

CONVENTIONS = ("bare", "pytorch", "std")
Groups = Sequence[Sequence[int]]


def to_sphere(
    x: Float[Array, "*batch d"],
    *,
    radius: Scalar = 1.0,
    eps: Scalar = 0.0,
    convention: str = "bare",
    groups: Groups | None = None,
) -> Float[Array, "*batch d"]:
    """Move each point x along its direction to the sphere of radius R; for ε > 0, to the inside of it.

    The formula depends on `convention`; n is the number of coordinates that are normalised together.

    | convention | formula | with R = √n |
    | --- | --- | --- |
    | `"bare"` | R·x/√(‖x‖² + ε) | x/√(mean(x²) + ε/n) |
    | `"pytorch"` | R·x/√(‖x‖² + nε) | x/√(mean(x²) + ε) |
    | `"std"` | R·x/(‖x‖ + ε√n) | x/(√mean(x²) + ε) |

    The zero vector stays zero, also for ε = 0, and its gradient is finite. Vectors of any size are accepted
    without overflow. If a coordinate is infinite, it becomes NaN, and the others become 0.

    Parameters
    ----------
    x : array (*batch, d)
        Points.
    radius : float
        R.
    eps : float
        ε ≥ 0. It has the unit of x²; for "std", the unit of x.
    convention : {"bare", "pytorch", "std"}
        The formula, see above.
    groups : sequence of tuples of int, optional
        Disjoint groups of coordinates, given by their indices. Each group of n coordinates is normalised on
        its own; coordinates in no group stay unchanged. None: one group of all coordinates.

    Returns
    -------
    array (*batch, d)
        The normalised points, in the library and dtype of x.

    Raises
    ------
    ValueError
        If the convention is unknown, the radius or ε is not one number, ε is negative, or groups overlap, are
        empty, or name a coordinate that does not exist.

    Examples
    --------
    >>> import numpy as np
    >>> to_sphere(np.array([3.0, 4.0]))
    array([0.6, 0.8])
    >>> to_sphere(np.array([3.0, 4.0]), eps=11.0)
    array([0.5       , 0.66666667])

    References
    ----------
    naiff2023 ("std"), winsor2022 ("bare").
    """
    check_convention(convention)
    x, cast_back = widened_and_cast_back(x)
    radius, eps = number(radius, x, "radius"), number(eps, x, "eps", least=0)
    return cast_back(on_spheres(x, radius, eps, convention, groups))


def u_eps(x: Float[Array, "*batch d"], *, eps: Scalar) -> Float[Array, "*batch d"]:
    """The activation u_ε(x) = x/√(‖x‖² + ε): a vector divided by its length, made safe by ε.

    Parameters
    ----------
    x : array (*batch, d)
        Points.
    eps : float
        ε ≥ 0.

    Returns
    -------
    array (*batch, d)
        Points inside the unit sphere, or on it for ε = 0. The zero vector stays 0.

    Raises
    ------
    ValueError
        If ε is negative or not one number.

    Examples
    --------
    >>> import numpy as np
    >>> u_eps(np.array([3.0, 4.0]), eps=0)
    array([0.6, 0.8])

    References
    ----------
    winsor2022.
    """
    return to_sphere(x, eps=eps)


def check_convention(convention: str) -> None:
    """Raise ValueError for an unknown convention for ε."""
    if not isinstance(convention, str) or convention not in CONVENTIONS:
        raise ValueError(f"no convention {shown(convention)}: take one of {CONVENTIONS}")


def check_groups(groups: Groups, d: int | None = None) -> tuple[int, ...]:
    """Check groups of coordinates, and return the indices of all their coordinates in one tuple.

    d: the number of coordinates of a point, if known. Raises ValueError if a group is empty, two groups
    overlap, or one contains a coordinate that does not exist.
    """
    groups = index_groups(groups, "groups")
    order = tuple(i for group in groups for i in group)
    if not all(groups) or len(set(order)) < len(order):
        raise ValueError(f"groups need coordinates, and none of them twice: {groups}")
    if any(i < 0 or (d is not None and i >= d) for i in order):
        raise ValueError(f"groups must lie in 0 … {'d − 1' if d is None else d - 1}: {groups}")
    return order


def on_spheres(x: Array, radius: Array, eps: Array, convention: str, groups: Groups | None) -> Array:
    """The computation of `to_sphere` for arrays of one dtype.

    Unlike in `to_sphere`, ε may be negative, as long as the number under the formula's root is positive; for
    "std", as long as the divisor is positive.
    """
    if groups is None:
        return on_sphere(x, radius, eps, convention)
    xp, d = namespace(x), x.shape[-1]
    order = check_groups(groups, d)
    rest = tuple(i for i in range(d) if i not in order)
    if len(sizes := {len(group) for group in groups}) == 1:  # equal sizes: all groups at once
        own = xp.reshape(take(x, order), (*x.shape[:-1], len(groups), *sizes))
        parts = [xp.reshape(on_sphere(own, radius, eps, convention), (*x.shape[:-1], len(order)))]
    else:
        parts = [on_sphere(take(x, group), radius, eps, convention) for group in groups]
    back = sorted(range(d), key=(*order, *rest).__getitem__)  # the inverse permutation
    return take(xp.concat([*parts, take(x, rest)], axis=-1), back)


def on_sphere(x: Array, radius: Array, eps: Array, convention: str, units: Array | None = None) -> Array:
    """The computation of `to_sphere` for a single group of coordinates; arguments are not checked.

    units (*batch, 1): a factor for each point. With `units`, the points units·x are normalised, even if they
    are too large for the dtype of x; `radius` and `eps` refer to units·x. None: x itself is normalised.
    """
    xp, n = namespace(x), x.shape[-1]
    if not n:
        return x
    outside = eps * (sqrt(n) if convention == "std" else 0)
    inside = eps * {"bare": 1, "pytorch": n, "std": 0}[convention]
    if units is not None:
        outside, inside = outside / units, inside / units / units
    # In units of the largest coordinate no square overflows. The result does not depend on the unit,
    # so neither does its gradient.
    unit = xp.maximum(constant(outside), xp.sqrt(constant(inside)))
    unit = _positive(xp.maximum(xp.max(xp.abs(constant(x)), axis=-1, keepdims=True), unit))
    x = x / unit
    square = xp.sum(x * x, axis=-1, keepdims=True) + inside / unit / unit
    # Avoid √0 here: its gradient is infinite, and where() afterwards would keep the NaN.
    zero = constant(square) == 0
    lift = xp.astype(zero, x.dtype)
    if isinstance(x, Dual):  # without ε, the zero vector has no derivative
        lift = Dual(lift, xp.where(zero & (outside == 0), nan * lift, 0 * lift))
    root = xp.sqrt(square + lift)
    if convention == "std":
        root = root + outside / unit - xp.where(outside > 0, lift, 0 * lift)
    return x * (radius / root)  # one division per point, not one per coordinate


def _positive(x):
    """x as a divisor: each number that is not positive and finite is replaced by 1."""
    xp = namespace(x)
    return xp.where((x > 0) & (x < inf), x, 1.0)


def take(x: Array, indices: Sequence[int]) -> Array:
    """The coordinates with these indices, in this order: (*batch, n) from points x (*batch, d)."""
    xp = namespace(x)
    return xp.take(x, xp.asarray(indices, dtype=xp.int64, device=device(x)), axis=-1)
