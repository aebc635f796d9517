"""The path of a weight before a norm is PyTorch's optimisers'; the length, the angle and the law; the text."""

import numpy as np
import pytest
import torch

from components.scenes.rate import SCENE
from components.scenes.rate.build import NOISE, START, STEPS, TARGET
from components.training.recipes import recipe_of
from tests.scenes.claims import said, stop

EXACT = 1e-12  # double precision, over all steps


def state(optimiser="sgd", **params):
    recipe = recipe_of(SCENE, optimiser=optimiser)
    return recipe, recipe.defaults | params


def path(recipe, params):
    """Of each step: w, its length, the number of the step, log₁₀ of its turn in degrees."""
    return recipe.cloud("path").stages(params)[0]


def loss_gradient(w, k, params):
    """∇L at w in step k, by PyTorch."""
    slope = torch.tensor(params["noise"] * NOISE[k] - params["pull"] * TARGET)
    at = torch.tensor(w, requires_grad=True)
    (at / at.norm() @ slope).backward()
    return at.grad.numpy()


@pytest.mark.parametrize("optimiser", ("sgd", "adam"))
@pytest.mark.parametrize(
    "change", ({}, {"decay": 0.1, "pull": 0.0, "noise": 1.3}, {"start": 0.3, "rate": 0.3, "decay": 0.02})
)
def test_the_path_is_that_of_pytorchs_optimiser(optimiser, change):
    recipe, params = state(optimiser, **change)
    w = torch.tensor(params["start"] * START, requires_grad=True)
    kind = torch.optim.SGD if optimiser == "sgd" else torch.optim.AdamW
    own = kind([w], lr=params["rate"], weight_decay=params["decay"])
    want = [w.detach().numpy().copy()]
    for k in range(1, STEPS + 1):
        own.zero_grad()
        w.grad = torch.tensor(loss_gradient(w.detach().numpy(), k, params))
        own.step()
        want.append(w.detach().numpy().copy())
    got, want = path(recipe, params), np.array(want)
    np.testing.assert_allclose(got[:, :2], want, rtol=0, atol=EXACT * max(1, np.abs(want).max()))
    np.testing.assert_allclose(got[:, 2], np.linalg.norm(want, axis=1), atol=EXACT * 10)
    np.testing.assert_array_equal(got[:, 3], np.arange(STEPS + 1))
    units = want / np.linalg.norm(want, axis=1, keepdims=True)
    cosines = np.clip((units[1:] * units[:-1]).sum(1), -1, 1)
    turns = 10 ** got[1:, 4]
    np.testing.assert_allclose(turns[turns > 0.01], np.degrees(np.arccos(cosines))[turns > 0.01], rtol=1e-4)


def test_a_path_stops_after_the_steps_taken():
    recipe, params = state()
    whole, part = path(recipe, params), path(recipe, params | {"steps": 30.0})
    np.testing.assert_array_equal(part[:31], whole[:31])
    np.testing.assert_array_equal(part[31:], np.tile(whole[30], (STEPS - 30, 1)))


# --- what the text says


def at(title):
    state = stop("rate", title)
    return state, path(state.recipe, state.params)


def orthogonal():
    params = {"noise": 0.7, "pull": 1.0}
    for k, w in enumerate(np.random.default_rng(0).normal(size=(20, 2)), 1):
        g = loss_gradient(w, k, params)
        assert abs(w @ g) < EXACT
        np.testing.assert_allclose(loss_gradient(2 * w, k, params), g / 2, atol=EXACT)


def pythagoras():
    recipe, params = state(decay=0.0)
    w = path(recipe, params)
    assert (np.diff(w[:, 2]) >= 0).all()
    for k in (1, 50, STEPS):
        g = loss_gradient(w[k - 1, :2], k, params)
        assert w[k, 2] ** 2 == pytest.approx(w[k - 1, 2] ** 2 + params["rate"] ** 2 * (g @ g), abs=EXACT)
        unit = w[k - 1, :2] / w[k - 1, 2]
        turn = params["rate"] * np.linalg.norm(loss_gradient(unit, k, params)) / w[k - 1, 2] ** 2
        assert np.tan(np.radians(10 ** w[k, 4])) == pytest.approx(turn, abs=1e-9)


def the_law():
    """(η·noise²/(2λ))^¼, and as a mean over 20 draws of the noise of this length."""
    recipe, params = state(decay=0.1, pull=0.0, noise=1.0, rate=0.3)
    [law] = np.unique(recipe.cloud("law").stages(params)[-1][:, 1])
    assert law == pytest.approx((0.3 / 0.2) ** 0.25)
    rng, means = np.random.default_rng(1), []
    for _ in range(20):
        w, lengths = np.array([1.0, 0.0]), []
        for _ in range(400):
            unit = w / np.linalg.norm(w)
            noise = rng.normal(size=2)
            w = w - 0.3 * ((noise - unit * (unit @ noise)) / np.linalg.norm(w) + 0.1 * w)
            lengths.append(w @ w)
        means.append(np.mean(np.square(lengths[200:])))
    assert np.mean(means) ** 0.25 == pytest.approx(law, rel=0.05)


def grown():
    state, w = at("Round and outwards")
    said(w[0, 2], "1")
    said(w[-1, 2], "1.437")
    assert len(w) - 1 == 240 and state.params["decay"] == 0


def a_short_start():
    _, w = at("A short start")
    turns = 10 ** w[1:, 4]
    said(turns.max(), "54")
    assert turns.argmax() < 5
    said(w[-1, 2], "1.325")


def ever_closer():
    state, w = at("What the network sees")
    turns = 10 ** w[1:, 4]
    assert np.median(turns[:40]) > 2 * np.median(turns[-40:])
    end = state.recipe.cloud("path").stages(state.params)[1]
    np.testing.assert_allclose(np.linalg.norm(end[:, :2], axis=1), 1)
    assert (end[-40:, 0] > 0.9).mean() > 0.9


def settled():
    state, w = at("With decay")
    said(w[-120:, 2].mean(), "1.108")
    said(state.recipe.cloud("law").stages(state.params)[-1][0, 1], "1.107")


def fourth_root():
    state, _ = at("A higher rate")
    before = stop("rate", "With decay")
    ratio = state.params["rate"] / before.params["rate"]
    laws = [each.recipe.cloud("law").stages(each.params)[-1][0, 1] for each in (before, state)]
    assert 3 < ratio < 4 and laws[1] / laws[0] == pytest.approx(ratio**0.25)
    said(laws[1], "1.495")


def adam():
    state, w = at("Adam")
    assert state.params["decay"] == 0.1
    g = [loss_gradient(w[k - 1, :2], k, state.params) for k in range(1, STEPS + 1)]
    moves = np.diff(w[:, :2], axis=0) + state.params["rate"] * 0.1 * w[:-1, :2]  # without the decay
    cosines = [
        abs(m @ x) / np.linalg.norm(m) / np.linalg.norm(x) for m, x in zip(moves, w[:-1, :2], strict=True)
    ]
    assert np.median(cosines) > 0.01 and len(g) == STEPS


def the_angle():
    state, w = at("With decay")
    said(np.degrees(np.sqrt(2 * state.params["rate"] * state.params["decay"])), "14.03")
    said(np.sqrt(np.mean((10 ** w[-120:, 4]) ** 2)), "14.17")


CLAIMS = {
    "The plane is a weight vector $w$ with two numbers.": orthogonal,
    "From $L(cw) = L(w)$ it follows that moving along $w$ changes nothing, so the gradient has no part there. It also follows that twice the length means half the gradient": orthogonal,
    "$$\\lVert w' \\rVert^2 = \\lVert w \\rVert^2 + \\eta^2 \\lVert \\nabla L \\rVert^2.$$": pythagoras,
    "For the same $g$, the gradient at length 1, the angle per step falls with the square of the length.": pythagoras,
    "$$\\lVert w \\rVert^4 = \\frac{\\eta\\, \\mathrm{E} \\lVert g \\rVert^2}{2 \\lambda},$$": the_law,
    "Without decay the length has grown from 1 to 1.437 in 240 steps.": grown,
    "One of the first steps turns $w$ by 54 degrees and lengthens it: it ends at 1.325": a_short_start,
    "The dots crowd around the best one, ever closer: the steps turn less and less.": ever_closer,
    "Its mean over the last 120 steps of this draw is 1.108; the law gives 1.107.": settled,
    "More than three times the rate moves the law's length to 1.495, no further: it goes with the fourth root.": fourth_root,
    "The same noise and pull. Compare how far the steps turn.": adam,
    "They are not orthogonal to $w$ either": adam,
    "its root mean square is near $\\sqrt{2 \\eta \\lambda}$, in radians. In the stop “With decay” that is 14.03 degrees; the last 120 steps have 14.17.": the_angle,
    "### What if a weight has length 0?": orthogonal,
}
