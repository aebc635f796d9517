import numpy as np
import pytest
import torch

from geometry import fold, stretch, u_eps

CLOSED_FORM = 1e-10  # near the fold through the origin a closed form loses some of 16 digits
FACTORS = [-3.0, -0.5, 0.0, 0.2, 1.0, 7.0]
THETA = np.linspace(-3.1, 3.1, 40)  # no multiple of π/2: a stretch by 0 has no angle there


def circle(xp):
    return xp.asarray(np.stack([np.cos(THETA), np.sin(THETA)], axis=-1))


def close(got, want):
    np.testing.assert_allclose(np.asarray(got), want, rtol=0, atol=CLOSED_FORM)


@pytest.mark.parametrize("t", FACTORS)
def test_stretch_turns_by_the_closed_form(xp, t):
    first, second = np.asarray(stretch(circle(xp), t=t)).T
    close(first**2 + second**2, np.ones_like(THETA))
    close(t * second * np.cos(THETA), np.sin(THETA) * first)  # tan θ' = tan θ / t
    assert (second * np.sin(THETA) > 0).all(), "on its own side of the axis"


@pytest.mark.parametrize("t", FACTORS)
def test_fold_has_the_closed_form(xp, t):
    got = fold(circle(xp), t=t)[:, 0]
    close(got, (np.cos(THETA) + t) / np.sqrt(1 + t * t + 2 * t * np.cos(THETA)))


def test_a_fold_is_like_an_absolute_value(xp):
    """`fold` with t = 2 maps (1, 0) and (−1, 0) to points whose first coordinate is 1.

    Over the unit circle, the smallest first coordinate of a result is √(1 − 1/t²). It is reached at the point
    (cos θ, sin θ) with cos θ = −1/t.
    """
    got = fold(xp.asarray([[1.0, 0.0], [-1.0, 0.0], [-1 / 2, np.sqrt(3) / 2]]), t=2.0)
    close(got[:, 0], [1, 1, np.sqrt(3) / 2])
    assert (np.asarray(fold(circle(xp), t=2.0))[:, 0] >= np.sqrt(3) / 2 - CLOSED_FORM).all()


def test_the_fold_through_the_origin_goes_to_zero(xp):
    close(fold(xp.asarray([1.0, 0.0]), t=-1.0), [0.0, 0.0])


@pytest.mark.parametrize("d", [1, 2, 5])
def test_only_the_first_coordinate_changes_before_the_norm(xp, batch, rng, d):
    x = rng.normal(size=(*batch, d))
    first = np.eye(d)[0]
    scaled, moved = x * (1 + 2 * first), x + 3 * first
    close(stretch(xp.asarray(x), t=3.0, eps=0.1), np.asarray(u_eps(xp.asarray(scaled), eps=0.1)))
    close(fold(xp.asarray(x), t=3.0, eps=0.1), np.asarray(u_eps(xp.asarray(moved), eps=0.1)))


def test_a_large_stretch_is_the_sign_and_a_large_fold_forgets_it(xp):
    close(stretch(circle(xp), t=1e12)[:, 0], np.sign(np.cos(THETA)))
    close(fold(circle(xp), t=1e12)[:, 0], np.ones_like(THETA))


def test_no_points_and_float32(xp):
    for f in (stretch, fold):
        got = f(xp.zeros((0, 2), dtype=xp.float32), t=np.float64(2))
        assert got.shape == (0, 2) and got.dtype == xp.float32


@pytest.mark.parametrize("f", [stretch, fold])
def test_gradients(f):
    x = torch.randn(3, 3, dtype=torch.float64, requires_grad=True)
    t, eps = (torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in (1.7, 0.2))
    assert torch.autograd.gradcheck(lambda x, t, e: f(x, t=t, eps=e), (x, t, eps))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_near_the_largest_number(dtype):
    big = 0.9 * np.finfo(dtype).max
    for x in (np.asarray([big, big], dtype=dtype), torch.asarray([big, big], dtype=getattr(torch, dtype))):
        np.testing.assert_allclose(np.asarray(stretch(x, t=3, eps=1)), [0.9487, 0.3162], atol=1e-3)
        np.testing.assert_allclose(np.asarray(fold(x, t=big, eps=1)), [0.8944, 0.4472], atol=1e-3)
