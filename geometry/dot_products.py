"""Exact distributions of dot products and cosines of random vectors, Gaussian or on a sphere.

The two vectors q and k are independent and have the same distribution: normal, or uniform on a sphere. On a
sphere, their dot product is a multiple of the cosine of the angle between them. The distribution of this
cosine depends only on the dimension m of the space that contains the sphere. Source: symmetrize2025,
sections 3.2 and 5.2.
"""

import numpy as np
from jaxtyping import Float
from scipy import special

Array = np.ndarray
# number of nodes for integrals, many more than double precision needs; a test compares half as many
QUADRATURE_NODES = 1000


def cosine_density(c: Float[Array, " n"], m: int) -> Float[Array, " n"]:
    """The density of the cosine of the angle between two random directions in m dimensions; 0 for |c| ≥ 1.

    It is Γ(m/2) / (√π Γ((m−1)/2)) · (1 − c²)^((m−3)/2), with mean 0 and variance 1/m. For m = 2 it is
    unbounded near ±1. Raises ValueError for m < 2: in one dimension the cosine is ±1.
    """
    if m < 2:
        raise ValueError(f"a cosine has a density in 2 dimensions or more: got {m}")
    inside = np.abs(c) < 1
    factor = np.exp(special.gammaln(m / 2) - special.gammaln((m - 1) / 2)) / np.sqrt(np.pi)
    return np.where(inside, factor * np.where(inside, 1 - np.square(c), 1.0) ** ((m - 3) / 2), 0.0)


def cosine_tail(c: Float[Array, " n"], m: int) -> Float[Array, " n"]:
    """The probability that the cosine of two random directions in m dimensions is c or more.

    For c ≥ 0 it is I(1 − c²; (m−1)/2, 1/2) / 2, where I is the regularised incomplete beta function. For
    c < 0 it is one minus the value at −c. For m = 1 the cosine is ±1, so the probability is 1/2 for
    −1 < c ≤ 1.
    """
    c = np.asarray(c, dtype=float)
    beyond = 0.5 * (special.betainc((m - 1) / 2, 0.5, np.clip(1 - c * c, 0, 1)) if m > 1 else np.ones_like(c))
    return np.where(c >= 0, beyond, 1 - beyond)


def gaussian_density(s: Float[Array, " n"], d: int) -> Float[Array, " n"]:
    """The density at s of the dot product ⟨q, k⟩ of standard normal vectors q and k in d dimensions.

    The dot product has variance d and kurtosis 3 + 6/d. Its density is |s/2|^ν K_ν(|s|) / (√π Γ(d/2)), where
    ν = (d−1)/2 and K is the modified Bessel function of the second kind. At s = 0 the limit of the
    density is Γ(ν) / (2√π Γ(d/2)), which is infinite for d = 1. K overflows for large ν, so the integral
    K_ν(s) = ∫ exp(−s cosh t) cosh(νt) dt from 0 to ∞ is computed here in logarithms.
    """
    nu, s = (d - 1) / 2, np.abs(np.asarray(s, dtype=float))
    if d == 1:
        return special.k0(s) / np.pi
    some = np.where(s > 0, s, 1.0)[:, None]
    far = np.arcsinh(nu / some) + 5  # an end beyond the peak, where the integrand is 0
    t = far * (np.arange(QUADRATURE_NODES) + 0.5) / QUADRATURE_NODES
    logs = nu * (np.log(some / 2) + t) - some * np.cosh(t) + np.log1p(np.exp(-2 * nu * t)) - np.log(2)
    density = np.exp(special.logsumexp(logs, axis=1) - special.gammaln(d / 2)) * far[:, 0] / QUADRATURE_NODES
    middle = np.exp(special.gammaln(nu) - special.gammaln(d / 2)) / 2
    return np.where(s > 0, density, middle) / np.sqrt(np.pi)


def shares(variances: Float[Array, "*batch n"], counts: Float[Array, " n"]) -> Float[Array, "*batch n"]:
    """For each variance a, the expected share E[x_j²/‖x‖²] of a coordinate x_j that has this variance.

    x is a random vector whose coordinates are independent and normal with mean 0; `counts` says how many of
    them have each of the `variances`. The result has the shape of `variances`. All shares are 0 if all
    variances are 0. The expectation is the integral from 0 to ∞ of a (1 + 2ua)^(−3/2) Π (1 + 2ub)^(−1/2) du,
    where b runs over the variances of all other coordinates.
    """
    a = np.asarray(variances, dtype=float)[..., None, :]
    mean = np.sum(a * counts, axis=-1, keepdims=True) / np.sum(counts)
    a = np.divide(a, mean, out=np.zeros_like(a), where=mean > 0)
    nodes, weights = special.roots_legendre(QUADRATURE_NODES // 4)
    # substituting 2u = (v/(1 − v))² is accurate even if one variance is far larger than the others
    v = ((nodes + 1) / 2)[:, None]
    u, du = (v / (1 - v)) ** 2, v / (1 - v) ** 3 * weights[:, None] / 2
    rest = -0.5 * np.sum(counts * np.log1p(u * a), axis=-1, keepdims=True)
    return np.sum(du * a / (1 + u * a) * np.exp(rest), axis=-2)


def score_variance(variances: Float[Array, "*batch n"], counts: Float[Array, " n"]) -> Float[Array, "*batch"]:
    """The variance Σ λ² of the dot product ⟨q, k⟩ of independent normal vectors q and k with mean 0.

    The sum is over all coordinates, whose variances λ are given: `counts` says how many coordinates have each
    of the `variances`. For d coordinates of variance 1 the result is d.
    """
    return np.sum(counts * np.square(variances), axis=-1)


def cosine_variance(
    variances: Float[Array, "*batch n"], counts: Float[Array, " n"]
) -> Float[Array, "*batch"]:
    """The variance of the cosine of the angle between independent normal vectors q and k with mean 0.

    `counts` says how many coordinates of q, and of k, have each of the `variances`. The result is the sum of
    the squared `shares` of all coordinates, which is 1/d for d equal variances.
    """
    return np.sum(counts * np.square(shares(variances, counts)), axis=-1)
