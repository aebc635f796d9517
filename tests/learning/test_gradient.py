import numpy as np
import pytest
import torch

from learning.datasets import digits, octants
from learning.gradient import gradients
from learning.network import MIDDLES, Network, initial
from learning.training import losses

EXACT = 1e-10  # both in double precision


def by_torch(network, weights, data):
    leaves = torch.from_numpy(weights.astype(float)).requires_grad_()
    logits = network.pipeline(leaves).stages(torch.from_numpy(data.points.astype(float)))[-1]
    share = torch.full((len(data.points),), 1 / len(data.points), dtype=torch.float64)
    return torch.autograd.grad(losses(logits, torch.from_numpy(data.labels), share).sum(), leaves)[0].numpy()


@pytest.mark.parametrize("middle", MIDDLES)
@pytest.mark.parametrize("eps", [0.0, 1e-3, 0.5])
def test_it_is_that_of_pytorch(middle, eps):
    network, data = Network(3, 4, 3, 1, middle, eps), octants(40, seed=0)
    weights = initial(network, range(5))
    expected = by_torch(network, weights, data)
    np.testing.assert_allclose(gradients(network, weights, data), expected, atol=EXACT)


def test_of_more_classes_and_other_widths():
    _, data = digits(seed=0)
    network = Network(64, 6, 2, 10, widths=(6, 3))
    weights = 3 * initial(network, range(3))
    np.testing.assert_allclose(
        gradients(network, weights, data), by_torch(network, weights, data), atol=EXACT
    )


@pytest.mark.parametrize("eps", [0.0, 1e-3])
def test_where_every_point_is_at_the_origin_it_is_finite(eps):
    network = Network(3, 3, 2, 1, eps=eps)
    found = gradients(network, np.zeros((1, network.parameter_count)), octants(40, seed=0))
    assert np.isfinite(found).all()
