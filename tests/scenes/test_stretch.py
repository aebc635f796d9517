"""The stretch against its closed form, and its limits."""

import numpy as np
import pytest

from components.circle import angles
from components.scenes.stretch import SCENE

EXACT = 1e-10  # double precision, a few operations
RECIPE = SCENE.recipe()
THETA = angles()


def last(cloud, **params):
    return RECIPE.cloud(cloud).stages(RECIPE.defaults | params)[-1]


@pytest.mark.parametrize("t", (-5, -1, -0.01, 0, 0.01, 0.5, 1, 3, 5))
def test_points_meet_the_closed_form(t):
    points = last("points", t=t)
    np.testing.assert_allclose(points[:, :1], last("closed form", t=t), atol=EXACT)
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1, atol=EXACT)
    angle = np.arctan2(np.sin(THETA), t * np.cos(THETA))
    np.testing.assert_allclose(points, np.stack([np.cos(angle), np.sin(angle)], -1), atol=EXACT)


def test_the_other_coordinate_plays_epsilon():
    x, y = RECIPE.cloud("points").stages(RECIPE.defaults)[0].T
    t = RECIPE.defaults["t"]
    np.testing.assert_allclose(last("points")[:, 0], t * x / np.sqrt((t * x) ** 2 + y**2), atol=EXACT)


def test_without_x_two_points_remain():
    np.testing.assert_allclose(last("points", t=0), np.stack([0 * THETA, np.sign(THETA)], -1), atol=EXACT)


@pytest.mark.parametrize("sign", (-1, 1))
def test_limit_is_the_sign(sign):
    t = sign * 1e9
    nearest = np.abs(np.cos(THETA)).min()
    near = 1 / (t * nearest) ** 2  # 1 − x′ is at most y²/2(tx)²
    np.testing.assert_allclose(last("points", t=t)[:, 0], np.sign(t * np.cos(THETA)), atol=near)


def test_epsilon_keeps_the_points_inside():
    assert (np.linalg.norm(last("points", eps=0.3), axis=1) < 1).all()


@pytest.mark.parametrize("count", (24, 120, 600))
def test_points_are_even_and_symmetric(count):
    only = next(layer.only for layer in SCENE.recipe(n=count).views[0].layers if layer.pick)
    theta, single = THETA[only], 3e-7  # the angles are kept in single precision
    assert len(only) == count
    np.testing.assert_allclose(np.diff(theta), 2 * np.pi / count, atol=2 * single)
    np.testing.assert_allclose(np.sort(-theta), theta, atol=single)
