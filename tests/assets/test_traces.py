"""Plotly's traces and layout for a presentation on a large screen: what is enlarged, and what is not."""

import json
from itertools import chain

import pytest

from components.drawing.figure import document
from tests.components.recipes import recipe

SCALE = 1.5


def numbers(part, path=()):
    """All numbers in nested dicts and lists, as a dict {path: number}.

    A path is the tuple of the keys and indices that lead to the number. path: the path of `part` itself.
    """
    if isinstance(part, dict | list):
        inner = part.items() if isinstance(part, dict) else enumerate(part)
        return dict(chain.from_iterable(numbers(each, (*path, key)).items() for key, each in inner))
    return {path: part} if isinstance(part, int | float) and not isinstance(part, bool) else {}


@pytest.mark.parametrize("dims", [2, 3])
def test_in_a_presentation_texts_lines_and_margins_are_larger_and_nothing_else(node, dims):
    """For a presentation, the numbers of Plotly's figure that are sizes of texts, lines and margins grow.

    Sizes of points grow only in 2D, because in 3D the shaders enlarge points. All other numbers stay.
    """
    [view] = [
        each for each in json.loads(json.dumps(document(recipe(dims))))["views"] if each["dims"] == dims
    ]
    before = {name: view["figure"][name] for name in ("data", "layout")}
    after = node.ask("enlarged", **before, layers=view["layers"], scale=SCALE)
    ends = {
        ("font", "size"),
        ("tickfont", "size"),
        ("textfont", "size"),
        ("title", "standoff"),
        ("line", "width"),
    }
    ends |= {("margin", side) for side in "lrtb"} | ({("marker", "size")} if dims == 2 else set())
    old, new = numbers(before), numbers(after)
    assert new == {path: x * (SCALE if path[-2:] in ends else 1) for path, x in old.items()}
    assert sum(new[path] != x for path, x in old.items()) > 5


def test_dashes_grow_with_the_width_of_their_line(node):
    layers = [{"draws": "line", "pattern": [9, 3]}, {"draws": "line", "pattern": []}]
    data = [{"type": "scatter", "line": {"width": 2, "dash": "dash"}} for _ in layers]
    layout = {"font": {"size": 14}, "margin": {}}
    made = node.ask("enlarged", data=data, layout=layout, layers=layers, scale=SCALE)["data"]
    assert [trace["line"] for trace in made] == [
        {"width": 3, "dash": "13.5px,4.5px"},
        {"width": 3, "dash": "dash"},
    ]
