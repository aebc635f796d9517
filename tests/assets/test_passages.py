"""Paragraphs that name stages: which stages of a recipe these are, and where a click leads."""

import pytest

STAGES = ["x", "centre", "sphere", "centre", "γ, β", "2"]


def calls(node, name, *cases):
    return node.ask("passages", name=name, cases=cases)


@pytest.mark.parametrize(
    ("words", "stages"),
    [
        ("x", [0]),
        ("centre", [1, 3]),
        ("γ, β", [4]),
        ("sphere | 0", [0, 2]),
        ("2", [2, 5]),
        ("3 | centre", [1, 3]),
        ("6 | plane", []),
    ],
)
def test_a_stage_has_a_name_or_a_number(node, words, stages):
    assert calls(node, "stagesNamed", [words, STAGES]) == [stages]


def test_a_name_without_a_number_is_that_of_all_that_are_numbered(node):
    stages = ["x", "Linear 1", "L2", "× √3", "Linear 10", "3", "LN"]
    cases = {"Linear | L": [1, 2, 4], "Linear 1": [1], "L": [2], "× √": [], "": [], "5": [5]}
    assert calls(node, "stagesNamed", *([words, stages] for words in cases)) == list(cases.values())


def test_a_click_goes_to_the_next_and_after_the_last_to_the_first(node):
    assert calls(node, "after", *([[1, 3], now] for now in range(6))) == [1, 3, 3, 1, 1, 1]


def test_on_the_way_the_stage_ahead_is_lit(node):
    """Between two stages, the next one counts as shown: its paragraph and its part of the formula light up.

    Only up to 0.02 after a stage, that stage itself still counts as shown.
    """
    assert calls(node, "stageShownAt", [0], [0.01], [0.5], [1], [1.01], [1.1], [5]) == [0, 0, 1, 1, 1, 2, 5]


def test_the_button_says_which_stages_it_leads_to(node):
    """The label of a paragraph's button names the stages of the paragraph by number and name.

    If there are several stages, the label begins with "Next of stages", because a click leads to the next
    one.
    """
    labels = calls(node, "buttonLabel", [[1], ["x", "u<sub>1</sub>"]], [[1, 3], STAGES])
    assert labels == ["Stage 1: u1", "Next of stages 1, 3: centre, centre"]
