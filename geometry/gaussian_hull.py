"""The expected number of vertices of the convex hull of n Gaussian points, exactly, in up to 20 dimensions.

The hull of n standard Gaussian points in d dimensions has as many faces, in distribution, as a regular
simplex with n vertices, projected onto a random d-dimensional subspace. So the expected number of vertices is
a sum of products of two angles of the simplex.

Sources: B. Efron, The convex hull of a random set of points (1965), for d = 2, 3; F. Affentranger and
R. Schneider, Random projections of regular simplices (1992); Z. Kabluchko and D. Zaporozhets, Absorption
probabilities for Gaussian polytopes and regular spherical simplices (2020), for the angles.
"""

from functools import cache, lru_cache

import numpy as np
from scipy import special

# the trapezoidal rule is exact to rounding here: integrands are analytic, and 0 at both ends
QUADRATURE_REACH, QUADRATURE_NODES = 40.0, 4001
QUADRATURE_POINTS = np.linspace(-QUADRATURE_REACH, QUADRATURE_REACH, QUADRATURE_NODES)
QUADRATURE_STEP = 2 * QUADRATURE_REACH / (QUADRATURE_NODES - 1)
# internal angles become small: their relative rounding error is 1e-9 for dimension 16, 1e-6 for 20
MAX_DIMENSION = 20
NORMAL_CDF = special.ndtr(QUADRATURE_POINTS)


def expected_vertices(n: int, d: int) -> float:
    """The mean number of vertices of the convex hull of n standard Gaussian points in d dimensions.

    For n ≤ d + 1 it is n, otherwise Σₘ 2·m·C(n, m)·internal(m)·external(m, n) over m = d, d − 2, … ≥ 1. For
    d = 2 this is 2·C(n, 2)·∫Φ(p)ⁿ⁻² f(p) dp, where f is the density of N(0, 1/2). For d = 3 it is 2 + F/2
    with F = 2·C(n, 3)·∫Φ(p)ⁿ⁻³ f(p) dp, where f is the density of N(0, 1/3) (Efron, Euler). Raises ValueError
    unless n and d are at least 1, and d at most MAX_DIMENSION.
    """
    if n < 1 or not 1 <= d <= MAX_DIMENSION:
        raise ValueError(f"n must be at least 1, and d from 1 to {MAX_DIMENSION}: got n = {n}, d = {d}")
    if n <= d + 1:
        return float(n)
    terms = [2 * m * special.comb(n, m) * internal(m) * external(m, n) for m in range(d, 0, -2)]
    return float(sum(terms))


def unselectable_share(n: int, d: int) -> float:
    """The expected fraction of n Gaussian keys in d dimensions that no query selects.

    These are the keys that are not vertices of the convex hull of all keys.
    """
    return 1 - expected_vertices(n, d) / n


@lru_cache(4096)
def external(m: int, n: int) -> float:
    """The external angle of a regular n-vertex simplex at a face with m vertices, as a share of the sphere.

    It is ∫Φ(p)ⁿ⁻ᵐ f(p) dp, where f is the density of N(0, 1/m).
    """
    f = np.sqrt(m / (2 * np.pi)) * np.exp(-m * QUADRATURE_POINTS**2 / 2)
    return float(QUADRATURE_STEP * np.sum(NORMAL_CDF ** (n - m) * f))


@cache
def internal(m: int) -> float:
    """The internal angle at a vertex of a regular simplex with m vertices, as a fraction of the sphere.

    It is 1, 1/2, 1/6, … for m = 1, 2, 3, …: the mean of Φ(iZ/√m)ᵐ⁻¹ over a standard Gaussian Z, where Φ(iy) =
    1/2 + i/√(2π) ∫₀ʸ exp(t²/2) dt.
    """
    y = QUADRATURE_POINTS / np.sqrt(m)
    # exp(−y²/2)·∫₀ʸ exp(t²/2) dt is √2 times Dawson's function; the growing factor is split off
    decay = np.exp(-(y**2) / 2)
    scaled = decay / 2 + 1j * special.dawsn(y / np.sqrt(2)) / np.sqrt(np.pi)
    # the density exp(−m·y²/2) times the m − 1 factors that were split off is one factor, `decay`
    return float(QUADRATURE_STEP * np.sum((scaled ** (m - 1)).real * decay) / np.sqrt(2 * np.pi))
