"""Laws of central projection."""

import numpy as np
import pytest

from geometry.perspective import perspective, sides

EXACT = 1e-12  # rounding
RNG = np.random.default_rng(0)
EYE, CENTER = np.array([3.0, -2.0, 1.0]), np.array([0.1, 0.2, -0.3])


def test_what_is_looked_at_is_in_the_middle():
    flat, depth = perspective(CENTER[None], EYE, CENTER)
    np.testing.assert_allclose(flat, [[0, 0]], atol=EXACT)
    np.testing.assert_allclose(depth, [np.linalg.norm(EYE - CENTER)])


def test_points_of_one_ray_are_seen_as_one_and_farther_ones_deeper():
    x = RNG.normal(size=(20, 3))
    near, far = (perspective(EYE + k * (x - EYE), EYE, CENTER) for k in (1, 3))
    np.testing.assert_allclose(near[0], far[0], atol=EXACT)
    np.testing.assert_allclose(3 * near[1], far[1])


def test_sides_are_unit_vectors_across_and_up_is_up():
    for way in (CENTER - EYE, np.array([1.0, 0, 0]), np.array([0, 0, -1.0])):
        way = way / np.linalg.norm(way)
        whole = np.vstack([sides(way), way])
        np.testing.assert_allclose(whole @ whole.T, np.eye(3), atol=EXACT)
    assert sides(CENTER - EYE)[1, 2] > 0


def test_a_sphere_is_as_wide_as_its_tangents():
    x = RNG.normal(size=(20_000, 3))
    flat, _ = perspective(x / np.linalg.norm(x, axis=1, keepdims=True), np.array([0, -3.3, 0]), np.zeros(3))
    np.testing.assert_allclose(np.abs(flat).max(0), np.tan(np.arcsin(1 / 3.3)), rtol=2e-3)  # sampled


def test_an_eye_is_not_where_it_looks():
    with pytest.raises(ValueError, match="move it away"):
        perspective(np.zeros((1, 3)), CENTER, CENTER)
