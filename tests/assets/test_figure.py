"""A figure of a Dash application whose code sets properties while the server fails."""

import pytest

from tests.assets.test_recipe_changes import RECIPE, USUAL

AWAY, BACK, FAILS = ["server", {"status": 0}], ["server", {"status": 200}], {"status": 500, "only": "n=9"}
HANGS = ["server", {"status": "hang"}]
ONLINE = ["online"]
HOLD = ["wait", 2500]  # milliseconds; more than HOLD_MS in assets/guest/figure.mjs


def after(node, *acts):
    """The states of a figure, one after each of the commands `acts`: see `figure` in figure_runner.mjs."""
    return node.ask("figure", recipe=RECIPE, usual=USUAL, acts=acts)


def show(**props):
    return ["show", props]


NINE, EIGHT = {"n": "9"}, {"n": "8"}


@pytest.mark.parametrize("other", [EIGHT, None])
def test_choices_whose_recipe_never_comes_do_not_keep_a_figure_from_opening_with_others(node, other):
    *_, waiting, opened = after(node, ["server", FAILS], show(choices=NINE), show(choices=other))
    assert waiting["words"].startswith("The server has an error (status 500). This page keeps asking")
    assert opened["n"] == (other or USUAL)["n"] and opened["words"] == "" and opened["refused"] is None


def test_choices_that_are_replaced_before_the_figure_is_made_are_not_waited_for(node):
    *_, opened = after(node, ["server", FAILS], ["show", {"choices": NINE}, {"choices": EIGHT}])
    assert (opened["n"], opened["asked"]) == ("8", ["n=8"])


def test_choices_that_code_has_taken_back_are_not_refused_later(node):
    refuses = ["server", {"status": 400, "only": "n=9"}]
    *_, back, end = after(node, show(), AWAY, show(choices=NINE), show(), refuses, ONLINE, show(progress=1))
    assert (back["refused"], back["n"], end["progress"]) == (None, USUAL["n"], 1)


@pytest.mark.parametrize("corrected", [EIGHT, None])
def test_choices_that_other_controls_cannot_have_can_be_corrected(node, corrected):
    refuses = ["server", {"status": 400, "only": "n=9", "refusesHtml": True}]
    without = {"controls": ["n"]}
    acts = show(choices=NINE), refuses, show(choices=NINE, **without), show(choices=corrected, **without)
    *_, refused, end = after(node, *acts)
    assert refused["refused"] == "Scene x: not allowed"
    assert (end["refused"], end["n"]) == (None, (corrected or USUAL)["n"])


def test_what_is_taken_back_before_it_is_adopted_and_set_again_is_adopted(node):
    both = show(choices=NINE, progress=1)
    *_, end = after(node, show(), AWAY, both, HOLD, show(choices=NINE), both, BACK, ONLINE, HOLD)
    assert (end["n"], end["progress"]) == ("9", 1)


def test_choices_that_code_has_replaced_are_asked_for_no_more(node):
    busy = ["server", {"status": 503, "retryAfter": "0.5", "only": "n=9"}]
    *_, replaced = after(node, show(), AWAY, show(choices=NINE), HOLD, busy, show(choices=EIGHT), HOLD)
    assert not [query for query in replaced["asked"] if "n=9" in query]
    assert replaced["n"] == "8"


def test_choices_that_the_reader_has_replaced_are_asked_for_no_more(node):
    busy = ["server", {"status": 503, "retryAfter": "0.5", "only": "n=9"}]
    *_, end = after(
        node, show(), AWAY, show(choices=NINE), HOLD, busy, ["reader", "choose", {"n": "5"}], HOLD
    )
    assert end["asked"] == [] and end["n"] == "5" and end["told"]["choices"]["n"] == "5"


@pytest.mark.parametrize("server", [HANGS, ["server", {"status": 503, "retryAfter": "1"}]])
def test_later_properties_are_not_held_up_by_a_server_that_hangs_or_is_busy(node, server):
    acts = show(), server, show(choices=NINE), show(choices=NINE, progress=1), HOLD, BACK, ["wait", 65_000]
    *_, soon, _, end = after(node, *acts)
    assert (soon["n"], soon["progress"]) == (USUAL["n"], 1)
    assert (end["n"], end["progress"]) == ("9", 1)


def test_what_is_adopted_already_is_not_adopted_again_over_the_readers_value(node):
    first, second = ({"choices": NINE, "params": {"gain": value}} for value in (0.5, 0.7))
    acts = (
        show(),
        AWAY,
        show(**first),
        HOLD,
        show(**second),
        ["reader", "set", "gain", 0.9],
        BACK,
        ONLINE,
        HOLD,
    )
    *_, applied, moved, _, _, end = after(node, *acts)
    assert [each["params"]["gain"] for each in (applied, moved, end)] == [0.7, 0.9, 0.9]
    assert (end["n"], end["told"]["params"]["gain"]) == ("9", 0.9)


def test_another_scene_is_opened_although_the_reader_drags(node):
    *_, end = after(node, show(), ["press"], show(choices=NINE), ["scene", "y"], HOLD)
    assert (end["n"], end["closed"]) == (USUAL["n"], False)


def test_a_server_that_is_busy_is_said_to_be_busy_and_not_asked_before_it_allows(node):
    busy = ["server", {"status": 503, "retryAfter": "90"}]  # the words: tests/assets/test_poll.py
    acts = show(), busy, show(choices=NINE), ["wait", 80_000], BACK, ONLINE, ["wait", 20_000]
    *_, asked, waiting, _, early, end = after(node, *acts)
    assert waiting["words"].startswith("The server is busy. This page keeps asking")
    assert asked["asked"] and waiting["asked"] == early["asked"] == [] and end["n"] == "9"


@pytest.mark.parametrize("body", ["", "<h1>", "null", '{"message": "x"}'])
def test_an_error_of_the_server_is_not_taken_for_missing_routes_or_no_answer(node, body):
    words = "Scene x: The server has an error (status 500). Reload the page to try again."
    assert node.ask("figureReply", status=500, body=body) == words


def test_missing_routes_are_named(node):
    assert "This server has no scenes" in node.ask("figureReply", status=404, body="<h1>")


def test_a_figure_with_other_controls_takes_over_the_readers_values_although_choices_come_meanwhile(node):
    move = ["reader", "set", "gain", 0.9]
    other = {"controls": ["progress"]}
    *_, end = after(node, show(), move, HANGS, show(**other), BACK, show(**other, choices=EIGHT), HOLD)
    assert (end["n"], end["params"]["gain"]) == ("8", 0.9)


def test_a_script_that_did_not_load_is_loaded_again_for_the_next_figure(node):
    states = node.ask("figuresWithFaults", faults=["script", "", ""])
    assert [state["loads"] for state in states] == [True, True, False]


def test_a_fault_in_a_figure_is_reported_to_the_console(node):
    assert node.ask("figuresWithFaults", faults=["html"])[0]["errors"] == ["no HTML"]
