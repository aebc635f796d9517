"""The state of a player by itself: what it does, and what it lets nobody do."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.language.packing import packed
from components.training.recipes import state_of
from tests.assets.engine import Node
from tests.components.language.test_scene import SCENE

FRAME = 100.0  # milliseconds
MANY = 400  # frames: longer than any run of a few stages


@pytest.fixture(scope="module")
def node():
    with Node() as process:
        yield process


RECIPE = {**SCENE.json(), **packed(state_of(SCENE, {}).recipe), "chosen": {}, "text": None}
LAST = len(RECIPE["stages"]) - 1
NAME = RECIPE["parameters"][0]["name"]
LEAST, MOST = RECIPE["parameters"][0]["min"], RECIPE["parameters"][0]["max"]


def after(node, *acts):
    """What is told after each act, in a state that has the recipe."""
    return node.ask("state", recipe=RECIPE, usual={}, acts=[["take"], *acts])[1:]


def test_playing_goes_through_all_stages_and_ends_once(node):
    told = after(node, ["play"], *[["advance", FRAME, False]] * MANY)
    progress = [each["progress"] for each in told]
    assert progress == sorted(progress) and set(range(LAST + 1)) <= set(progress)
    assert [each["gave"] for each in told[1:]].count(True) == 1
    assert not told[-1]["playing"] and not told[-1]["moves"]


def test_a_loop_begins_again_and_never_ends(node):
    told = after(node, ["fast", 4, True], ["play"], *[["advance", FRAME, False]] * MANY)
    progress = [each["progress"] for each in told]
    assert any(b < a for a, b in pairwise(progress))
    assert told[-1]["playing"] and not any(each.get("gave") for each in told)


def test_a_part_of_the_clocks_way_is_played_from_its_beginning_to_its_end(node):
    """A second time from its beginning; who runs the clock afterwards sees all of its way."""
    clock = {**RECIPE, "clock": NAME}
    low, high = LEAST + 0.25 * (MOST - LEAST), LEAST + 0.5 * (MOST - LEAST)
    steps = [["advance", FRAME, False]] * MANY
    acts = [["take"], ["replay", low, high], *steps, ["replay", low, high], ["run"], ["run"], *steps]
    told = node.ask("state", recipe=clock, usual={}, acts=acts)[1:]
    values = [each["params"][NAME] for each in told]
    assert values[0] == low and told[0]["running"] and values[: MANY + 1] == sorted(values[: MANY + 1])
    assert values[MANY] == high and not told[MANY]["running"]
    assert values[MANY + 1] == low and values[-1] == MOST and not told[-1]["running"]


def test_who_asked_for_no_motion_sees_stages_only(node):
    told = after(node, ["play"], *[["advance", FRAME, True]] * MANY)
    assert {each["progress"] for each in told} == set(range(LAST + 1))


def test_what_stands_still_stands_still(node):
    told = after(node, ["play"], ["advance", FRAME, False], ["pause"], *[["advance", FRAME, False]] * 3)
    assert len({each["progress"] for each in told[2:]}) == 1
    assert told[-1]["drawn"] == told[2]["drawn"]


@given(value=st.floats(LEAST, MOST))
def test_a_parameter_moves_the_picture_and_the_link_and_reset_takes_both_back(node, value):
    first, moved, again = after(node, ["seek", LAST], ["set", NAME, value], ["reset"])
    assert moved["params"][NAME] == value
    usual = first["params"][NAME]
    assert moved["gave"] == (value != usual)
    assert again["params"] == first["params"] and again["query"] == ""


@pytest.mark.parametrize(
    "act",
    [
        ["seek", -0.01],
        ["seek", LAST + 0.01],
        ["set", NAME, MOST + 1],
        ["set", "nothing", 0],
        ["set", NAME, None],
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(node, act):
    before, told = after(node, ["follow", 0], act)
    assert told["gave"] == "RangeError"
    assert {name: told[name] for name in before if name != "gave"} == before


@pytest.mark.parametrize("field", ["progress", "params", "recipe", "choices", "playing", "leg", "camera"])
def test_nobody_writes_its_fields(node, field):
    before, told = after(node, ["follow", 0], ["write", field, 1])
    assert told["gave"] == "TypeError"
    assert told["progress"] == before["progress"] and told["params"] == before["params"]


def test_news_of_a_training_keep_what_the_hand_has_set(node):
    told = node.ask(
        "state",
        recipe=RECIPE,
        usual={},
        acts=[["take"], ["set", NAME, LEAST], ["grow", RECIPE | {"clock": None}], ["tell", {"seed": "3"}]],
    )
    assert told[2]["growing"] and told[2]["params"][NAME] == LEAST
    assert told[3]["drawn"] == told[2]["drawn"]
