"""Long computations are spread over frames; their final result is as if each was done in one frame."""

import numpy as np
import pytest

from components.language.marks import Relocate, hand_of
from components.language.packing import packed
from components.scenes.particles import SCENE
from components.training.recipes import recipe_of

N = 16
BUDGET = 10  # parts begun in a frame
PART = 4 * N * N  # the largest number of exponentials in a part, which is a Runge–Kutta step
PUT = [["who1", 5], ["when1", 0.55], ["to1x", 0.6], ["to1y", -0.8]]
BETA = [[["beta", 5.0 + k / 4]] for k in range(60)]


def sliced(node, *acts, budget=BUDGET, **choices):
    recipe = {**packed(recipe_of(SCENE, n=str(N), **choices)), "chosen": {}, "text": None}
    return node.ask("sliced", recipe=recipe, acts=acts, budget=budget)


@pytest.mark.parametrize(
    "choices", ({}, {"d": "3"}, {"placement": "all"}, {"mask": "causal", "placement": "peri"}), ids=str
)
def test_the_result_is_that_of_computing_all_at_once_bit_for_bit(node, choices):
    acts = (
        *BETA[:5],
        [["time", 1.2]],
        PUT,
        [["values", 40.0]],
        [["to1x", 0.5]],
        [["time", 2.0]],
        [["beta", 6.0]],
    )
    frames = sliced(node, *acts, **choices)["frames"]
    assert frames[len(acts)]["unfinished"] and not all(frames[len(acts)]["exact"])
    assert not frames[-1]["unfinished"] and all(frames[-1]["exact"])


@pytest.mark.parametrize("choices", ({}, {"placement": "all"}), ids=str)
def test_no_frame_does_more_than_its_share(node, choices):
    """The work that is done in one frame has an upper bound, and yet all work is done in the end.

    The bound for c clouds is the work of BUDGET + 2c Runge–Kutta steps. In each cloud, one step may begin
    just before the budget is used up, and the tokens' measures cost at most as much as one more step.
    """
    answer = sliced(node, *BETA, **choices)
    frames = answer["frames"]
    clouds = 4 if choices else 1
    most = (BUDGET + 2 * clouds) * PART
    assert max(frame["work"] for frame in frames) <= most < answer["whole"] / 10
    assert sum(frame["work"] for frame in frames[len(BETA) :]) > most, "and yet all of the work is done"


def test_while_a_slider_moves_on_something_new_is_shown_now_and_then(node):
    """While a slider moves, at least one of any five frames in a row shows a new result.

    Not every frame does, since none has time for the whole solution.
    """
    changed = np.array([frame["changed"] for frame in sliced(node, *BETA)["frames"][: len(BETA)]])
    (tokens,) = of_tokens(recipe_of(SCENE, n=str(N)))
    times = np.flatnonzero(changed[:, tokens])
    assert 1 < np.diff(times).max() < 6


def test_a_token_follows_the_hand_at_once(node):
    """A token that is put elsewhere at the present time is drawn there in the same frame."""
    (tokens,) = of_tokens(recipe_of(SCENE, n=str(N)))
    acts = [["time", 0.55]], PUT, *([["to1x", 0.6 - k / 20]] for k in range(12))
    frames = sliced(node, *acts)["frames"]
    assert all(frame["exact"][tokens] for frame in frames)
    assert any(frame["unfinished"] for frame in frames), "the paths take longer"


def test_a_token_follows_the_hand_under_every_placement(node):
    """While a token is dragged, each placement is drawn anew at least in every second frame.

    A frame has no time for all placements; none of them waits for the others to be complete.
    """
    hands = [["when0", 0.55], ["who0", 5], ["to0x", 0.6], ["to0y", -0.8]]
    drag = [[["time", 0.5 + k / 100], ["when0", 0.5 + k / 100], ["to0x", 0.6 - k / 50]] for k in range(20)]
    frames = sliced(node, hands, *drag, budget=3, placement="all")["frames"][: len(drag)]
    changed = np.array([frame["changed"] for frame in frames])[
        :, of_tokens(recipe_of(SCENE, placement="all"))
    ]
    assert changed.shape[1] == 4 and all(np.diff(np.flatnonzero(each)).max() <= 2 for each in changed.T)


def of_tokens(recipe):
    """The indices of the marks that draw tokens, among all marks of the recipe."""
    layers = [layer for view in recipe.views for layer in view.layers]
    return [k for k, layer in enumerate(layers) if isinstance(hand_of(layer), Relocate)]
