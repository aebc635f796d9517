import numpy as np
import pytest
import torch

from geometry.path import between

ROUNDING = 1e-12  # double precision


def close(got, want):
    np.testing.assert_allclose(np.asarray(got), want, rtol=0, atol=ROUNDING)


@pytest.mark.parametrize("f", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_straight(xp, batch, rng, f):
    a, b = rng.normal(size=(2, *batch, 3))
    close(between(xp.asarray(a), xp.asarray(b), f), (1 - f) * a + f * b)


def test_the_shorter_is_padded_with_zeros(xp):
    short, long = xp.asarray([[1.0, 2.0]]), xp.asarray([[3.0, 4.0, 5.0, 6.0]])
    padded = xp.asarray([[1.0, 2.0, 0.0, 0.0]])
    for a, b, c, d in ((short, long, padded, long), (long, short, long, padded)):
        close(between(a, b, 0.3), np.asarray(between(c, d, 0.3)))


def test_float32_and_no_points(xp):
    x = xp.zeros((0, 3), dtype=xp.float32)
    got = between(x, x, 0.5)
    assert got.shape == (0, 3) and got.dtype == xp.float32


def test_gradients():
    a, b = (torch.randn(3, 3, dtype=torch.float64, requires_grad=True) for _ in "ab")
    assert torch.autograd.gradcheck(lambda a, b: between(a, b, 0.3), (a, b))
