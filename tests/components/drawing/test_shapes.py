"""SVG path data, read back: which areas of triangles and grids are covered."""

import re

import numpy as np
import pytest

from components.drawing.shapes import above, cells, coarse, path, triangles

CORNERS = np.array([[[0.0, 0.0], [60.0, 0.0], [0.0, 60.0]]])  # an area of 1,800

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def area(drawn):
    """The sum of the unsigned areas of the polygons in SVG path data."""
    total = 0.0
    for piece in re.findall(r"M([^z]*)z", drawn):
        if "l" in piece:
            first, rest = piece.split("l")
            steps = np.array(NUMBER.findall(rest), float).reshape(-1, 2)
            corners = np.cumsum([np.array(NUMBER.findall(first), float), *steps], axis=0)
        else:
            corners = np.array([NUMBER.findall(each) for each in piece.split("L")], float)
        x, y = corners.T
        total += abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2
    return total


@pytest.mark.parametrize("level", [-1, 0, 0.25, 0.5, 0.9, 1, 2])
def test_above_a_level_is_the_share_that_the_linear_values_have(level):
    """In a triangle with values 1, 0, 0 at its corners, (1 − level)² of the area is above a level in [0, 1].

    The rest of the area is below the level. All of the area is above a negative level, and none of it above a
    level over 1.
    """
    share = np.clip(1 - level, 0, 1) ** 2
    for values in np.eye(3):
        assert area(above(CORNERS, values[None], level)) == pytest.approx(1800 * share, abs=1)
        below = area(above(CORNERS, -values[None], -level))
        assert below == pytest.approx(1800 * (1 - share if level > 0 else 0), abs=1)


def test_triangles_are_all_turned_the_same_way_and_those_that_are_flat_or_have_no_place_left_out():
    nowhere = np.where(CORNERS == 60, np.nan, CORNERS)
    both = np.concatenate([CORNERS, CORNERS[:, ::-1], 0 * CORNERS, nowhere, np.nan * CORNERS])
    drawn = triangles(both)
    assert area(drawn) == 3600
    sides = np.array([NUMBER.findall(each) for each in re.findall(r"l([^z]*)z", drawn)], int)
    assert len(sides) == 2 and (np.linalg.det(sides.reshape(-1, 2, 2)) > 0).all()


def test_cells_cover_what_is_filled():
    filled = np.random.default_rng(1).random((7, 9)) < 0.5
    seen = np.zeros_like(filled)
    for x, y, w in re.findall(r"M(\d+) (\d+)h(\d+)v1h-\3z", cells(filled)):
        assert not seen[int(y), int(x) : int(x) + int(w)].any()
        seen[int(y), int(x) : int(x) + int(w)] = True
    np.testing.assert_array_equal(seen, filled)
    assert cells(np.zeros((3, 3), bool)) == ""


def test_a_line_is_lifted_at_a_gap():
    assert path(np.array([[0, 0], [1, 2], [np.nan, np.nan], [3, 4]])) == "M0 0L1 2M3 4"


@pytest.mark.parametrize("grid", [(14, 65), (41, 41), (3, 500), (1, 900), (900, 1), (1, 1), (2, 2)])
@pytest.mark.parametrize("most", [1500, 330, 20, 4])
def test_a_thinned_grid_has_at_most_so_many_points_and_keeps_its_edges(grid, most):
    kept = coarse(grid, most)
    assert np.prod([len(numbers) for numbers in kept]) <= most
    for numbers, n in zip(kept, grid, strict=True):
        assert numbers[0] == 0 and numbers[-1] == n - 1 and (np.diff(numbers) > 0).all()
    if np.prod(grid) <= most:
        assert [len(numbers) for numbers in kept] == list(grid)


def test_a_grid_is_thinned_evenly_where_its_sides_allow_it():
    rows, columns = coarse((9, 41), 120)  # the longer side by a step of 4
    assert rows.tolist() == list(range(9)) and columns.tolist() == list(range(0, 41, 4))
