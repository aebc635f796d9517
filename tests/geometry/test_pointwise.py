import numpy as np
import pytest
import torch

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
    "relu": torch.relu,
    "gelu": torch.nn.functional.gelu,
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
    x = torch.tensor([-2.0, -0.4, 0.3, 1.5], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: apply(name, x), x)


def test_an_unknown_name_lists_the_known():
    with pytest.raises(ValueError, match=", ".join(FUNCTIONS)):
        apply("softmax", np.ones(2))
