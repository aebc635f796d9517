"""The path of a weight before a norm, against PyTorch's optimisers; length, angle and law; the text."""

from itertools import product

import numpy as np
import pytest
import torch

from components.scenes.rate import SCENE
from components.scenes.rate.build import BEST_DIRECTION, MAX_SHOWN_LENGTH, NOISE, START_DIRECTION, STEPS
from components.training.recipes import recipe_of
from tests.scenes.claims import said, stop

EXACT = 1e-12  # double precision, over all steps


def state(optimiser="sgd", **params):
    recipe = recipe_of(SCENE, optimiser=optimiser)
    return recipe, recipe.defaults | params


def path(recipe, params):
    """The points of the cloud "path", (steps + 1, 5): one for the start, and one after each step.

    The columns are the two coordinates of w, the length of w, the number of the step, and log₁₀ of the angle
    in degrees by which the last step turned w.
    """
    return recipe.cloud("path").stages(params)[0]


def loss_gradient(w, k, params):
    """∇L at w in step k, by PyTorch."""
    slope = torch.tensor(params["noise"] * NOISE[k] - params["pull"] * BEST_DIRECTION)
    at = torch.tensor(w, requires_grad=True)
    (at / at.norm() @ slope).backward()
    return at.grad.numpy()


@pytest.mark.parametrize("optimiser", ("sgd", "adam"))
@pytest.mark.parametrize(
    "change", ({}, {"decay": 0.1, "pull": 0.0, "noise": 1.3}, {"start": 0.3, "rate": 0.3, "decay": 0.02})
)
def test_the_path_is_that_of_pytorchs_optimiser(optimiser, change):
    recipe, params = state(optimiser, **change)
    w = torch.tensor(params["start"] * START_DIRECTION, requires_grad=True)
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


@pytest.mark.parametrize("optimiser", ("sgd", "adam"))
def test_no_step_turns_w_by_a_right_angle_or_more(optimiser):
    """With each combination of the ends of all sliders, each step of the optimiser turns w by less than 90°.

    For larger turns, `angle_between` would give a wrong angle.
    """
    recipe, params = state(optimiser)
    sliders = [each for each in recipe.parameters if each.name != "steps"]
    for ends in product(*((each.min, each.max) for each in sliders)):
        w = path(recipe, params | {each.name: end for each, end in zip(sliders, ends, strict=True)})[:, :2]
        assert ((w[1:] * w[:-1]).sum(1) > 0).all(), ends


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


def lengths(rate, decay, steps, draw):
    """The length of w after each step of gradient descent, (steps,), if the gradient is noise alone.

    Before the first step the length is 1. The gradient is orthogonal to w. rate, decay: the learning rate and
    the weight decay. draw: a function of the number of steps; it returns an array with the length that the
    gradient of each step would have at ‖w‖ = 1.
    """
    length, found = 1.0, []
    for size in draw(steps):
        length = np.hypot((1 - rate * decay) * length, rate * size / length)
        found.append(length)
    return np.array(found)


def the_law():
    """If the gradient is noise of constant size, the length of w after many steps is the scene's law.

    The law is (η/(2λ − ηλ²))^¼, nearly (η/2λ)^¼, with the learning rate η and the weight decay λ. The noise
    is measured at ‖w‖ = 1. If its size is random, the mean length in a long run is near the law for a small
    ηλ, but more than 10 % above it for ηλ = 0.6.
    """
    recipe, params = state(decay=0.1, pull=0.0, noise=1.0)
    random = np.random.default_rng(1).normal
    for rate, about in ((0.3, 0.02), (1.0, 0.04)):
        [law] = np.unique(recipe.cloud("law").stages(params | {"rate": rate})[-1][:, 1])
        assert law == pytest.approx((rate / (2 * 0.1 - rate * 0.1**2)) ** 0.25)
        assert law == pytest.approx((rate / (2 * 0.1)) ** 0.25, rel=0.02)
        # not exact, because the scene adds NO_DECAY to the divisor
        assert lengths(rate, 0.1, 2000, np.ones)[-1] == pytest.approx(law, abs=1e-8)
        assert lengths(rate, 0.1, 20_000, lambda n: random(size=n)).mean() == pytest.approx(law, rel=about)
    fluctuating = lengths(2.0, 0.3, 20_000, lambda n: random(size=n)).mean()
    assert fluctuating > 1.1 * (2.0 / (2 * 0.3 - 2.0 * 0.3**2)) ** 0.25  # ηλ is not small


def weight_norm():
    """The gradient of v, for w = g·v/‖v‖, is orthogonal to v, and no step of gradient descent shortens v."""
    v, g = torch.tensor(START_DIRECTION * 0.7), torch.tensor(1.3, dtype=torch.float64)
    slope = torch.tensor(NOISE)
    before = 0.0
    for k in range(60):
        v, g = (each.detach().requires_grad_() for each in (v, g))
        w = g * v / v.norm()
        ((w - torch.tensor(BEST_DIRECTION)).square().sum() + w @ slope[k]).backward()
        assert abs(v.grad @ v) < EXACT and abs(g.grad) > 0
        assert v.norm() >= before
        before = v.norm().item()
        v, g = v - 0.1 * v.grad, g - 0.1 * g.grad
    assert before > 1.1 * 0.7


def epsilon_at_zero():
    """The gradient of ⟨s, u_ε(w)⟩ at w = 0 is s/√ε."""
    for eps in (1e-2, 1e-6):
        w = torch.zeros(2, dtype=torch.float64, requires_grad=True)
        (w / (w @ w + eps).sqrt() @ torch.tensor([1.0, 2.0], dtype=torch.float64)).backward()
        np.testing.assert_allclose(w.grad, np.array([1, 2]) / np.sqrt(eps))


def all_that_write():
    """For a norm of x = Ae + Bf + b: scaling A, B and b together changes nothing, scaling A alone does."""
    rng = np.random.default_rng(0)
    parts = rng.normal(size=(3, 8))

    def norm(x):
        return (x - x.mean()) / x.std()

    out = norm(parts.sum(0))
    np.testing.assert_allclose(norm((3 * parts).sum(0)), out, atol=EXACT)
    assert np.abs(norm((parts * [[3], [1], [1]]).sum(0)) - out).max() > 0.1


def grown():
    state, w = at("Round and outwards")
    said(w[0, 2], "1")
    said(w[-1, 2], "1.437")
    assert len(w) - 1 == 240 and state.params["decay"] == 0


def a_short_start():
    _, w = at("A short start")
    for turn in 10 ** w[[3, 4], 4]:
        said(turn, "54")
    assert (10 ** w[1:, 4]).max() < 54.5 and (np.diff(w[2:5, 2]) > 0).all()
    said(w[-1, 2], "1.325")


def gather_around_the_best():
    state, _ = at("What the network sees")
    end = state.recipe.cloud("path").stages(state.params)[1]
    np.testing.assert_allclose(np.linalg.norm(end[:, :2], axis=1), 1)
    away = np.degrees(np.arccos(end[:, :2] @ BEST_DIRECTION))
    said(np.sqrt(np.mean(away[-60:] ** 2)), "8.8")
    assert away[:8].min() > 90


def settled():
    state, w = at("With decay")
    said(w[-120:, 2].mean(), "1.108")
    said(state.recipe.cloud("law").stages(state.params)[-1][0, 1], "1.111")


def fourth_root():
    state, _ = at("A higher rate")
    before = stop("rate", "With decay")
    ratio = state.params["rate"] / before.params["rate"]
    laws = [each.recipe.cloud("law").stages(each.params)[-1][0, 1] for each in (before, state)]
    said(ratio, "3.3")
    assert laws[1] / laws[0] == pytest.approx(ratio**0.25, rel=0.01)
    said(laws[1], "1.515")


def adam():
    stop_of_adam, w = at("Adam")
    before, other = at("With decay")
    assert stop_of_adam.params == before.params
    for each, turn, length in ((w, "3.70", "1.693"), (other, "14.17", "1.108")):
        assert len(each) == STEPS + 1
        said(np.sqrt(np.mean((10 ** each[-120:, 4]) ** 2)), turn)
        said(each[-120:, 2].mean(), length)


def not_orthogonal():
    """Without decay, Adam's steps are not orthogonal to w, and some of them shorten w."""
    w = path(*state("adam", decay=0.0))
    before, moves = w[:-1, :2], np.diff(w[:, :2], axis=0)
    cosines = (moves * before).sum(1) / np.linalg.norm(moves, axis=1) / np.linalg.norm(before, axis=1)
    assert np.median(np.abs(cosines)) > 0.01
    assert (np.diff(w[:, 2]) < 0).any()


def the_angle():
    state, w = at("With decay")
    said(np.degrees(np.sqrt(2 * state.params["rate"] * state.params["decay"])), "14.03")
    said(np.sqrt(np.mean((10 ** w[-120:, 4]) ** 2)), "14.17")


def as_long_as_it_is_strong():
    recipe, params = state()
    for pull in (0.0, 0.5, 2.0):
        start, tip = recipe.cloud("target").stages(params | {"pull": pull})[0]
        assert not start.any()
        np.testing.assert_allclose(tip, 1.35 * pull * BEST_DIRECTION)


def out_of_the_panels():
    """Without decay, the dashed line is above 5, the largest length shown; at rate 2, w too ends above 5."""
    for params in ({"rate": 2.0, "noise": 2.0}, {"rate": 0.01, "noise": 0.0}):
        recipe, params = state(decay=0.0, **params)
        assert recipe.cloud("law").stages(params)[-1][0, 1] > MAX_SHOWN_LENGTH == 5
    recipe, params = state(decay=0.0, rate=2.0, noise=2.0)
    assert path(recipe, params)[-1, 2] > MAX_SHOWN_LENGTH


CLAIMS = {
    "leaves out lengths above 5.": out_of_the_panels,
    "prefers one direction of $w$. An arrow shows this direction; a longer arrow means a stronger pull. Without a pull there is no arrow.": as_long_as_it_is_strong,
    "Without decay there is no dashed line.": out_of_the_panels,
    "Each point of the plane is a weight vector $w$ with two numbers.": orthogonal,
    "With gradient descent and without weight decay no step shortens $w$, so the path leads outwards.": pythagoras,
    r"The loss satisfies $L(cw) = L(w)$ for all $c > 0$. So moving along $w$ changes nothing, and the gradient has no part along $w$. Differentiating both sides also gives $\nabla L(cw) = \nabla L(w) / c$: twice the length means half the gradient.": orthogonal,
    "$$\\lVert w' \\rVert^2 = \\lVert w \\rVert^2 + \\eta^2 \\lVert \\nabla L \\rVert^2.$$": pythagoras,
    "Let $g$ be the gradient where $w$ has length 1. A step turns $w$ by the angle $\\arctan(\\eta \\lVert g \\rVert / \\lVert w \\rVert^2)$.": pythagoras,
    "Decay multiplies $w$ by $1 - \\eta\\lambda$ in each step": the_law,
    r"If $\lVert g \rVert$ is the same in all steps, the two balance exactly where $$\lVert w \rVert^4 = \frac{\eta\, \lVert g \rVert^2}{2 \lambda - \eta \lambda^2} \approx \frac{\eta\, \lVert g \rVert^2}{2 \lambda}.$$": the_law,
    r"A random $\lVert g \rVert$ makes the length fluctuate. For a small $\eta\lambda$ the length stays near the value that the formula gives": the_law,
    "The same holds for $v$: its gradient is orthogonal to it, and gradient descent without decay never shortens it.": weight_norm,
    "raises the learning rate from near 0 during the first steps.": a_short_start,
    "a step at the full rate turns a short $w$ far.": a_short_start,
    "Without decay the length has grown from 1 to 1.437 in 240 steps.": grown,
    "The third step and the fourth each turn $w$ by 54 degrees and lengthen it. At the end its length is 1.325,": a_short_start,
    "The dots gather around the best direction, and the noise keeps them moving: over the last 60 steps of this draw they are 8.8 degrees away from it (root mean square).": gather_around_the_best,
    r"Its mean over the last 120 steps of this draw is 1.108. By the formula for a constant $\lVert g \rVert$ it is 1.111 (the dashed line).": settled,
    "The rate is 3.3 times as high, but the dashed line rises only to 1.515, roughly with the fourth root of the rate.": fourth_root,
    "In the last 120 steps of this draw, a step turns $w$ by 3.70 degrees (root mean square), with gradient descent by 14.17. The mean length of $w$ is 1.693, with gradient descent 1.108.": adam,
    "Its steps are not orthogonal to $w$ either:": not_orthogonal,
    "if $\\eta \\lambda$ is small, the root mean square of the angle is near $\\sqrt{2 \\eta \\lambda}$, in radians. In the stop “With decay” of the tour that is 14.03 degrees; in its last 120 steps the angle is 14.17 (root mean square).": the_angle,
    "### What if a weight has length 0?": epsilon_at_zero,
    r"With an $\varepsilon$ in the norm it has a gradient, which is large if $\varepsilon$ is small.": epsilon_at_zero,
    "A matrix that writes to a residual stream is different: scaling it alone changes the output of the next norm. This output stays the same only if everything that writes to the stream is scaled together.": all_that_write,
}
