import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from geometry import center
from geometry.centering import centering_matrix, hyperplane_basis, upright_basis

ROUNDING = 1e-13  # double precision, sums of a few numbers near 1


@pytest.mark.parametrize("d", [1, 2, 3, 8])
def test_center_is_the_matrix(xp, batch, rng, d):
    x = rng.normal(size=(*batch, d))
    got = np.asarray(center(xp.asarray(x)))
    np.testing.assert_allclose(got, x @ centering_matrix(d), rtol=0, atol=ROUNDING)


def test_worked_example_is_exact(xp):
    assert np.asarray(center(xp.asarray([5.0, 8.0, 2.0]))).tolist() == [0, 3, -3]


def test_idempotent_and_blind_to_shifts(xp, batch, rng):
    x = xp.asarray(rng.normal(size=(*batch, 5)))
    once = np.asarray(center(x))
    for twice in (center(center(x)), center(x + 3.0)):
        np.testing.assert_allclose(np.asarray(twice), once, rtol=0, atol=ROUNDING)


@given(st.floats(-1e200, 1e200), st.integers(1, 40))
def test_a_constant_vector_goes_to_zero_exactly(c, d):
    assert not np.any(center(np.full(d, c)))


def test_what_is_removed_is_along_one(xp, rng):
    x = rng.normal(size=(6, 4))
    removed = x - np.asarray(center(xp.asarray(x)))
    np.testing.assert_allclose(removed, x.mean(-1, keepdims=True) * np.ones(4), atol=ROUNDING)


def test_no_points_and_float32(xp):
    x = xp.zeros((0, 3), dtype=xp.float32)
    assert center(x).shape == (0, 3) and center(x).dtype == xp.float32


def test_matrix_of_equation_28():
    np.testing.assert_allclose(
        3 * centering_matrix(3), [[2, -1, -1], [-1, 2, -1], [-1, -1, 2]], atol=ROUNDING
    )


@pytest.mark.parametrize("d", range(1, 9))
def test_basis_is_orthonormal_and_spans_the_hyperplane(d):
    basis = hyperplane_basis(d)
    assert basis.shape == (d - 1, d)
    np.testing.assert_allclose(basis @ basis.T, np.eye(d - 1), atol=ROUNDING)
    np.testing.assert_allclose(basis.T @ basis, centering_matrix(d), atol=ROUNDING)


def test_basis_is_the_documented_one():
    want = np.asarray([[1, -1, 0], [1, 1, -2]]) / np.sqrt([[2], [6]])
    np.testing.assert_allclose(hyperplane_basis(3), want, atol=ROUNDING)


def test_gradient():
    assert torch.autograd.gradcheck(center, torch.randn(2, 4, dtype=torch.float64, requires_grad=True))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("d", [2, 3, 100, 5000])
def test_near_the_largest_number_nothing_overflows(dtype, d):
    """Centring d numbers that are alternately M/2 and −M/2 is exact up to rounding.

    M is the largest number of the dtype. The sum of three numbers M/2 would overflow.
    """
    signs = np.where(np.arange(d) % 2, -1.0, 1.0)
    x = (np.finfo(dtype).max / 2 * signs).astype(dtype)
    want = x.astype(np.longdouble) - x.astype(np.longdouble).mean()
    for points in (x, torch.asarray(x)):
        got = np.asarray(center(points)).astype(np.longdouble)
        np.testing.assert_allclose(got / want, 1, rtol=2 * float(np.finfo(dtype).eps))


@pytest.mark.parametrize("largest", [np.finfo(t).max for t in (np.float16, np.float32, np.float64)], ids=str)
def test_a_constant_vector_of_any_size_goes_to_zero_exactly(largest):
    for c in (largest, -largest, 0.1 * largest, 0.1, 1 / largest):
        for d in (1, 2, 3, 7, 1000):
            assert not center(np.full(d, c, dtype=type(largest))).any()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("far", [0.0, 1e3])
def test_one_far_number_or_a_far_mean_takes_no_digits_from_the_others(rng, dtype, far):
    x = torch.asarray(rng.normal(size=(4, 1000)) + far)
    x[:2, 0] += 1e4
    x = x.to(dtype)
    want = x.numpy(force=True) if dtype == torch.float64 else x.double().numpy()
    want = want.astype(np.longdouble)
    want = want - want.mean(-1, keepdims=True)
    off, size = np.abs(center(x).double().numpy() - want), np.abs(x.double().numpy())
    # the mean cannot be more exact than the rounding of the numbers that are summed
    assert np.all(off <= torch.finfo(dtype).eps * (np.abs(want) + size.mean(-1, keepdims=True)))


def test_the_gradient_of_a_constant_vector_is_that_of_every_other():
    x = torch.ones(3, requires_grad=True)
    center(x)[0].backward()
    np.testing.assert_allclose(x.grad, centering_matrix(3)[0], atol=ROUNDING)


@pytest.mark.parametrize("d", [2, 3, 8])
def test_upright_turns_one_up(d):
    turn = upright_basis(d)
    np.testing.assert_allclose(turn @ turn.T, np.eye(d), atol=1e-12)
    np.testing.assert_allclose(turn @ np.ones(d), [*np.zeros(d - 1), np.sqrt(d)], atol=1e-12)
