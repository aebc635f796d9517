"""Centring: the orthogonal projection onto the hyperplane U = {Σ xᵢ = 0}."""

import numpy as np
from jaxtyping import Float

from geometry.arrays import Array, constant, namespace, widened_and_cast_back


def center(x: Float[Array, "*batch d"]) -> Float[Array, "*batch d"]:
    """Subtract from each point the mean of its coordinates: Πx = x − μ𝟏, with μ = mean(x).

    This is the orthogonal projection onto the hyperplane of points whose coordinates sum to 0. A constant
    vector gives exactly the zero vector.

    Parameters
    ----------
    x : array (*batch, d)
        Points.

    Returns
    -------
    array (*batch, d)
        The centred points, in the library and dtype of x.

    Raises
    ------
    ValueError
        If x has no axes or is not real.

    Examples
    --------
    >>> import numpy as np
    >>> center(np.array([5.0, 8.0, 2.0]))
    array([ 0.,  3., -3.])

    References
    ----------
    projection2025; brody2023, section 3.
    """
    x, cast_back = widened_and_cast_back(x)
    y, unit = centered(x)
    return cast_back(y * unit)


def centered(x: Float[Array, "*batch d"]) -> tuple[Float[Array, "*batch d"], Float[Array, "*batch 1"]]:
    """The centred points Πx, as a pair (y, s) with Πx = y·s: for each point, s is a power of two.

    Each point is divided by s before it is centred, so that no sum or difference of coordinates overflows.
    """
    xp, d = namespace(x), x.shape[-1]
    if not d:
        return x, xp.ones_like(x)
    largest = xp.max(xp.abs(constant(x)), axis=-1, keepdims=True)
    units = xp.where(largest > 1, 2.0 ** (d.bit_length() + 2) * xp.ones_like(largest), 1.0)
    x, largest = x / units, largest / units
    x = x - xp.sum(x, axis=-1, keepdims=True) / d
    # A second pass removes the rounding error of the mean. Subtracting x₁ makes a constant vector exactly 0.
    first = constant(x[..., :1])
    near = xp.abs(first) <= d * xp.finfo(x.dtype).eps * largest
    x = x - xp.where(near, first, 0.0)
    return x - xp.sum(x, axis=-1, keepdims=True) / d, units


def centering_matrix(d: int) -> Float[np.ndarray, "{d} {d}"]:
    """The matrix of centring, Π = I − 11ᵀ/d: (d−1)/d on the diagonal, −1/d elsewhere.

    Source: brody2023, equation 28.
    """
    return np.where(np.eye(d) == 1, (d - 1) / d, -1 / d)


def hyperplane_basis(d: int) -> Float[np.ndarray, "{d}-1 {d}"]:
    """An orthonormal basis of U = {Σ xᵢ = 0}, one vector per row: the Helmert matrix without its first row.

    Row k = 1 … d−1 is (1, …, 1, −k, 0, …, 0)/√(k(k+1)), with k ones. `x @ basis.T` are the coordinates, in
    this basis, of x projected onto U; for d = 4 they show U without distortion in three dimensions.
    """
    k = np.arange(1, d)[:, None]
    rows = np.tril(np.ones((d - 1, d))) - k * np.eye(d - 1, d, k=1)
    return rows / np.sqrt(k * (k + 1))


def upright_basis(d: int) -> Float[np.ndarray, "{d} {d}"]:
    """An orthonormal basis of ℝᵈ: the rows of `hyperplane_basis`, then the unit vector along 𝟏.

    `x @ basis.T` rotates space so that 𝟏 points along the last axis.
    """
    return np.vstack([hyperplane_basis(d), np.ones(d) / np.sqrt(d)])
