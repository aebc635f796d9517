"""Sheet counts: how many inputs in the plane a trained network with u_ε maps to the same direction.

The count is for ε = 0. Then each layer is an affine map followed by x/‖x‖, and `geometry.sheets` finds all
inputs with a given direction in closed form. Counting in a triangulation of the plane instead would overcount
where triangles become thin.
"""

from dataclasses import replace

import numpy as np

from geometry.sheets import Layer, plane_sheets
from learning.network import Network

Array = np.ndarray

HALF = 1.0  # half the side of the square of inputs
FIRST_INPUTS, MAX_INPUTS = 4_000, 256_000  # number of inputs in the first draw, and in the largest


def network_layers(network: Network, flat: Array) -> list[Layer]:
    """The matrix A and the vector b of each Linear of a network except the last, in double precision.

    flat: the network's parameters as one vector. Raises ValueError unless the network has 2 inputs, one or
    more hidden layers, all of width 3, and the activation u_ε.
    """
    if (network.middle, network.inputs, set(network.hidden_widths)) != ("u_eps", 2, {3}):
        raise ValueError(f"sheets are counted for u_eps, 2 inputs and width 3: got {network}")
    return [(A.astype(float), b.astype(float)) for A, b in network.unflatten(flat)[:-1]]


def images(layers: list[Layer], points: Array) -> Array:
    """The unit vectors (N, 3) to which `layers` map points (N, 2) of the plane, for ε = 0."""
    x = points
    for A, b in layers:
        x = x @ A.T + b
        x = x / np.linalg.norm(x, axis=-1, keepdims=True)
    return x


def most_sheets(network: Network, flat: Array, *, seed: int = 0) -> int:
    """The largest number of points of the square [−1, 1]² that a network maps to one direction, for ε = 0.

    The direction is that of the last hidden layer's output. The directions that are tried are those to which
    the network maps random inputs. The inputs are drawn in rounds, each with twice as many inputs as the
    previous one. The search ends after two rounds without a larger result, or when a round would have more
    than MAX_INPUTS inputs. A direction to which the network maps very few inputs may be missed.
    """
    layers, rng = network_layers(network, flat), np.random.default_rng(seed)
    most, count, vain = 0, FIRST_INPUTS, 0
    while vain < 2 and count <= MAX_INPUTS:
        points = rng.uniform(-HALF, HALF, (count, 2))
        found = int(plane_sheets(layers, images(layers, points), HALF).max())
        vain = 0 if found > most else vain + 1
        most, count = max(most, found), 2 * count
    return most


def same_without_eps(network: Network, flat: Array, points: Array) -> float:
    """The fraction of points (N, 2) whose predicted class stays the same if the network's ε becomes 0."""
    parts = network.parts(flat)
    labels = [each.logits(parts, points)[:, 0] > 0 for each in (network, replace(network, eps=0.0))]
    return float(np.mean(labels[0] == labels[1]))
