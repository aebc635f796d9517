"""Gain and shift: the sphere becomes an ellipsoid in diag(γ)U, around β."""

from math import sqrt

import numpy as np
from array_api_compat import array_namespace, device
from jaxtyping import Float

from geometry.arrays import Array, like
from geometry.centering import center
from geometry.sphere import to_sphere


def to_ellipsoid(
    x: Float[Array, "*batch d"],
    *,
    gamma: Float[Array, "d"] | None = None,
    beta: Float[Array, "d"] | None = None,
) -> Float[Array, "*batch d"]:
    """Gain, then shift: γ ⊙ x + β, where None leaves a step out. Source: 000; 002."""
    if gamma is not None:
        x = x * like(gamma, x)
    return x if beta is None else x + like(beta, x)


def semi_axes(
    gamma: Float[Array, "d"], *, centered: bool = True
) -> tuple[Float[Array, "axes"], Float[Array, "axes d"]]:
    """Semi-axes of the image of LayerNorm, or, not `centered`, of RMSNorm.

    √d times the non-zero singular values of diag(γ)Π (of diag(γ)), descending, and the left
    singular vectors as rows, each up to its sign. There are d−1 axes, and one fewer for every
    zero in γ after the first (d axes, and one fewer for every zero).
    Source: Riechers, arXiv 2405.04134; mathematics.md, section 1.
    """
    xp, d = array_namespace(gamma), gamma.shape[-1]
    rows = xp.eye(d, dtype=gamma.dtype, device=device(gamma)) * gamma[:, None]
    u, s, _ = xp.linalg.svd(center(rows) if centered else rows)
    # Rounding leaves a zero singular value near d units in the last place of the largest.
    rounding = 4 * d * xp.finfo(gamma.dtype).eps * s[0]
    axes = int(xp.sum(xp.astype(s > rounding, xp.int64)))
    return sqrt(d) * s[:axes], u.mT[:axes, :]


def normal(gamma: Float[Array, "d"]) -> Float[Array, "d"]:
    """A unit normal of diag(γ)U: 1/γ, elementwise, normalised.

    Where γ has zeros, the limit as they go to 0 together: equal on the zeros, 0 elsewhere
    (after the first zero the image is thinner than a hyperplane, and this is one of its normals).
    Source: Riechers, arXiv 2405.04134.
    """
    xp = array_namespace(gamma)
    flat, one = gamma == 0, xp.ones_like(gamma)
    smallest = xp.min(xp.abs(gamma))
    return to_sphere(xp.where(flat, one, smallest / xp.where(flat, one, gamma)))


def diameters(points: Float[np.ndarray, "1+k d"]) -> Float[np.ndarray, "3*k d"]:
    """The principal diameters of an ellipsoid: its middle and images of orthonormal radii → ends, gaps (NaN).

    With the radii as rows of M, the rows of UᵀM (UΣVᵀ = M) are the semi-axes: Uᵀ turns the frame, M maps it.
    """
    middle, radii = points[0], points[1:] - points[0]
    axes = np.linalg.svd(radii)[0].T @ radii
    gap = np.full_like(axes, np.nan)
    return np.stack([middle - axes, middle + axes, gap], axis=1).reshape(-1, points.shape[-1])
