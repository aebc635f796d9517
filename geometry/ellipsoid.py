"""Gain γ and shift β of a norm: they map the sphere in U = {Σxᵢ = 0} to an ellipsoid around β."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from geometry.arrays import Array, one_each, widened_and_cast_back

BISECTION_STEPS = 200  # enough to reach neighbouring doubles


def to_ellipsoid(
    x: Float[Array, "*batch d"],
    *,
    gamma: Float[Array, "d"] | None = None,
    beta: Float[Array, "d"] | None = None,
) -> Float[Array, "*batch d"]:
    """Apply a gain γ (`gamma`) and a shift β (`beta`): γ ⊙ x + β. Each of them is left out if it is None.

    Raises ValueError unless γ and β have the shape (d,): nothing is broadcast. Source: naiff2023;
    projection2025.
    """
    x, cast_back = widened_and_cast_back(x)
    if gamma is not None:
        x = x * one_each(gamma, x, "gamma")
    return cast_back(x if beta is None else x + one_each(beta, x, "beta"))


def lengths(
    gamma: Float[np.ndarray, "d"], ranks: Sequence[int], *, centered: bool = True
) -> Float[np.ndarray, "k"]:
    """The lengths (k,) of an ellipsoid's semi-axes with these ranks: 0 is the longest, −1 the shortest.

    The ellipsoid consists of the points γ ⊙ x for all x with ‖x‖ = √d and, if `centered`, Σxᵢ = 0. If zeros
    of γ flatten the ellipsoid, some lengths are 0.

    If not `centered`, the lengths are √d·|γ|. If `centered`, (length)²/d is a root λ of Σ 1/(γᵢ² − λ) = 0.
    Between each two neighbouring values of γ² there is one root, which bisection finds. This needs no matrix
    decomposition, so d may be large. Source: G. H. Golub, Some modified matrix eigenvalue problems (1973),
    section 5.
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
    """The number of semi-axes (see `lengths`) that are shorter than `share` times the longest; all if γ = 0.

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


def diameters(points: Float[np.ndarray, "1+k d"]) -> Float[np.ndarray, "3*k d"]:
    """The principal diameters of an ellipsoid as one line: for each, its two ends and then a gap (NaN).

    The ellipsoid is the image of a sphere. Row 0 of `points` is its centre; the other k rows are the images
    of the ends of k orthogonal radii of the sphere. Let M = UΣVᵀ be these k rows minus the centre. Then
    UᵀM = ΣVᵀ has orthogonal rows, which are the semi-axes.
    """
    middle, radii = points[0], points[1:] - points[0]
    axes = np.linalg.svd(radii)[0].T @ radii
    gap = np.full_like(axes, np.nan)
    return np.stack([middle - axes, middle + axes, gap], axis=1).reshape(-1, points.shape[-1])
