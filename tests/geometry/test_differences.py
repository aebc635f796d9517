"""Derivatives by central differences, of steps and of maps; the rank of a Jacobian."""

import numpy as np
import pytest

from geometry import Affine, Entries, Normalize, Pipeline, Pointwise, Track
from geometry.differences import image_dimension, nudged, quotient

H = 1e-5
ROUNDING = 1e-9  # 1e-16/h, and h² times a third derivative


@pytest.mark.parametrize("t", [-2.0, 0.0, 0.7])
def test_speed_of_a_normalised_point(t):
    """The steps `nudged`, a norm and `quotient` give the derivative by t of (x + t)/‖(x + t, y)‖.

    The exact derivative is y²/‖(x + t, y)‖³. The last coordinate that `nudged` gives is x, unchanged.
    """
    x = np.random.default_rng(1).normal(size=(20, 2))
    move = Affine(np.eye(2), Entries(np.zeros(2), {"t": [1, 0]}))
    steps = (nudged(move, H), Normalize(groups=((0, 1), (2, 3))), quotient(2, H))
    start, after, _, speed = Pipeline(steps).stages(x, {"t": t})
    np.testing.assert_array_equal(after[:, 4], start[:, 0])
    want = x[:, 1] ** 2 / np.hypot(x[:, 0] + t, x[:, 1]) ** 3
    np.testing.assert_allclose(speed[:, 0], want, rtol=1e-6, atol=ROUNDING)


def test_nudged_follows_the_terms_of_its_step():
    step = Affine(Entries(np.eye(2), {"a": np.diag([1.0, 0])}), [3.0, 4])
    got = nudged(step, H).apply(np.array([[5.0, 6]]), {"a": 2.0})
    np.testing.assert_allclose(got, [[18 + H, 10, 18 - H, 10, 5]], rtol=1e-15)


def test_a_step_with_a_track_cannot_be_nudged():
    with pytest.raises(ValueError, match="tracks"):
        nudged(Affine(Entries(np.eye(2), tracks={"t": Track([0, 1], np.ones((2, 2, 2)))})), H)


@pytest.mark.parametrize(("name", "slope"), [("tanh", 1.0), ("sigmoid", 0.25), ("sin", 1.0)])
def test_slope_of_a_function_at_zero(name, slope):
    steps = (nudged(Affine([[1]]), H), Pointwise(name), quotient(1, H))
    assert Pipeline(steps).stages(np.zeros((1, 1)), {})[-1][0, 0] == pytest.approx(slope, abs=ROUNDING)


def test_dimension_of_an_image():
    x = np.array([0.3, -1.0, 2.0])
    assert image_dimension(lambda p: p, x) == 3
    assert image_dimension(lambda p: p / np.linalg.norm(p), x) == 2
    assert image_dimension(lambda p: np.sign(p), x) == 0
    assert image_dimension(lambda p: p[:1] * np.ones(5), x) == 1
