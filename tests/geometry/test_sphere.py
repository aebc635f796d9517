from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from geometry import to_sphere, u_eps

ROUNDING = 1e-13  # double precision, relative to a radius near 1
CONVENTIONS = ["bare", "pytorch", "std"]
FORMULAS = {
    "bare": lambda x, n, eps: x / np.sqrt(np.sum(x**2, -1, keepdims=True) + eps),
    "pytorch": lambda x, n, eps: x / np.sqrt(np.sum(x**2, -1, keepdims=True) + n * eps),
    "std": lambda x, n, eps: x / (np.linalg.norm(x, axis=-1, keepdims=True) + eps * np.sqrt(n)),
}
each_convention = pytest.mark.parametrize("convention", CONVENTIONS)


def close(got, want):
    np.testing.assert_allclose(np.asarray(got), want, rtol=0, atol=ROUNDING)


@each_convention
@pytest.mark.parametrize("eps", [0.0, 1e-5, 0.3, 40.0])
@pytest.mark.parametrize("d", [1, 2, 5])
def test_formula(xp, batch, rng, convention, eps, d):
    x = rng.normal(size=(*batch, d))
    got = to_sphere(xp.asarray(x), radius=2.5, eps=eps, convention=convention)
    close(got, 2.5 * FORMULAS[convention](x, d, eps))


@each_convention
def test_radius_direction_and_idempotence(xp, batch, rng, convention):
    x = rng.normal(size=(*batch, 4))
    once = to_sphere(xp.asarray(x), radius=3.0, convention=convention)
    close(np.linalg.norm(np.asarray(once), axis=-1), np.full(batch, 3.0))
    close(np.sum(np.asarray(once) * x, -1), 3 * np.linalg.norm(x, axis=-1))
    close(to_sphere(once, radius=3.0, convention=convention), np.asarray(once))


@each_convention
@given(x=st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=6), eps=st.floats(1e-3, 10))
def test_a_positive_eps_lands_strictly_inside(convention, x, eps):
    assert np.linalg.norm(to_sphere(np.asarray(x), eps=eps, convention=convention)) < 1


@each_convention
@pytest.mark.parametrize("eps", [0.0, 1e-5])
@pytest.mark.parametrize("d", [1, 3])
def test_zero_goes_to_zero_with_a_finite_gradient(xp, convention, eps, d):
    assert not np.any(np.asarray(to_sphere(xp.zeros((2, d)), eps=eps, convention=convention)))
    x, e = torch.zeros(d, requires_grad=True), torch.tensor(eps, requires_grad=True)
    to_sphere(x, eps=e, convention=convention).sum().backward()
    assert torch.isfinite(x.grad).all() and torch.isfinite(e.grad)


@each_convention
@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e-150, 1e150, 1e200, 1e308])
def test_every_size_has_the_same_direction(xp, convention, size):
    x = np.asarray([0.75, -0.5, 0.0])
    got = np.asarray(to_sphere(xp.asarray(x * size), convention=convention))
    # below 1e-308 doubles lose digits: at 1e-320 some 3 are left
    tolerance = ROUNDING if size > 1e-300 else 1e-3
    np.testing.assert_allclose(got, x / np.linalg.norm(x), atol=tolerance)


@each_convention
def test_eps_decides_for_tiny_points_and_not_for_huge_ones(xp, convention):
    tiny = to_sphere(xp.asarray([3e-200, 4e-200]), eps=1.0, convention=convention)
    assert (np.asarray(tiny) > 0).all() and (np.asarray(tiny) * 1e200 <= [3, 4]).all()
    huge = to_sphere(xp.asarray([3e200, 4e200]), eps=1.0, convention=convention)
    close(huge, [0.6, 0.8])


def test_float32_stays_float32(xp):
    x = xp.asarray([1e30, 1e30], dtype=xp.float32)
    got = to_sphere(x, radius=np.float64(2), eps=np.asarray(1e-5))
    assert got.dtype == xp.float32
    np.testing.assert_allclose(np.asarray(got), np.sqrt(2), rtol=1e-6)  # float32 has 7 digits


@each_convention
def test_each_group_is_normalised_as_if_alone(xp, batch, rng, convention):
    x = rng.normal(size=(*batch, 6))
    options = {"radius": 2.0, "eps": 0.1, "convention": convention}
    got = np.asarray(to_sphere(xp.asarray(x), groups=((4, 1), (0, 5, 3)), **options))
    for group in ([4, 1], [0, 5, 3]):
        close(got[..., group], np.asarray(to_sphere(xp.asarray(x[..., group]), **options)))
    close(got[..., 2], x[..., 2])


@pytest.mark.parametrize("groups", [((0, 1), (1, 2)), ((0, 3),), ((-1,),), ((),), ((0, 0),)])
def test_bad_groups(groups):
    with pytest.raises(ValueError, match="groups"):
        to_sphere(np.ones(3), groups=groups)


def test_no_points_and_no_groups(xp):
    assert to_sphere(xp.zeros((0, 3))).shape == (0, 3)
    assert to_sphere(xp.zeros((0, 3)), groups=((0, 1),)).shape == (0, 3)
    close(to_sphere(xp.asarray([3.0, 4.0]), groups=()), [3, 4])


@each_convention
@pytest.mark.parametrize("groups", [None, ((0, 2), (1,))])
def test_gradients_into_x_radius_and_eps(convention, groups):
    x = torch.randn(2, 4, dtype=torch.float64, requires_grad=True)
    radius, eps = (torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in (2.0, 0.3))
    f = partial(to_sphere, convention=convention, groups=groups)
    assert torch.autograd.gradcheck(lambda x, r, e: f(x, radius=r, eps=e), (x, radius, eps))
    assert torch.autograd.gradcheck(f, x)


def test_u_eps_in_one_dimension_is_a_sigmoid_of_slope_one_over_root_eps(xp):
    x = np.linspace(-3, 3, 7)[:, None]
    close(u_eps(xp.asarray(x), eps=0.25), x / np.sqrt(x**2 + 0.25))
    t = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    u_eps(t, eps=0.25).sum().backward()
    close(t.grad, [2.0])


def test_a_line_becomes_half_a_great_circle(xp, rng):
    """u_ε with ε = 0 maps a line at distance 1 to half a great circle, by gnomonic projection.

    The foot is the point of the line that is nearest to the origin. A point at the position p, measured along
    the line from the foot, is mapped to the angle arctan p from the foot.
    """
    foot, along = np.linalg.qr(rng.normal(size=(5, 2)))[0].T
    position = np.linspace(-9, 9, 19)[:, None]
    got = np.asarray(u_eps(xp.asarray(foot + position * along), eps=0.0))
    close(got @ along / (got @ foot), position[:, 0])
    close((got @ along) ** 2 + (got @ foot) ** 2, np.ones(19))


def test_unknown_convention():
    with pytest.raises(ValueError, match=r"bare.*pytorch.*std"):
        to_sphere(np.ones(2), convention="other")
