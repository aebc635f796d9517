"""The disc in which a plane cuts a ball, and the camera positions that see the plane edge on."""

import numpy as np
import pytest

from geometry.plane import along, disc, edge_on, facing

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


def test_rounding_turns_no_disc():
    """If coordinates of a normal differ only by rounding, `facing` gives the same disc as if they were equal.

    The coordinate of the normal with the smallest absolute value decides where the disc's edge begins. Of
    nearly equal ones, the first counts as smallest.
    """
    exact = facing(np.zeros(3), np.array([1.0, 1, 1]), 1.0, CORNERS)
    for normal in ([1, 1, 1 - 1e-12], [1 + 1e-12, 1, 1]):
        np.testing.assert_allclose(facing(np.zeros(3), np.array(normal), 1.0, CORNERS), exact, atol=1e-11)


EYE = np.array([2.0, -1.5, 1.0])


@pytest.mark.parametrize("b", [0.0, 0.3, -1.2])
@pytest.mark.parametrize("w", [(1, 0, 0), (0, 0, 1), (1, 1, 1), (0.2, -3, 0.5), (1, 2)])
def test_from_an_eye_on_the_plane_as_far_away_it_is_a_line(b, w):
    b = b * np.linalg.norm(w)
    eye = edge_on(values(b, w), EYE)
    assert abs(eye[: len(w)] @ np.asarray(w, float) + b) < ROUNDING * np.linalg.norm(w)
    assert np.linalg.norm(eye) == pytest.approx(np.linalg.norm(EYE))
    np.testing.assert_allclose(edge_on(values(b, w), eye), eye, atol=ROUNDING)  # it is there already


def test_of_all_such_eyes_the_nearest():
    w, b = np.array([0.2, -3, 0.5]), 1.0
    normal = w / np.linalg.norm(w)
    away, turn = -b / np.linalg.norm(w), np.linspace(0, 2 * np.pi, 721)[:, None]
    u = np.cross(normal, [0, 0, 1]) / np.linalg.norm(np.cross(normal, [0, 0, 1]))
    ring = np.cos(turn) * u + np.sin(turn) * np.cross(normal, u)
    every = away * normal + np.sqrt(EYE @ EYE - away**2) * ring
    distances = np.linalg.norm(every - EYE, axis=1)
    assert np.linalg.norm(edge_on(values(b, w), EYE) - EYE) <= distances.min()


def test_an_eye_over_the_origin_gives_way_to_a_level_one():
    """If the nearest position in the plane is almost straight above 0, `edge_on` returns one at height 0.

    Here the plane is upright and contains 0, and the given camera is slightly above the plane's normal.
    """
    eye = edge_on(values(0.0, (1, -1, 0)), np.array([1.0, -1.0, 0.4]))
    assert abs(eye[2]) < ROUNDING and abs(eye[0] - eye[1]) < ROUNDING


@pytest.mark.parametrize("b, w", [(0.0, EYE), (9.0, (1, 0, 0)), (1.0, (0, 0, 0))])
def test_an_eye_with_no_place_on_the_plane_stays(b, w):
    """The camera stays if no single nearest position sees the plane ⟨w, x⟩ + b = 0 edge-on.

    There are three such cases: the camera is on the line through the origin that is perpendicular to the
    plane; the camera is nearer to the origin than the plane is; w is 0, so there is no plane.
    """
    np.testing.assert_array_equal(edge_on(values(b, w), EYE), EYE)


def test_along_tells_where_the_plane_is():
    away, normal = along(values(-2.0, (0, 4, 0)))
    assert away == 0.5 and normal.tolist() == [0, 1, 0]
