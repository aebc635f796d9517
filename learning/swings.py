"""Folds: how far the outputs of a network's norms turn when its weights change. Source: winsor2022."""

from dataclasses import dataclass

import numpy as np

from geometry.angles import angles
from geometry.pipeline import Normalize
from geometry.sphere import to_sphere
from learning.network import Network

Array = np.ndarray

SIDE_CHANGE_DEGREES = 90.0  # a point that turns further has changed its side of the sphere


@dataclass(frozen=True, eq=False)
class Swing:
    """The norm number `layer` (from 1), and the indices of the points that turn far there, as in `swing`."""

    layer: int
    points: Array


def swing(network: Network, before: Array, after: Array, x: Array) -> Swing | None:
    """The normalisation layer at which the largest number of points turn by more than SIDE_CHANGE_DEGREES.

    If several layers have equally many such points, the first of these layers is returned, because points
    that turn at one layer also arrive turned at the next. If no layer has such points, layer 1 is returned
    with no points. Returns None for a network without normalisation. before, after (P,): the weights before
    and after a change. x (N, d): the points, which are inputs of the network.
    """
    across = turns(network, before, after, x) > SIDE_CHANGE_DEGREES
    if not len(across):
        return None
    layer = int(across.sum(-1).argmax())
    return Swing(layer + 1, np.flatnonzero(across[layer]))


def turns(network: Network, before: Array, after: Array, x: Array) -> Array:
    """The angles (L, N) in degrees by which the outputs of L norms turn when the network's weights change.

    The network is applied to the inputs x (N, d) with the weights `before` (P,) and with `after` (P,). Each
    angle is the one between the two outputs of a norm for an input, seen from the origin.
    """
    ends = [_directions(network, weights, x) for weights in (before, after)]
    turned = [angles(u, v) for u, v in zip(*ends, strict=True)]
    return np.degrees(np.array(turned).reshape(-1, len(x)))


def _directions(network: Network, weights: Array, x: Array) -> list[Array]:
    pipeline = network.pipeline(weights.astype(float))
    stages = pipeline.stages(x.astype(float))[1:]
    return [
        to_sphere(y) for step, y in zip(pipeline.steps, stages, strict=True) if isinstance(step, Normalize)
    ]
