"""The disc of a plane: every point on the plane, the edge on the ball."""

import numpy as np
import pytest

from geometry.plane import disc

ROUNDING = 1e-12  # of unit-sized numbers in double precision
RADIUS, CORNERS = 1.4, 24


def values(b, w):
    return np.concatenate([[b], b + np.asarray(w, float)])


@pytest.mark.parametrize("b", [0.0, 0.3, -1.2])
@pytest.mark.parametrize("w", [(1, 0, 0), (0, 0, 1), (1, 1, 1), (0.2, -3, 0.5), (1e3, 1e-3, 2)])
def test_the_disc_lies_on_the_plane_and_its_edge_on_the_ball(b, w):
    b = b * np.linalg.norm(w)
    points = disc(values(b, w), RADIUS, CORNERS)
    assert points.shape == (CORNERS + 2, 3)
    assert abs(points @ np.asarray(w, float) + b).max() < ROUNDING * np.linalg.norm(w)
    np.testing.assert_allclose(np.linalg.norm(points[1:], axis=1), RADIUS, atol=ROUNDING)
    np.testing.assert_allclose(points[1], points[-1], atol=ROUNDING)


def test_in_the_plane_the_disc_stands_upright_over_the_line():
    points = disc(values(0.5, (1, 2)), RADIUS, CORNERS)
    assert abs(points[:, :2] @ [1, 2] + 0.5).max() < ROUNDING
    assert np.ptp(points[:, 2]) > RADIUS


@pytest.mark.parametrize("b, w", [(5, (1, 0, 0)), (-5, (1, 0, 0)), (1, (0, 0, 0)), (0, (0, 0, 0))])
def test_a_plane_that_misses_the_ball_is_one_point_of_it(b, w):
    points = disc(values(b, w), RADIUS, CORNERS)
    assert np.isfinite(points).all()
    assert abs(points - points[0]).max() == 0
    assert np.linalg.norm(points[0]) <= RADIUS + ROUNDING
