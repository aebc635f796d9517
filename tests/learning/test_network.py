from itertools import pairwise
from math import sqrt

import array_api_compat.torch
import numpy as np
import pytest
import torch

from geometry import layer_norm, u_eps
from learning.network import MIDDLES, Network, initial, stage_names

ROUNDING = 1e-12  # double precision through a handful of steps
NAMED = {
    "u_eps": lambda x: np.asarray(u_eps(x, eps=0.01)),
    "layer_norm": lambda x: np.asarray(layer_norm(x, eps=0.01)),
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0),
    "none": lambda x: x,
}
each_middle = pytest.mark.parametrize("middle", MIDDLES)


@each_middle
@pytest.mark.parametrize("depth", [0, 1, 3])
def test_a_network_is_linear_middle_linear(xp, rng, middle, depth):
    network = Network(2, 5, depth, 3, middle, eps=0.01)
    flat, x = rng.normal(size=network.parameter_count), rng.normal(size=(7, 2))
    want = x
    for k, (A, b) in enumerate(network.unflatten(flat)):
        want = (NAMED[middle](want) if k else want) @ A.T + b
    stages = network.pipeline(xp.asarray(flat)).stages(xp.asarray(x))
    np.testing.assert_allclose(np.asarray(stages[-1]), want, rtol=0, atol=ROUNDING)
    assert len(stages) == len(stage_names(network)) and stages[-1].shape == (7, 3)


def test_the_layout_of_parameters():
    network = Network(2, 3, 1, 1)
    (A, b), (C, c) = network.unflatten(np.arange(13))
    assert A.tolist() == [[0, 1], [2, 3], [4, 5]] and b.tolist() == [6, 7, 8]
    assert C.tolist() == [[9, 10, 11]] and c.tolist() == [12] and network.parameter_count == 13


@pytest.mark.parametrize("seeds", [(4,), (1,), (2, 3)])
@each_middle
def test_many_networks_at_once_are_each_by_itself(xp, rng, middle, seeds):
    network = Network(3, 4, 2, 2, middle)
    flat, x = rng.normal(size=(*seeds, network.parameter_count)), rng.normal(size=(6, 3))
    together = network.pipeline(xp.asarray(flat)).stages(xp.asarray(x))
    assert together[-1].shape == (*seeds, 6, 2)
    for index in np.ndindex(seeds):
        alone = network.pipeline(xp.asarray(flat[index])).stages(xp.asarray(x))
        for a, b in zip(together[1:], alone[1:], strict=True):
            np.testing.assert_allclose(np.asarray(a)[index], np.asarray(b), rtol=0, atol=ROUNDING)


def test_gradients_of_many_networks_at_once():
    network, x = Network(2, 3, 2, 1), array_api_compat.torch.randn(5, 2)
    flat = torch.randn(2, network.parameter_count, requires_grad=True)
    assert torch.autograd.gradcheck(lambda flat: network.pipeline(flat).stages(x)[-1], flat)


def test_widths_may_differ():
    network = Network(64, 3, 2, 10, widths=[32, 3])
    assert network.dimensions == (64, 32, 3, 10) and network.hidden_widths == (32, 3) and hash(network)
    assert network.parameter_count == sum(m * d + m for d, m in pairwise(network.dimensions))


def test_before_training_parameters_are_spread_as_those_of_a_linear_module():
    network = Network(16, 64, 1, 1)
    flat = initial(network, range(9))
    assert flat.shape == (9, network.parameter_count) and flat.dtype == np.float32
    for part, linear in zip(
        network.unflatten(flat), (torch.nn.Linear(16, 64), torch.nn.Linear(64, 1)), strict=True
    ):
        bound = linear.weight.shape[1] ** -0.5
        for ours, theirs in zip(part, (linear.weight, linear.bias), strict=True):
            assert abs(ours).max() <= bound and abs(theirs).max() <= bound
            assert ours.std() == pytest.approx(bound / sqrt(3), rel=0.3)
    assert (initial(network, [3])[0] == flat[3]).all() and (flat[3] != flat[4]).any()


def test_names_of_stages():
    assert stage_names(Network(2, 3, 2, 1)) == [
        "input",
        "Linear 1",
        "u<sub>ε</sub>",
        "Linear 2",
        "u<sub>ε</sub>",
        "output",
    ]
    assert stage_names(Network(2, 3, 1, 1, "layer_norm"))[2:] == ["centred", "LayerNorm", "output"]
    assert stage_names(Network(2, 3, 1, 1, "none")) == ["input", "Linear 1", "output"]


def test_layer_norm_lies_on_the_circle_of_its_hyperplane(rng):
    network = Network(2, 3, 1, 1, "layer_norm", eps=0.0)
    stages = network.pipeline(rng.normal(size=network.parameter_count)).stages(rng.normal(size=(9, 2)))
    np.testing.assert_allclose(stages[3].sum(-1), 0, atol=ROUNDING)
    np.testing.assert_allclose(np.linalg.norm(stages[3], axis=-1), sqrt(3), atol=ROUNDING)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"middle": "softmax"}, "u_eps, layer_norm"),
        ({"depth": 13}, "depth"),
        ({"depth": -1}, "depth"),
        ({"depth": 1.0}, "depth"),
        ({"depth": True}, "depth"),
        ({"width": 0}, "width"),
        ({"width": 65}, "width"),
        ({"inputs": 10**9}, "width"),
        ({"outputs": "1"}, "width"),
        ({"widths": (3,)}, "as many widths"),
        ({"widths": (3, 0)}, "width"),
        ({"eps": -1.0}, "eps"),
        ({"eps": float("nan")}, "eps"),
        ({"eps": float("inf")}, "eps"),
    ],
)
def test_what_is_no_network(options, message):
    with pytest.raises(ValueError, match=message):
        Network(**{"inputs": 2, "width": 3, "depth": 2, "outputs": 1, **options})


def test_a_wrong_number_of_parameters():
    with pytest.raises(ValueError, match="25 parameters: got 24"):
        Network(2, 3, 2, 1).pipeline(np.zeros(24))
