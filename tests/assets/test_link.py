"""Python and the browser read and write links identically: for a made-up scene, and for all real ones."""

import json
import time
from collections import Counter
from dataclasses import replace
from functools import cache
from urllib.parse import parse_qsl, quote_plus

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from components.language import link
from components.language.recipe import Parameter
from components.language.scene import Choice, Sentence, Several, WrongValue, no_files, scenes, short
from components.training.recipes import built, recipe_of, state_of
from tests.components.language.test_scene import SCENE
from tests.components.recipes import recipe

SHORT = 0.5e-4  # a link carries five digits
CAMERA = 0.5e-4 + 1e-9  # and four decimals of the camera
THIRD = 2 / 3
AWKWARD = (
    Parameter("a", "a", 0, -THIRD, THIRD),  # rounded to five digits, its bounds are outside the range
    Parameter("b", "b", 12344.5, -1e6, 1e6),  # halves, which round up in one language and to even in another
    Parameter("c", "c", 1.00000001, 0, 1e25),  # a default of more than five digits, numbers with exponents
    Parameter("tiny", "tiny", 1e-5, 1e-12, 10, scale="log"),
)


def made(choices):
    small = recipe(int(choices["d"]))
    return replace(small, parameters=(*small.parameters, *AWKWARD), progress=0.25, follow=3)


def kept(scene):
    """A copy of a scene that caches its recipes by choices, has no training, and reads no files."""
    build = cache(lambda choices: built(scene, dict(choices)))
    remembers = {"training": None, "files": no_files}
    return replace(scene, build=lambda choices: build(tuple(choices.items())), **remembers)


MADE = kept(replace(SCENE, build=made))
REAL = [kept(scene) for scene in scenes().values()]
LAYERNORM = next(scene for scene in REAL if scene.slug == "layernorm")


def told(scene, chosen):
    """What link.mjs needs of a scene's recipe for the choices `chosen`, in the form that the server sends."""
    shown = built(scene, chosen)
    clouds = [{"name": c.name, "points": {"shape": c.points.shape}} for c in shown.clouds]
    return {
        "stages": list(shown.stages),
        "parameters": [vars(p) for p in shown.parameters],
        "clouds": clouds,
        "choices": [{"name": c.name} for c in scene.choices],
        "text": {"tour": [{}] * len(scene.text.tour)},
        "table": shown.table and vars(shown.table),
        "progress": shown.progress,
        "follow": shown.follow,
    }


def usual(scene):
    return {c.name: c.default for c in scene.choices}


def in_browser(node, scene, chosen, search):
    return node.ask("read", search=search, choices=usual(scene), recipe=told(scene, chosen))


def written_in_browser(node, state):
    known = told(state.scene, state.choices)
    return node.ask("write", state=as_told(state), choices=usual(state.scene), recipe=known)


def as_told(state):
    """A state that Python has read from a link, in the format of link.mjs."""
    numbers = [*state.camera, 0, 0, 0][:6] if state.camera else []
    camera = {"eye": numbers[:3], "center": numbers[3:]} if numbers else None
    own = {name: getattr(state, name) for name in ("progress", "follow", "theme", "tour")}
    lists = {"camera": camera, "controls": None if state.controls is None else list(state.controls)}
    return own | lists | {"choices": dict(state.choices), "params": dict(state.params)}


def query(search):
    return link.once(parse_qsl(search.removeprefix("?"), keep_blank_values=True))


def encoded(pairs):
    return "?" + "&".join(f"{quote_plus(name)}={quote_plus(text)}" for name, text in pairs)


# --- both accept, refuse and write the same links


def attempt(call):
    """Call a function, and return its result, or the WrongValue that it raises.

    Asserts that a WrongValue has the texts `error` and `allowed`, and that it can be written as JSON.
    """
    try:
        return call()
    except WrongValue as wrong:
        assert wrong.error and wrong.allowed and json.dumps(wrong.json())
        return wrong


def compare(node, scene, search):
    """Assert that Python and the browser read a link alike; return the set of the names that both refuse.

    search: the query string of the link. A name is refused if its value is wrong, or if it occurs twice. If
    the value of a choice is wrong, the set has only the name of this choice. If no name is refused, Python
    and the browser must get the same state, and must write the same link for it.
    """
    pairs = parse_qsl(search.removeprefix("?"), keep_blank_values=True)
    choices = {name: text for name, text in pairs if name in usual(scene)}
    whole, server = (
        attempt(lambda: state_of(scene, query(search))),
        attempt(lambda: state_of(scene, choices)),
    )
    if isinstance(server, WrongValue):  # the browser gets the same message
        assert isinstance(whole, WrongValue)
        return {server.parameter}
    known = dict(server.choices)
    got = in_browser(node, scene, known, search)
    assert got["chosen"] == choices
    twice = {name for name, count in Counter(name for name, _ in pairs).items() if count > 1}
    rest = {name: text for name, text in pairs if name not in choices}
    wrong = {name for name, text in rest.items() if both_refuse(node, scene, known, name, text)}
    assert len(got["wrong"]) == len(twice) + len(wrong)  # the browser reports all errors, Python the first
    if twice | wrong:
        assert whole.parameter in twice | wrong
    else:
        # JSON writes 1e17 as a whole number
        params = {name: float(x) for name, x in got["state"]["params"].items()}
        assert as_told(whole) == got["state"] | {"choices": known, "params": params}
        assert link.write(whole) == written_in_browser(node, whole)
    return twice | wrong


def both_refuse(node, scene, chosen, name, text):
    """Whether Python and the browser both refuse the value `text` of `name`; fails if only one of them does.

    Both error messages must contain the name.
    """
    theirs = in_browser(node, scene, chosen, encoded([(name, text)]))["wrong"]
    choices = {each: str(value) for each, value in chosen.items()}
    ours = attempt(lambda: state_of(scene, {**choices, name: text}))
    if not isinstance(ours, WrongValue):
        assert theirs == []
        return False
    assert ours.parameter == name and name in ours.error
    assert len(theirs) == 1 and name in theirs[0]
    return True


NUMBERS = st.floats(-20, 20).map(repr) | st.integers(-9, 99).map(str) | st.sampled_from(["0.00012", "1e-7"])
HOSTILE = ["", " ", "NaN", "nan", "inf", "-Infinity", "1e400", "0x1", "1_0", "--1", "1e", "٢", "1 2", "1\n"]
HOSTILE += ["+1", "1.", ".5", ".", "-0", "007", "2.0", "1e0", "1E-3", "1,2,3", "1,,2", "a&b=c", "100%", "²"]
STRANGE = ["nothing", "", "Progress", "toString", "constructor", "__proto__", "autoplay", "1", "a=b", "é"]


def likely(choice, scene):
    """A strategy for the text of a choice of a scene; most texts are valid.

    For real scenes it gives only the default, because other recipes take long to build.
    """
    if scene is not MADE:
        return st.just(str(choice.default))
    if isinstance(choice, Choice | Several):
        return st.sampled_from([*choice.options, str(choice.default)])
    return st.sampled_from([str(choice.default), "1", "2", "007", "-0", "~*'(,) +"])


def probable(scene):
    """A dict: for each name that a link to a scene can set, a strategy for its text; most texts are valid."""
    built, stops = recipe_of(scene), len(scene.text.tour)
    controls = [*usual(scene), *built.defaults, "progress"]
    own = {
        "progress": st.floats(0, len(built.stages)).map(repr),
        "follow": st.integers(-1, 30).map(str),
        "camera": st.lists(NUMBERS, min_size=2, max_size=7).map(",".join),
        "theme": st.sampled_from([*link.THEMES, "Dark"]),
        "controls": st.lists(st.sampled_from([*controls, "0", "x"]), max_size=3).map(",".join) | st.just("1"),
        "tour": st.integers(0, stops + 1).map(str),
    }
    params = {p.name: numbers(p.min, p.max).map(repr) for p in built.parameters}
    return own | params | {c.name: likely(c, scene) for c in scene.choices}


def numbers(low, high):
    return st.floats(low, high) | st.sampled_from([float(low), float(high)])


def searches(scene):
    """A strategy for query strings of a scene, valid and invalid."""
    right = probable(scene)
    known = st.sampled_from(sorted(right)).flatmap(lambda name: st.tuples(st.just(name), right[name]))
    names = st.sampled_from([*sorted(right), *STRANGE])
    strange = st.tuples(names, st.sampled_from(HOSTILE))
    fine = st.lists(known, max_size=6, unique_by=lambda pair: pair[0])
    return (fine | st.lists(known | strange, max_size=4)).map(encoded)


@given(searches(MADE))
@example("?&&a=0.5&=&b")
@example("?a=1&a=1&text=%2C+~*")
@example("a=.5&=x")
def test_a_link_means_the_same_to_both(node, search):
    compare(node, MADE, search)


@pytest.mark.parametrize("scene", REAL, ids=lambda scene: scene.slug)
@settings(max_examples=12)
@given(data=st.data())
def test_a_scenes_link_means_the_same_to_both(node, scene, data):
    compare(node, scene, data.draw(searches(scene)))


@pytest.mark.parametrize("scene", REAL, ids=lambda scene: scene.slug)
def test_a_stop_is_the_same_whole_state_in_both(node, scene):
    """Python and the browser read the same whole state from each stop of the tour, without an error."""
    for stop in scene.text.tour:
        assert compare(node, scene, encoded(stop.state.items())) == set(), stop.title


# --- both write any state identically, and can read it


def cameras():
    """A strategy for cameras, including ones that links cannot have: too far, or at the point they look at.

    None stands for the default camera.
    """
    halves = st.sampled_from([0.03125, -0.09375, 0.0, 100.0])
    coordinate = st.floats(-120, 120) | st.floats(-2e-3, 2e-3) | halves
    return st.none() | st.lists(coordinate, min_size=6, max_size=6).map(tuple)


@st.composite
def states(draw, scene):
    """A strategy for states of a scene that a page can reach; their cameras are any of `cameras`."""
    built, stops = recipe_of(scene), len(scene.text.tour)
    controls = [*usual(scene), *built.defaults, "progress"]
    ours = {"text": draw(st.text(max_size=5)), "heads": draw(st.sampled_from(["", "a", "b", "a,b"]))}
    state = state_of(scene, ours if scene is MADE else {})
    return replace(
        state,
        params={p.name: draw(numbers(p.min, p.max) | st.just(p.value)) for p in built.parameters},
        progress=draw(numbers(0, len(built.stages) - 1)),
        follow=draw(st.integers(0, 19)),
        camera=draw(cameras()),
        theme=draw(st.sampled_from(["", *link.THEMES])),
        controls=draw(st.none() | st.lists(st.sampled_from(controls), unique=True).map(tuple)),
        tour=draw(st.integers(0, stops)),
    )


def law_of_writing(node, state):
    search = link.write(state)
    assert search == written_in_browser(node, state)
    read = state_of(state.scene, query(search))
    assert link.write(read) == search, "what is read is written again"
    same = ("choices", "follow", "theme", "controls", "tour")
    assert all(getattr(read, name) == getattr(state, name) for name in same)
    assert dict(read.params) == pytest.approx(state.params, rel=SHORT)
    assert read.progress == pytest.approx(state.progress, rel=SHORT)
    if read.camera:
        assert (*read.camera, 0, 0, 0)[:6] == pytest.approx(state.camera, abs=CAMERA)


@given(states(MADE))
def test_both_write_a_state_the_same(node, state):
    law_of_writing(node, state)


@given(states(LAYERNORM))
@settings(max_examples=30)
def test_both_write_a_scenes_state_the_same(node, state):
    law_of_writing(node, state)


def test_only_what_differs_is_written(node):
    state = state_of(LAYERNORM, {})
    assert link.write(state) == written_in_browser(node, state) == ""
    for asked in ("?d=2&gamma1=1.5", "?progress=1.25&follow=7", "?controls=0&tour=2", "?theme=auto"):
        assert compare(node, LAYERNORM, asked) == set()
        assert link.write(state_of(LAYERNORM, query(asked))) == asked
    nearly = replace(state, params={**state.params, "gamma1": 1.0000001})
    assert link.write(nearly) == written_in_browser(node, nearly) == "", "five digits of it are the default"


@pytest.mark.parametrize(
    ("x", "text"),
    [
        *[(1e-5, "0.00001"), (1.5e-7, "1.5e-7"), (1e20, "100000000000000000000"), (1.2e21, "1.2e%2B21")],
        *[(12345.5, "12346"), (12344.5, "12345"), (-12344.5, "-12345"), (-0.0, "0"), (2 / 3, "0.66667")],
    ],
)
def test_numbers_are_written_as_in_the_browser(node, x, text):
    small = recipe(3)
    wide = replace(small, parameters=(*small.parameters, Parameter("a", "a", 7, -1e30, 1e30)))
    state = state_of(replace(MADE, build=lambda _: wide), {})
    state = replace(state, params={**state.params, "a": x})
    assert link.write(state) == written_in_browser(node, state) == f"?a={text}"


def test_a_camera_is_written_so_that_it_can_be_read(node):
    state = state_of(LAYERNORM, {})
    near = (0.00074, 0.00074, 0, 0.00004, 0.00004, 0)  # four decimals of it are nearer than may be
    for camera, text in [
        ((0.03125, -0.09375, 1.0), "?camera=0.0313,-0.0938,1"),
        ((1, 2, 3, 0.00004, 0, 0), "?camera=1,2,3"),
        ((120.0, 0, 0), ""),
    ]:
        there = replace(state, camera=camera)
        assert link.write(there) == written_in_browser(node, there) == text
    there = replace(state, camera=near)
    assert link.write(there) == written_in_browser(node, there)
    assert state_of(LAYERNORM, query(link.write(there)))


# --- valid and invalid values of one scene

NUMBER = [*HOSTILE[:14], "one", "1,5"]
WRONG = [
    *[f"{name}={quote_plus(x)}" for name in ("gamma1", "eps", "progress", "follow", "tour") for x in NUMBER],
    *["gamma1=2.0001", "gamma1=-3", "gamma1=99", "eps=1e-9", "eps=-1", "eps=11", "mean=1e300"],
    *["progress=-0.1", "progress=5.01", "follow=-1", "follow=1.5", "follow=400", "follow=1e30"],
    *["theme=blue", "theme=", "theme=Dark", "nothing=1", "gamma9=1", "Gamma1=1", "toString=1", "__proto__=1"],
    *["constructor=1", "camera=", "camera=1", "camera=1,2", "camera=1,2,3,4", "camera=1,2,3,4,5,6,7"],
    *["camera=1,2,x", "camera=1,,2", "camera=0,0,0", "camera=101,0,0", "camera=nan,1,1", "camera=1,1,inf"],
    *["camera=1,2,3,4,5,nan", "camera=1,2,3,1,2,3", "camera=1e-200,0,0", "camera=1;2;3"],
    *["controls=", "controls=x", "controls=gamma1,", "controls=0,gamma1", "controls=gamma9"],
    *["controls=Progress", "tour=0", "tour=-1", "tour=1.5", "tour=99", "autoplay=1"],
]
RIGHT = [
    *["", "gamma1=2", "gamma1=-2", "gamma1=1.50", "gamma1=.5", "gamma1=1.", "gamma1=-0", "gamma1=1e-3"],
    *["eps=0", "eps=0.0", "eps=1e-8", "eps=10", "eps=1E-3", "progress=0", "progress=5", "progress=2.5"],
    *["follow=0", "follow=3", "follow=2.0", "follow=1e2", "follow=399", "theme=auto", "theme=light"],
    *["theme=dark", "camera=1,2,3", "camera=-1,0,0,0.5,0,0", "camera=100,-100,0", "camera=0,0,1e-2"],
    *["camera=0.0006,0,0.0008", "gamma1=1&progress=2&theme=dark", "controls=0", "controls=1"],
    *["controls=gamma1,progress", "controls=d", "controls=gamma1,gamma1", "tour=1", "tour=2.0", "tour=1e0"],
    *["n=060&follow=20"],
]


@pytest.mark.parametrize("search", WRONG)
def test_both_refuse(node, search):
    assert compare(node, LAYERNORM, search) == {search.partition("=")[0]}


@pytest.mark.parametrize("search", RIGHT)
def test_both_accept(node, search):
    assert compare(node, LAYERNORM, search) == set()


def test_what_other_sites_add_to_a_link_is_ignored(node):
    search = "?utm_source=x&fbclid=1&fbclid=2&gamma1=2"
    got = in_browser(node, LAYERNORM, usual(LAYERNORM), search)
    assert got["wrong"] == [] and got["state"]["params"]["gamma1"] == 2
    assert link.once(parse_qsl(search.removeprefix("?"))) == {"gamma1": "2"}


def test_a_wrong_value_leaves_the_others(node):
    got = in_browser(node, LAYERNORM, usual(LAYERNORM), "?gamma1=99&gamma2=1.5")
    assert len(got["wrong"]) == 1 and "gamma1=99" in got["wrong"][0]
    assert got["state"]["params"]["gamma1"] == 1 and got["state"]["params"]["gamma2"] == 1.5


def test_a_camera_at_the_point_that_it_looks_at_is_refused_with_the_rule(node):
    rule = "the eye at least 0.001 from what it looks at (0,0,0 if there are three)"
    (said,) = in_browser(node, LAYERNORM, usual(LAYERNORM), "?camera=0,0,0")["wrong"]
    with pytest.raises(WrongValue) as wrong:
        state_of(LAYERNORM, {"camera": "0,0,0"})
    assert said.endswith(rule) and wrong.value.error.endswith(rule)


def test_a_figure_without_a_tour_has_no_stop(node):
    alone = told(LAYERNORM, usual(LAYERNORM)) | {"text": None}
    assert node.ask("read", search="?tour=1", choices=usual(LAYERNORM), recipe=alone)["wrong"]
    with pytest.raises(WrongValue) as wrong:
        state_of(LAYERNORM, {"tour": "1"}, tour=False)
    assert wrong.value.parameter == "tour" and "tour" not in wrong.value.allowed


def test_the_longest_query_is_read_at_once():
    """A long text that is no number is refused within a second; with backtracking it would take longer."""
    start = time.process_time()
    with pytest.raises(WrongValue):
        state_of(MADE, {"a": "1" * 7900 + "x"})
    assert time.process_time() - start < 1


@pytest.mark.parametrize("text", ["", "😀" * 5, "😀" * 6, "x" * 100_000])
def test_a_text_that_is_too_long_is_refused_in_the_same_words(node, text):
    """The page and the server accept the same texts, and refuse all others with the same error message.

    The page refuses a text before it sends a request, because no server would read an address so long.
    """
    choice = Sentence("own", "Own", "a", longest=5)
    try:
        short(choice.name, text, choice.longest)
        words = ""
    except WrongValue as wrong:
        words = wrong.error
    offered = [vars(choice), {"name": "d"}]
    assert node.ask("tooLong", changed={"own": text, "d": "3"}, choices=offered) == words
