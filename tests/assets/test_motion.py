"""Automatic motion: from stage to stage, the clock, and camera flights."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

STAGE_TOLERANCE = 1e-6  # as in assets/player/motion.mjs
LONG_MS = 60_000  # longer than any automatic motion
TIMES_MS = [*np.arange(0.0, 4000, 10), float(LONG_MS)]  # every motion ends within the first three seconds


def calls(node, name, cases):
    return node.ask("motion", name=name, cases=cases)


def leg(start, end, done=0.0):
    return {"from": start, "to": end, "done": done}


lasts = st.integers(1, 9)
places = lasts.flatmap(lambda last: st.tuples(st.floats(0, last) | st.integers(0, last), st.just(last)))


@given(place=places, by=st.sampled_from([-1, 1]))
def test_the_stage_beside_is_the_nearest_on_that_side(node, place, by):
    progress, last = place
    [stage] = calls(node, "stageBeside", [[progress, by, last]])
    ends = progress <= STAGE_TOLERANCE if by < 0 else progress >= last - STAGE_TOLERANCE
    assert stage == (0 if by < 0 else last) if ends else 0 < by * (stage - progress) <= 1 + STAGE_TOLERANCE
    assert stage == int(stage) and 0 <= stage <= last


@given(place=places)
def test_playing_goes_on_to_the_next_stage_and_from_the_end_to_the_first(node, place):
    progress, last = place
    [way] = calls(node, "nextLeg", [[progress, last]])
    start = 0 if progress >= last else progress
    assert way == leg(start, calls(node, "stageBeside", [[start, 1, last]])[0])


@given(start=st.floats(0, 9), end=st.integers(0, 9))
def test_a_leg_goes_from_its_start_to_its_stage_and_never_back(node, start, end):
    legs = [leg(start, end, t) for t in TIMES_MS]
    at = np.array(calls(node, "along", [[each, False] for each in legs]))
    assert at[0] == start and at[-1] == end
    assert np.all(np.diff(at) * np.sign(end - start) >= -1e-12)
    over = calls(node, "isOver", [[each, False] for each in legs])
    assert np.allclose(at[over], end) and over[-1] and not over[0]


@given(start=st.floats(0, 9), end=st.integers(0, 9), lag=st.floats(0, 0.5))
def test_points_of_a_run_set_out_together_in_the_end_and_the_later_ones_are_never_ahead(
    node, start, end, lag
):
    legs = [leg(start, end, t) for t in TIMES_MS]
    at = np.array(node.ask("apart", cases=[[each, lag] for each in legs], parts=[0, 0.5, 1]))
    assert np.all(at[0] == start) and np.allclose(at[-1], end)
    sign = np.sign(end - start)
    assert np.all(np.diff(at, axis=0) * sign >= -1e-12) and np.all(np.diff(at, axis=1) * sign <= 1e-12)
    shown = np.array(calls(node, "along", [[each, False] for each in legs]))
    if not lag:
        assert np.allclose(at, shown[:, None])
    assert np.all((at[:, 0] - shown) * sign >= -1e-9) and np.all((shown - at[:, 2]) * sign >= -1e-9)


@pytest.mark.parametrize("last", [1, 2, 5, 12])
def test_a_first_run_takes_six_seconds_at_most(node, last):
    """The first run of a scene takes six seconds at most.

    This includes all pauses, and the way back to the recipe's initial progress.
    """
    for home in (0, last / 2, last):
        [hurry] = calls(node, "hurry", [[last, home]])
        legs = [leg(k, k + 1, LONG_MS) for k in range(last)]
        ends = [time_of(node, each, True) for each in legs]
        back = time_of(node, leg(last, home), False) if home < last else 0
        assert (sum(ends) + back) / hurry <= 6000 + 100 and hurry >= 1


def time_of(node, way, playing):
    over = calls(node, "isOver", [[leg(way["from"], way["to"], t), playing] for t in np.arange(0, 4000, 5.0)])
    return 5.0 * over.index(True)


def test_a_leg_takes_a_second_and_a_pause_a_third(node):
    legs, rests = time_of(node, leg(0, 1), False), time_of(node, leg(0, 1), True)
    assert 900 <= legs <= 1100 and 300 <= rests - legs <= 400


def test_a_cut_shows_the_start_and_then_the_stage_before_the_leg_is_over(node):
    legs = [leg(1, 2, t) for t in TIMES_MS]
    at = np.array(calls(node, "along", [[each, True] for each in legs]))
    over = np.array(calls(node, "isOver", [[each, True] for each in legs]))
    assert set(at) == {1, 2} and np.all(np.diff(at) >= 0)
    assert np.any((at == 2) & ~over), "the stage is seen before playing goes on"


def test_playing_pauses_at_its_stage(node):
    ends = [
        TIMES_MS[calls(node, "isOver", [[leg(0, 1, t), playing] for t in TIMES_MS]).index(True)]
        for playing in (False, True)
    ]
    assert 300 <= ends[1] - ends[0] <= 400


@given(low=st.floats(-100, 100), span=st.floats(0.1, 1e4), at=st.floats(0, 1), ms=st.floats(0, LONG_MS))
def test_a_clock_runs_evenly_and_stops_at_its_end(node, low, span, at, ms):
    clock, start = {"min": low, "max": low + span}, low + at * span
    whole, half, end = calls(
        node, "clockAfter", [[clock, start, ms], [clock, start, ms / 2], [clock, start, LONG_MS]]
    )
    [twice] = calls(node, "clockAfter", [[clock, half, ms / 2]])
    assert end == clock["max"] and min(start, end) <= whole <= end
    assert twice == pytest.approx(whole, rel=1e-9, abs=1e-9 * span)


vectors = st.tuples(*[st.floats(-5, 5)] * 3).filter(lambda x: np.linalg.norm(x) > 0.1)
cameras = st.fixed_dictionaries({"eye": vectors, "center": st.tuples(*[st.floats(-1, 1)] * 3)})


@given(start=cameras, end=cameras)
def test_a_flight_ends_at_its_camera_and_goes_neither_nearer_nor_farther(node, start, end):
    flights = [[{"from": start, "to": end, "done": t}] for t in (0, 225, 450, 675, LONG_MS)]
    seen = calls(node, "inFlight", flights)
    for camera, want in ((seen[0], start), (seen[-1], end)):
        assert np.allclose(camera["eye"], want["eye"]) and np.allclose(camera["center"], want["center"])
    far = np.linalg.norm([camera["eye"] for camera in seen], axis=-1)
    assert np.all(far >= min(far[0], far[-1]) - 1e-9) and np.all(far <= max(far[0], far[-1]) + 1e-9)


def test_a_flight_straight_through_the_middle_has_a_place_at_each_time(node):
    """Half way on a flight to the opposite direction, the camera is already at the end.

    The mean of the two directions is 0 there, and 0 is no direction.
    """
    start, end = ({"eye": [x, 0, 0], "center": [0, 0, 0]} for x in (1, -1))
    [camera] = calls(node, "inFlight", [[{"from": start, "to": end, "done": 450}]])
    assert camera == end


def test_a_flight_ends_early_where_the_reader_turns_the_camera_and_not_at_a_click(node):
    """A camera flight ends if Plotly reports another camera than that of the flight, and not otherwise.

    Plotly also reports the camera after a click and after a tap, which do not turn it.
    """
    flight = [{"eye": eye, "center": [0, 0, 0]} for eye in ([1, 1, 0.5], [-1, 1, 0.5])]
    turned = {"eye": [0.2, 1.3, 0.5], "center": [0, 0, 0]}
    assert node.ask("reported", flight=flight, turned=turned) == [[False, True], [True, False]]
