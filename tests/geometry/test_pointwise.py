from functools import partial

import numpy as np
import pytest
import torch
from scipy.special import log_ndtr

from geometry.pointwise import FUNCTIONS, apply

ROUNDING = 1e-14  # double precision, a few operations
REFERENCE = {
    "identity": lambda x: x,
    "abs": torch.abs,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "erf": torch.erf,
    "sin": torch.sin,
    "cos": torch.cos,
    "arcsin": lambda x: torch.asin(torch.clip(x, -1, 1)),
    "arctan": torch.atan,
    "sqrt": lambda x: torch.sqrt(torch.clip(x, 0)),
    "log10": lambda x: torch.log10(torch.clip(x, 1e-12)),
    "reciprocal": lambda x: torch.where(x == 0, 0, 1 / x),
    "round": lambda x: torch.floor(x + 0.5),
    "relu": torch.relu,
    "entr": lambda x: torch.special.entr(torch.clip(x, 0)),
    "gelu": torch.nn.functional.gelu,
    "gelu_tanh": partial(torch.nn.functional.gelu, approximate="tanh"),
}


def test_every_function_has_a_reference():
    assert FUNCTIONS.keys() == REFERENCE.keys()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_agrees_with_pytorch(xp, batch, rng, name):
    x = 3 * rng.normal(size=(*batch, 5))
    want = REFERENCE[name](torch.asarray(x)).numpy()
    np.testing.assert_allclose(np.asarray(apply(name, xp.asarray(x))), want, rtol=0, atol=ROUNDING)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_extremes_no_points_and_float32(xp, name):
    x = np.asarray([0.0, -1e30, 1e30], dtype=np.float32)
    got = apply(name, xp.asarray(x))
    assert got.dtype == xp.float32
    np.testing.assert_allclose(np.asarray(got), REFERENCE[name](torch.asarray(x)), atol=ROUNDING)
    assert apply(name, xp.zeros((0, 2))).shape == (0, 2)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients(name):
    x = torch.tensor([-2.0, -0.4, 0.3, 1.6], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: apply(name, x), x)


def test_an_unknown_name_lists_the_known():
    with pytest.raises(ValueError, match=", ".join(FUNCTIONS)):
        apply("softmax", np.ones(2))


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_infinity_and_tails_as_in_pytorch(name, dtype):
    """Values at ±∞ and in the tails have the dtype of x, and equal PyTorch's, up to rounding.

    Left out are sin and cos at ±∞, and `gelu` and `gelu_tanh` at −∞, for which PyTorch gives NaN.
    """
    x = torch.tensor([float("inf"), -float("inf"), 0.0, -20.0, -3.0, 9.0], dtype=getattr(torch, dtype))
    x = x[2:] if name in ("sin", "cos") else x[x != -float("inf")] if "gelu" in name else x
    want, eps = REFERENCE[name](x.double()).numpy(), torch.finfo(x.dtype).eps
    got = [apply(name, x)] + ([] if dtype == "bfloat16" else [torch.asarray(apply(name, x.numpy()))])
    # a sum 1 + erf near 0 has the absolute precision of its dtype near 1
    near_one = name in ("gelu", "gelu_tanh", "sin", "cos")
    lost = 40 * (np.finfo(np.float32).eps if eps > 1e-9 else eps) * near_one
    lost += torch.finfo(x.dtype).tiny * eps  # the smallest positive number
    for y in got:
        assert y.dtype == x.dtype
        np.testing.assert_allclose(y.double(), want, rtol=2 * eps, atol=lost)


def test_gelu_keeps_its_digits_in_the_far_tail(xp):
    """gelu equals x·Φ(x) by SciPy's log Φ; PyTorch's gelu, which adds 1 + erf, is 0 at −8.4."""
    x = np.array([-20.0, -8.4, -6.0, -3.0, -1.0])
    want = x * np.exp(log_ndtr(x))
    assert torch.nn.functional.gelu(torch.tensor(-8.4, dtype=torch.float64)) == 0
    np.testing.assert_allclose(np.asarray(apply("gelu", xp.asarray(x))), want, rtol=1e-12)


def test_relu_is_pytorchs_in_value_and_gradient(xp):
    x = [float("-inf"), -1.0, -0.0, 0.0, 2.0, float("inf"), float("nan")]
    np.testing.assert_array_equal(np.asarray(apply("relu", xp.asarray(x))), [0, 0, 0, 0, 2, np.inf, np.nan])
    ours, theirs = (torch.tensor(x[1:5], requires_grad=True) for _ in range(2))
    apply("relu", ours).sum().backward()
    torch.relu(theirs).sum().backward()
    np.testing.assert_array_equal(ours.grad, theirs.grad)


def test_the_two_gelus_are_near():
    x = np.linspace(-6, 6, 1001)
    assert 1e-4 < np.abs(apply("gelu", x) - apply("gelu_tanh", x)).max() < 5e-4
