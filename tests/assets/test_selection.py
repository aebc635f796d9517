"""The browser finds the same as Python: which keys can be selected, their largest weights, and proofs."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from geometry.selection import certificate, selectable

# Tolerances: EXACT for the certificate of one key; LIVE for the weights of all keys, as computed in a frame,
# where the last step of Newton's method is not taken.
EXACT, LIVE = (1e-9, 1e-5)


def agrees(node, *sets):
    """Assert that the browser and Python agree on each of several sets of keys.

    The browser computes the largest weights of a set from its results for the set before.
    """
    n, d = sets[0].shape
    answers = node.ask("selections", sets=[keys.ravel().tolist() for keys in sets], n=n, d=d)
    for keys, got in zip(sets, answers, strict=True):
        assert got["selectable"] == selectable(keys).tolist()
        for k, own in enumerate(got["certificates"]):
            want = certificate(keys, k)
            assert own["largest"] == pytest.approx(want.largest, abs=EXACT)
            assert got["largest"][k] == pytest.approx(want.largest, abs=LIVE)
            np.testing.assert_allclose(own["weights"], want.weights, atol=EXACT)
            assert [p > 0 for p in own["weights"]] == (want.weights > 0).tolist(), "a line is drawn to each"
            assert n == 1 or own["margin"] == pytest.approx(want.margin, abs=EXACT)
            if want.margin > 0 and n > 1:
                np.testing.assert_allclose(own["query"], want.query, atol=1e-6)


@settings(max_examples=60)
@example(3, 4, 4, 4)  # under the previous query the softmax has weight only on one key and its copy
@given(st.integers(1, 4), st.integers(1, 10), st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_keys_of_whole_numbers(node, d, n, seed, wide):
    """The browser and Python agree on keys on a small lattice.

    Some keys are equal, collinear, coplanar or inside an edge of the hull. Three sets are tested in turn: two
    random ones, then the midpoints between their keys.
    """
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, wide, size=(2, n, d)).astype(float)
    agrees(node, first, second, (first + second) / 2)


@settings(max_examples=20)
@example(2, 25, 76174842)  # where Newton's step is so long that its third-order correction is useless
@given(st.integers(1, 8), st.integers(1, 30), st.integers(0, 2**32 - 1))
def test_a_cloud_that_moves(node, d, n, seed):
    rng = np.random.default_rng(seed)
    x, step = rng.normal(size=(2, n, d))
    agrees(node, x, x + 0.01 * step, x + 0.5 * step, -x)


@settings(max_examples=20)
@given(st.integers(1, 4), st.integers(1, 20), st.integers(0, 2**32 - 1), st.booleans())
def test_an_affine_map_takes_all_along(node, d, n, seed, flat):
    """The browser and Python agree on the images of keys under affine maps, some of which are singular."""
    rng = np.random.default_rng(seed)
    x, A = rng.normal(size=(n, d)), rng.normal(size=(d, d))
    if flat:
        x[:, 0] = 0
    level = np.diag([1.0] * (d - 1) + [0.0])
    agrees(node, x, x @ A + 1, x @ A @ level, x, -x, 0 * x)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_copies_that_differ_by_rounding(node, d):
    places = np.random.default_rng(d).normal(size=(2, d))
    keys = np.repeat(places, [24, 26], axis=0)
    keys[:3] *= 1 + 2.0**-52
    agrees(node, keys, keys[::-1])


@pytest.mark.parametrize("d", [2, 3, 4])
def test_two_hundred_on_their_way_to_a_sphere(node, d):
    keys = np.random.default_rng(d).normal(size=(200, d))
    sphere = keys / np.linalg.norm(keys, axis=1, keepdims=True)
    sets = [(1 - t) * keys + t * sphere for t in (0, 0.5, 0.9, 1)]
    answers = node.ask("selections", sets=[x.ravel().tolist() for x in sets], n=200, d=d)
    counts = [sum(got["selectable"]) for got in answers]
    assert counts == [int(selectable(x).sum()) for x in sets] and counts[-1] == 200 > counts[0]
