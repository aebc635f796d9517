from math import sqrt

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from torch.nn import functional

from geometry import center, group_norm, layer_norm, rms_norm
from geometry.norms import batch_norm, dyt, instance_norm, weight_norm

AGREEMENT = 1e-12  # double precision through means, roots and quotients of numbers near 1
vectors = arrays(np.float64, st.integers(2, 8), elements=st.floats(-100, 100))
EPS = [0.0, 1e-5, 0.5]


def close(got, want):
    np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=0, atol=AGREEMENT)


def spread(v):
    """Return the vector v, but skip the Hypothesis example if v is nearly constant: ‖Πv‖ ≤ 1.

    For such a vector, rounding can cost 4 of 16 digits.
    """
    assume(np.linalg.norm(center(v)) > 1)
    return v


# Agreement with PyTorch


@pytest.mark.parametrize("eps", EPS)
@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize("d", [2, 6])
def test_layer_norm_and_rms_norm(xp, batch, rng, eps, affine, d):
    x = rng.normal(size=(*batch, d)) + 1
    gamma, beta = rng.normal(size=(2, d)) if affine else (None, None)
    g, b = (v if v is None else xp.asarray(v) for v in (gamma, beta))
    tg, tb = (v if v is None else torch.asarray(v) for v in (gamma, beta))
    t = torch.asarray(x)
    close(layer_norm(xp.asarray(x), gamma=g, beta=b, eps=eps), functional.layer_norm(t, (d,), tg, tb, eps))
    close(rms_norm(xp.asarray(x), gamma=g, eps=eps), functional.rms_norm(t, (d,), tg, eps))


@pytest.mark.parametrize("eps", EPS)
@pytest.mark.parametrize("groups", [1, 2, 3])
def test_group_norm(xp, rng, eps, groups):
    x, (gamma, beta) = rng.normal(size=(5, 6)), rng.normal(size=(2, 6))
    got = group_norm(xp.asarray(x), groups=groups, gamma=xp.asarray(gamma), beta=xp.asarray(beta), eps=eps)
    close(
        got, functional.group_norm(*map(torch.asarray, (x,)), groups, *map(torch.asarray, (gamma, beta)), eps)
    )


@pytest.mark.parametrize("eps", EPS[1:])  # PyTorch refuses 0 here
def test_batch_norm_and_instance_norm(xp, rng, eps):
    x, (gamma, beta) = rng.normal(size=(4, 3, 7)), rng.normal(size=(2, 3))
    ours = {"gamma": xp.asarray(gamma), "beta": xp.asarray(beta), "eps": eps}
    theirs = {"weight": torch.asarray(gamma), "bias": torch.asarray(beta), "eps": eps}
    close(instance_norm(xp.asarray(x), **ours), functional.instance_norm(torch.asarray(x), **theirs))
    cloud = x[:, :, 0]
    want = functional.batch_norm(torch.asarray(cloud), None, None, training=True, **theirs)
    close(batch_norm(xp.asarray(cloud), **ours), want)


def test_weight_norm(xp, rng):
    linear = torch.nn.Linear(4, 3, dtype=torch.float64)
    linear = torch.nn.utils.parametrizations.weight_norm(linear)
    g, v = (p.detach().numpy() for p in linear.parametrizations.weight.parameters())
    g, v = g * rng.normal(size=g.shape), v * 3
    with torch.no_grad():
        linear.parametrizations.weight.original0.copy_(torch.asarray(g))
        linear.parametrizations.weight.original1.copy_(torch.asarray(v))
    close(weight_norm(xp.asarray(v), g=xp.asarray(g[:, 0])), linear.weight.detach())
    close(weight_norm(xp.asarray(v[0]), g=2.0), 2 * v[0] / np.linalg.norm(v[0]))


def test_dyt(xp, rng):
    x, (gamma, beta) = rng.normal(size=(5, 3)), rng.normal(size=(2, 3))
    got = dyt(xp.asarray(x), alpha=0.7, gamma=xp.asarray(gamma), beta=xp.asarray(beta))
    close(got, gamma * np.tanh(0.7 * x) + beta)


# Laws of LayerNorm, and of RMSNorm beside it


@given(vectors, st.floats(0.1, 50), st.floats(-50, 50))
def test_invariances(x, c, b):
    once = layer_norm(spread(x), eps=0.0)
    close(layer_norm(c * x, eps=0.0), once)
    close(layer_norm(-c * x, eps=0.0), -once)
    close(layer_norm(x + b, eps=0.0), once)
    close(layer_norm(once, eps=0.0), once)


@given(vectors)
def test_image_is_centred_with_radius_root_d(x):
    y = layer_norm(spread(x), eps=0.0)
    close(y.sum(), 0.0)
    close(np.linalg.norm(y), sqrt(len(x)))


@given(vectors, st.sampled_from([-7.0, -0.5, 0.5, 7.0]), st.floats(-10, 10))
def test_a_fibre_is_a_plane_that_goes_to_two_points(x, alpha, beta):
    v = center(spread(x))
    v = v / np.linalg.norm(v)
    close(layer_norm(alpha * v + beta, eps=0.0), sqrt(len(v)) * np.sign(alpha) * v)


@given(vectors)
def test_rms_norm_is_layer_norm_moved_along_one(x):
    q = x.mean() / spread(x).std()
    close(rms_norm(x, eps=0.0), (layer_norm(x, eps=0.0) + q) / np.sqrt(1 + q**2))


def test_rms_norm_collapses_on_the_poles(xp, rng):
    x = xp.asarray(rng.normal(size=(9, 4)))
    # at a distance of 1e14 the points span 1e-14 as seen from the origin
    close(rms_norm(x + 1e14, eps=0.0), np.ones((9, 4)))
    close(rms_norm(x - 1e14, eps=0.0), -np.ones((9, 4)))


@pytest.mark.parametrize("eps", EPS)
def test_three_conventions(xp, rng, eps):
    x = rng.normal(size=(5, 4))
    v, var = x - x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    rms = np.sqrt(np.mean(x**2, -1, keepdims=True))
    norm = lambda f, c: f(xp.asarray(x), eps=eps, convention=c)  # noqa: E731
    close(norm(layer_norm, "pytorch"), v / np.sqrt(var + eps))
    close(norm(layer_norm, "std"), v / (np.sqrt(var) + eps))
    close(norm(layer_norm, "bare"), 2 * v / np.sqrt(4 * var + eps))
    close(norm(rms_norm, "std"), x / (rms + eps))
    close(norm(rms_norm, "bare"), 2 * x / np.sqrt(4 * rms**2 + eps))


@pytest.mark.parametrize("convention", ["bare", "pytorch", "std"])
def test_a_positive_eps_lands_strictly_inside(xp, rng, convention):
    y = layer_norm(xp.asarray(rng.normal(size=(50, 3))), eps=1e-5, convention=convention)
    np.testing.assert_array_less(np.linalg.norm(np.asarray(y), axis=-1), sqrt(3))


# Degenerate inputs


@pytest.mark.parametrize("eps", [0.0, 1e-5])
@pytest.mark.parametrize("d", [1, 3, 10])
def test_a_constant_vector_goes_to_beta(xp, eps, d):
    x, beta = xp.asarray(np.full((2, d), 0.1)), np.arange(1.0, d + 1)
    for convention in ("bare", "pytorch", "std"):
        got = layer_norm(x, beta=xp.asarray(beta), eps=eps, convention=convention)
        assert (np.asarray(got) == beta).all()


@pytest.mark.parametrize("size", [1e-200, 1e-150, 1e150, 1e200])
def test_huge_and_tiny_points(xp, size):
    x = np.asarray([[5.0, 8, 2, 1]])
    want = np.asarray(layer_norm(xp.asarray(x), eps=0.0))
    close(layer_norm(xp.asarray(x * size), eps=0.0), want)
    close(rms_norm(xp.asarray(x * size), eps=0.0), x / np.sqrt(np.mean(x**2)))
    close(group_norm(xp.asarray(x * size), groups=2, eps=0.0), [[-1, 1, 1, -1]])


def test_gains_of_zero_flatten(xp):
    got = np.asarray(layer_norm(xp.asarray([5.0, 8, 2]), gamma=xp.asarray([0.0, 2.0, 0.0])))
    assert got[0] == got[2] == 0 and got[1] > 2


def test_integers_count_as_numbers():
    assert layer_norm(np.asarray([5, 8, 2]), eps=0.0)[1] == pytest.approx(sqrt(1.5), abs=AGREEMENT)
    close(rms_norm(np.asarray([3, 4])), np.asarray([3, 4]) / np.sqrt(12.5 + 1e-5))


def test_no_points(xp):
    x = xp.zeros((0, 4))
    for y in (layer_norm(x), rms_norm(x), group_norm(x, groups=2), batch_norm(x), dyt(x, alpha=1.0)):
        assert y.shape == (0, 4)
    assert instance_norm(xp.zeros((2, 3, 0))).shape == (2, 3, 0)


def test_one_point_is_a_constant_cloud(xp):
    assert not np.any(np.asarray(batch_norm(xp.asarray([[3.0, 4.0]]))))


@pytest.mark.parametrize("groups", [0, -1, 3, 5])
def test_groups_must_divide(groups):
    with pytest.raises(ValueError, match="divisor of 4"):
        group_norm(np.ones(4), groups=groups)


@pytest.mark.parametrize("norm", [layer_norm, rms_norm])
@pytest.mark.parametrize("convention", ["bare", "pytorch", "std"])
def test_gradients(norm, convention):
    x, gamma = (torch.randn(s, dtype=torch.float64, requires_grad=True) for s in ((2, 4), 4))
    f = lambda x, g: norm(x, gamma=g, eps=0.1, convention=convention)  # noqa: E731
    assert torch.autograd.gradcheck(f, (x, gamma))


@pytest.mark.parametrize(
    "norm",
    [
        lambda x: group_norm(x, groups=2),
        batch_norm,
        instance_norm,
        lambda x: weight_norm(x, g=2.0),
        lambda x: dyt(x, alpha=0.5),
    ],
)
def test_gradients_of_the_others(norm):
    assert torch.autograd.gradcheck(norm, torch.randn(3, 4, dtype=torch.float64, requires_grad=True))


# As exact as PyTorch, and more, in every type

FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
UNITS = 2  # in the last place of the largest number of a vector; torch.nn.functional needs up to 1000


def exact(x, *, eps=1e-5, centred=True):
    """LayerNorm (or RMSNorm, if not `centred`) of a tensor x along its last axis, in extended precision.

    The result is a NumPy array. Extended precision has 64 bits of mantissa, and numbers up to 1e4932.
    """
    x = np.asarray(x.double()).astype(np.longdouble)
    for _ in range(2 * centred):
        x = x - x.mean(-1, keepdims=True)
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps)


def off(got, want):
    """The largest error |got − want| of a coordinate, in machine epsilons of the dtype of `got`.

    The errors in each vector are divided by the largest |want| in this vector, or by 1 if this is larger.
    """
    unit = float(torch.finfo(got.dtype).eps) * np.maximum(1, np.abs(want).max(-1, keepdims=True))
    return np.max(np.abs(np.asarray(got.double()) - want) / unit)


def both(norm, x):
    """Yield the result of a norm for a tensor x, then its result for the same numbers as a NumPy array.

    Both are yielded as tensors. The second is left out for bfloat16, which NumPy does not have.
    """
    yield norm(x)
    if x.dtype != torch.bfloat16:
        yield torch.asarray(norm(x.numpy()))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("d", [2, 3, 8, 100, 4000])
def test_errors_stay_below_two_units_in_the_last_place(rng, dtype, d):
    for size in (1e-6, 1e-4, 1.0, 100.0):
        for shift in (0.0, 3.0, 100.0):
            x = torch.asarray(size * (rng.uniform(-1, 1, size=(2, d)) + shift)).to(dtype)
            for y in both(layer_norm, x):
                assert y.dtype == dtype and off(y, exact(x)) < UNITS
            for y in both(rms_norm, x):
                assert off(y, exact(x, centred=False)) < UNITS


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("d", [8, 1000, 100_000])
def test_half_precision_is_no_less_exact_than_pytorchs(rng, dtype, d):
    """In half precision, LayerNorm's error is at most the larger of PyTorch's and 0.51 machine epsilons.

    For this reason LayerNorm computes in float32. For d = 100,000, the sum of the coordinates, whose mean is
    1, exceeds the largest float16.
    """
    x, (gamma, beta) = torch.asarray(rng.normal(size=(3, d)) + 1).to(dtype), torch.ones(2, d).to(dtype)
    want, theirs = exact(x) + 1, functional.layer_norm(x, (d,), gamma, beta)
    got = layer_norm(x, gamma=gamma, beta=beta)
    assert off(got, want) <= max(0.51, off(theirs, want))


def test_an_eps_that_half_precision_does_not_know():
    x = torch.asarray([2e-4, -2e-4, 4e-4, 0.0], dtype=torch.float16)
    for eps in (1e-8, 1e-10):
        assert off(layer_norm(x, eps=eps), exact(x, eps=eps)) < 0.51
        assert off(rms_norm(x, eps=eps), exact(x, eps=eps, centred=False)) < 0.51


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("d", [2, 3, 8, 1000])
def test_near_the_largest_number(rng, dtype, d):
    """Near the dtype's largest number, LayerNorm and RMSNorm are right, BatchNorm and GroupNorm finite."""
    x = torch.asarray(rng.uniform(-1, 1, size=(3, d)) * 0.99 * torch.finfo(dtype).max).to(dtype)
    for y in both(layer_norm, x):
        assert off(y, exact(x)) < UNITS
    for y in both(rms_norm, x):
        assert off(y, exact(x, centred=False)) < UNITS
    assert torch.isfinite(batch_norm(x)).all() and torch.isfinite(group_norm(x, groups=1)).all()


@given(
    st.sampled_from(FLOATS),
    st.lists(st.floats(-1e4, 1e4, width=16), min_size=2, max_size=12),
    st.sampled_from([1e-8, 1e-5, 0.1]),
)
def test_any_numbers_in_any_type(dtype, x, eps):
    """LayerNorm's error, in machine epsilons as in `off`, is below (d + (d + 1)/2 + 5)/2 for d coordinates.

    Each rounding adds at most ½ to the error. There are d roundings in the mean and 5 others; the d + 1 of
    the squares and their sum count half, because a root follows. For 6 million vectors it was at most 2.4.
    """
    x = torch.tensor(x, dtype=dtype)
    roundings = len(x) + (len(x) + 1) / 2 + 5
    for y in both(lambda x: layer_norm(x, eps=eps), x):
        assert off(y, exact(x, eps=eps)) < roundings / 2


@pytest.mark.parametrize("dtype", FLOATS[2:], ids=str)
def test_gradients_are_pytorchs(rng, dtype):
    x, gamma, beta = (torch.asarray(rng.normal(size=s)).to(dtype).requires_grad_() for s in ((5, 8), 8, 8))
    weights = torch.asarray(rng.normal(size=(5, 8))).to(dtype)
    constant = torch.ones(5, 8, dtype=dtype, requires_grad=True)
    for points in (x, constant):
        ours = torch.autograd.grad(
            (weights * layer_norm(points, gamma=gamma, beta=beta)).sum(), (points, gamma, beta)
        )
        theirs = torch.autograd.grad(
            (weights * functional.layer_norm(points, (8,), gamma, beta)).sum(), (points, gamma, beta)
        )
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(
                a, b, rtol=0, atol=100 * torch.finfo(dtype).eps * float(b.abs().max() + 1)
            )


@pytest.mark.parametrize(
    "row", [[1, np.inf, 2], [np.inf, -np.inf, 0], [1, np.nan, 2], [np.inf, np.nan, 1]], ids=str
)
@pytest.mark.parametrize("eps", [1e-5, 0.5])
def test_what_is_not_finite_is_pytorchs(xp, row, eps):
    """For an array with infinite or NaN coordinates, LayerNorm and RMSNorm give the same as PyTorch.

    NaN is at the same places. Another vector of the array is normalised as usual.
    """
    x = np.asarray([row, [1, 2, 4]], dtype=np.float64)
    with np.errstate(invalid="ignore"):
        close(rms_norm(xp.asarray(x), eps=eps), functional.rms_norm(torch.asarray(x), (3,), eps=eps))
        close(layer_norm(xp.asarray(x), eps=eps), functional.layer_norm(torch.asarray(x), (3,), eps=eps))
