import numpy as np
import pytest

from geometry import clouds
from geometry.centering import hyperplane_basis

ROUNDING = 1e-12  # double precision through a sine and a sum


def sides(points, triangles):
    """For a mesh, return the number of triangles at each edge, (edges,), of all vertices and all triangles.

    Vertices at the same place count as one. A triangle with two corners at one place does not count.
    """
    _, place = np.unique(np.round(points, 9), axis=0, return_inverse=True)
    corners = place.reshape(-1)[triangles]
    whole = corners[(corners != np.roll(corners, 1, axis=1)).all(1)]  # without those that a pole flattens
    pairs = np.sort(np.concatenate([whole[:, [0, 1]], whole[:, [1, 2]], whole[:, [2, 0]]]), axis=1)
    return np.unique(pairs, axis=0, return_counts=True)[1], len(np.unique(corners)), len(whole)


def area(points, triangles):
    a, b, c = np.moveaxis(np.pad(points, ((0, 0), (0, 3 - points.shape[1])))[triangles], 1, 0)
    return np.linalg.norm(np.cross(b - a, c - a), axis=-1).sum() / 2


def test_gaussian_repeats_by_its_seed():
    x = clouds.gaussian(20_000, 3, seed=5)
    assert x.shape == (20_000, 3) and (x == clouds.gaussian(20_000, 3, seed=5)).all()
    assert (x != clouds.gaussian(20_000, 3, seed=6)).any()
    five_sigma = 5 / np.sqrt(len(x))
    assert np.all(np.abs(x.mean(0)) < five_sigma) and np.all(np.abs(x.var(0) - 1) < np.sqrt(2) * five_sigma)


@pytest.mark.parametrize("d", [1, 2, 3, 4])
@pytest.mark.parametrize("n", [1, 2, 8, 27, 63, 64, 65, 400, 10_000])
def test_lattice_is_the_largest_that_fits(n, d):
    x = clouds.lattice(n, d)
    side = round(len(x) ** (1 / d))
    assert side**d == len(x) and (len(x) <= n or side == 2) and (side + 1) ** d > n
    assert len(np.unique(x, axis=0)) == len(x) and np.abs(x).max() == 1.5
    np.testing.assert_allclose(x.mean(0), 0, atol=ROUNDING)


@pytest.mark.parametrize("n", [1, 2, 7])
def test_ring_is_an_even_circle(n):
    u, v = hyperplane_basis(3)
    center = np.array([1.0, 2, 3])
    x = clouds.ring(n, u, v, radius=2.5, center=center) - center
    np.testing.assert_allclose(np.linalg.norm(x, axis=1), 2.5, rtol=ROUNDING)
    np.testing.assert_allclose(x.sum(1), 0, atol=ROUNDING)
    steps = np.sum(x * np.roll(x, 1, axis=0), 1) / 2.5**2
    np.testing.assert_allclose(steps, np.cos(2 * np.pi / n), atol=ROUNDING)


def test_a_quarter_of_a_ring_is_exact():
    """Points of a ring at multiples of 90° are exact: on this ring, one coordinate of each is exactly 0.

    This matters for a ring through the direction 𝟏: its points on the line along 𝟏 must be constant vectors,
    without rounding errors.
    """
    x = clouds.ring(8, np.array([1.0, 0]), np.array([0.0, 1]))
    assert np.count_nonzero(x == 0) == 4


def test_closed_returns():
    assert clouds.closed(3).tolist() == [0, 1, 2, 0]


def test_segments_have_gaps_between():
    points, order = clouds.segments(np.arange(12.0).reshape(3, 2, 2))
    assert points.tolist() == np.arange(12).reshape(6, 2).tolist()
    assert order.tolist() == [0, 1, -1, 2, 3, -1, 4, 5]


def test_joined_lines():
    assert clouds.joined([2, 1, 3]).tolist() == [0, 1, -1, 2, -1, 3, 4, 5]
    assert clouds.joined([2]).tolist() == [0, 1]


@pytest.mark.parametrize(("rows", "columns"), [(2, 2), (3, 5), (1, 4)])
def test_grid_mesh_has_two_triangles_a_cell(rows, columns):
    triangles = clouds.grid_mesh(rows, columns)
    assert triangles.shape == (2 * (rows - 1) * (columns - 1), 3)
    y, x = np.mgrid[:rows, :columns]
    grid = np.column_stack([x.ravel(), y.ravel()]).astype(float)
    assert area(grid, triangles) == (rows - 1) * (columns - 1)


def test_sphere_mesh_is_closed():
    points, triangles = clouds.sphere_mesh(meridians=12, parallels=6)
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1, rtol=ROUNDING)
    counts, vertices, faces = sides(points, triangles)
    assert (counts == 2).all(), "every side belongs to two triangles"
    assert vertices - len(counts) + faces == 2, "Euler"


def test_a_finer_sphere_mesh_has_nearly_its_area():
    coarse, fine = (area(*clouds.sphere_mesh(meridians=2 * k, parallels=k)) / (4 * np.pi) for k in (12, 24))
    assert coarse < fine < 1 and (1 - fine) / (1 - coarse) == pytest.approx(1 / 4, rel=0.05)  # second order


def test_disc_mesh_has_one_rim():
    points, triangles = clouds.disc_mesh()
    assert np.linalg.norm(points, axis=1).max() == pytest.approx(1, rel=ROUNDING)
    counts, vertices, faces = sides(points, triangles)
    assert (counts == 1).sum() == 48 and vertices - len(counts) + faces == 1
    assert area(points, triangles) == pytest.approx(24 * np.sin(np.pi / 24), rel=ROUNDING)  # a regular 48-gon


def test_the_lines_of_a_grid_go_along_its_rows_and_columns():
    order = clouds.grid_lines(3, 5, apart=2)
    lines = [line.tolist() for line in np.split(order, np.flatnonzero(order < 0))]
    rows, columns = [[0, 1, 2, 3, 4], [10, 11, 12, 13, 14]], [[0, 5, 10], [2, 7, 12], [4, 9, 14]]
    assert [line[line[0] < 0 :] for line in lines] == [*rows, *columns]


def test_graticule_lies_on_the_sphere():
    points, order = clouds.graticule(meridians=6, parallels=4, fine=8)
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1, rtol=ROUNDING)
    assert (order == -1).sum() == 3 + 3 - 1 and sorted(order[order >= 0]) == list(range(len(points)))
    circles = np.split(points[order[order >= 0]], 6)
    for circle in circles:
        np.testing.assert_allclose(circle[0], circle[-1], atol=ROUNDING)  # each returns


def test_numbers_are_even_then_finer_to_zero():
    x, order = clouds.numbers(4.0, 33)
    np.testing.assert_allclose(x[:33, 0], np.linspace(-4, 4, 33), rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(np.sort(x[:, 0]), -np.sort(-x[:, 0])[::-1], rtol=0, atol=ROUNDING)
    drawn = x[order[order >= 0], 0]
    assert (np.diff(drawn) >= 0).all() and (drawn != 0).all()
    gap = np.flatnonzero(order < 0)
    assert (x[order[gap - 1]] < 0).any() and (order[[0, -1]] >= 0).all()


def test_turned_keeps_order_and_lengths():
    points, order = clouds.turned(clouds.circle(12, *np.eye(2)), hyperplane_basis(3))
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1, rtol=ROUNDING)
    np.testing.assert_allclose(points.sum(1), 0, atol=ROUNDING)
    assert order.tolist() == [*range(12), 0]


def test_cube_has_twelve_edges():
    points, order = clouds.cube_edges(low=0, high=2)
    pairs = points.reshape(12, 2, 3)
    np.testing.assert_allclose(np.abs(pairs[:, 1] - pairs[:, 0]).sum(1), 2)
    assert (np.unique(points, axis=0, return_counts=True)[1] == 3).all() and (order < 0).sum() == 11
