"""A touch that begins on a slider and becomes a scroll of the page leaves the slider as it was."""

import pytest

DOWN, MOVE, CANCEL = "pointerdown", "pointermove", "pointercancel"
BEGUN = [[DOWN, 50, True], ["input", None, None, "2"]]


@pytest.mark.parametrize(
    ("events", "answer"),
    [
        ([*BEGUN, [MOVE, 58, True], [CANCEL, 0, True]], ["1", [True]]),
        ([*BEGUN, [MOVE, 90, True], ["input", None, None, "3"], [CANCEL, 0, True]], ["3", []]),
        ([*BEGUN, [DOWN, 90, False], [MOVE, 90, False], [CANCEL, 0, False]], ["2", []]),
        ([*BEGUN, [DOWN, 90, False], [CANCEL, 0, True]], ["1", [True]]),
        ([[DOWN, 50, True], [CANCEL, 0, True]], ["1", [False]]),
        ([[MOVE, 500, True], *BEGUN, [CANCEL, 0, True]], ["1", [True]]),
    ],
    ids=["a scroll", "a drag", "a second finger", "a scroll of two", "a scroll at once", "after a hover"],
)
def test_a_scroll_restores_a_slider_and_a_drag_does_not(node, events, answer):
    assert node.ask("scrolled", events=events) == answer
