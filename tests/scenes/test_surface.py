"""Every slice of the activation surface is the curve that it is said to be; a line spans half a circle."""

import numpy as np
import pytest

from components.scenes.surface import SCENE
from components.scenes.surface.build import LONG, THETA, N
from geometry import fold, stretch, u_eps

SLICE = 1e-12  # the same formula in another order, in double precision
CLOSED = 1e-10  # the closed form takes a detour over the tangent of the half angle
X, Y = np.cos(THETA), np.sin(THETA)


def last(kind, cloud, **params):
    recipe = SCENE.recipe(slice=kind)
    return recipe.cloud(cloud).stages(recipe.defaults | params)[-1]


@pytest.mark.parametrize("eps", (0.0, 0.3))
@pytest.mark.parametrize("t", (-2.5, -1.0, 0.0, 0.4, 1.3, 2.5))
@pytest.mark.parametrize("kind, curve", (("stretch", stretch), ("fold", fold)))
def test_a_slice_is_the_curve(kind, curve, t, eps):
    got = last(kind, "slice", t=t, eps=eps)
    np.testing.assert_allclose(got[:, :2], curve(np.stack([X, Y], -1), t=t, eps=eps), rtol=0, atol=SLICE)
    footprint = (t * X, Y) if kind == "stretch" else (X + t, Y)
    np.testing.assert_allclose(got[:, 2:4], np.stack(footprint, -1), rtol=0, atol=SLICE)


@pytest.mark.parametrize("t", (-2.5, -0.7, 0.0, 1.3, 2.5))
@pytest.mark.parametrize("kind", ("stretch", "fold"))
def test_a_slice_has_the_closed_form(kind, t):
    got = last(kind, "slice", t=t)[:, :1]
    np.testing.assert_allclose(got, last(kind, "closed form", t=t), rtol=0, atol=CLOSED)


@pytest.mark.parametrize("kind", ("stretch", "fold", "line"))
@pytest.mark.parametrize("eps", (0.0, 0.3))
def test_a_slice_lies_on_the_sheet(kind, eps):
    """The sheet's own pipeline, at the places where the slice stands."""
    recipe = SCENE.recipe(slice=kind)
    params = recipe.defaults | {"eps": eps}
    got = recipe.cloud("slice").stages(params)[-1]
    sheet = recipe.cloud("sheet").pipeline.stages(got[:, 2:4], params)[-1]
    np.testing.assert_allclose(got[:, :1], sheet[:, :1], rtol=0, atol=SLICE)


@pytest.mark.parametrize("eps", (0.0, 0.3))
@pytest.mark.parametrize("h", (0.05, 0.5, 1.2))
def test_a_straight_slice_is_the_activation_of_one_number(h, eps):
    x = np.linspace(-LONG, LONG, N)[:, None]
    got = last("line", "slice", h=h, eps=eps)[:, :1]
    np.testing.assert_allclose(got, u_eps(x, eps=h * h + eps), rtol=0, atol=SLICE)


@pytest.mark.parametrize("eps", (0.0, 1.0))
@pytest.mark.parametrize("h", (0.05, 0.5, 1.2))
def test_the_angle_is_the_arctangent(h, eps):
    """Also where ε keeps the image off the circle: a point stays on its ray."""
    x, angle = np.linspace(-LONG, LONG, N), last("line", "angle", h=h, eps=eps)[:, 0]
    np.testing.assert_allclose(last("line", "arctangent", h=h)[:, 0], np.arctan(x / h), rtol=0, atol=CLOSED)
    np.testing.assert_allclose(angle, np.arctan(x / h), rtol=0, atol=CLOSED)


def test_a_line_spans_half_a_circle():
    h = 0.05
    angle = last("line", "angle", h=h)[:, 0]
    missing = 2 * h / LONG  # π/2 − arctan(L/h) < h/L at each end
    assert np.pi - missing < np.ptp(angle) < np.pi


@pytest.mark.parametrize("kind", ("stretch", "fold", "line"))
def test_the_curtain_hangs_from_the_slice_to_the_floor(kind):
    curtain = last(kind, "curtain")
    np.testing.assert_array_equal(curtain[:N], last(kind, "slice"))
    np.testing.assert_array_equal(curtain[N:, [0, 1, 4]], 0)
    np.testing.assert_array_equal(curtain[N:, 2:4], curtain[:N, 2:4])
