"""Two fingers zoom a 3D figure, wherever they touch it; fingers that move alone do not."""

import math

import pytest

START, MOVE, END = "touchstart", "touchmove", "touchend"
A, B, C = (0, 0, False), (100, 0, False), (100, 50, False)
BOTH, NONE, ALONE = [True, True], [False, False], [True, False]  # the browser, and other listeners


def test_fingers_zoom_by_what_their_distance_changes(node):
    events = [[START, A], [MOVE, A], [START, A, B], [MOVE, A, (200, 0, False)], [MOVE, A, (50, 0, False)]]
    answer = node.ask("pinched", events=events, scale=1)
    assert answer == {"zooms": [2, 0.25], "reaches": [BOTH, BOTH, NONE, NONE, NONE]}


def test_a_finger_may_be_on_a_handle(node):
    events = [[START, A], [START, A, (100, 0, True)], [MOVE, A, (200, 0, True)]]
    assert node.ask("pinched", events=events, scale=1)["zooms"] == [2]


def test_neither_three_fingers_nor_the_one_that_is_left_zoom(node):
    events = [[START, A], [START, A, B], [START, A, B, C], [MOVE, (9, 0, False), B, C], [END, B, C]]
    events += [[MOVE, B, C], [MOVE, B, (100, 100, False)], [END, B], [MOVE, A], [END], [START, A], [MOVE, B]]
    answer = node.ask("pinched", events=events, scale=1)
    assert answer["zooms"] == [2]
    assert answer["reaches"][-4:] == [NONE, BOTH, BOTH, BOTH], "a new finger turns the figure again"


def test_two_fingers_zoom_out_a_page_that_is_zoomed_in(node):
    events = [[START, A], [START, A, B], [MOVE, A, (50, 0, False)]]
    answer = node.ask("pinched", events=events, scale=2)
    assert answer == {"zooms": [], "reaches": [BOTH, ALONE, ALONE]}


@pytest.mark.parametrize("center", [[0, 0, 0], [0.5, 0, -2], [99, -99, 0]])
@pytest.mark.parametrize("f", [1e-9, 0.5, 1e9])
def test_a_link_can_name_every_camera_that_a_zoom_reaches(node, center, f):
    eye = [center[0] + 0.3, center[1] - 0.4, center[2]]
    camera = node.ask("approached", camera={"eye": eye, "center": center}, f=f)
    distance = math.dist(camera["eye"], center)
    assert distance == pytest.approx(0.25) if f == 0.5 else distance > 1e-3
    assert max(map(abs, camera["eye"])) < 100 and camera["center"] == center
    assert f < 1 or max(map(abs, camera["eye"])) > 99
