"""A link gives its state back; Python and the browser refuse the same links."""

import json
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components import link as states
from components.scene import WrongValue, scenes
from tests.assets.engine import Node

SHORT = 1e-4  # a link carries five digits
CAMERA = 0.5e-3 + 1e-9  # and three decimals of the camera
SCENE = scenes()["layernorm"]
CHOICES = {c.name: c.default for c in SCENE.choices}


@pytest.fixture(scope="module")
def node():
    with Node() as process:
        yield process


def known(recipe):
    """What link.mjs needs of a recipe."""
    parameters = [vars(p) for p in recipe.parameters]
    clouds = [{"name": c.name, "points": {"shape": c.points.shape}} for c in recipe.clouds]
    numbers = {"progress": recipe.progress, "follow": recipe.follow, "table": vars(recipe.table)}
    return {"stages": list(recipe.stages), "parameters": parameters, "clouds": clouds, **numbers}


RECIPE = known(SCENE.recipe())


def read(node, search, recipe=RECIPE):
    return node.ask("read", search=search, choices=CHOICES, recipe=recipe)


def write(node, state, recipe=RECIPE):
    return node.ask("write", state=state, choices=CHOICES, recipe=recipe)


# --- there and back


def numbers(low, high):
    return st.floats(low, high) | st.sampled_from([low, high])


coordinates = st.lists(numbers(-50, 50), min_size=3, max_size=3)


def whole_states(recipe):
    """Any state of a recipe, by what the page can set."""
    params = {p["name"]: numbers(p["min"], p["max"]) for p in recipe["parameters"]}
    eyes = coordinates.filter(lambda x: max(map(abs, x)) > 1)
    return st.fixed_dictionaries(
        {
            "choices": st.fixed_dictionaries(
                {}, optional={"d": st.sampled_from("234"), "vectors": st.text()}
            ),
            "params": st.fixed_dictionaries(params),
            "progress": numbers(0, len(recipe["stages"]) - 1),
            "follow": st.integers(0, 399),
            "theme": st.sampled_from(["", "auto", "light", "dark"]),
            "camera": st.none()
            | st.fixed_dictionaries({"eye": eyes, "center": st.just([0, 0, 0]) | coordinates.map(small)}),
        }
    )


def small(center):
    return [c / 200 for c in center]


@given(state=whole_states(RECIPE))
def test_what_is_written_is_read(node, state):
    got = read(node, write(node, state))
    assert got["wrong"] == []
    assert got["chosen"] == {k: v for k, v in state["choices"].items() if v != CHOICES[k]}
    for name, value in state["params"].items():
        assert got["state"]["params"][name] == pytest.approx(value, rel=SHORT)
    assert got["state"]["progress"] == pytest.approx(state["progress"], rel=SHORT)
    assert (got["state"]["follow"], got["state"]["theme"]) == (state["follow"], state["theme"])
    if state["camera"] is None:
        assert got["state"]["camera"] is None
    else:
        for part in ("eye", "center"):
            assert got["state"]["camera"][part] == pytest.approx(state["camera"][part], abs=CAMERA)


@given(state=whole_states(RECIPE))
def test_python_reads_the_same_state(node, state):
    search = write(node, state | {"choices": {}})
    got, want = states.parse(SCENE, dict(parse_qsl(search[1:]))), read(node, search)["state"]
    assert dict(got.params) == want["params"]
    assert (got.progress, got.follow, got.theme) == (
        want["progress"],
        want["follow"],
        want["theme"] or "auto",
    )
    camera = want["camera"] and (*want["camera"]["eye"], *want["camera"]["center"])
    assert camera is None or (*got.camera, 0, 0, 0)[:6] == tuple(camera)


def test_only_what_differs_is_written(node):
    usual = {p["name"]: p["value"] for p in RECIPE["parameters"]}
    state = {"choices": CHOICES, "params": usual, "progress": RECIPE["progress"], "follow": RECIPE["follow"]}
    state |= {"camera": None, "theme": ""}
    assert write(node, state) == ""
    assert write(node, state | {"params": usual | {"gamma1": 1.5}, "choices": CHOICES | {"d": "2"}}) == (
        "?d=2&gamma1=1.5"
    )


def test_a_rounded_bound_stays_inside(node):
    """Five digits of the largest value may be larger than it."""
    third = 2 / 3
    parameter = {"name": "a", "value": 0, "min": -third, "max": third, "scale": "linear"}
    recipe = {"stages": ["x"], "progress": 0, "follow": 0, "parameters": [parameter]}
    for value in (-third, third):
        state = {
            "choices": {},
            "params": {"a": value},
            "progress": 0,
            "follow": 0,
            "theme": "",
            "camera": None,
        }
        got = read(node, write(node, state, recipe), recipe)
        assert got["wrong"] == [] and got["state"]["params"]["a"] == pytest.approx(value, rel=SHORT)


# --- both refuse, or neither

NOT_NUMBERS = [
    "",
    " ",
    "NaN",
    "nan",
    "inf",
    "-Infinity",
    "1e400",
    "one",
    "1,5",
    "0x1",
    "1_0",
    "--1",
    "1e",
    "٢",
    "1 2",
]
WRONG = [
    *[f"{name}={text}" for name in ("gamma1", "eps", "progress", "follow") for text in NOT_NUMBERS],
    *["gamma1=2.0001", "gamma1=-3", "gamma1=99", "eps=1e-9", "eps=-1", "eps=11", "mean=1e300"],
    *[
        "progress=-0.1",
        "progress=5.01",
        "progress=99",
        "follow=-1",
        "follow=1.5",
        "follow=400",
        "follow=1e30",
    ],
    *["theme=blue", "theme=", "theme=Dark", "nothing=1", "gamma9=1", "Gamma1=1", "toString=1", "__proto__=1"],
    *["constructor=1", "camera=", "camera=1", "camera=1,2", "camera=1,2,3,4", "camera=1,2,3,4,5,6,7"],
    *["camera=1,2,x", "camera=1,,2", "camera=0,0,0", "camera=101,0,0", "camera=nan,1,1", "camera=1,1,inf"],
    *["camera=1,2,3,4,5,nan", "camera=1,2,3,1,2,3", "camera=1e-200,0,0", "camera=1;2;3"],
]
RIGHT = [
    *["", "gamma1=2", "gamma1=-2", "gamma1=1.50", "gamma1=.5", "gamma1=1.", "gamma1=-0", "gamma1=1e-3"],
    *["eps=0", "eps=0.0", "eps=1e-8", "eps=10", "eps=1E-3", "progress=0", "progress=5", "progress=2.5"],
    *["follow=0", "follow=3", "follow=2.0", "follow=1e2", "follow=399"],
    *[
        "theme=auto",
        "theme=light",
        "theme=dark",
        "camera=1,2,3",
        "camera=-1,0,0,0.5,0,0",
        "camera=100,-100,0",
    ],
    *["camera=0,0,1e-2", "gamma1=1&progress=2&theme=dark"],
]


@pytest.mark.parametrize("search", WRONG)
def test_both_refuse(node, search):
    assert read(node, f"?{search}")["wrong"]
    with pytest.raises(WrongValue) as wrong:
        states.parse(SCENE, dict(parse_qsl(search, keep_blank_values=True)))
    assert wrong.value.parameter == search.partition("=")[0]
    assert wrong.value.error and wrong.value.allowed and json.dumps(wrong.value.json())


@pytest.mark.parametrize("search", RIGHT)
def test_both_accept(node, search):
    assert read(node, f"?{search}")["wrong"] == []
    states.parse(SCENE, dict(parse_qsl(search)))


def test_a_wrong_value_leaves_the_others(node):
    got = read(node, "?gamma1=99&gamma2=1.5")
    assert len(got["wrong"]) == 1 and "gamma1=99" in got["wrong"][0]
    assert got["state"]["params"]["gamma1"] == 1 and got["state"]["params"]["gamma2"] == 1.5
