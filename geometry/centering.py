"""Centring: the orthogonal projection on the hyperplane U = {Σ xᵢ = 0}."""

import numpy as np
from jaxtyping import Float

from geometry.arrays import Array, constant, namespace, taken


def center(x: Float[Array, "*batch d"]) -> Float[Array, "*batch d"]:
    """Project on U along the all-ones direction: Πx = x − μ·1, with μ = mean(x).

    A constant vector goes to zero exactly. Source: projection2025; brody2023, section 3.
    """
    x, back = taken(x)
    y, unit = centered(x)
    return back(y * unit)


def centered(x: Float[Array, "*batch d"]) -> tuple[Float[Array, "*batch d"], Float[Array, "*batch 1"]]:
    """Πx scaled by powers of two, and the scales, so that no sum or difference overflows."""
    xp, d = namespace(x), x.shape[-1]
    if not d:
        return x, xp.ones_like(x)
    largest = xp.max(xp.abs(constant(x)), axis=-1, keepdims=True)
    units = xp.where(largest > 1, 2.0 ** (d.bit_length() + 2) * xp.ones_like(largest), 1.0)
    x, largest = x / units, largest / units
    x = x - xp.sum(x, axis=-1, keepdims=True) / d
    # What rounding left of the mean. Near it, from the first coordinate on: a constant vector is then zero.
    first = constant(x[..., :1])
    near = xp.abs(first) <= d * xp.finfo(x.dtype).eps * largest
    x = x - xp.where(near, first, 0.0)
    return x - xp.sum(x, axis=-1, keepdims=True) / d, units


def centering_matrix(d: int) -> Float[np.ndarray, "{d} {d}"]:
    """Π = I − 11ᵀ/d: (d−1)/d on the diagonal, −1/d elsewhere.

    Source: brody2023, equation 28.
    """
    return np.where(np.eye(d) == 1, (d - 1) / d, -1 / d)


def hyperplane_basis(d: int) -> Float[np.ndarray, "{d}-1 {d}"]:
    """An orthonormal basis of U, one vector a row (the Helmert matrix without its first row).

    Row k = 1 … d−1 is (1, …, 1, −k, 0, …, 0)/√(k(k+1)), with k ones. `x @ basis.T` are the
    coordinates of Πx: for d = 4 they show U exactly in three dimensions.
    """
    k = np.arange(1, d)[:, None]
    rows = np.tril(np.ones((d - 1, d))) - k * np.eye(d - 1, d, k=1)
    return rows / np.sqrt(k * (k + 1))


def upright_basis(d: int) -> Float[np.ndarray, "{d} {d}"]:
    """The same and, last, the unit vector along 1: `x @ basis.T` turns space so that 1 is up."""
    return np.vstack([hyperplane_basis(d), np.ones(d) / np.sqrt(d)])
