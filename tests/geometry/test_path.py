import numpy as np
import pytest
import torch

from geometry.path import TURN, between

ROUNDING = 1e-12  # double precision through a few sines
HALVES = [0.1, 0.5, 0.9]


def close(got, want):
    np.testing.assert_allclose(np.asarray(got), want, rtol=0, atol=ROUNDING)


@pytest.mark.parametrize("f", HALVES)
def test_straight(xp, batch, rng, f):
    a, b = rng.normal(size=(2, *batch, 3))
    close(between(xp.asarray(a), xp.asarray(b), f), (1 - f) * a + f * b)


@pytest.mark.parametrize("path", ["straight", "sphere"])
def test_the_shorter_is_padded_with_zeros(xp, path):
    short, long = xp.asarray([[1.0, 2.0]]), xp.asarray([[3.0, 4.0, 5.0, 6.0]])
    padded = xp.asarray([[1.0, 2.0, 0.0, 0.0]])
    for a, b, c, d in ((short, long, padded, long), (long, short, long, padded)):
        close(between(a, b, 0.3, path=path), np.asarray(between(c, d, 0.3, path=path)))


@pytest.mark.parametrize("f", HALVES)
@pytest.mark.parametrize("d", [2, 3, 7])
def test_sphere_turns_evenly_in_the_plane_and_the_norm_is_linear(xp, batch, rng, f, d):
    a, b = rng.normal(size=(2, *batch, d))
    got = np.asarray(between(xp.asarray(a), xp.asarray(b), f, path="sphere"))
    na, nb, n = (np.linalg.norm(v, axis=-1) for v in (a, b, got))
    close(n, (1 - f) * na + f * nb)
    angle = np.arccos(np.sum(a * b, -1) / na / nb)
    close(np.sum(got * a, -1), n * na * np.cos(f * angle))
    close(np.sum(got * b, -1), n * nb * np.cos((1 - f) * angle))


def test_sphere_arrives(xp, rng):
    a, b = rng.normal(size=(2, 5, 3))
    close(between(xp.asarray(a), xp.asarray(b), 0.0, path="sphere"), a)
    close(between(xp.asarray(a), xp.asarray(b), 1.0, path="sphere"), b)


@pytest.mark.parametrize(
    "b", [[0.0, 0, 0], [-2.0, 0, 0], [5.0, 0, 0], [-1.0, TURN / 2, 0], [1.0, TURN / 2, 0]]
)
def test_straight_where_a_turn_has_no_plane(xp, b):
    a, b = xp.asarray([1.0, 0.0, 0.0]), xp.asarray(b)
    for start, end in ((a, b), (b, a)):
        close(between(start, end, 0.3, path="sphere"), np.asarray(between(start, end, 0.3)))


def test_a_turn_larger_than_the_threshold_is_a_turn(xp):
    a, b = xp.asarray([1.0, 0.0]), xp.asarray([-1.0, 2 * TURN])
    got = np.asarray(between(a, b, 0.5, path="sphere"))
    np.testing.assert_allclose(got, [0, 1], atol=2 * TURN)


def test_float32_and_no_points(xp):
    x = xp.zeros((0, 3), dtype=xp.float32)
    got = between(x, x, 0.5, path="sphere")
    assert got.shape == (0, 3) and got.dtype == xp.float32


@pytest.mark.parametrize("path", ["straight", "sphere"])
def test_gradients_also_beside_a_zero(path):
    a, b = (torch.randn(3, 3, dtype=torch.float64, requires_grad=True) for _ in "ab")
    assert torch.autograd.gradcheck(lambda a, b: between(a, b, 0.3, path=path), (a, b))
    zero = torch.zeros(3, requires_grad=True)
    between(zero, torch.ones(3), 0.3, path=path).sum().backward()
    assert torch.isfinite(zero.grad).all()


def test_unknown_path():
    with pytest.raises(ValueError, match=r"straight.*sphere"):
        between(np.ones(2), np.ones(2), 0.5, path="round")
