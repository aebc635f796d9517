"""Which keys can be selected, against Qhull and a linear programme for each, also in degenerate sets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geometry import hull
from geometry.clouds import gaussian
from tools.films import selectable_keys


def by_programmes(keys):
    """Decide for each key, by linear programmes, whether some query selects it: Booleans (n,).

    A key with copies counts as selectable if some query selects it together with its copies.
    """
    places, copy_of = np.unique(keys, axis=0, return_inverse=True)
    places = places / (np.max(np.linalg.norm(places, axis=-1)) or 1)
    found = [len(places) == 1 or selectable_keys.programme(places, k) for k in range(len(places))]
    return np.asarray(found)[copy_of.ravel()]


@pytest.mark.parametrize(
    ("n", "d"), [(1, 3), (2, 2), (6, 1), (20, 2), (200, 2), (60, 3), (60, 4), (60, 5), (40, 8)]
)
def test_hull_and_programmes_agree(n, d):
    for seed in range(3):
        keys = gaussian(n, d, seed=seed)
        found = selectable_keys.unbeaten(keys)
        np.testing.assert_array_equal(np.flatnonzero(found), hull.vertices(keys))
        np.testing.assert_array_equal(found, by_programmes(keys))


@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(1, 12), st.booleans())
def test_on_a_coarse_lattice(seed, d, n, flat):
    """`unbeaten` agrees with linear programmes for keys whose coordinates are small whole numbers.

    Many of these keys coincide, or lie inside an edge. flat: the last coordinate is the sum of the others, so
    that the keys lie in a hyperplane.
    """
    keys = np.random.default_rng(seed).integers(-1, 2, (n, d)).astype(float)
    if flat:
        keys[:, -1] = keys[:, :-1].sum(axis=-1)
    np.testing.assert_array_equal(selectable_keys.unbeaten(keys), by_programmes(keys))


def test_on_a_line_only_the_ends_and_their_copies_win():
    keys = np.array([[-1.0], [1.0], [1.0], [1 - 1e-12], [0.5], [-1 + 1e-12]])
    np.testing.assert_array_equal(selectable_keys.unbeaten(keys), [True, True, True, False, False, False])
    np.testing.assert_array_equal(selectable_keys.unbeaten(1e9 * keys), selectable_keys.unbeaten(keys))


def test_keys_on_a_sphere_can_all_be_selected():
    for d in (2, 3, 5):
        x = gaussian(100, d, seed=d)
        assert selectable_keys.unbeaten(x / np.linalg.norm(x, axis=-1, keepdims=True)).all()


def test_neighbours_on_a_sphere_are_told_apart_from_copies():
    angle = 1.5 * selectable_keys.COPY_DISTANCE
    pair = [[1, 0, 0], [np.cos(angle), np.sin(angle), 0]]
    assert selectable_keys.unbeaten([*pair, [0, 0, 1], [0, 0, -1], [-1, 0, 0]]).all()


def test_rounding_lifts_no_key_out_of_a_face():
    """`unbeaten` finds no centre of a face of the hull selectable, in 400 randomly rotated sets of keys."""
    rng = np.random.default_rng(0)
    for _ in range(400):
        d = int(rng.integers(2, 5))
        offsets = rng.normal(size=(int(rng.integers(d, 8)), d - 1))
        face = np.column_stack([np.ones(len(offsets)), offsets - offsets.mean(axis=0)])
        turn, _ = np.linalg.qr(rng.normal(size=(d, d)))
        keys = np.vstack([face.mean(axis=0), face, -face]) @ turn.T
        assert not selectable_keys.unbeaten(keys)[0]


@pytest.mark.parametrize("scale", [1e-9, 1, 1e9])
def test_neither_size_nor_place_matters(scale):
    keys = gaussian(50, 3, seed=1)
    np.testing.assert_array_equal(
        selectable_keys.unbeaten(scale * (keys + 7)), selectable_keys.unbeaten(keys)
    )


def test_made_cases():
    inside = np.array([[0, 0], [1, 0], [0, 1], [-1, -1]])
    np.testing.assert_array_equal(selectable_keys.unbeaten(inside), [False, True, True, True])
    np.testing.assert_array_equal(
        selectable_keys.unbeaten([[1, 1], [0, 0], [1, 1], [0.5, 0.5]]), [True, True, True, False]
    )
    np.testing.assert_array_equal(selectable_keys.unbeaten(np.zeros((3, 2))), [True] * 3)
    assert selectable_keys.unbeaten(np.zeros((0, 2))).shape == (0,)


def test_newton_proves_what_it_says():
    keys = gaussian(200, 5, seed=0)
    won, lost = selectable_keys.newton(keys, np.arange(200))
    corners = np.isin(np.arange(200), hull.vertices(keys))
    assert corners[won].all() and not corners[lost].any() and not (won & lost).any()
    assert (won | lost).mean() > 0.9  # the others are left to linear programming


@pytest.mark.parametrize("wrong", [np.zeros(3), np.full((2, 2), np.nan), np.zeros((1, 2, 3))])
def test_what_is_no_set_of_keys(wrong):
    with pytest.raises(ValueError, match="finite numbers"):
        selectable_keys.unbeaten(wrong)
