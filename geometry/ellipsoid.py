"""Gain γ and shift β of a norm: they map the sphere in U = {Σxᵢ = 0} to an ellipsoid around β."""

from collections.abc import Sequence
from math import sqrt

import numpy as np
from array_api_compat import device
from jaxtyping import Float

from geometry.arrays import Array, namespace, one_each, real, widened, widened_and_cast_back
from geometry.centering import center
from geometry.sphere import to_sphere

BISECTION_STEPS = 200  # enough to reach neighbouring doubles


def to_ellipsoid(
    x: Float[Array, "*batch d"],
    *,
    gamma: Float[Array, "d"] | None = None,
    beta: Float[Array, "d"] | None = None,
) -> Float[Array, "*batch d"]:
    """Apply a gain γ and a shift β: γ ⊙ x + β; each is left out if None. Source: naiff2023; projection2025.

    Raises ValueError unless γ and β have the shape (d,): nothing is broadcast.
    """
    x, cast_back = widened_and_cast_back(x)
    if gamma is not None:
        x = x * one_each(gamma, x, "gamma")
    return cast_back(x if beta is None else x + one_each(beta, x, "beta"))


def semi_axes(
    gamma: Float[Array, "d"], *, centered: bool = True
) -> tuple[Float[Array, "axes"], Float[Array, "axes d"]]:
    """The semi-axes of the ellipsoid on which the outputs of LayerNorm (or RMSNorm, if not `centered`) lie.

    Returns lengths and directions. For LayerNorm the lengths are √d times the non-zero singular values of
    diag(γ)Π, longest first, and the directions are its left singular vectors, as rows; their signs are
    arbitrary. If k components of γ are 0, there are d − 1 axes for k ≤ 1, otherwise d − k. For RMSNorm the
    matrix is diag(γ), which has d − k axes. Source: riechers2024.
    """
    gamma, back = _gain(gamma)
    xp, d = namespace(gamma), gamma.shape[0]
    rows = xp.eye(d, dtype=gamma.dtype, device=device(gamma)) * gamma[:, None]
    u, s, _ = xp.linalg.svd(center(rows) if centered else rows)
    # Rounding gives a zero singular value about d units in the last place of the largest one.
    rounding = 4 * d * xp.finfo(gamma.dtype).eps * s[: min(1, d)]
    axes = int(xp.sum(xp.astype(s > rounding, xp.int64)))
    return back(sqrt(d) * s[:axes]), back(u.mT[:axes, :])


def lengths(
    gamma: Float[np.ndarray, "d"], ranks: Sequence[int], *, centered: bool = True
) -> Float[np.ndarray, "k"]:
    """The lengths of the semi-axes with the given ranks: rank 0 is the longest, −1 the shortest.

    A length is 0 where zeros of γ flatten the ellipsoid. No matrix decomposition is needed, so d may be
    large: if `centered`, (length)²/d is a root λ of Σ 1/(γᵢ² − λ) = 0. There is one root between each two
    neighbouring values of γ², and bisection finds it. If not `centered`, the lengths are √d·|γ|. Source: G.
    H. Golub, Some modified matrix eigenvalue problems (1973), section 5.
    """
    squares = np.sort(np.asarray(gamma, dtype=np.float64) ** 2)
    d = len(squares)
    if not centered:
        return np.sqrt(d * squares[::-1][list(ranks)])
    low, high = squares[:-1][::-1][list(ranks)], squares[1:][::-1][list(ranks)]
    with np.errstate(all="ignore"):  # ignore divisions by 0 at equal entries of γ
        for _ in range(BISECTION_STEPS):
            middle = (low + high) / 2
            above = np.sum(1 / (squares - middle[:, None]), axis=-1) > 0
            low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.sqrt(d * (low + high) / 2)


def shorter(gamma: Float[np.ndarray, "d"], share: float, *, centered: bool = True) -> int:
    """The number of semi-axes shorter than `share` times the longest.

    If `centered`, there are only d − 1 semi-axes, because the ellipsoid is flat in the direction 1/γ.
    """
    squares = np.asarray(gamma, dtype=np.float64) ** 2
    if not squares.any():
        return len(squares) - centered
    limit = float(share * lengths(gamma, [0], centered=centered)[0]) ** 2 / len(squares)
    below = int(np.sum(squares < limit))
    if not (centered and below):
        return below
    with np.errstate(all="ignore"):
        return below - 1 + int(np.sum(1 / (squares - limit)) > 0)


def normal(gamma: Float[Array, "d"]) -> Float[Array, "d"]:
    """A unit normal of the hyperplane diag(γ)U in which the ellipsoid lies: 1/γ, elementwise, normalised.

    If γ has zeros, it is the limit for zeros that shrink together: equal numbers where γ is 0, and 0
    elsewhere. With two zeros or more, the image of U has fewer than d − 1 dimensions, and this is one of its
    normals. Source: Riechers, arXiv 2405.04134.
    """
    gamma, back = _gain(gamma)
    xp = namespace(gamma)
    flat, one = gamma == 0, xp.ones_like(gamma)
    smallest = xp.min(xp.abs(gamma), axis=-1, keepdims=True) if gamma.shape[0] else one
    return back(to_sphere(xp.where(flat, one, smallest / xp.where(flat, one, gamma))))


def _gain(gamma):
    """γ in a dtype for matrix decompositions, at most float64; and a function that casts results back."""
    gamma, dtype = real(gamma, axes=1), real(gamma).dtype
    if len(gamma.shape) > 1:
        raise ValueError(f"gamma is one vector, shape (d,): got {tuple(gamma.shape)}")
    xp = namespace(gamma)
    wide = xp.astype(gamma, xp.float64) if xp.finfo(dtype).bits > 64 else widened(gamma)
    return wide, lambda y: y if wide is gamma else xp.astype(y, dtype)


def diameters(points: Float[np.ndarray, "1+k d"]) -> Float[np.ndarray, "3*k d"]:
    """The principal diameters of an ellipsoid as one line: both ends of each, with gaps (NaN) between them.

    `points` has the ellipsoid's centre in row 0; the other rows are the images of orthonormal radii of a
    sphere. Let the rows of M = UΣVᵀ be these images minus the centre. Then UᵀM = ΣVᵀ has orthogonal rows,
    which are the semi-axes.
    """
    middle, radii = points[0], points[1:] - points[0]
    axes = np.linalg.svd(radii)[0].T @ radii
    gap = np.full_like(axes, np.nan)
    return np.stack([middle - axes, middle + axes, gap], axis=1).reshape(-1, points.shape[-1])
