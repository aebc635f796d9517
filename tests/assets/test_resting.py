"""A link that is copied while the figure moves contains the state in which the motion will end."""

import pytest

MOVE = {"from": 0, "to": 1, "done": 300}


@pytest.mark.parametrize(
    ("motion", "progress"),
    [
        ({}, 0.7209),
        ({"leg": MOVE}, 1),
        ({"leg": MOVE, "playing": True}, 3),
        ({"leg": MOVE, "playing": True, "loop": True}, 1),
        ({"leg": MOVE, "playing": True, "opening": True}, 2),
    ],
)
def test_links_have_the_progress_at_which_the_motion_ends(node, motion, progress):
    still = {"leg": None, "playing": False, "opening": False, "loop": False}
    state = {"params": {"mean": 0.8}, "progress": 0.7209}
    player = {"state": state, "recipe": {"progress": 2}, "last": 3, **still, **motion}
    assert node.ask("resting", player=player) == {**state, "progress": progress}
