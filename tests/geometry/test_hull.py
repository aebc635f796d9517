from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from geometry.hull import outline, polygon, triangles, vertices


def combines(x, points):
    """Whether x is a convex combination of the points, by a linear programme."""
    if not len(points):
        return False
    equations = np.vstack([points.T, np.ones(len(points))])
    return linprog(np.zeros(len(points)), A_eq=equations, b_eq=np.append(x, 1), method="highs").status == 0


def by_programme(points):
    return [k for k, x in enumerate(points) if not combines(x, points[(points != x).any(-1)])]


@settings(max_examples=40)
@given(st.integers(1, 4), st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_vertices_of_whole_numbers_are_those_of_a_linear_programme(d, n, seed):
    """The hull's vertices are right for points whose coordinates are 0, 1 or 2.

    Many of these points coincide, are collinear or coplanar, or lie inside an edge or a face.
    """
    points = np.random.default_rng(seed).integers(0, 3, size=(n, d)).astype(float)
    assert vertices(points).tolist() == by_programme(points)


@settings(max_examples=25)
@given(st.integers(1, 4), st.integers(0, 4), st.integers(0, 2**32 - 1))
def test_vertices_of_a_cloud_in_a_flat_of_any_dimension(d, r, seed):
    rng, r = np.random.default_rng(seed), min(r, d)
    within = rng.normal(size=(9, r))
    turned, _ = np.linalg.qr(rng.normal(size=(d, d)))
    points = within @ turned[:r] + rng.normal(size=d)
    assert vertices(points).tolist() == by_programme(within)


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_a_cube_its_middle_its_edges_and_its_copies(d):
    cube = np.asarray(list(product([0.0, 1.0], repeat=d)))
    middles = np.asarray([(a + b) / 2 for a in cube for b in cube if (a != b).any()])
    points = np.vstack([cube, middles, cube])
    n, m = len(cube), len(cube) + len(middles)
    assert vertices(points).tolist() == [*range(n), *range(m, m + n)]


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("shift", [0.0, 1e3])
def test_size_and_place_do_not_matter(scale, shift):
    points = np.random.default_rng(3).normal(size=(30, 3))
    moved = scale * (points + shift)
    np.testing.assert_array_equal(vertices(moved), vertices(points))


@pytest.mark.parametrize("width", [1e-3, 1e-5, 1e-7, 1e-8])
def test_a_thin_set_has_the_vertices_of_the_same_set_before_it_was_pressed(width):
    points = np.random.default_rng(4).normal(size=(30, 3))
    turn = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]
    pressed = points * [1, width, width] @ turn
    np.testing.assert_array_equal(vertices(pressed), vertices(points))
    bent = np.array([[0, 0], [0.4, width], [1, 0]])
    assert vertices(bent).tolist() == [0, 1, 2] and len(outline(bent)) == 4


def test_few_points():
    for d in (1, 2, 3, 4):
        assert vertices(np.zeros((0, d))).size == 0
        assert vertices(np.ones((1, d))).tolist() == [0] and vertices(np.ones((3, d))).tolist() == [0, 1, 2]
        assert vertices([[0] * d, [1] * d, [0] * d]).tolist() == [0, 1, 2]
        assert vertices([[0] * d, [1] * d, [2] * d]).tolist() == [0, 2]


@settings(max_examples=40)
@given(st.integers(0, 12), st.integers(0, 2**32 - 1))
def test_a_polygon_turns_left_at_each_of_its_vertices(n, seed):
    points = np.random.default_rng(seed).integers(0, 4, size=(n, 2)).astype(float)
    around = polygon(points)
    assert {tuple(p) for p in points[around]} == {tuple(p) for p in points[vertices(points)]}
    assert len(np.unique(points[around], axis=0)) == len(around)
    if len(around) > 2:
        a, b, c = (points[np.roll(around, -k)] for k in range(3))
        (ux, uy), (vx, vy) = (b - a).T, (c - b).T
        assert (ux * vy - uy * vx > 0).all()


def test_triangles_enclose_the_volume_and_look_outward():
    cube = np.asarray(list(product([0.0, 1.0], repeat=3)))
    for points, volume in ((cube, 1.0), (cube @ np.diag([1, 2, 3.0]) - 5, 6.0)):
        a, b, c = np.moveaxis(points[triangles(points)], 1, 0)
        assert np.sum(a * np.cross(b, c)) / 6 == pytest.approx(volume, abs=1e-10)


def test_triangles_of_a_plane_and_of_less():
    square = np.asarray([[0, 0, 1], [1, 0, 1], [0.5, 0.5, 1], [1, 1, 1], [0, 1, 1.0]])
    faces = triangles(square)
    a, b, c = np.moveaxis(square[faces], 1, 0)
    assert len(faces) == 2 and np.linalg.norm(np.cross(b - a, c - a), axis=-1).sum() == pytest.approx(2)
    for few in (np.zeros((0, 3)), np.ones((4, 3)), np.outer([0, 1, 2.0], [1, 2, 3])):
        assert triangles(few).shape == (0, 3)


@pytest.mark.parametrize(
    "points", [np.ones(3), np.full((2, 2), np.nan), [[1, np.inf]], [[1j, 2]], np.ones((1, 2, 3))]
)
def test_what_is_no_cloud(points):
    with pytest.raises(ValueError, match=r"finite points \(n, d\)|real numbers"):
        vertices(points)
    with pytest.raises(ValueError, match=r"finite points \(n, 3\)"):
        triangles(np.ones((4, 2)))
