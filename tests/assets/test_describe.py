"""The description of a figure in words: the position of the camera, and labels without tags."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.language.packing import packed
from components.language.scene import scenes
from components.training.recipes import recipe_of

AROUND = ["right", "back right", "back", "back left", "left", "front left", "front", "front right"]
HEIGHTS = {
    -90: "straight below", -85: "straight below", -60: "high below", -20: "slightly below", 0: "", 5: "",
    20: "slightly above", 60: "high above", 85: "straight above", 90: "straight above",
}  # fmt: skip


def eye(azimuth, height, far=1.0):
    """A camera position [x, y, z], at the distance `far` from the origin.

    azimuth: degrees from the first axis towards the second. height: the elevation in degrees.
    """
    a, h = np.radians([azimuth, height])
    return (far * np.array([np.cos(a) * np.cos(h), np.sin(a) * np.cos(h), np.sin(h)])).tolist()


def sides(node, eyes, center=(0, 0, 0)):
    cameras = [{"eye": (np.array(e) + center).tolist(), "center": list(center)} for e in eyes]
    return node.ask("sides", cameras=cameras)


@pytest.mark.parametrize(("height", "word"), HEIGHTS.items())
@pytest.mark.parametrize("off", [-20, 0, 20])
def test_every_direction_has_its_words(node, height, word, off):
    got = sides(node, [eye(45 * k + off, height) for k in range(8)])
    if "straight" in word:
        assert got == [word] * 8
    else:
        assert got == [f"the {name}, {word}".removesuffix(", ") for name in AROUND]


@pytest.mark.parametrize("turn", [-720, -360, 360])
def test_a_whole_turn_changes_nothing(node, turn):
    assert sides(node, [eye(30, 20)]) == sides(node, [eye(30 + turn, 20)])


def test_where_the_first_axis_points_to_the_right_is_the_front(node):
    assert sides(node, [[0, -1, 0], [1, -1, 0], [0, 0, 1], [0, 0, -1], [-1, 0, -0.0]]) == [
        "the front", "the front right", "straight above", "straight below", "the left",
    ]  # fmt: skip


numbers = st.floats(-50, 50)


@given(
    azimuth=st.floats(-180, 180).filter(lambda a: abs((a + 22.5) % 45) > 1e-3),
    height=st.floats(-90, 90).filter(lambda h: min(abs(abs(h) - b) for b in (10, 40, 80)) > 1e-3),
    far=st.floats(0.5, 50),
    center=st.tuples(numbers, numbers, numbers),
)
def test_only_the_direction_to_what_it_looks_at_counts(node, azimuth, height, far, center):
    assert sides(node, [eye(azimuth, height, far)], center) == sides(node, [eye(azimuth, height)])


def test_labels_lose_their_tags_without_a_parser_of_documents(node):
    labels = {
        "γ<sub>1</sub>": "γ1",
        "a &lt; b &amp;&amp; c": "a < b && c",
        "1 < 2 > 0": "1 < 2 > 0",
        "&#x27;h&#39; &quot;&nosuch; ": "'h' \"&nosuch;",
        '<img src=x onerror="alert(1)">h.0': "h.0",
        "&lt;b&gt;bold&lt;/b&gt;": "<b>bold</b>",
    }
    assert node.ask("plain", labels=[*labels]) == [*labels.values()]


def test_a_sentence_begins_with_a_capital_letter_but_a_symbol_stays(node):
    labels = {
        "no query can choose": "No query can choose",
        "Mean error": "Mean error",
        "σ of the red vector": "σ of the red vector",
        "ε as a share of its σ² + ε": "ε as a share of its σ² + ε",
        "x of the red point": "x of the red point",
        "1/σ": "1/σ",
    }
    assert node.ask("sentences", labels=[*labels]) == [*labels.values()]


@pytest.mark.parametrize(
    ("slug", "choices", "words"),
    [
        ("stretch", {"n": "120"}, "120 of 600 points, at the stage normalised (2 of 2)"),
        ("fold", {"n": "600"}, "600 points, at the stage normalised (2 of 2)"),
        ("layernorm", {"points": "worked"}, "1 point, at the stage unit sphere (2 of 5)"),
    ],
)
def test_the_points_that_are_drawn_are_counted(node, slug, choices, words):
    recipe = recipe_of(scenes()[slug], **choices)
    last = len(recipe.stages) - 1
    assert node.ask("where", recipe=packed(recipe), progress=2, last=last) == words
