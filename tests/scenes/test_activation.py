"""u_ε in one dimension: its slope, its limits, and that nothing shown is infinite."""

import numpy as np
import pytest

from components.cloud import coordinate
from components.scenes.activation import SCENE
from components.scenes.activation.build import FUNCTIONS, ZERO, H

EXACT = 1e-10  # double precision, a few operations
EPSILONS = (1e-4, 1e-2, 0.25, 1.0, 10.0)
RECIPE = SCENE.recipe(others=",".join(FUNCTIONS))


def curve(eps, name="u_ε"):
    x, y = RECIPE.cloud(name).stages({"eps": eps})
    return x[:, 0], y[:, 0]


def slope(eps, name="u_ε"):
    return RECIPE.cloud(f"slope of {name}").stages({"eps": eps})[-1][:, 0]


@pytest.mark.parametrize("eps", EPSILONS)
def test_slope_is_the_derivative(eps):
    x, _ = curve(eps)
    # a central difference is off by h²·f‴/6, at most h²/2ε of the slope at 0; rounding adds 1e-16/h
    near = H**2 / (2 * eps) / np.sqrt(eps) + 1e-15 / H
    np.testing.assert_allclose(slope(eps), eps / (x**2 + eps) ** 1.5, rtol=0, atol=near)
    assert slope(eps)[ZERO] == pytest.approx(1 / np.sqrt(eps), rel=1e-8)


@pytest.mark.parametrize("eps", EPSILONS)
def test_epsilon_only_stretches(eps):
    x, y = curve(eps)
    np.testing.assert_allclose(y, (x / np.sqrt(eps)) / np.sqrt((x / np.sqrt(eps)) ** 2 + 1), atol=EXACT)


def test_limit_is_the_sign_and_zero_stays():
    x, y = curve(0.0)
    np.testing.assert_array_equal(y, np.sign(x))


@pytest.mark.parametrize("eps", (0.0, *EPSILONS))
def test_tangent_reaches_one_at_the_root_of_epsilon(eps):
    ends = RECIPE.cloud("tangent").stages({"eps": eps})[-1]
    np.testing.assert_allclose(ends, [[-np.sqrt(eps), -1], [np.sqrt(eps), 1]], atol=EXACT)


def test_what_is_measured_at_the_jump_is_two_over_the_width():
    number = RECIPE.readouts[1]
    stages = RECIPE.cloud(number.cloud).stages({"eps": 0.0})
    assert coordinate(number.row, stages[-1], stages)[number.index] == pytest.approx(1 / H)


def test_others_have_their_slopes_at_zero():
    wanted = {"tanh": 1, "sigmoid": 1 / 4, "erf": 2 / np.sqrt(np.pi), "relu": 1 / 2, "gelu": 1 / 2}
    rounding = 1e-15 / H
    for name, value in wanted.items():
        assert slope(1.0, name)[ZERO] == pytest.approx(value, abs=rounding)


def test_none_beside_it():
    names = {cloud.name for cloud in SCENE.recipe(others="").clouds}
    assert names == {"u_ε", "slope of u_ε", "tangent", "tangent end", "sphere"}
