"""Numbers of sheets: how many points of a sphere or plane a stack of layers maps to the same direction.

A *layer* is a pair (A, b), which stands for the map x ↦ (Ax + b)/‖Ax + b‖, without ε. A ray from the origin
meets the ellipsoid {Ax + b : ‖x‖ = 1} at most twice, so each layer at most doubles the number of sheets.
Source: ni2024.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from geometry.entries import Entries
from geometry.pipeline import Affine, Pipeline

Array = np.ndarray
Layer = tuple[Array, Array]

LEAST_ANGLE = 1e-9  # in radians; directions at a smaller angle count as the same


def layers_of(pipeline: Pipeline, params: Mapping[str, float]) -> list[Layer]:
    """The layers (A, b) of a pipeline of alternating Affine and Normalize steps, at these parameters.

    Raises TypeError unless A and b of each Affine are `Entries`.
    """
    layers = []
    # the Normalize steps between are not checked
    for step in pipeline.steps[::2]:
        if not (isinstance(step, Affine) and isinstance(step.A, Entries) and isinstance(step.b, Entries)):
            raise TypeError(f"{step} is no Affine with its own A and b")
        layers.append((step.A.value(params), step.b.value(params)))
    return layers


def sphere_preimages(layer: Layer, directions: Array) -> tuple[Array, Array]:
    """The points x of the unit sphere that a layer maps to each direction u.

    Returns two points for each direction, (2, *batch, d), and which of them exist, (2, *batch). They solve Ax
    + b = s·u with s > 0, so that ‖A⁻¹(s·u − b)‖ = 1. u may have any length above 0. If a point does not
    exist, its place holds u.
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


def circle_sheets(layers: Sequence[Layer]) -> int:
    """The largest number of points of the unit circle that the layers map to one direction.

    All layers have A (2, 2). The result is exact: the number changes only at directions in which the ray is
    tangent to the image of the circle, so it is enough to try one direction between each two neighbouring
    tangents. Without layers it is 1; at most it is 2^(number of layers).
    """
    tangents = np.sort(_tangent_angles(layers))
    ends = np.append(tangents, tangents[:1] + 2 * np.pi) if len(tangents) else np.array([0.0, 1.0])
    are_distinct = np.diff(ends) > LEAST_ANGLE
    middles = (ends[:-1] + np.diff(ends) / 2)[are_distinct]
    points, exist = np.stack([np.cos(middles), np.sin(middles)], -1)[None], np.ones((1, len(middles)), bool)
    for layer in reversed(layers):
        preimages, have_preimage = sphere_preimages(layer, points)
        points = preimages.reshape(-1, *preimages.shape[2:])
        exist = (have_preimage & exist).reshape(-1, len(middles))
    return int(exist.sum(0).max())


def _tangent_angles(layers: Sequence[Layer]) -> Array:
    """The angles of the rays from the origin that are tangent to the image of the circle under the layers."""
    directions = np.empty((0, 2))
    for A, b in layers:
        centre = np.linalg.solve(A, b)
        square = centre @ centre
        # Ax + b is orthogonal to the normal A⁻ᵀx of the image at it, so 0 = ⟨A⁻ᵀx, Ax + b⟩ = 1 + ⟨x, A⁻¹b⟩
        if square > 1:
            perpendicular = np.sqrt(square - 1) * np.array([-centre[1], centre[0]])
            directions = np.concatenate(
                [directions, (np.stack([perpendicular, -perpendicular]) - centre) / square]
            )
        directions = directions @ A.T + b
        directions = directions / np.linalg.norm(directions, axis=-1, keepdims=True)
    return np.arctan2(directions[:, 1], directions[:, 0])
