"""Keeping a figure's state and the properties that code sets equal, without echoes; recipes in notebooks."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

REST = {"choices": {"n": 60, "d": "3"}, "params": {"t": 0.5, "eps": 0.1}, "progress": 1, "follow": 2}


def says(node, *steps):
    return node.ask("bind", steps=list(steps))


def test_a_new_figure_tells_all_that_its_properties_do_not_say_in_full(node):
    given, told = says(node, {"props": {"params": {"t": 0.5}, "progress": 1}}, {"state": REST})
    assert given == {"params": {"t": 0.5}, "progress": 1}
    assert told == {name: REST[name] for name in ("choices", "params", "follow")}


def test_what_a_callback_sets_is_not_sent_back_whole_or_in_part(node):
    moved = REST | {"params": {"t": 2, "eps": 0.1}, "choices": {"n": 99, "d": "3"}, "progress": 0}
    for props in ({"params": moved["params"]}, {"params": {"t": 2}}, {"choices": {"n": "99"}, "progress": 0}):
        state = REST | {name: moved[name] for name in props}
        *_, asked, told = says(node, {"state": REST}, {"props": REST}, {"props": props}, {"state": state})
        assert (asked, told) == (props | ({"params": {"t": 2}} if "params" in props else {}), None)


def test_what_the_hand_moves_is_told_once_and_does_not_come_back_as_a_wish(node):
    moved, further = REST | {"progress": 1.5}, REST | {"progress": 1.7}
    steps = [{"state": REST}, {"props": REST}, {"state": moved}, {"state": moved}, {"state": further}]
    *_, first, again, second = says(node, *steps)
    assert (first, again, second) == ({"progress": 1.5}, None, {"progress": 1.7})
    back = says(node, *steps, {"props": further}, {"state": further})
    assert back[-2:] == [{}, None]


def test_a_callback_may_set_what_the_hand_has_left(node):
    steps = [
        {"state": REST},
        {"props": REST},
        {"state": REST | {"progress": 2}},
        {"props": REST | {"progress": 2}},
    ]
    *_, asked = says(node, *steps, {"props": REST | {"progress": 1}})
    assert asked == {"progress": 1}


def test_the_hand_is_told_of_parameters_that_a_callback_has_not_named(node):
    callback, hand = ({"t": 2, "eps": eps} for eps in (0.1, 0.9))
    steps = [{"state": REST}, {"props": REST}, {"props": {"params": {"t": 2}}}]
    *_, echo, told, again = says(
        node, *steps, *({"state": REST | {"params": each}} for each in (callback, hand, hand))
    )
    assert (echo, told, again) == (None, {"params": hand}, None)
    *_, asked, echo = says(node, *steps, {"state": REST | {"params": hand}}, {"props": {"params": {"t": 2}}},
                           {"state": REST | {"params": hand}})  # fmt: skip
    assert (asked, echo) == ({}, None), "a callback that answers each report comes to rest"


def test_another_scene_takes_over_only_what_came_with_it(node):
    q = {"q": 1}
    other = {"choices": {"seed": 3}, "params": q, "progress": 1, "follow": 0}
    steps = [{"state": REST}, {"props": REST | {"params": q}}, {"props": REST | {"params": q}}]
    *_, asked, again, told = says(node, *steps, {"state": other, "fresh": True})
    assert (asked, again) == ({"params": q}, {}), "what is left of the scene before is nobody's wish"
    assert told == {"choices": {"seed": 3}, "follow": 0}


@given(moves=st.lists(st.tuples(st.sampled_from(["hand", "callback"]), st.integers(0, 3)), max_size=12))
def test_it_comes_to_rest_and_both_sides_agree(node, moves):
    """After changes by the reader and by code, properties and figure are equal, and nothing more is sent."""
    steps, ends = [{"state": REST}], [1]
    for who, value in moves:
        steps.append(
            {"state": REST | {"progress": value}} if who == "hand" else {"props": {"progress": value}}
        )
        ends.append(value)
    props = state = None
    for step, answer in zip(steps, says(node, *steps), strict=True):
        props = {**(props or {}), **(answer or {}), **step.get("props", {})}
        state = step.get("state") or state | answer
    assert props["progress"] == state["progress"] == ends[-1]
    assert says(node, *steps, {"props": props}, {"state": state})[-2:] == [{}, None]


ECHO_MS = 1000  # as in assets/guest/binding.mjs


def at(**values):
    """The state of a figure, or all its properties: a copy of REST with some values replaced.

    values: new values of parameters, by name, and the `progress`, which is 1 unless it is given.
    """
    progress = values.pop("progress", 1)
    return REST | {"params": REST["params"] | values, "progress": progress}


def reports(states):
    """A list of dicts, the steps of a simulation in which the figure reports these states, one every 100 ms.

    In two more steps before these, figure and properties are both in the state REST.
    """
    return [{"state": REST}, {"props": REST}] + [{"state": each, "pause": 100} for each in states]


def test_a_late_echo_is_no_request_and_the_figure_then_reports_its_own_value(node):
    states = [at(progress=2), at(progress=3), at(progress=4)]
    late, early, current = ({"props": each, "pause": 300} for each in (states[1], states[0], states[2]))
    tell = {"state": states[2], "pause": 0}
    *_, first, again, second, once_more, last, rest = says(
        node, *reports(states), late, tell, early, tell, current, tell
    )
    assert (first, second, last) == ({}, {}, {}), "an echo, also one that is older than the echo before"
    assert (again, once_more, rest) == ({"progress": 4}, {"progress": 4}, None)


def test_an_echo_in_a_dict_is_found_by_entry_whole_or_in_part(node):
    states = reports([at(t=1.1), at(t=1.2)])
    whole, part, with_news = {"eps": 0.1, "t": 1.1}, {"t": 1.1}, {"t": 1.1, "eps": 5}
    for params, asked in ((whole, {}), (part, {}), (with_news, {"params": {"eps": 5}})):
        *_, got, told = says(
            node, *states, {"props": REST | {"params": params}, "pause": 600}, {"state": at(t=1.2, eps=5)}
        )
        assert got == asked and told["params"]["t"] == 1.2, "code gets the newest value again"


def test_a_value_of_the_application_wins_also_over_later_echoes(node):
    own = {"props": at(progress=0), "pause": 100}
    *_, asked, told, echo, again = says(
        node,
        *reports([at(progress=2), at(progress=3)]),
        own,
        {"state": at(progress=0), "pause": 0},
        {"props": at(progress=2), "pause": 300},
        {"state": at(progress=0), "pause": 0},
    )
    assert (asked, told) == ({"progress": 0}, None)
    assert (echo, again) == ({}, {"progress": 0})
    states = reports([at(progress=2), at(progress=3)])
    for pause, asked in ((ECHO_MS - 200, {}), (ECHO_MS, {"progress": 2})):
        assert says(node, *states, {"props": at(progress=2), "pause": pause})[-1] == asked
    *_, asked = says(node, *states, {"props": at(progress=2), "pause": 100, "refused": True})
    assert asked == {"progress": 2}, "it corrects a value that the figure has refused"
    away, back = ({"props": at(t=t), "pause": 100} for t in (1.5, REST["params"]["t"]))
    *_, told, _, asked = says(node, {"state": REST, "fresh": True}, away, back)
    assert told["params"] and asked == {"params": {"t": REST["params"]["t"]}}, "defaults are no echo"


def linked(node, values, delays, callback):
    """Simulate a figure that reports `values`, one every 100 ms, and an application that answers.

    The application answers each report several times: once after each of the `delays`, in ms. An answer is
    `callback(value)` for a reported value. Returns the final values of the application and of the figure, and
    the number of reports.
    """
    has, figure, steps, count = 1, 1, [{"state": REST}, {"props": REST}], 0
    events = [(100 * k, k, "hand", value) for k, value in enumerate(values)]
    before = 0
    while events:
        events.sort()
        time, k, who, value = events.pop(0)
        steps.append({"pause": 10_000 if len(steps) == 2 else time - before})
        before = time
        if who == "hand":
            figure = value
        else:
            has = value
            steps[-1]["props"] = {"progress": value}
            figure = says(node, *steps)[-1].get("progress", figure)
            steps.append({"pause": 0})
        steps[-1]["state"] = REST | {"progress": figure}
        if told := says(node, *steps)[-1]:
            has, count = told["progress"], count + 1
            events += [(time + late, k, "echo", callback(has)) for late in delays]
        assert count < 100, "it loops"
    return has, figure, count


@settings(max_examples=20)
@given(
    values=st.lists(st.sampled_from([2, 2.5, 3, 4]), min_size=1, max_size=5),
    delays=st.lists(st.integers(1, 900), min_size=1, max_size=2),
)
def test_a_link_in_both_directions_comes_to_rest_where_the_hand_left_it(node, values, delays):
    has, figure, _ = linked(node, values, delays, lambda value: value)
    assert has == figure == values[-1]


def test_a_callback_that_insists_on_an_older_value_gets_it_and_does_not_loop(node):
    has, figure, count = linked(node, [2, 3], [300], lambda _: 2)
    assert has == figure == 2 and count < 30


def test_a_query_has_all_by_name_and_nothing_that_is_not_set(node):
    state = {
        "choices": {"n": 60},
        "params": {"eps": 1e-5},
        "progress": None,
        "follow": 0,
        "camera": [1, 2, -3],
    }
    said = {"n": "60", "eps": "0.00001", "follow": "0", "camera": "1,2,-3"}
    assert node.ask("asked", state=state) == said


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"slug": None}, "slug=None is not a scene"),
        ({"slug": "../../etc"}, "slug='../../etc' is not a scene"),
        ({"params": [1, 2]}, "params=[1,2] is not a dict by name"),
        ({"choices": "n"}, "choices='n' is not a dict by name"),
        ({"params": {"eps": None}}, "eps=None is not a number (NaN and infinity arrive as None)"),
        ({"choices": {"n": None}}, "n=None is not a number or a text (NaN and infinity arrive as None)"),
        ({"params": {"eps": {"a": 1}}}, """eps={"a":1} is not a number"""),
        ({"progress": {"a": 1}}, """progress={"a":1} is not a number"""),
        ({"camera": 3}, "camera=3 is not a list"),
        ({"controls": "eps"}, "controls='eps' is not a list"),
        ({"controls": [5]}, "controls=[5] is not a list of names"),
        ({"theme": "pink"}, "theme='pink' is not a theme; there are only auto, light, dark"),
        (dict.fromkeys(("choices", "params", "progress", "camera", "controls", "theme")), ""),
        (REST | {"camera": [1, 2, 3], "controls": [], "theme": "dark"}, ""),
    ],
    ids=str,
)
def test_a_property_of_a_wrong_type_is_refused_with_its_value(node, wrong, words):
    assert node.ask("wrongProperty", props={"slug": "layernorm"} | wrong) == words


def test_an_unknown_parameter_is_refused_with_the_names_that_there_are(node):
    words = "this scene has no parameter s; there are only t, eps"
    assert node.ask("unknownParameter", params={"t": 1, "s": 1}, names=["t", "eps"]) == words
    assert node.ask("unknownParameter", params={"t": 1}, names=["t", "eps"]) == ""


def test_a_refused_property_that_is_taken_back_may_be_set_again(node):
    wrong = {"props": REST | {"params": [1, 2]}}
    none = {"props": REST | {"params": None}, "refused": True}
    asked = says(node, {"state": REST}, {"props": REST}, wrong, none, wrong)
    assert asked[-3:] == [{"params": [1, 2]}, {}, {"params": [1, 2]}]


@pytest.mark.parametrize(
    ("pending", "news", "props", "adopts"),
    [
        ({"progress": 99}, {}, {"progress": 1}, {"progress": 1}),
        ({"progress": 99, "follow": 2}, {}, {"progress": None, "follow": 2}, {"follow": 2}),
        ({"choices": {"n": 9, "d": 4}}, {"choices": {"n": 60}}, {"choices": {"n": 60, "d": 4}}, None),
        ({"params": {"s": 1, "t": 2}}, {"follow": 1}, {"params": {"t": 3, "eps": 1}, "follow": 1},
         {"params": {"t": 3}, "follow": 1}),
        ({"params": [1, 2]}, {}, {"params": {"t": 3}}, {"params": {"t": 3}}),
    ],
    ids=["corrected", "taken back", "a part of it corrected", "an entry taken back", "not a dict"],
)  # fmt: skip
def test_a_correction_before_the_refusal_takes_the_place_of_what_is_refused(
    node, pending, news, props, adopts
):
    """If code corrects a wrong property before its value is refused, the figure adopts the correction.

    pending: properties that the figure has not adopted yet. The figure takes their present values from
    `props`, and leaves out those whose value there is None. news: properties that code has just set. adopts:
    the properties that the figure must adopt; None means all of `props`.
    """
    assert node.ask("toAdopt", pending=pending, news=news, props=props) == (adopts or props)


def test_a_parameter_that_comes_with_a_choice_of_code_is_told_at_once(node):
    params = REST["params"] | {"gamma4": 1}
    state = REST | {"choices": {"n": 60, "d": "4"}, "params": params}
    choice = {"props": {"choices": {"d": "4"}}}
    *_, told, again = says(node, {"state": REST}, {"props": REST}, choice, {"state": state}, {"state": state})
    assert (told, again) == ({"params": params}, None)


def test_a_camera_is_told_where_there_is_one(node):
    turned, zoomed = REST | {"camera": [1, 2, 3]}, REST | {"camera": [1, 2, 3, 0, 0, 1]}
    none, first, asked, same, other = says(
        node, {"state": REST}, {"state": turned}, {"props": turned}, {"state": turned}, {"state": zoomed}
    )
    assert "camera" not in none and first == {"camera": [1, 2, 3]}
    assert (asked, same, other) == ({}, None, {"camera": [1, 2, 3, 0, 0, 1]})


def test_news_is_paced_and_the_last_is_never_lost(node):
    every, asked = 60, list(range(0, 400, 7))
    calls = node.ask("paced", every=every, at=asked)
    assert calls == [0, 60, 120, 180, 240, 300, 360, 420] and calls[-1] >= asked[-1]


OLD, NEW = {"key": "", "recipe": "old"}, {"key": "n=7", "recipe": "new"}
NO_ANSWER = "the kernel does not answer; if it was restarted, run this figure's cell again"
GONE = "the kernel that made this figure is gone; run its cell again"
OTHER = {"key": "n=8", "recipe": "other"}


@pytest.mark.parametrize(
    ("has", "meanwhile", "answer", "found", "asks"),
    [
        (NEW, None, None, {"recipe": "new"}, False),
        (OLD, None, [{"made": NEW}], {"recipe": "new"}, True),
        (OLD, None, [{"made": OTHER}, {"key": "", "refused": "!"}, {"made": NEW}], {"recipe": "new"}, True),
        (OLD, None, [{"key": "n=7", "refused": "7!"}], {"refused": "7!"}, True),
        (OLD, {"made": NEW}, [], {"recipe": "new"}, False),
        ("corrupt", None, [{"made": NEW}], {"recipe": "new"}, True),
        (OLD, None, "gone", {"refused": NO_ANSWER}, True),
        (OLD, None, "dead", {"refused": GONE}, False),
        (NEW, None, "dead", {"recipe": "new"}, False),
    ],
    ids=["there", "made", "others first", "refused", "made by itself", "corrupt", "gone", "dead", "kept"],
)
def test_a_widget_has_a_recipe_or_its_kernel_makes_it(node, has, meanwhile, answer, found, asks):
    got = node.ask("made", has=has, query="n=7", meanwhile=meanwhile, answer=answer)
    assert got["found"] == found and got["ears"] == 0
    assert got["sent"] == [{"make": "n=7"}] * asks
