"""Points projected onto the page: where they are, what fits, and what is in front of them."""

from dataclasses import replace

import numpy as np
import pytest

from components.drawing.projection import (
    EDGE_PX,
    MIN_SHRINK,
    behind,
    fitting,
    paper,
    project,
    triangles_before,
)
from geometry.clouds import sphere_mesh
from tests.components.recipes import recipe

SIZE = (400.0, 300.0)


def space(d):
    view = recipe(d).views[0]
    return replace(view, dims=d, ranges=((-2.0, 2.0),) * d)


def test_the_axes_of_a_flat_view_end_where_its_paper_does():
    view = space(2)
    size = paper(view, SIZE)
    assert size[0] == size[1] < 300, "equal axes"
    pixels, _ = project(view, np.array([[-2.0, -2.0], [2.0, 2.0]]), (), size)
    np.testing.assert_allclose(pixels, np.array([[-1, 1], [1, -1]]) * np.array(size) / 2)


def test_nearer_is_larger_and_up_is_up():
    view = space(3)
    pixels, depth = project(view, np.array([[0.0, 0, 1], [1, 0, 1]]), (2, 0, 0), SIZE)
    assert depth[1] < depth[0] and pixels[1, 1] < pixels[0, 1] < 0


@pytest.mark.parametrize(
    ("x", "y", "expected"), [(10, 10, 1), (200, 0, (200 - EDGE_PX) / 200), (0, 9e9, MIN_SHRINK)]
)
def test_a_picture_is_made_smaller_only_as_far_as_it_must(x, y, expected):
    assert fitting([np.array([[x, -y], [np.nan, np.nan]]), np.zeros((0, 2))], SIZE) == pytest.approx(expected)


def test_of_nothing_everything_fits():
    assert fitting([], SIZE) == 1


@pytest.mark.parametrize("seed", range(5))
def test_a_sphere_hides_exactly_what_faces_away(seed):
    """From the eye e, exactly those points x of the unit sphere are visible for which ⟨x, e⟩ ≥ 1.

    Points near the horizon are not tested, because the mesh is too coarse there.
    """
    rng = np.random.default_rng(seed)
    direction = rng.normal(size=3)
    eye = 1.5 * direction / np.linalg.norm(direction)  # in units of the cube of the axes, which is 4 wide
    points = rng.normal(size=(300, 3))
    points /= np.linalg.norm(points, axis=-1, keepdims=True)
    away = points @ (4 * eye)
    clear = abs(away - 1) > 0.8  # not near the horizon, where the mesh is too coarse
    vertices, order = sphere_mesh()
    (mesh, depths), (pixels, depth) = (project(space(3), x, eye, SIZE) for x in (vertices, points))
    hidden = behind(pixels, depth, mesh[order], depths[order])
    np.testing.assert_array_equal(hidden[clear], away[clear] < 1)
    assert 0 < hidden.sum() < 300


def test_nothing_is_behind_nothing():
    no_triangles, one = (np.zeros((0, 3, 2)), np.ones((0, 3))), (np.zeros((1, 3, 2)), np.ones((1, 3)))
    assert not behind(np.zeros((2, 2)), np.ones(2), *no_triangles).any()
    assert not behind(np.zeros((0, 2)), np.ones(0), *one).size


def test_a_point_is_behind_as_many_triangles_as_stand_between_it_and_the_eye():
    square = np.array([[[-9, -9], [9, -9], [0, 9]]] * 3, float)
    depths = np.repeat([[1.0], [2.0], [3.0]], 3, axis=1)
    at = np.array([0.5, 1.5, 2.5, 3.5])
    pixels = np.zeros((4, 2))
    assert triangles_before(pixels, at, square, depths).tolist() == [0, 1, 2, 3]
    assert triangles_before(pixels + 20, at, square, depths).tolist() == [0, 0, 0, 0]
    on = triangles_before(pixels[:1], np.array([2.0]), square, depths)
    assert on.tolist() == [1], "what lies on a surface is not behind it"
