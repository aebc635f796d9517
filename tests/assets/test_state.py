"""The player's state by itself: its commands, and values that it refuses."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.language.cloud import Cloud, Row, rows
from components.language.marks import Color, Highest, Hull, Line, Points
from components.language.packing import packed
from components.language.recipe import Parameter, Recipe, View
from components.language.scene import scenes
from components.training.recipes import state_of
from geometry import Affine, Entries, Of, Pipeline
from tests.assets.engine import unpack
from tests.components.language.test_scene import SCENE

FRAME = 100.0  # milliseconds
MAX_FRAMES = 400  # longer than any run of a few stages


RECIPE = {**SCENE.json(), **packed(state_of(SCENE, {}).recipe), "chosen": {}, "text": None}
LAST = len(RECIPE["stages"]) - 1
NAME = RECIPE["parameters"][0]["name"]
SLIDER_MIN, SLIDER_MAX = RECIPE["parameters"][0]["min"], RECIPE["parameters"][0]["max"]


def after(node, *acts):
    """The states of a player that has loaded RECIPE, one after each of the commands `acts`.

    A command is a list: usually the name of a method of the player's `State`, and arguments.
    """
    return node.ask("state", recipe=RECIPE, usual={}, acts=[["take"], *acts])[1:]


def test_playing_goes_through_all_stages_and_ends_once(node):
    told = after(node, ["play"], *[["advance", FRAME, False]] * MAX_FRAMES)
    progress = [each["progress"] for each in told]
    assert progress == sorted(progress) and set(range(LAST + 1)) <= set(progress)
    assert [each["gave"] for each in told[1:]].count(True) == 1
    assert not told[-1]["playing"] and not told[-1]["moves"]


def test_a_loop_begins_again_and_never_ends(node):
    told = after(node, ["fast", 4, True], ["play"], *[["advance", FRAME, False]] * MAX_FRAMES)
    progress = [each["progress"] for each in told]
    assert any(b < a for a, b in pairwise(progress))
    assert told[-1]["playing"] and not any(each.get("gave") for each in told)


def test_a_part_of_the_clocks_way_is_played_from_its_beginning_to_its_end(node):
    """A part of the clock's range is played from its beginning to its end, also if it is played again.

    If the clock is started by its button afterwards, it runs to the end of its whole range.
    """
    clock = {**RECIPE, "clock": NAME}
    low, high = SLIDER_MIN + 0.25 * (SLIDER_MAX - SLIDER_MIN), SLIDER_MIN + 0.5 * (SLIDER_MAX - SLIDER_MIN)
    steps = [["advance", FRAME, False]] * MAX_FRAMES
    acts = [
        ["take"],
        ["replay", low, high],
        *steps,
        ["replay", low, high],
        ["toggleClock"],
        ["toggleClock"],
        *steps,
    ]
    told = node.ask("state", recipe=clock, usual={}, acts=acts)[1:]
    values = [each["params"][NAME] for each in told]
    assert (
        values[0] == low
        and told[0]["running"]
        and values[: MAX_FRAMES + 1] == sorted(values[: MAX_FRAMES + 1])
    )
    assert values[MAX_FRAMES] == high and not told[MAX_FRAMES]["running"]
    assert values[MAX_FRAMES + 1] == low and values[-1] == SLIDER_MAX and not told[-1]["running"]


def test_who_asked_for_no_motion_sees_stages_only(node):
    told = after(node, ["play"], *[["advance", FRAME, True]] * MAX_FRAMES)
    assert {each["progress"] for each in told} == set(range(LAST + 1))


def test_a_first_run_shows_all_stages_once_and_rests_where_the_scene_opens(node):
    home = RECIPE["progress"]
    told = after(node, ["open"], *[["advance", 20.0, False]] * MAX_FRAMES)
    progress = [each["progress"] for each in told]
    top = progress.index(LAST)
    assert progress[0] == 0 and progress[: top + 1] == sorted(progress[: top + 1])
    assert progress[top:] == sorted(progress[top:], reverse=True) and progress[-1] == home
    assert not told[-1]["moves"] and not told[-1]["opening"]
    assert not any(each.get("gave") for each in told), "no run has ended that somebody had started"
    still = next(k for k, each in enumerate(told) if not each["moves"])
    assert still * 20.0 <= 6200


@pytest.mark.parametrize("act", [["pause"], ["seek", 0.5], ["goTo", 1, False]])
def test_a_first_run_ends_where_it_is_touched(node, act):
    moved = [["open"], *[["advance", FRAME, False]] * 4, act, *[["advance", FRAME, False]] * 30]
    before, touched, *_, last = after(node, *moved)[4:]
    assert before["opening"] and not touched["opening"] and not last["moves"]
    where = {"pause": before["progress"], "seek": 0.5, "goTo": 1}[act[0]]
    assert last["progress"] == pytest.approx(where)


def cloud_alone():
    """A recipe with two clouds of the same points: "free", drawn as points, and "line", drawn as a line.

    Returns the points, the pipeline of "free", and the recipe as JSON.
    """
    x = np.random.default_rng(3).normal(size=(9, 2))
    turn = Pipeline((Affine(np.array([[0.0, -1], [1, 0]])), Affine(np.diag([2.0, 0.5]))))
    show = rows(np.eye(2))
    line = Cloud("line", x, Pipeline((Affine(np.eye(2)), Affine(np.eye(2)))))
    layers = (Points("free", "input", show), Line("line", "axis", show))
    view = View("v", "v", layers, ((-9, 9),) * 2, 2)
    recipe = Recipe(("a", "b", "c"), (), (Cloud("free", x, turn), line), (view,))
    return x, turn, {**SCENE.json(), **packed(recipe), "chosen": {}, "text": None}


def test_points_of_a_run_are_apart_between_stages_alone_and_a_line_never(node):
    x, turn, recipe = cloud_alone()
    way = {"from": 0, "to": 1, "done": 500.0}
    told = node.ask("scattered", recipe=recipe, leg=way, lag=0.25)
    assert told["loose"] == ["free"] and told["each"].keys() == {"free"}
    own = np.array(told["each"]["free"])
    assert np.all(np.diff(own) < 0) and own[0] > 0.5 > own[-1]
    want = [(1 - p) * a + p * b for p, a, b in zip(own, x, turn.stages(x, {})[1], strict=True)]
    np.testing.assert_allclose(unpack(told["at"]["free"], 9), want, atol=1e-6)
    np.testing.assert_allclose(unpack(told["at"]["line"], 9), x, atol=1e-6)


def test_points_of_a_run_that_is_stopped_come_together_where_it_is(node):
    _, _, recipe = cloud_alone()
    acts = [["take"], ["play"], *[["advance", FRAME, False]] * 5, ["pause"], *[["advance", 60.0, False]] * 6]
    told = node.ask("state", recipe=recipe, usual={}, acts=acts)
    stopped, rested = told[7], told[-1]
    [alone] = node.ask("state", recipe=recipe, usual={}, acts=[["take"], ["seek", stopped["progress"]]])[1:]
    assert stopped["progress"] == rested["progress"] and stopped["moves"] and not rested["moves"]
    assert rested["drawn"] == alone["drawn"] != stopped["drawn"]


FREE = Cloud("free", np.eye(2), Pipeline((Affine(2 * np.eye(2)),)))
STILL = Pipeline((Affine(np.eye(2)),))
DOTS = Points("free", "input", rows(np.eye(2)))


@pytest.mark.parametrize(
    "marks, others, loose",
    [
        ((DOTS,), (), ["free"]),
        ((DOTS, Hull("free", "input", rows(np.eye(2)))), (), []),
        ((DOTS,), (Cloud("other", np.eye(2), Pipeline((Affine(Of(FREE)),))),), []),
        ((DOTS, Line("other", "axis", rows(np.eye(2)))), (Cloud("other", np.eye(2), FREE.pipeline),), []),
        ((DOTS, Line("other", "axis", rows(np.eye(2)))), (Cloud("other", np.eye(2), STILL),), ["free"]),
    ],
    ids=["alone", "with a hull", "used by another cloud", "beside a line that moves alike", "beside a line"],
)
def test_what_is_seen_together_stays_together(node, marks, others, loose):
    """A cloud is not loose (its points start together) if its points belong together in the picture.

    They do if the cloud has a hull, if another cloud is computed from it, and if it has the same steps as
    another cloud that is drawn as a line.
    """
    view = View("v", "v", marks, ((-9, 9),) * 2, 2)
    recipe = {**SCENE.json(), **packed(Recipe(("a", "b"), (), (FREE, *others), (view,)))}
    told = node.ask("scattered", recipe=recipe, leg={"from": 0, "to": 1, "done": 500.0}, lag=0.25)
    assert told["loose"] == loose


def test_the_highest_point_changes_with_its_row(node):
    """A mark follows a parameter of the row by which `Highest` chooses a point, also if no point moves."""
    chosen = Highest(Row(Entries(np.array([1.0, 0.0]), {"p": np.array([-1.0, 1.0])})))
    color = Color("diverging", -1, 1, Row((1.0, 0.0)))
    mark = Points("free", "input", rows(np.eye(2)), only=chosen, color=color)
    view, p = View("v", "v", (mark,), ((-9, 9),) * 2, 2), Parameter("p", "p", 0.0, 0.0, 1.0)
    recipe = {
        **SCENE.json(),
        **packed(Recipe(("a", "b"), (p,), (FREE,), (view,))),
        "chosen": {},
        "text": None,
    }
    told = node.ask("state", recipe=recipe, usual={}, acts=[["take"], ["moves", ["p", 1.0]]])
    assert [unpack(each["colors"][0], 1).tolist() for each in told] == [[[1]], [[0]]]
    assert [unpack(each["drawn"][0], 1).tolist() for each in told] == [[[1, 0]], [[0, 1]]]


@pytest.mark.parametrize("slug", ["select", "ffn", "spiral", "drift"])
def test_the_picture_is_that_of_where_things_are_however_they_came_there(node, slug):
    """The picture depends only on the present state, though its arrays are reused between frames."""
    scene = scenes()[slug]
    recipe = {**scene.json(), **packed(state_of(scene, {}).recipe), "chosen": {}, "text": None}
    last = len(recipe["stages"]) - 1
    for parameter, progress in product(recipe["parameters"], (0, last - 0.5, last)):
        name, low, high = (parameter[key] for key in ("name", "min", "max"))
        ways = [[name, low + part * (high - low)] for part in (0.9, 0.2, 0.7, 0.4)]
        many = [["moves", *ways[-times:]] for times in (1, 2, 3, 4)]
        acts = [each for some in many for each in (["moves", [name, low]], some)]
        told = node.ask(
            "state", recipe=recipe, usual={}, acts=[["take"], ["seek", progress], many[0], *acts]
        )[2:]
        assert all(
            (each["drawn"], each["colors"]) == (told[0]["drawn"], told[0]["colors"]) for each in told[::2]
        )


def test_what_stands_still_stands_still(node):
    told = after(node, ["play"], ["advance", FRAME, False], ["pause"], *[["advance", FRAME, False]] * 3)
    assert len({each["progress"] for each in told[2:]}) == 1
    assert told[-1]["drawn"] == told[2]["drawn"]


@given(value=st.floats(SLIDER_MIN, SLIDER_MAX))
def test_a_parameter_moves_the_picture_and_the_link_and_reset_takes_both_back(node, value):
    first, moved, again = after(node, ["seek", LAST], ["set", NAME, value], ["reset"])
    assert moved["params"][NAME] == value
    usual = first["params"][NAME]
    assert moved["gave"] == (value != usual)
    assert again["params"] == first["params"] and again["query"] == ""


@pytest.mark.parametrize(
    "act",
    [
        ["seek", -0.01],
        ["seek", LAST + 0.01],
        ["set", NAME, SLIDER_MAX + 1],
        ["set", "nothing", 0],
        ["set", NAME, None],
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(node, act):
    before, told = after(node, ["follow", 0], act)
    assert told["gave"] == "RangeError"
    assert {name: told[name] for name in before if name != "gave"} == before


@pytest.mark.parametrize("field", ["progress", "params", "recipe", "choices", "playing", "leg", "camera"])
def test_nobody_writes_its_fields(node, field):
    before, told = after(node, ["follow", 0], ["write", field, 1])
    assert told["gave"] == "TypeError"
    assert told["progress"] == before["progress"] and told["params"] == before["params"]


def test_news_of_a_training_keep_what_the_hand_has_set(node):
    told = node.ask(
        "state",
        recipe=RECIPE,
        usual={},
        acts=[
            ["take"],
            ["set", NAME, SLIDER_MIN],
            ["grow", RECIPE | {"clock": None}],
            ["setChosen", {"seed": "3"}],
        ],
    )
    assert told[2]["growing"] and told[2]["params"][NAME] == SLIDER_MIN
    assert told[3]["drawn"] == told[2]["drawn"]


# Commands that a state gets while it opens, with their times in milliseconds; there is a frame every 50 ms.
OPENED = [[0, "begin"], [0, "take", 0, {"gain": "1.5", "follow": "3", "progress": "1"}]]
STOP = {"gain": "0.5", "eps": "0.1", "progress": "2", "camera": "1,1,1", "follow": "4"}
COURSES = {
    "a link": OPENED,
    "a first run": [[0, "begin"], [0, "take", 0, {}], [300, "open"]],
    "a run": [*OPENED, [0, "play"]],
    "a choice": [*OPENED, [0, "begin"], [900, "take", 1, None]],
    "a choice while a stage is on its way": [
        *OPENED,
        [0, "goTo", 2, False],
        [0, "begin"],
        [300, "take", 1, None],
    ],
    "the back button": [*OPENED, [0, "begin"], [900, "take", 1, {"gain": "-1", "follow": "2"}]],
    "a link's stop": [*OPENED, [300, "call", STOP, True], [300, "arrive", False]],
    "a link's stop, with a recipe of its own": [
        *OPENED,
        [300, "call", STOP, True],
        [900, "take", 1, None],
        [1500, "arrive", False],
    ],
    "a stop": [*OPENED, [0, "call", STOP], [900, "take", 1, None], [1500, "arrive", False]],
    "a stop for those who asked for no motion": [*OPENED, [0, "call", STOP], [1500, "arrive", True]],
}
EYE = {"eye": [0.5, -1, 0.25], "center": [0, 0, 0]}
# An action of the reader, the part of the state that it sets, and its form in a link.
HANDS = {
    "a slider": ([["set", "gain", 0.9], ["set", "gain", 1.01]], {"gain": 1.01}, "gain=1.01"),
    "a slider, at its default": ([["set", "gain", 1]], {"gain": 1}, ""),
    "a handle": ([["set", "gain", -1.25], ["set", "eps", 3]], {"gain": -1.25, "eps": 3}, "gain=-1.25&eps=3"),
    "the scrubber": ([["pause"], ["seek", 0.25]], {"progress": 0.25}, "progress=0.25"),
    "a stage": ([["goTo", 1, False]], {"progress": 1}, "progress=1"),
    "a point": ([["follow", 7]], {"followed": 7}, "follow=7"),
    "the camera": ([["turn", EYE]], {"camera": EYE}, "camera=0.5,-1,0.25"),
    "the defaults": ([["reset"], ["look", None]], {"gain": 1, "progress": 0, "camera": None}, ""),
}  # fmt: skip
MOMENTS = list(range(0, 3001, 50))


def course(node, way, hand, moments=MOMENTS):
    """The states of the player during a change, if the reader acts once while the change is pending.

    way: the change, a key of COURSES. hand: the reader's action, a list of commands (see `after`). moments:
    the times, in ms, at which the reader may act. Returns a pair for each of them: the state just after the
    action, and the state at the end.
    """
    usual = {"d": "3"}
    recipes = [
        {**SCENE.json(), **packed(state_of(SCENE, {"d": d}).recipe), "chosen": {"d": d}, "text": None}
        for d in ("3", "2")
    ]
    return node.ask(
        "courses", recipes=recipes, usual=usual, acts=COURSES[way], hand=hand, moments=moments, end=9000
    )


def values(told):
    return {name: told[name] for name in ("progress", "followed", "camera")} | told["params"]


@pytest.mark.parametrize("way", COURSES)
@pytest.mark.parametrize("hand", HANDS)
def test_what_the_reader_sets_while_something_arrives_stays_as_set(node, way, hand):
    """Values that the reader sets while a change is pending stay, and are in the link.

    Other values end as they would without the reader, unless the reader resets all. If the change is a first
    run, any action of the reader stops it.
    """
    acts, own, words = HANDS[hand]
    [[_, alone]] = course(node, way, [], [9000])
    for moment, (_, end) in zip(MOMENTS, course(node, way, acts), strict=True):
        assert {name: values(end)[name] for name in own} == own, moment
        assert words in end["query"] and not (set(own) - {"camera"}) & unsaid(end["query"], words), moment
        assert not end["playing"] or way == "a run"
        others = {name: x for name, x in values(end).items() if name not in own}
        if way == "a first run":
            others.pop("progress", None)  # any action stops the first run
        assert others == {name: values(alone)[name] for name in others} or hand == "the defaults", moment


def unsaid(query, words):
    """The set of the names in the query string `query` that the query string `words` does not have."""
    said = {each.split("=")[0] for each in words.split("&")}
    return {each.split("=")[0] for each in query.lstrip("?").split("&")} - said


def test_a_run_that_the_reader_starts_while_a_stop_arrives_goes_on_to_its_end(node):
    for way in ("a link's stop, with a recipe of its own", "a choice"):
        for moment, (just, end) in zip(MOMENTS, course(node, way, [["play"]]), strict=True):
            assert just["playing"] and end["progress"] == LAST and not end["playing"], (way, moment)


def test_a_first_run_does_not_begin_once_the_reader_has_set_something(node):
    early = [moment for moment in MOMENTS if moment < 300]
    for hand, (acts, _, _) in HANDS.items():
        for just, end in course(node, "a first run", acts, early):
            assert not just["opening"] and not end["opening"] and not end["moves"], hand


@pytest.mark.parametrize("paused", [True, False], ids=["by a click", "by a script"])
def test_a_choice_during_the_opening_shows_the_stage_at_which_a_scene_opens(node, paused):
    """After a choice during the opening, the figure shows the stage at which the new recipe opens.

    A reader's click pauses the opening before the choice is made; a script chooses while the opening plays.
    """
    choice = [["begin"], ["take", 1, None]]
    recipe = {**RECIPE, "chosen": {"d": "2"}, "text": None, "progress": 1}
    for moment in range(350, 3001, 50):
        acts = [[0, "begin"], [0, "take", 0, {}], [300, "open"]]
        acts += [] if paused else [[moment, *each] for each in choice]
        hand = choice if paused else []
        [[just, end]] = node.ask(
            "courses",
            recipes=[RECIPE, recipe],
            usual={"d": "3"},
            acts=acts,
            hand=hand,
            moments=[moment],
            end=9000,
        )
        assert just["progress"] == end["progress"] == 1 and not end["moves"], moment


def test_a_stage_chosen_after_a_paused_opening_stays(node):
    """After a paused opening, a stage that the reader chooses stays when another recipe arrives.

    It also stays if it is the stage at which the opening was paused.
    """
    choice = [["begin"], ["take", 1, None]]
    recipe = {**RECIPE, "chosen": {"d": "2"}, "text": None}
    acts = [[0, "begin"], [0, "take", 0, {}], [300, "open"], [1300, "pause"]]
    acts += [[1400, "goTo", 3, True], [1500, "goTo", 1, True]]
    [[just, _]] = node.ask(
        "courses",
        recipes=[RECIPE, recipe],
        usual={"d": "3"},
        acts=acts,
        hand=choice,
        moments=[1600],
        end=9000,
    )
    assert just["progress"] == 1


def test_a_choice_during_a_run_shows_its_next_stage(node):
    """A new recipe that arrives during a run is shown at the run's next stage.

    If the reader has paused the run before, the new recipe is shown where the run was paused.
    """
    choice = [["begin"], ["take", 1, None]]
    (run, _), (paused, _) = (course(node, "a run", acts, [300])[0] for acts in (choice, [["pause"], *choice]))
    assert run["progress"] == 2 and 1 < paused["progress"] < 2


@pytest.mark.parametrize("kept", [True, False])
def test_a_slider_moved_by_a_scroll_gets_the_value_of_the_stop_that_arrives(node, kept):
    """When a stop of the tour arrives, a slider's value stays only if it counts as set by the reader.

    `touch(name, False)` says that it does not count, as after a scroll that moved the slider by mistake.
    """
    told = after(node, ["call", STOP], ["set", "gain", 0.9], ["touch", "gain", kept], ["arrive", True])
    assert told[-1]["params"]["gain"] == (0.9 if kept else 0.5)
