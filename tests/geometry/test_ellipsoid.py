import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from geometry import layer_norm, rms_norm
from geometry.centering import centering_matrix
from geometry.ellipsoid import lengths, shorter, to_ellipsoid
from tests.geometry.closed_forms import semi_axes

ROUNDING = 1e-12  # double precision through a singular value decomposition of numbers near 1


def close(got, want):
    np.testing.assert_allclose(np.asarray(got), want, rtol=0, atol=ROUNDING)


def level(points, lengths, directions):
    """For each point, Σ (⟨point, direction⟩/length)² over the semi-axes of an ellipsoid.

    It is below 1 inside the ellipsoid, and 1 on its surface. lengths, directions: of the semi-axes.
    """
    return np.sum((points @ np.asarray(directions).T / np.asarray(lengths)) ** 2, axis=-1)


def test_gain_and_shift(xp, batch, rng):
    x, gamma, beta = rng.normal(size=(*batch, 3)), rng.normal(size=3), rng.normal(size=3)
    got = to_ellipsoid(xp.asarray(x), gamma=xp.asarray(gamma), beta=xp.asarray(beta))
    close(got, gamma * x + beta)
    close(to_ellipsoid(xp.asarray(x)), x)


@pytest.mark.parametrize("eps", [0.0, 0.1])
def test_image_of_the_norms_is_the_ellipsoid_and_inside_it_for_a_positive_eps(xp, rng, eps):
    x, gamma = rng.normal(size=(50, 4)), rng.normal(size=4)
    for norm, centered in ((layer_norm, True), (rms_norm, False)):
        points = np.asarray(norm(xp.asarray(x), gamma=xp.asarray(gamma), eps=eps))
        levels = level(points, *semi_axes(gamma, centered=centered))
        close(levels, np.ones(50)) if eps == 0 else np.testing.assert_array_less(levels, 1)


def test_unit_gain_gives_a_sphere_of_radius_root_d():
    close(lengths(np.ones(5), range(4)), np.full(4, np.sqrt(5)))


def test_gradient():
    x, gamma, beta = (torch.randn(s, dtype=torch.float64, requires_grad=True) for s in ((2, 3), 3, 3))
    assert torch.autograd.gradcheck(lambda x, g, b: to_ellipsoid(x, gamma=g, beta=b), (x, gamma, beta))


@pytest.mark.parametrize("centered", [True, False])
@pytest.mark.parametrize(
    "gamma", [[3.0, 3, 3, 3], [2.0, -1, 0.5, 3], [1.0, 1, 1, 7, 7], [5.0, 1e-9, 1, 2], [2.0, 0, 0, 1]]
)
def test_lengths_are_those_of_the_decomposition(gamma, centered):
    d = len(gamma)
    matrix = np.diag(gamma) @ (centering_matrix(d) if centered else np.eye(d))
    want = np.sqrt(d) * np.linalg.svd(matrix)[1][: d - centered]
    close(lengths(gamma, range(d - centered), centered=centered), want)
    for share in (1e-6, 0.1, 0.5, 0.9):
        assert shorter(gamma, share, centered=centered) == np.sum(want < share * want[0] - ROUNDING)


@given(st.lists(st.floats(-4, 4), min_size=2, max_size=12))
def test_lengths_of_any_gain(gamma):
    want = np.sqrt(len(gamma)) * np.linalg.svd(np.diag(gamma) @ centering_matrix(len(gamma)))[1][:-1]
    close(lengths(gamma, [0, -1]), want[[0, -1]])


def test_a_gain_of_zeros_has_no_length():
    close(lengths(np.zeros(4), [0, -1]), [0, 0])
    assert shorter(np.zeros(4), 0.01) == 3 and shorter(np.zeros(4), 0.01, centered=False) == 4
