"""The largest weight that attention can give a key, against linear programmes and by duality."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from geometry.selection import certificate, largest_weight, largest_weights, margins, selectable

EXACT = 1e-9


def combines(x, points):
    """Whether x is a convex combination of the points, by a linear programme."""
    if not len(points):
        return False
    equations = np.vstack([points.T, np.ones(len(points))])
    return linprog(np.zeros(len(points)), A_eq=equations, b_eq=np.append(x, 1), method="highs").status == 0


def by_programme(keys):
    return [not combines(x, np.delete(keys, k, axis=0)) for k, x in enumerate(keys)]


def weight(keys, k, query):
    """The softmax weight that a query gives key k."""
    scores = keys @ query
    return float(np.exp(scores[k] - np.logaddexp.reduce(scores)))


@settings(max_examples=60)
@given(st.integers(1, 4), st.integers(1, 10), st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_fates_of_whole_numbers_are_those_of_a_linear_programme(d, n, seed, wide):
    """`selectable` agrees with a linear programme for each key, for keys with small whole coordinates.

    Many of these keys coincide, are collinear or coplanar, or lie inside an edge or a face of the hull.
    """
    keys = np.random.default_rng(seed).integers(0, wide, size=(n, d)).astype(float)
    assert selectable(keys).tolist() == by_programme(keys)


@settings(max_examples=30)
@given(st.integers(1, 8), st.integers(1, 25), st.integers(0, 2**32 - 1), st.integers(0, 4))
def test_fates_of_a_cloud_in_a_flat_of_any_dimension(d, n, seed, r):
    rng, r = np.random.default_rng(seed), min(r, d)
    within = rng.normal(size=(n, r))
    turned, _ = np.linalg.qr(rng.normal(size=(d, d)))
    assert selectable(within @ turned[:r] + rng.normal(size=d)).tolist() == by_programme(within)


@settings(max_examples=60)
@given(st.integers(1, 4), st.integers(2, 30), st.integers(0, 2**32 - 1), st.booleans())
def test_every_certificate_proves_its_claim(d, n, seed, whole):
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, 3, size=(n, d)).astype(float) if whole else rng.normal(size=(n, d))
    for k in range(n):
        found, others = certificate(keys, k), np.delete(keys, k, axis=0)
        if found.largest == 1:
            leads = (keys[k] - others) @ found.query
            assert leads.min() == pytest.approx(found.margin) and found.margin > 0
            assert np.linalg.norm(found.query) == pytest.approx(1) and not found.weights.any()
            continue
        p = found.weights
        assert found.margin == 0 and p[k] == 0 and (p >= 0).all() and p.sum() == pytest.approx(1)
        np.testing.assert_allclose(p @ keys, keys[k], atol=EXACT)
        assert found.largest == pytest.approx(largest_weight(p)) and found.largest <= 0.5 + EXACT
        assert weight(keys, k, found.query) == pytest.approx(found.largest, abs=EXACT)


@settings(max_examples=40)
@given(st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_no_query_gives_more_and_no_average_is_more_even(d, seed):
    rng = np.random.default_rng(seed)
    keys = rng.normal(size=(12, d))
    for k in np.flatnonzero(~selectable(keys)):
        found = certificate(keys, k)
        tried = found.query + rng.normal(size=(50, d)) * np.geomspace(1e-3, 10, 50)[:, None]
        assert max(weight(keys, k, q) for q in tried) <= found.largest + EXACT
        others = np.delete(np.arange(12), k)
        moves = np.linalg.svd(np.vstack([keys[others].T, np.ones(11)]))[2][d + 1 :]
        for move in moves:  # changes of the weights after which their average is still key k
            p = found.weights[others] + 0.5 * found.weights[others].min() * move
            assert largest_weight(p) >= found.largest - EXACT


def test_the_margin_is_the_distance_to_the_others():
    square = np.array([[1.0, 1], [1, -1], [-1, -1], [-1, 1], [3, 0]])
    found = certificate(square, 4)
    assert found.margin == pytest.approx(2) and found.query == pytest.approx([1, 0])
    assert margins(square)[0] == pytest.approx(2 / np.sqrt(17))  # to the line from (3, 0) to (−1, 1)


@pytest.mark.parametrize("m", [1, 2, 3, 7])
def test_copies_share_what_one_would_get(m):
    """If m keys are equal and lie at a vertex of the hull, the largest attention weight of each is 1/m.

    None of them can be selected unless m = 1.
    """
    keys = np.vstack([np.repeat([[2.0, 2]], m, axis=0), [[0, 0], [1, 0], [0, 1]]])
    assert largest_weights(keys)[:m] == pytest.approx(1 / m) and selectable(keys)[:m].tolist() == [m == 1] * m


def test_copies_that_differ_by_rounding_are_copies():
    """24 keys that are equal except for rounding count as equal: the largest weight of each is 1/24.

    The certificate says that none can be selected, because each is the average of the other 23.
    """
    keys = np.repeat([[np.sqrt(2), 0], [-np.sqrt(2), 0]], [24, 26], axis=0)
    keys[:3] *= 1 + 2.0**-52
    for k in (0, 23):
        found = certificate(keys, k)
        assert found.largest == pytest.approx(1 / 24) and found.margin == 0
        assert sorted(set(found.weights.round(9))) == pytest.approx([0, 1 / 23])


def test_known_weights():
    """The largest attention weight of a key is 1 if it is a vertex of the hull of all keys.

    For a key that is an average of vertices, the weight is 1/(1 + e^H). H is the entropy of the averaging
    weights; for the centre of n symmetric keys, e^H is n. For n equal keys and no others, each gets 1/n.
    """
    for n in (3, 5, 50):
        turn = 2 * np.pi * np.arange(n) / n
        keys = np.vstack([np.column_stack([np.cos(turn), np.sin(turn)]), [[0, 0]]])
        assert largest_weights(keys) == pytest.approx([*[1] * n, 1 / (1 + n)])
    assert largest_weights([[0.0, 0], [2, 2], [1, 1]]) == pytest.approx([1, 1, 1 / 3])
    assert largest_weights([[0.0], [3], [2]]) == pytest.approx([1, 1, 1 / (1 + 3 / 2 ** (2 / 3))])
    assert largest_weights(np.ones((5, 3))) == pytest.approx(0.2) and largest_weights([[7.0, 1]]) == [1]


@pytest.mark.parametrize("d", [3, 4])
@pytest.mark.parametrize("seed", range(3))
def test_on_a_sphere_every_key_can_be_selected(d, seed):
    keys = np.random.default_rng(seed).normal(size=(200, d))
    keys -= keys.mean(axis=1, keepdims=True)
    assert not selectable(keys).all()
    sphere = keys / np.linalg.norm(keys, axis=1, keepdims=True)
    assert selectable(sphere).all() and selectable(sphere * np.arange(1, d + 1) + 3).all()


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("shift", [0.0, 1e3])
def test_size_and_place_do_not_matter(scale, shift):
    keys = np.random.default_rng(3).normal(size=(30, 3))
    moved = scale * (keys + shift)
    np.testing.assert_allclose(largest_weights(moved), largest_weights(keys), atol=EXACT)
    assert selectable(moved).tolist() == selectable(keys).tolist()


@pytest.mark.parametrize("keys", [np.ones(3), np.full((2, 2), np.nan), [[1j, 2]], np.ones((1, 2, 3))])
def test_what_are_no_keys(keys):
    with pytest.raises(ValueError, match=r"finite numbers \(n, d\)|real numbers"):
        certificate(keys, 0)
