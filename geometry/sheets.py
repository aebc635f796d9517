"""Numbers of sheets: how many points of a sphere or plane a stack of layers maps to the same direction.

A *layer* is a pair (A, b), which stands for the map x ↦ (Ax + b)/‖Ax + b‖, without ε. A ray from the origin
meets the ellipsoid {Ax + b : ‖x‖ = 1} at most twice, so each layer at most doubles the number of sheets.
Source: ni2024.
"""

from collections.abc import Sequence

import numpy as np

Array = np.ndarray
Layer = tuple[Array, Array]


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
    """For each direction (N, 3), the number of points of the square [−half, half]² that layers map to it.

    The first layer has A (3, 2), the others (3, 3). There are at most 2^(number of layers − 1) such points.
    """
    points, exist = directions[None], np.ones((1, len(directions)), bool)
    for layer in reversed(layers[1:]):
        preimages, have_preimage = sphere_preimages(layer, points)
        points = preimages.reshape(-1, *preimages.shape[2:])
        exist = (have_preimage & exist).reshape(-1, len(directions))
    flat, have_preimage = plane_preimages(layers[0], points)
    return (exist & have_preimage & (np.abs(flat) <= half).all(-1)).sum(0)
