"""The distributions of dot products, against SciPy, numerical integrals, and random vectors."""

import numpy as np
import pytest
from scipy import integrate, special, stats

from geometry import dot_products
from geometry.dot_products import (
    cosine_density,
    cosine_tail,
    cosine_variance,
    gaussian_density,
    score_variance,
    shares,
)

QUADRATURE = 1e-8  # what scipy.integrate promises
ROUNDING = 1e-11  # logarithms of some hundreds, exponentiated
MANY = 40_000
ALIKE = 1e-3  # the p value below which a sample would not follow its law; the seeds are fixed


def directions(n, m, rng):
    x = rng.standard_normal((2, n, m))
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


@pytest.mark.parametrize("m", [2, 3, 4, 7, 63, 511])
def test_the_cosine_has_a_density_with_variance_one_over_m(m):
    for power, want in ((0, 1), (1, 0), (2, 1 / m)):
        got = integrate.quad(
            lambda t, p=power: np.cos(t) ** p * cosine_density(np.cos(t), m) * np.sin(t), 0, np.pi
        )
        assert got[0] == pytest.approx(want, abs=QUADRATURE)
    assert not cosine_density(np.array([-2.0, -1, 1, 2]), m).any()


@pytest.mark.parametrize("m", [1, 2, 3, 8, 63])
def test_drawn_directions_have_the_law(m):
    a, b = directions(MANY, m, np.random.default_rng(m))
    cosine = np.sum(a * b, -1)
    if m > 1:
        assert stats.kstest(cosine, lambda c: 1 - cosine_tail(np.clip(c, -1, 1), m)).pvalue > ALIKE
    for c in (-0.9, -0.3, 0.0, 0.5):
        share = float(cosine_tail(np.array(c), m))
        assert np.mean(cosine >= c) == pytest.approx(share, abs=5 * np.sqrt(share / MANY))


@pytest.mark.parametrize("m", [2, 3, 64])
def test_the_tail_is_the_integral_of_the_density(m):
    for angle in (0.4, 1.0, 2.5):
        got = integrate.quad(lambda t: cosine_density(np.cos(t), m) * np.sin(t), 0, angle)[0]
        assert got == pytest.approx(float(cosine_tail(np.cos(angle), m)), abs=QUADRATURE)


def test_one_dimension_has_no_density():
    with pytest.raises(ValueError, match="2 dimensions or more: got 1"):
        cosine_density(np.zeros(1), 1)


@pytest.mark.parametrize("d", [1, 2, 3, 8, 64, 256, 512])
def test_the_gaussian_law_is_bessels(d):
    """`gaussian_density` equals its formula, computed with SciPy's Bessel function K.

    Values at which SciPy overflows are left out. For d > 2, the density is continuous at 0.
    """
    s, nu = np.array([1e-3, 0.1, 1.0, 5.0, 30.0, 100.0]), (d - 1) / 2
    logs = nu * np.log(s / 2) + np.log(special.kve(nu, s)) - s - special.gammaln(d / 2)
    known = np.isfinite(logs)
    np.testing.assert_allclose(
        gaussian_density(-s[known], d), np.exp(logs[known]) / np.sqrt(np.pi), rtol=ROUNDING
    )
    if d > 2:
        near, at = gaussian_density(np.array([1e-7, 0.0]), d)
        assert near == pytest.approx(at, rel=1e-6)


@pytest.mark.parametrize("d", [2, 8, 64, 512])
def test_the_gaussian_law_has_variance_d_and_kurtosis_3_and_6_over_d(d):
    s = np.linspace(-40 * np.sqrt(d), 40 * np.sqrt(d), 4001)
    density = gaussian_density(s, d)
    moments = [integrate.simpson(density * s**p, x=s) for p in (0, 2, 4)]
    smooth = 1e-3 if d == 2 else 1e-9  # a kink at 0
    assert moments == pytest.approx([1, d, (3 + 6 / d) * d * d], rel=smooth)


def test_the_quadrature_has_nodes_to_spare(monkeypatch):
    s = np.array([1e-3, 0.5, 20.0, 90.0])
    fine = [gaussian_density(s, d) for d in (2, 64, 512)], shares([[300.0, 0.01]], [1, 511])
    monkeypatch.setattr(dot_products, "QUADRATURE_NODES", dot_products.QUADRATURE_NODES // 2)
    coarse = [gaussian_density(s, d) for d in (2, 64, 512)], shares([[300.0, 0.01]], [1, 511])
    for a, b in zip(fine, coarse, strict=True):
        np.testing.assert_allclose(a, b, rtol=ROUNDING)


@pytest.mark.parametrize(("variances", "counts"), [([1.0], [5]), ([9.0, 1.0], [1, 4]), ([2.0, 0.0], [3, 2])])
def test_shares_and_variances_are_those_of_drawn_vectors(variances, counts):
    spread = np.repeat(variances, counts)
    q, k = np.random.default_rng(1).standard_normal((2, MANY, len(spread))) * np.sqrt(spread)
    own = np.mean(q**2 / np.sum(q**2, -1, keepdims=True), 0)
    np.testing.assert_allclose(np.repeat(shares(variances, counts), counts), own, atol=0.01)
    assert np.sum(shares(variances, counts) * counts) == pytest.approx(1, abs=ROUNDING)
    score = np.sum(q * k, -1)
    cosine = score / np.linalg.norm(q, axis=-1) / np.linalg.norm(k, axis=-1)
    assert score.var() == pytest.approx(score_variance(variances, counts), rel=0.05)
    assert cosine.var() == pytest.approx(cosine_variance(variances, counts), rel=0.05)


def test_nothing_has_no_share():
    assert not shares([[0.0, 0.0]], [1, 3]).any() and not cosine_variance([0.0], [4])
