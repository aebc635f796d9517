import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from components.link import parse
from components.scene import scenes
from components.still import HEIGHT, MOST, WIDTH, boxes, svg
from components.theme import THEMES, colors
from tests.components.recipes import recipe
from tests.components.test_scene import SCENE

LARGEST = 150_000  # bytes: the gallery loads one for each scene
NUMBER = re.compile(r"-?\d+(\.\d+)?")
PAINTED = re.compile(r"var\(--([\w-]+)\)")


def checked(text):
    """The picture's elements by tag; valid XML, finite, small, every colour known."""
    assert not re.search(r"nan|inf", text, re.I) and len(text.encode()) < LARGEST
    found = {}
    for element in ElementTree.fromstring(text).iter():
        found.setdefault(element.tag.rpartition("}")[2], []).append(element)
        for name in ("x", "y", "cx", "cy", "r", "opacity", "width", "height", "stroke-width"):
            assert NUMBER.fullmatch(element.get(name, "0")), (element.tag, name)
    assert set(PAINTED.findall(text)) <= colors("light").keys()
    return found


@pytest.mark.parametrize("d", ["2", "3"])
@pytest.mark.parametrize("progress", ["0", "1.5", "2"])
@pytest.mark.parametrize("theme", [*THEMES, "auto"])
def test_valid_small_and_finite(d, progress, theme):
    state = parse(SCENE, {"d": d, "progress": progress, "theme": theme})
    found = checked(svg(state.recipe, state))
    assert len(found["circle"]) == 20 + 2 + 1 + 1 + 20
    assert [t.text for t in found["text"]] == ["<a>", "b&b", "c"][: int(d)]


def test_the_theme_is_in_the_picture():
    for theme in THEMES:
        text = svg(recipe(3), parse(SCENE, {"theme": theme}))
        assert all(color in text for color in colors(theme).values()) and "@media" not in text
    assert "prefers-color-scheme: dark" in svg(recipe(3), parse(SCENE, {}))


CAMERAS = [
    "0,0,1",
    "0,0,-2",
    "1,0,0",
    "100,-100,100",
    "0,0,1e-3",
    "1,1,1,1,1,0.99",
    "0.1,0.1,0.1,0.5,0.5,0.5",
]


@pytest.mark.parametrize("camera", CAMERAS)
def test_any_camera_that_a_link_may_ask_for(camera):
    """Also straight down, and inside the cloud."""
    state = parse(SCENE, {"camera": camera})
    assert checked(svg(state.recipe, state)) and svg(state.recipe, state) != svg(recipe(3), parse(SCENE, {}))


def test_nothing_is_drawn_of_a_layer_that_has_faded():
    small = recipe(3)
    view = small.views[0]
    gone = replace(view, layers=tuple(replace(layer, fade=(0.0, 1.0, 1.0)) for layer in view.layers))
    state = parse(SCENE, {})
    assert "circle" not in checked(svg(replace(small, views=(gone,)), state))


def test_many_points_stay_small():
    small = recipe(3)
    many = replace(small.clouds[0], points=np.random.default_rng(1).normal(size=(10_000, 3)))
    layer = replace(small.views[0].layers[0], color=None)
    recipe_ = replace(small, clouds=(many,), views=(replace(small.views[0], layers=(layer,)),))
    assert len(checked(svg(recipe_, parse(SCENE, {})))["circle"]) == MOST


@pytest.mark.parametrize("scene", scenes().values(), ids=scenes())
def test_every_scene(scene):
    last = len(scene.recipe().stages) - 1
    for query in ({}, {"progress": str(last), "theme": "dark"}, {"progress": str(last / 2)}):
        state = parse(scene, query)
        checked(svg(state.recipe, state))


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("strip", [False, True])
def test_boxes_fill_the_picture_and_a_strip_is_small(count, strip):
    [view] = recipe(2).views
    found = boxes([view] * (count - 1) + [replace(view, strip=strip)])
    sizes = [w * h for _, _, w, h in found]
    assert sum(sizes) == WIDTH * HEIGHT and all(x + w <= WIDTH and y + h <= HEIGHT for x, y, w, h in found)
    assert count == 1 or not strip or sizes[-1] < min(sizes[:-1])
