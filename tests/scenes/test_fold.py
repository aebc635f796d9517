"""The fold, alone and with a stretch, against its closed form; the singular places; the speed."""

import numpy as np
import pytest

from components.circle import angles
from components.cloud import coordinate
from components.scenes.fold import SCENE
from components.scenes.fold.build import H

EXACT = 1e-10  # double precision; nothing cancels, not even at |t| = |a|
FOLD, BOTH = SCENE.recipe(), SCENE.recipe(map="both")
THETA = angles()
X, Y = np.cos(THETA), np.sin(THETA)
SHIFTS = (-3, -1, -0.98, 0, 0.5, 0.999, 1, 1.001, 1.25, 2, 3)


def last(recipe, cloud, **params):
    return recipe.cloud(cloud).stages(recipe.defaults | params)[-1]


@pytest.mark.parametrize("t", SHIFTS)
def test_points_meet_the_closed_form(t):
    points = last(FOLD, "points", t=t)
    np.testing.assert_allclose(points[:, :1], last(FOLD, "closed form", t=t), atol=EXACT)
    np.testing.assert_allclose(points[:, 0], (X + t) / np.hypot(X + t, Y), atol=EXACT)
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1, atol=EXACT)


@pytest.mark.parametrize("a", (-5, -1, 0, 0.5, 1, 4))
@pytest.mark.parametrize("t", SHIFTS)
def test_stretch_and_fold_meet_the_closed_form(a, t):
    x = last(BOTH, "points", a=a, t=t)[:, :1]
    np.testing.assert_allclose(x, last(BOTH, "closed form", a=a, t=t), atol=EXACT)
    np.testing.assert_allclose(x[:, 0], (a * X + t) / np.hypot(a * X + t, Y), atol=EXACT)


def test_at_one_every_angle_is_halved():
    np.testing.assert_allclose(last(FOLD, "points", t=1)[:, 0], np.cos(THETA / 2), atol=EXACT)


@pytest.mark.parametrize("recipe", (FOLD, BOTH))
@pytest.mark.parametrize("t", (-1, 1))
def test_the_origin_has_no_direction_and_stays(recipe, t):
    pipeline = recipe.cloud("points").pipeline
    reached = pipeline.stages(np.array([[-float(t), 0.0]]), recipe.defaults | {"t": t, "a": 1.0})
    np.testing.assert_array_equal(reached[-1], [[0, 0]])


@pytest.mark.parametrize("t", (1.25, 2, 3))
def test_the_dip(t):
    x = last(FOLD, "points", t=t)[:, 0]
    step = 2 * np.pi / len(THETA)
    near = step**2  # a minimum is met to second order in the step between the points
    assert x.min() == pytest.approx(np.sqrt(1 - 1 / t**2), abs=near)
    assert X[x.argmin()] == pytest.approx(-1 / t, abs=step)


@pytest.mark.parametrize("t", (-3, -1, 0, 0.98, 1, 1.25, 3))
@pytest.mark.parametrize("a", (0.5, 1, 4))
def test_speed_is_the_derivative(a, t):
    recipe, params = (FOLD, {"t": t}) if a == 1 else (BOTH, {"t": t, "a": a})
    r = np.hypot(a * X + t, Y)
    # a central difference is off by about (h/r)² of 1/r, the scale of the speed; rounding adds 1e-16/h
    near = (H / r) ** 2 / r * 2 + 1e-14 / H
    error = np.abs(last(recipe, "speed", **params)[:, 0] - Y**2 / r**3)
    assert (error <= near).all()
    if a == 1:
        assert (np.abs(Y) <= r * (1 + EXACT)).all()  # so the speed is at most 1/r


def test_stretch_and_shift_cross_zero_at_the_ratio():
    number = last(BOTH, "points", a=4.0, t=2.0)[:, 0]
    step = 2 * np.pi / len(THETA)
    assert X[np.abs(number).argmin()] == pytest.approx(-0.5, abs=step)


def test_the_number_is_the_followed_points_speed():
    number = FOLD.readouts[1]
    stages = FOLD.cloud(number.cloud).stages(FOLD.defaults)
    value = coordinate(number.row, stages[-1], stages)[FOLD.follow]
    x, y, t = X[FOLD.follow], Y[FOLD.follow], FOLD.defaults["t"]
    assert value == pytest.approx(y**2 / np.hypot(x + t, y) ** 3, rel=1e-8)  # (h/r)² and rounding, r = 0.75
