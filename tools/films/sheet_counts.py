"""Sheet counts: how many inputs in the plane a trained network with u_ε maps to the same direction.

The count is for ε = 0. Then a *layer* is a pair (A, b), which stands for the map x ↦ (Ax + b)/‖Ax + b‖, and
`plane_sheets` finds all inputs with a given direction in closed form. Counting in a triangulation of the
plane instead would overcount where triangles become thin. A ray from the origin meets the ellipsoid
{Ax + b : ‖x‖ = 1} at most twice, so each layer at most doubles the number of sheets. Source: ni2024.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from learning.network import Network

Array = np.ndarray
Layer = tuple[Array, Array]

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

    flat: the network's weights as one vector. The direction is that of the last hidden layer's output. The
    directions that are tried are those to which the network maps random inputs. The inputs are drawn in
    rounds, each with twice as many inputs as the previous one. The search ends after two rounds in a row
    without a larger result, or when a round would have more than MAX_INPUTS inputs. A direction to which the
    network maps very few inputs may be missed.
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


def sphere_preimages(layer: Layer, directions: Array) -> tuple[Array, Array]:
    """The points x of the unit sphere that a layer (A, b) maps to each direction u (*batch, d).

    For each direction there are at most two: the solutions of Ax + b = s·u with ‖x‖ = 1 and s > 0. Returns
    two points for each direction, (2, *batch, d), and which of them exist, (2, *batch). In place of a point
    that does not exist, the first array has u. u may have any length above 0.
    """
    A, b = layer
    ray, centre = directions @ np.linalg.inv(A).T, np.linalg.solve(A, b)
    square, along = (ray**2).sum(-1), ray @ centre
    discriminant = along**2 - square * (centre @ centre - 1)
    root = np.sqrt(np.maximum(discriminant, 0))
    scale = np.stack([along - root, along + root]) / square
    exist = (discriminant > 0) & (scale > 0)
    return np.where(exist[..., None], scale[..., None] * ray - centre, directions), exist


def plane_preimages(layer: Layer, directions: Array) -> tuple[Array, Array]:
    """The point p of the plane that a layer with A (3, 2) maps to each direction u (*batch, 3).

    Returns the points (*batch, 2), which are 0 where there is none, and whether they exist (*batch,). A p + b
    = s·u with s > 0 has at most one solution, unless the plane {Ap + b} contains the origin.
    """
    A, b = layer
    up = np.cross(A[:, 0], A[:, 1])  # the normal of the plane
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = (up @ b) / (directions @ up)
        points = (scale[..., None] * directions - b) @ np.linalg.pinv(A).T
    exist = np.isfinite(scale) & (scale > 0)
    return np.where(exist[..., None], points, 0), exist


def plane_sheets(layers: Sequence[Layer], directions: Array, half: float) -> Array:
    """For each of N directions (N, 3), how many points of the square [−half, half]² the layers map to it.

    The first layer has A (3, 2), the others (3, 3). There are at most 2^(number of layers − 1) such points.
    """
    points, exist = directions[None], np.ones((1, len(directions)), bool)
    for layer in reversed(layers[1:]):
        preimages, have_preimage = sphere_preimages(layer, points)
        points = preimages.reshape(-1, *preimages.shape[2:])
        exist = (have_preimage & exist).reshape(-1, len(directions))
    flat, have_preimage = plane_preimages(layers[0], points)
    return (exist & have_preimage & (np.abs(flat) <= half).all(-1)).sum(0)
