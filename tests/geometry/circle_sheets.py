"""The largest number of points of a circle that layers map to one direction, as the browser counts it.

A layer (A, b) maps x to Ax + b, divided by its length.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from geometry.entries import Entries
from geometry.pipeline import Affine, Pipeline
from tools.films.sheet_counts import Array, Layer, sphere_preimages

LEAST_ANGLE = 1e-9  # in radians; directions at a smaller angle count as the same


def layers_of(pipeline: Pipeline, params: Mapping[str, float]) -> list[Layer]:
    """The layers (A, b), at given parameters, of a pipeline in which Affine and Normalize steps alternate.

    Raises TypeError if a step with an even index (0, 2, …) is not an Affine whose A and b are `Entries`. The
    other steps are not checked.
    """
    layers = []
    # the Normalize steps between are not checked
    for step in pipeline.steps[::2]:
        if not (isinstance(step, Affine) and isinstance(step.A, Entries) and isinstance(step.b, Entries)):
            raise TypeError(f"{step} is no Affine with its own A and b")
        layers.append((step.A.value(params), step.b.value(params)))
    return layers


def circle_sheets(layers: Sequence[Layer]) -> int:
    """The largest number of points of the unit circle that the layers map to one direction.

    Each A is (2, 2). Without layers the result is 1; with n layers it is at most 2ⁿ. The angles from
    `tangent_angles` divide the directions into intervals. Within an interval the number is constant, so one
    direction is tried in each interval that is longer than LEAST_ANGLE.
    """
    tangents = np.sort(tangent_angles(layers))
    ends = np.append(tangents, tangents[:1] + 2 * np.pi) if len(tangents) else np.array([0.0, 1.0])
    are_distinct = np.diff(ends) > LEAST_ANGLE
    middles = (ends[:-1] + np.diff(ends) / 2)[are_distinct]
    points, exist = np.stack([np.cos(middles), np.sin(middles)], -1)[None], np.ones((1, len(middles)), bool)
    for layer in reversed(layers):
        preimages, have_preimage = sphere_preimages(layer, points)
        points = preimages.reshape(-1, *preimages.shape[2:])
        exist = (have_preimage & exist).reshape(-1, len(middles))
    return int(exist.sum(0).max())


def image_of_circle(layers: Sequence[Layer]) -> Array:
    """The images, under the layers, of 20,000 points evenly spread on the unit circle: (20,000, 2)."""
    angles = 2 * np.pi * np.arange(20_000) / 20_000
    image = np.stack([np.cos(angles), np.sin(angles)], -1)
    for A, b in layers:
        image = image @ A.T + b
        image = image / np.linalg.norm(image, axis=-1, keepdims=True)
    return image


def crossed_edges(image: Array) -> int:
    """The largest number of edges of a closed polygon that one ray from the origin crosses.

    image (n, 2): the corners in order, all on the unit circle. The corners at which the polygon turns back
    divide the circle into arcs. All rays through one arc cross equally many edges, so one ray is tried for
    each arc.
    """
    following = np.roll(image, -1, axis=0)
    forwards = image[:, 0] * following[:, 1] > image[:, 1] * following[:, 0]
    back = image[forwards != np.roll(forwards, 1)]
    ends = np.sort(np.arctan2(back[:, 1], back[:, 0])) if len(back) else np.zeros(1)
    rays = ends + np.diff(ends, append=ends[:1] + 2 * np.pi) / 2
    left = image @ np.stack([-np.sin(rays), np.cos(rays)]) > 0
    ahead = image @ np.stack([np.cos(rays), np.sin(rays)]) > 0
    return int(((left != np.roll(left, 1, axis=0)) & ahead).sum(0).max())


def tangent_angles(layers: Sequence[Layer]) -> Array:
    """The angles (n,), in radians and unsorted, at which the image of the unit circle can turn back.

    The layer (A, b) maps the unit circle to the ellipse of all Ax + b with ‖x‖ = 1. If the origin is outside
    this ellipse, the layer adds two angles: those of the two tangents from the origin to the ellipse. If not,
    it adds none. Later layers map the directions of the tangents like points.
    """
    directions = np.empty((0, 2))
    for A, b in layers:
        centre = np.linalg.solve(A, b)
        square = centre @ centre
        # the ray to Ax + b is tangent if it is orthogonal to the ellipse's normal there, which is A⁻ᵀx:
        # 0 = ⟨A⁻ᵀx, Ax + b⟩ = 1 + ⟨x, A⁻¹b⟩
        if square > 1:
            perpendicular = np.sqrt(square - 1) * np.array([-centre[1], centre[0]])
            directions = np.concatenate(
                [directions, (np.stack([perpendicular, -perpendicular]) - centre) / square]
            )
        directions = directions @ A.T + b
        directions = directions / np.linalg.norm(directions, axis=-1, keepdims=True)
    return np.arctan2(directions[:, 1], directions[:, 0])
