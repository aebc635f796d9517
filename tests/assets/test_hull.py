"""The browser's convex hull equals Qhull's, also of degenerate sets."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from geometry import hull
from tests.assets.engine import length


def found(node, points):
    points = np.asarray(points, float)
    return node.ask("hull", points=points.ravel().tolist(), n=len(points), d=points.shape[1])


def edges(order):
    """The set of the segments of an outline, each as an unordered pair of indices of points.

    order: the indices of the points along the outline; −1 marks a gap.
    """
    pairs = pairwise(order)
    return {frozenset(pair) for pair in pairs if -1 not in pair}


def places(points, indices):
    """The set of the points with the given indices, as tuples; gaps (−1) are left out."""
    return {tuple(points[k]) for k in indices if k >= 0}


def volume(points, triangles):
    """The volume that triangles enclose; it does not depend on how a flat face is divided into triangles."""
    a, b, c = np.moveaxis(np.asarray(points, float)[np.asarray(triangles)], 1, 0)
    return np.sum(np.cross(a, b) * c) / 6


@settings(max_examples=150)
@given(st.integers(1, 3), st.integers(1, 12), st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_the_hull_of_whole_numbers(node, d, n, seed, wide):
    """The hull of points on a small lattice has the corners of Qhull's hull and, if solid, its volume.

    Many points are equal, collinear or coplanar. So the triangles of a solid hull may have further corners,
    inside its flat faces. If all points are equal, no outline is drawn.
    """
    points = np.random.default_rng(seed).integers(0, wide, size=(n, d)).astype(float)
    got = found(node, points)
    joined, corners = places(points, got["order"]), places(points, hull.vertices(points))
    if got["rank"] == 0:
        assert joined == set() and len(corners) == 1
    elif got["rank"] < 3:
        assert joined == corners
    else:  # triangles of a flat face may also meet at points inside it
        assert joined >= corners
        assert volume(points, got["triangles"]) == pytest.approx(volume(points, hull.triangles(points)))


@settings(max_examples=40)
@given(st.integers(4, 60), st.integers(0, 2**32 - 1), st.sampled_from([1e-2, 1e-3, 1e-4, 1e-5]))
def test_pairs_on_a_sphere_have_the_faces_of_a_hull(node, n, seed, apart):
    """2n points on a sphere, in close pairs, are all corners of their hull, so it has 4n − 4 triangles.

    The triangles enclose the volume of Qhull's hull.
    """
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 3))
    points = np.concatenate([points, points + apart * rng.normal(size=(n, 3))])
    points /= np.linalg.norm(points, axis=-1, keepdims=True)
    triangles = found(node, points)["triangles"]
    assert len(triangles) == 2 * len(points) - 4
    assert volume(points, triangles) == pytest.approx(volume(points, hull.triangles(points)))


@settings(max_examples=100)
@given(st.integers(1, 3), st.integers(5, 60), st.integers(0, 2**32 - 1), st.booleans())
def test_a_cloud_and_a_sphere(node, d, n, seed, sphere):
    """The outlines and triangles of hulls equal Qhull's, for Gaussian points and for points on a sphere.

    On a circle or sphere every point is a corner. For d > 1, points are more than 0.02 apart: with nearer
    neighbours, a corner on a circle protrudes so little that float32 does not show it.
    """
    points = np.random.default_rng(seed).normal(size=(n, d))
    if sphere and d > 1:
        points /= np.linalg.norm(points, axis=-1, keepdims=True)
    assume(d == 1 or all(length(points - p)[k + 1 :].min(initial=1) > 0.02 for k, p in enumerate(points)))
    got = found(node, points)
    assert edges(got["order"]) == edges(hull.outline(points).tolist()) and got["rank"] == d
    if sphere and d > 1:
        assert len(places(points, got["order"])) == n
    if d == 3:
        assert volume(points, got["triangles"]) == pytest.approx(volume(points, hull.triangles(points)))
        assert {frozenset(t) for t in got["triangles"]} == {
            frozenset(t) for t in hull.triangles(points).tolist()
        }


@settings(max_examples=40)
@given(st.integers(3, 20), st.integers(0, 2**32 - 1), st.sampled_from([1, 2, 3]))
def test_a_hyperplane_in_four_dimensions(node, n, seed, rank):
    """For points in a subspace of ℝ⁴, the browser finds the hull corners that Qhull finds in the subspace.

    The points are float32. rank: the dimension of the subspace. The browser must find the dimension that the
    n points span, which is at most n − 1.
    """
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(4, 4)))[0][:rank]
    within = rng.normal(size=(n, rank))
    points = (within @ turn).astype(np.float32)
    got = found(node, points)
    assert places(points, got["order"]) == places(points, hull.vertices(within))
    assert got["rank"] == min(rank, n - 1)


def test_a_cube_with_its_middles_and_copies(node):
    cube = np.array(list(product([0.0, 1], repeat=3)))
    middles = np.array([(a + b) / 2 for a in cube for b in cube if (a != b).any()])
    points = np.vstack([middles, cube, cube])
    got = found(node, points)
    assert places(points, got["order"]) >= places(cube, range(8))
    assert volume(points, got["triangles"]) == pytest.approx(1)


@pytest.mark.parametrize("points", [[[1, 2, 3]], [[1, 2, 3]] * 4, [[0, 0], [0, 0]]])
def test_one_place_has_no_outline(node, points):
    assert found(node, points) == {"rank": 0, "order": [], "triangles": []}


@settings(max_examples=40)
@given(st.integers(3, 12), st.integers(0, 2**32 - 1))
def test_a_plane_in_space_has_the_faces_of_its_polygon(node, n, seed):
    """Coplanar points in space, half of them twice, have the triangles that `geometry.hull` finds."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 2)) @ np.linalg.qr(rng.normal(size=(3, 3)))[0][:2]
    points = np.vstack([points[: n // 2], points])
    got, want = found(node, points)["triangles"], hull.triangles(points).tolist()
    assert len(want) >= 1 and set(map(frozenset, got)) == set(map(frozenset, want))


def test_a_line_has_two_ends_and_no_faces(node):
    points = np.outer([0.3, -1, 2, 0.5, 2], [1, 2, -1])
    got = found(node, points)
    assert got["triangles"] == [] and edges(got["order"]) == {frozenset((1, 2))}


@settings(max_examples=40)
@given(st.integers(1, 3), st.integers(4, 30), st.integers(0, 2**32 - 1))
def test_an_affine_map_takes_a_hull_along(node, d, n, seed):
    """The hulls of affine images of points have Qhull's outline and volume.

    The browser computes four hulls, each from the one before: of the points, of a general affine image, of
    the reflection −x, and of a projection.
    """
    rng = np.random.default_rng(seed)
    x, A = rng.normal(size=(n, d)), rng.normal(size=(d, d))
    assume(np.linalg.cond(A) < 100)
    sets = [x, x @ A + 1, -x, x @ np.diag([1.0] * (d - 1) + [0.0])]
    answers = node.ask("hulls", sets=[each.ravel().tolist() for each in sets], n=n, d=d)
    for points, got in zip(sets, answers, strict=True):
        assert edges(got["order"]) == edges(hull.outline(points).tolist())
        if d == 3 and got["rank"] == 3:
            assert volume(points, got["triangles"]) == pytest.approx(volume(points, hull.triangles(points)))


def test_more_than_three_dimensions_are_refused(node):
    with pytest.raises(AssertionError, match="more than three dimensions"):
        found(node, np.eye(5))


def test_two_hundred_on_a_sphere_take_no_time(node):
    """Computing the hull of 200 points on a sphere takes less than 60 ms of CPU time.

    A frame has 5 ms for it; this looser bound detects only a bad algorithm.
    """
    points = np.random.default_rng(0).normal(size=(200, 3))
    points /= np.linalg.norm(points, axis=-1, keepdims=True)
    assert node.ask("hullTime", points=points.ravel().tolist(), n=200, d=3) < 60
