"""Sheets, the points that layers map to one direction: closed forms agree with forward map and fine grids."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from geometry import Affine, Normalize, Pipeline
from tests.geometry.circle_sheets import (
    circle_sheets,
    crossed_edges,
    image_of_circle,
    layers_of,
    tangent_angles,
)
from tools.films.sheet_counts import plane_sheets, sphere_preimages

NEAR = 1e-7
SEEDS = st.integers(0, 10_000)


def drawn(seed, d, count, inputs=None):
    rng = np.random.default_rng(seed)
    sizes = [(d, inputs or d), *[(d, d)] * (count - 1)]
    return [(rng.normal(size=size), rng.normal(size=d) * rng.choice([0.3, 1, 2])) for size in sizes]


def forward(layers, x):
    for A, b in layers:
        x = x @ A.T + b
        x = x / np.linalg.norm(x, axis=-1, keepdims=True)
    return x


@given(SEEDS, st.sampled_from([2, 3]))
def test_preimages_on_the_sphere_are_on_it_and_go_there(seed, d):
    (layer,) = drawn(seed, d, 1)
    directions = forward([], np.random.default_rng(seed + 1).normal(size=(50, d)))
    points, exist = sphere_preimages(layer, directions)
    for k in range(2):
        np.testing.assert_allclose(np.linalg.norm(points[k][exist[k]], axis=-1), 1, atol=NEAR)
        images = forward([layer], points[k][exist[k]])
        unit = directions[exist[k]] / np.linalg.norm(directions[exist[k]], axis=-1, keepdims=True)
        np.testing.assert_allclose(images, unit, atol=1e-6)


@given(SEEDS, st.integers(0, 4))
def test_sheets_of_a_circle_are_the_crossings_of_its_image(seed, count):
    """`circle_sheets` gives the largest number of edges of a polygon that a ray from the origin can cross.

    The polygon is the image, under n layers, of a fine polygon on the circle. The number is at most 2ⁿ.
    """
    layers = drawn(seed, 2, count) if count else []
    image = image_of_circle(layers)
    longest = np.abs(np.diff(image, axis=0)).max()
    assume(1e-5 < longest < 0.05)  # long edges miss folds; in a tiny image, rounding makes folds
    tangents = np.sort(tangent_angles(layers))
    # `circle_sheets` counts directions at less than LEAST_ANGLE as the same, and `crossed_edges` does not
    assume((np.diff(tangents, append=tangents[:1] + 2 * np.pi) > 1e-6).all())
    assert crossed_edges(image) == circle_sheets(layers) <= 2**count


def test_five_layers_reach_the_bound():
    fold = (np.array([[0, 0.05], [1.0, 0]]), np.array([0.15, -0.75]))
    assert [circle_sheets([fold] * count) for count in range(6)] == [1, 2, 4, 8, 16, 32]
    around = (np.eye(2), np.array([0.5, 0.2]))  # the origin stays inside
    assert circle_sheets([around] * 5) == 1


def test_layers_of_a_pipeline():
    A, b = np.array([[0, 0.05], [1.0, 0]]), np.array([0.15, -0.75])
    found = layers_of(Pipeline([Affine(A, b), Normalize(), Affine(2 * A, b), Normalize()]), {})
    assert len(found) == 2 and (found[1][0] == 2 * A).all() and (found[1][1] == b).all()


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_sheets_of_a_plane_are_the_triangles_that_a_ray_meets(seed, count):
    layers = drawn(seed, 3, count, inputs=2)
    side = 241
    grid = np.stack(np.meshgrid(*[np.linspace(-1, 1, side)] * 2, indexing="ij"), -1).reshape(-1, 2)
    k = np.arange(side**2).reshape(side, side)
    a, b, c, d = k[:-1, :-1].ravel(), k[1:, :-1].ravel(), k[:-1, 1:].ravel(), k[1:, 1:].ravel()
    corners = forward(layers, grid)[np.concatenate([np.stack([a, b, d], 1), np.stack([a, d, c], 1)])]
    ways = forward(layers, np.random.default_rng(seed).uniform(-0.9, 0.9, (60, 2)))
    inverse = np.linalg.inv(corners[np.abs(np.linalg.det(corners)) > 1e-15])
    met = np.array([((w @ inverse) >= -1e-9).all(-1).sum() for w in ways])
    found = plane_sheets(layers, ways, 1.0)
    assert found.min() >= 1 and found.max() <= 2 ** (count - 1)
    assert (met == found).mean() > 0.9  # some rays graze an edge of the sheet, or a fold
