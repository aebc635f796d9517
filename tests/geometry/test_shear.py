import numpy as np
import pytest
import torch

from geometry import Pipeline, shear, to_sphere
from geometry.shear import shadow_coordinates, shadow_steps, shear_step
from tests.geometry.closed_forms import sheared_shadow

ROUNDING = 1e-12  # double precision, numbers near 10


def close(got, want, tolerance=ROUNDING):
    np.testing.assert_allclose(np.asarray(got), want, rtol=0, atol=tolerance)


@pytest.mark.parametrize("s", [-2.0, 0.0, 0.7])
def test_shear_is_its_matrix(xp, batch, rng, s):
    x = rng.normal(size=(*batch, 3))
    close(shear(xp.asarray(x), s=s), x @ np.asarray([[1, 0, s], [0, 1, 0], [0, 0, 1]]).T)
    close(shear(xp.asarray(x), s=s, onto=2, by=1), x @ np.asarray([[1, 0, 0], [0, 1, 0], [0, s, 1]]).T)


def test_shears_add_up(xp, rng):
    x = rng.normal(size=(4, 3))
    close(shear(shear(xp.asarray(x), s=2.0), s=-2.0), x)


@pytest.mark.parametrize("s", [-2.0, 0.0, 0.7])
def test_shadow_of_both_hemispheres(xp, rng, s):
    p = np.asarray(to_sphere(rng.normal(size=(60, 3)), radius=2.0))
    image = np.asarray(shear(xp.asarray(p), s=s))[:, :2]
    upper, lower = sheared_shadow(p[:, 0], p[:, 1], s=s, radius=2.0)
    above = p[:, 2] > 0
    close(upper[above], image[above])
    close(lower[~above], image[~above])


def test_a_straight_edge_stays_straight_and_a_great_circle_does_not_stay_one(xp, rng):
    a, b = rng.normal(size=(2, 3))
    middle, start, end = np.asarray(shear(xp.asarray(np.stack([(a + b) / 2, a, b])), s=1.5))
    close(middle, (start + end) / 2)
    angle = np.linspace(0, np.pi, 20)
    circle = np.stack([np.cos(angle), 0 * angle, np.sin(angle)], -1)
    assert np.ptp(np.linalg.norm(np.asarray(shear(xp.asarray(circle), s=1.5)), axis=-1)) > 1


@pytest.mark.parametrize(("d", "axes"), [(2, {}), (3, {"onto": 2}), (3, {"by": -1}), (3, {"onto": 3})])
def test_axes_must_be_two_of_the_space(d, axes):
    with pytest.raises(ValueError, match=f"two different axes in 0 … {d - 1}"):
        shear(np.ones(d), s=1.0, **axes)


def test_no_points_and_float32(xp):
    got = shear(xp.zeros((0, 3), dtype=xp.float32), s=np.float64(2))
    assert got.shape == (0, 3) and got.dtype == xp.float32


def test_gradients():
    x, s = (torch.randn(n, dtype=torch.float64, requires_grad=True) for n in ((2, 3), ()))
    assert torch.autograd.gradcheck(lambda x, s: shear(x, s=s), (x, s))


@pytest.mark.parametrize(("onto", "by"), [(0, 2), (2, 0), (1, 2), (0, 1)])
def test_the_step_is_the_shear(onto, by):
    x = np.random.default_rng(1).normal(size=(9, 3))
    got = shear_step("t", onto=onto, by=by).apply(x, {"t": -1.25})
    np.testing.assert_allclose(got, shear(x, s=-1.25, onto=onto, by=by), rtol=1e-14)


@pytest.mark.parametrize("s", [-1.2, 0.0, 0.8])
def test_the_shadows_steps_are_its_formula(s):
    x = np.random.default_rng(2).normal(size=(50, 3))
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    got = Pipeline(shadow_steps(s="s", r="r")).stages(shadow_coordinates(x), {"s": s, "r": 1.4})[-1]
    rim = shadow_coordinates(np.array([[0.6, 0.8, 0.0]]))  # a point without height, on the outline for s = 0
    np.testing.assert_allclose(
        Pipeline(shadow_steps(s="s", r="r")).stages(rim, {"s": s, "r": 2.0})[-1], [[1.2, 1.6, 0]], atol=1e-7
    )
    branches = sheared_shadow(1.4 * x[:, 0], 1.4 * x[:, 1], s=s, radius=1.4)
    want = np.where(x[:, 2:] > 0, *branches)
    # the steps compute the root by angles; none of these points is on the rim
    np.testing.assert_allclose(got[:, :2], want, atol=1e-10)
    np.testing.assert_allclose(got[:, 2], 1.4 * x[:, 2], atol=1e-10)
