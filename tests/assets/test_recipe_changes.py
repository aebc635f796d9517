"""Changes of a player's recipe while the server does not answer, or fails."""

import pytest

from components.language.packing import packed
from components.training.recipes import state_of
from tests.components.language.test_scene import DEFAULTS, SCENE

RECIPE = {**SCENE.json(), **packed(state_of(SCENE, {}).recipe), "chosen": {}, "text": None}
USUAL = {name: str(value) for name, value in DEFAULTS.items()}
AWAY, BACK, ONLINE = ["away", 0], ["back"], ["online"]
STOP = ["visit", {"n": "7"}, False]


def after(node, *acts):
    """The states of a player, one after each of the commands `acts`.

    A command is a list of a name and arguments. The name is a method of the player's `RecipeChanges`, or an
    event such as "away": from then on, the server does not answer, or answers with an error.
    """
    return node.ask("changes", recipe=RECIPE, usual=USUAL, acts=acts)


def test_a_stop_without_an_answer_is_given_up_but_not_what_the_reader_has_chosen_since(node):
    *_, waiting, given_up, back = after(node, AWAY, STOP, ["choose", {"d": "2"}], ["giveUpStop"], BACK)
    assert waiting["wanted"] == USUAL | {"n": "7", "d": "2"}
    assert given_up["wanted"] == USUAL | {"d": "2"}
    assert (back["choices"], back["wanted"], back["words"]) == (USUAL | {"d": "2"}, None, "")


def test_a_stop_without_an_answer_is_given_up_also_while_a_later_choice_is_asked_for(node):
    acts = AWAY, STOP, ["slow"], ["choose", {"d": "2"}], ["giveUpStop"]
    assert after(node, *acts)[-1]["wanted"] == USUAL | {"d": "2"}


def test_a_link_for_which_the_server_has_an_error_shows_the_default_state_and_is_not_overwritten(node):
    fails = ["away", 500, "d=2"]
    # each event makes the page ask at once; the sixth error is the last
    _, _, asking, *_, opened = after(node, ["ours"], fails, ["link", "?d=2&gain=0.5"], *[ONLINE] * 5)
    assert (
        asking["words"]
        == "The server has an error (status 500). This page keeps asking; what it shows already still works."
    )
    words = "The server has an error (status 500) for this link. The scene starts from its default state."
    assert (opened["words"], opened["choices"], opened["following"]) == (words, USUAL, True)


def test_a_link_is_not_given_up_while_the_server_has_an_error_for_the_default_state_too(node):
    *_, waiting, back = after(node, ["ours"], ["away", 500], ["link", "?d=2"], *[ONLINE] * 6, BACK)
    assert waiting["following"] and waiting["words"].startswith("The server has an error (status 500). ")
    assert (back["choices"], back["words"]) == (USUAL | {"d": "2"}, "")


def test_a_proxy_that_cannot_reach_the_server_is_no_reason_to_give_up_a_link(node):
    *_, waiting = after(node, ["ours"], ["away", 502, "d=2"], ["link", "?d=2"], *[ONLINE] * 6)
    assert waiting["following"] and "This page keeps asking" in waiting["words"]


def test_a_stop_that_is_given_up_is_asked_for_no_more(node):
    *_, given_up, back = after(node, AWAY, STOP, ["giveUpStop"], BACK)
    assert (given_up["wanted"], given_up["words"]) == (None, "")
    assert back == given_up and back["choices"] == USUAL


@pytest.mark.parametrize(
    ("status", "words"),
    [(0, "The server does not answer. "), (500, "The server has an error (status 500). ")],
)
def test_choices_that_get_no_answer_are_asked_for_again_and_the_reader_is_told(node, status, words):
    *_, waiting, back = after(node, ["away", status], ["choose", {"d": "2"}], BACK)
    assert waiting["words"] == f"{words}This page keeps asking; what it shows already still works."
    assert (waiting["choices"], back["choices"], back["words"]) == (USUAL, USUAL | {"d": "2"}, "")


@pytest.mark.parametrize("status", [0, 500])
def test_a_link_is_not_overwritten_before_the_server_has_answered(node, status):
    *_, waiting, back = after(node, ["away", status], ["link", "?d=2"], BACK)
    assert (waiting["choices"], waiting["following"]) == (USUAL, True)
    assert (back["choices"], back["following"], back["words"]) == (USUAL | {"d": "2"}, False, "")
