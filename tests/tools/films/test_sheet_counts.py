"""Sheet counts of trained networks are within the known bound, and do not depend on the random inputs.

A sheet count is the largest number of inputs that a network maps to one direction.
"""

from dataclasses import replace

import numpy as np
import pytest

from learning.network import Network
from learning.shipped import film
from tools.films.sheet_counts import HALF, images, most_sheets, network_layers, plane_sheets, same_without_eps


@pytest.mark.parametrize(("name", "bound"), [("spiral", 2), ("spiral_15", 4)])
def test_counts_keep_the_bound_and_do_not_depend_on_the_draw(name, bound):
    found = film(name)
    counts = [[most_sheets(found.network, each[-1], seed=seed) for seed in (0, 1)] for each in found.weights]
    assert all(first == second <= bound for first, second in counts)
    assert max(counts)[0] == bound


def test_a_finer_grid_finds_no_more_sheets():
    """The result of `most_sheets` equals the largest count of sheets for a grid of 500 × 500 inputs."""
    found = film("spiral_15")
    x = np.stack(np.meshgrid(*[np.linspace(-HALF, HALF, 502)[1:-1]] * 2, indexing="ij"), -1).reshape(-1, 2)
    for each in found.weights[:6, -1]:
        layers = network_layers(found.network, each)
        assert plane_sheets(layers, images(layers, x), HALF).max() == most_sheets(found.network, each)


def test_a_network_without_eps_classifies_the_same():
    found = film("spiral")
    flat, points = found.weights[found.best(), -1], found.data.points
    assert 0.98 <= same_without_eps(found.network, flat, points) <= 1
    assert same_without_eps(replace(found.network, eps=0.0), flat, points) == 1


@pytest.mark.parametrize("network", [Network(2, 3, 2, 1, "relu"), Network(3, 3, 2, 1), Network(2, 4, 2, 1)])
def test_other_networks_are_refused(network):
    with pytest.raises(ValueError, match="u_eps, 2 inputs and width 3"):
        most_sheets(network, network.initial([0])[0])
