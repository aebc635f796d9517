"""Gain and shift: the sphere becomes an ellipsoid in diag(γ)U, around β."""

import numpy as np
from array_api_compat import array_namespace
from jaxtyping import Float

from geometry.arrays import Array, like
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
