"""Angles between vectors, including tiny angles, and to the zero vector."""

import numpy as np

from geometry.angles import angles


def test_small_angles_are_exact():
    turn = np.array([1e-9, 1e-5, 0.3, 3.0])
    b = np.stack([np.cos(turn), np.sin(turn)], axis=-1)
    np.testing.assert_allclose(angles(np.tile([2.0, 0.0], (4, 1)), 7 * b), turn, rtol=1e-6)
    assert angles(np.zeros((1, 2)), b[:1]) == 0


def test_angles_of_very_short_and_very_long_vectors():
    for size in (1e-200, 1e200):
        np.testing.assert_allclose(angles(np.array([[size, 0.0]]), np.array([[1.0, 1.0]])), np.pi / 4)
