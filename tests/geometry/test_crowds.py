"""Places where several points coincide: exactly those that were made, and none along a curve."""

import numpy as np
import pytest

from geometry.crowds import CELLS_PER_AXIS, NEIGHBOURHOOD_CELLS, crowds

ENDS = {k: (np.full(k, -2.0), np.full(k, 3.0)) for k in (2, 3)}


def apart(k, n, rng):
    """n different random points (n, k) of a grid, so far apart that no two of them count as one crowd."""
    grid = np.stack(np.meshgrid(*[np.linspace(-1.9, 2.9, 12)] * k), -1).reshape(-1, k)
    return rng.permutation(grid)[:n]


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("jitter", [0.0, 0.3])
def test_each_place_has_as_many_as_stand_there(node, k, jitter):
    rng = np.random.default_rng(k)
    counts = np.array([40, 17, 12, 1, 1, 1, 1])
    places = apart(k, len(counts), rng)
    points = np.repeat(places, counts, axis=0)
    # a cell is 5 / CELLS_PER_AXIS wide
    points += jitter * 5 / CELLS_PER_AXIS * rng.uniform(-0.5, 0.5, points.shape)
    points = rng.permutation(points).astype(np.float32)
    found = crowds(points, *ENDS[k])
    assert [count for _, count in found] == [40, 17, 12]
    np.testing.assert_allclose([place for place, _ in found], places[:3], atol=0.01)
    ours = node.ask("crowds", points=points.ravel().tolist(), ranges=np.stack(ENDS[k], -1).tolist())
    assert [each["count"] for each in ours] == [40, 17, 12]
    np.testing.assert_allclose([each["place"] for each in ours], [p for p, _ in found], atol=1e-6)


def test_a_key_and_its_double_are_two_and_a_pair_among_hundreds_is_chance(node):
    rng = np.random.default_rng(1)
    few, many = apart(2, 9, rng), apart(2, 140, rng)
    for points, want in ((few, [2]), (many, [])):
        points = np.concatenate([points, points[:1]])
        assert [count for _, count in crowds(points, *ENDS[2])] == want
        ours = node.ask("crowds", points=points.ravel().tolist(), ranges=np.stack(ENDS[2], -1).tolist())
        assert [each["count"] for each in ours] == want


@pytest.mark.parametrize("n", [0, 1, 60, 2000])
def test_points_along_a_curve_are_no_crowd_however_close(node, n):
    turn = np.linspace(0, 2 * np.pi, n, endpoint=False)
    points = np.stack([np.cos(turn), np.sin(turn)], -1)
    assert not crowds(points, *ENDS[2])
    assert not node.ask("crowds", points=points.ravel().tolist(), ranges=np.stack(ENDS[2], -1).tolist())


def test_what_is_not_shown_counts_nowhere(node):
    points = np.concatenate([np.full((9, 2), np.nan), np.zeros((3, 2)), np.full((3, 2), np.inf)])
    assert [count for _, count in crowds(points, *ENDS[2])] == [3]


def test_two_crowds_under_one_mark_are_one_place_or_none():
    near = NEIGHBOURHOOD_CELLS / 2 * 5 / CELLS_PER_AXIS
    points = np.repeat([[0.0, 0.0], [near, 0.0]], [10, 2], axis=0)
    assert [count for _, count in crowds(points, *ENDS[2])] == [10]
    points = np.repeat([[0.0, 0.0], [near, 0.0]], [10, 9], axis=0)
    assert not crowds(points, *ENDS[2])


def test_no_count_is_written_over_another(node):
    """A count of coinciding points that would overlap an earlier count is left out.

    The list `at` has x and y of each count in turn, in pixels. Digits are 13 pixels high.
    """
    at = [0, 0, 20, 5, 100, 0, 20, 14, 40, 0]
    assert node.ask("legible", counts=[16, 12, 9, 5, 2], at=at) == [16, 9, 5, 2]
    assert node.ask("legible", counts=[1600, 2], at=[0, 0, 35, 0]) == [1600]


def test_two_thousand_points_take_a_millisecond(node):
    """The search for crowds takes about 0.3 ms on an idle machine; a quadratic one would exceed the 6 ms."""
    points = np.random.default_rng(2).normal(size=(2000, 3)).round(1)
    ranges = [[-5.0, 5.0]] * 3
    assert node.ask("crowdsTime", points=points.ravel().tolist(), ranges=ranges) < 6
