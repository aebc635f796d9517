"""Expected corners of the hull of Gaussian points: against Efron's formulas, known angles and simulations."""

import numpy as np
import pytest
from scipy import integrate, special, stats

from geometry.clouds import gaussian
from geometry.gaussian_hull import expected_vertices, external, internal, unselectable_share
from tools.films import selectable_keys

EXACT = 1e-10  # relative: sums of thousands of terms


def faces(n, m):
    """The expected number of facets of the hull of n Gaussian points in m dimensions, integrated adaptively.

    It is 2·C(n, m)·∫Φ(p)ⁿ⁻ᵐ f(p) dp. Φ is the distribution function of N(0, 1), f the density of N(0, 1/m).
    """
    f = stats.norm(scale=m**-0.5).pdf
    value = integrate.quad(
        lambda p: special.ndtr(p) ** (n - m) * f(p), -9, 9, epsabs=0, epsrel=1e-11, limit=500
    )
    return 2 * special.comb(n, m) * value[0]


@pytest.mark.parametrize("n", [4, 5, 20, 50, 200, 1000])
def test_efron(n):
    assert expected_vertices(n, 2) == pytest.approx(faces(n, 2), rel=EXACT)
    assert expected_vertices(n, 3) == pytest.approx(2 + faces(n, 3) / 2, rel=EXACT)


def test_shares_that_are_known():
    plane, space = ([unselectable_share(n, d) for n in (20, 50, 200)] for d in (2, 3))
    np.testing.assert_allclose(plane, [0.669, 0.841, 0.951], atol=5e-4)
    np.testing.assert_allclose(space, [0.399, 0.650, 0.868], atol=5e-4)


def test_angles():
    tetrahedron = (3 * np.arccos(1 / 3) - np.pi) / (4 * np.pi)
    assert [internal(m) for m in (1, 2, 3, 4)] == pytest.approx([1, 1 / 2, 1 / 6, tetrahedron], rel=EXACT)
    assert [external(1, n) for n in (1, 7, 100)] == pytest.approx([1, 1 / 7, 1 / 100], rel=EXACT)


@pytest.mark.parametrize("m", [3, 5, 8])
def test_internal_angle_is_the_share_of_directions_in_the_corner(m):
    rng, draws = np.random.default_rng(m), 400_000
    edges = np.linalg.cholesky((np.eye(m - 1) + 1) / 2)  # unit vectors, 60° from each other
    inside = (np.linalg.solve(edges.T, rng.standard_normal((draws, m - 1)).T) > 0).all(axis=0)
    share = internal(m)
    assert abs(inside.mean() - share) < 4 * np.sqrt(share / draws)


@pytest.mark.parametrize("d", range(1, 21))
def test_a_simplex_has_all_its_vertices(d):
    """`expected_vertices` is n for n ≤ d + 1, without computing its sum; at n = d + 1 the sum gives n too."""
    terms = [2 * m * special.comb(d + 1, m) * internal(m) * external(m, d + 1) for m in range(d, 0, -2)]
    assert sum(terms) == pytest.approx(d + 1, rel=EXACT)
    assert expected_vertices(d + 1, d) == d + 1 and expected_vertices(2, d) == 2


@pytest.mark.parametrize(("n", "d"), [(12, 1), (20, 2), (20, 3), (30, 4), (30, 5), (60, 6), (60, 8)])
def test_simulations(n, d):
    sets = 200
    counts = [selectable_keys.unbeaten(gaussian(n, d, seed=10_000 + k)).sum() for k in range(sets)]
    error = np.std(counts, ddof=1) / np.sqrt(sets)
    assert abs(np.mean(counts) - expected_vertices(n, d)) <= 4 * error + 1e-9


@pytest.mark.parametrize(("n", "d"), [(0, 2), (3, 0), (-1, 1), (50, 21)])
def test_what_has_no_answer(n, d):
    with pytest.raises(ValueError, match="n must be at least 1, and d from 1 to 20"):
        expected_vertices(n, d)
