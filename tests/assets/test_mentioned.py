"""The controls and numbers that the page shows beside a stop of the tour while presenting."""

import re

import pytest

from components.drawing.figure import document
from components.language.scene import scenes
from components.training.recipes import recipe_of

# a text that asks to move something that it names by a bold word or a formula
MOVES = re.compile(r"\b(?:[Mm]ove|[Ss]et|[Cc]hoose) (?:all three )?(?:<strong>|<span class=\"math)")
GAMMA = ["gamma1", "gamma2", "gamma3"]


def asked(scene, k):
    """The arguments of the JavaScript function `mentioned` for stop k (from 0) of a scene's tour."""
    stop, before = scene.text.tour[k], scene.text.tour[k - 1] if k else None
    usual = {choice.name: choice.default for choice in scene.choices}
    recipe = recipe_of(scene, **{name: stop.state[name] for name in usual if name in stop.state})
    data = document(recipe) | scene.json()
    used = {name: data[name] for name in ("choices", "parameters", "clock")}
    return [vars(stop), before and vars(before), used, usual]


def test_a_stop_shows_the_controls_that_it_names_or_sets(node):
    scene = scenes()["layernorm"]
    found = node.ask("mentioned", name="mentioned", cases=[asked(scene, k) for k in range(6)])
    assert found == [["mean"], ["mean"], [], ["points", "mean"], ["points", "mean", "eps"], ["eps", *GAMMA]]


def test_every_stop_that_asks_to_move_something_shows_a_control(node):
    stops = [
        (scene, k)
        for scene in scenes().values()
        for k, s in enumerate(scene.text.tour)
        if MOVES.search(s.html)
    ]
    found = node.ask("mentioned", name="mentioned", cases=[asked(*stop) for stop in stops])
    assert len(stops) > 15
    assert [(scene.slug, k + 1) for (scene, k), names in zip(stops, found, strict=True) if not names] == []


def test_at_most_three_controls_are_shown_and_those_that_the_text_names_come_first(node):
    names = ["a", "b", "c", "d"]
    controls = [{"name": name, "label": f"label {name}", "value": 0} for name in names]
    recipe = {"choices": [], "parameters": controls, "clock": ""}
    stop = {"html": "<p>Move <strong>label d</strong>.</p>", "state": dict.fromkeys(names, "1")}
    before = {"html": "", "state": {}}
    case = [stop, before, recipe, {}]
    assert node.ask("mentioned", name="mentioned", cases=[case]) == [["a", "b", "d"]]


@pytest.mark.parametrize(
    ("html", "numbers", "table"),
    [
        ("Find it in the table under the picture.", True, True),
        ("It stands under the picture.", True, False),
        ("in the last row of the table, it is", False, True),
        ("the rows are comfortable", False, False),
    ],
)
def test_a_stop_speaks_of_numbers(node, html, numbers, table):
    (found,) = node.ask("mentioned", name="numbersMentioned", cases=[[{"html": html}]])
    assert found == {"numbers": numbers, "table": table}
