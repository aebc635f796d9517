import numpy as np
import pytest
import torch

from geometry.arrays import constant, like


@pytest.mark.parametrize("value", [2, 2.0, np.float64(2), np.asarray(2.0), np.float32(2)])
def test_a_value_takes_the_library_and_dtype_of_the_points(xp, value):
    x = xp.asarray([1.0], dtype=xp.float32)
    got = like(value, x)
    assert type(got) is type(x) or xp.__name__.endswith("numpy")
    assert got.dtype == xp.float32 and float(got) == 2


def test_integers_are_not_imposed_on_a_value():
    assert like(0.5, np.asarray([1, 2])) == 0.5


def test_a_tensor_keeps_its_gradient_through_a_change_of_dtype():
    t = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    like(t, torch.zeros(1)).backward()
    assert t.grad == 1


def test_a_constant_has_no_gradient():
    assert not constant(torch.ones(1, requires_grad=True)).requires_grad
