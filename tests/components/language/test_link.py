"""Links as Python parses them; tests/assets/test_link.py compares the browser with Python."""

import pytest

from components.language.scene import WrongValue
from components.training.recipes import recipe_of, state_of
from tests.components.language.test_scene import DEFAULTS, SCENE


def test_an_empty_query_is_the_scene_itself():
    got = state_of(SCENE, {})
    assert (got.choices, got.params) == (DEFAULTS, {"gain": 1, "eps": 1e-5})
    assert (got.progress, got.camera, got.follow, got.theme) == (0, None, 0, "")
    assert (got.controls, got.tour) == (None, 0)


def test_a_query_is_the_state():
    asked = {"d": "2", "gain": "-1.5", "eps": "0", "progress": "1.25", "follow": "19", "theme": "dark"}
    got = state_of(SCENE, asked | {"camera": "1,2,3,0,0,0.5"})
    assert got.choices["d"] == "2" and got.recipe.views[0].dims == 2
    assert got.params == {"gain": -1.5, "eps": 0.0}
    assert (got.progress, got.follow, got.theme) == (1.25, 19, "dark")
    assert got.camera == (1, 2, 3, 0, 0, 0.5)


def test_a_teachers_link_names_its_controls_and_its_stop():
    got = state_of(SCENE, {"controls": "gain,d,progress", "tour": "2"})
    assert (got.controls, got.tour) == (("gain", "d", "progress"), 2)
    assert (
        state_of(SCENE, {"controls": "0"}).controls == ()
        and state_of(SCENE, {"controls": "1"}).controls is None
    )


def test_the_defaults_of_the_recipe_stay_as_they_are():
    recipe = state_of(SCENE, {"gain": "2"}).recipe
    assert recipe.defaults["gain"] == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *[("gain", text) for text in ("2.01", "-2.01", "", "NaN", "inf", "1e400", "0x1", "1_0", "x")],
        *[("eps", text) for text in ("1e-9", "-1", "11", "-inf")],
        *[("progress", text) for text in ("-0.01", "2.01", "NaN", "")],
        *[("follow", text) for text in ("-1", "20", "0.5", "NaN", "inf", "")],
        *[("theme", text) for text in ("blue", "", "Light")],
        *[
            ("camera", text)
            for text in ("", "1,2", "1,2,3,4", "0,0,0", "1,1,nan", "101,0,0", "1,1,1,1,1,1", "a,b,c")
        ],
        *[("controls", text) for text in ("", "x", "gain,", "0,gain", "Gain", "camera")],
        *[("tour", text) for text in ("", "0", "99", "1.5", "-1", "x")],
        *[("d", "5"), ("n", "0"), ("nothing", "1"), ("", "1")],
    ],
)
def test_nothing_is_clamped(name, text):
    with pytest.raises(WrongValue) as wrong:
        state_of(SCENE, {name: text})
    assert wrong.value.parameter == name and wrong.value.allowed


def test_only_a_logarithmic_parameter_may_be_zero_below_its_range():
    assert state_of(SCENE, {"eps": "0"}).params["eps"] == 0
    assert recipe_of(SCENE).parameters[1].min > 0
