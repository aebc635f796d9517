"""Arrow heads: equally long, symmetric about the line, at the end of each piece."""

import numpy as np
import pytest

from geometry.arrows import HEAD_WIDTH, head, sides, with_heads

ROUNDING = 1e-12  # double precision
GAP = {k: np.full((1, k), np.nan) for k in (2, 3)}


@pytest.mark.parametrize("back", [(1.0, 2), (0, -3), (1, 2, 3), (0, 0, 2), (0.1, 0, -5), (-1, 0, 0)], ids=str)
def test_sides_are_as_long_and_at_right_angles(back):
    back = np.array(back)
    found = np.array(sides(back))
    assert len(found) == (2 if len(back) == 2 else 4)
    np.testing.assert_allclose(found @ back, 0, atol=ROUNDING)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), np.linalg.norm(back), rtol=ROUNDING)
    np.testing.assert_allclose(found.sum(0), 0, atol=ROUNDING)


@pytest.mark.parametrize("k", [2, 3])
def test_a_head_reaches_back_by_its_length(k):
    piece = np.vstack([np.zeros(k), 4 * np.eye(k)[0]])
    barbs = head(piece, 0.5)[::2]
    np.testing.assert_allclose(barbs[:, 0], 3.5, rtol=ROUNDING)
    np.testing.assert_allclose(np.linalg.norm(barbs[:, 1:], axis=1), HEAD_WIDTH * 0.5, rtol=ROUNDING)
    np.testing.assert_array_equal(head(piece, 0.5)[1::2], np.broadcast_to(piece[1], (len(barbs) - 1, k)))


@pytest.mark.parametrize("k", [2, 3])
def test_a_short_arrow_has_a_small_head(k):
    piece = 0.1 * np.vstack([np.zeros(k), np.eye(k)[1]])
    np.testing.assert_allclose(head(piece, 5.0)[0][1], 0.05, rtol=ROUNDING)


@pytest.mark.parametrize("k", [2, 3])
def test_what_does_not_move_points_nowhere(k):
    for piece in (np.ones((1, k)), np.ones((3, k)), np.vstack([np.ones((2, k)), np.ones(k) + 1e-9])):
        found = head(piece, 0.5)
        np.testing.assert_allclose(found, 1, atol=2e-9)
        assert len(found) == (3 if k == 2 else 7)


@pytest.mark.parametrize("k", [2, 3])
def test_the_last_leg_that_moves_gives_the_direction(k):
    legs = np.vstack([np.zeros(k), np.eye(k)[0], np.eye(k)[0] + np.eye(k)[1]])
    still = np.vstack([legs, legs[-1:], legs[-1:]])
    np.testing.assert_array_equal(head(legs, 0.5), head(still, 0.5))
    np.testing.assert_allclose(head(legs, 0.5)[0][1], 0.5, rtol=ROUNDING)


@pytest.mark.parametrize("k", [2, 3])
def test_each_piece_has_a_head_and_gaps_stay(k):
    piece, more = np.arange(2.0 * k).reshape(2, k), 3 if k == 2 else 7
    line = np.vstack([piece, GAP[k], piece, GAP[k], GAP[k], piece[:1]])
    found = with_heads(line, 0.5)
    assert len(found) == len(line) + 3 * more
    gaps = np.flatnonzero(np.isnan(found[:, 0]))
    assert gaps.tolist() == [2 + more, 2 * (2 + more) + 1, 2 * (2 + more) + 2]
    np.testing.assert_array_equal(found[: 2 + more], np.vstack([piece, head(piece, 0.5)]))
    assert len(with_heads(np.empty((0, k)), 0.5)) == 0
