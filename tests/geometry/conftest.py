"""Fixtures: `xp` runs a test with each of three array libraries, `batch` with batch axes of three shapes."""

import array_api_compat.numpy
import array_api_compat.torch
import array_api_strict
import numpy as np
import pytest
import torch

LIBRARIES = {"numpy": array_api_compat.numpy, "strict": array_api_strict, "torch": array_api_compat.torch}


@pytest.fixture(params=LIBRARIES.values(), ids=LIBRARIES.keys(), scope="session")
def xp(request):
    return request.param


@pytest.fixture(params=[(), (1,), (3, 1, 2, 1)], ids=str, scope="session")
def batch(request):
    return request.param


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture(autouse=True)
def double_precision():
    """Make PyTorch create float64 tensors from lists, as NumPy does, and seed its random numbers.

    Only the CPU's generator is seeded: `torch.manual_seed` also records a stack trace for each kind of device
    that is missing.
    """
    before = torch.get_default_dtype()
    torch.default_generator.manual_seed(7)
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)
