"""The scene `confidence`: the largest probability after a last norm, and the effect of W's null space."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import softmax

from components.language.framing.paper import on_paper
from components.scenes.confidence import SCENE
from components.scenes.confidence.build import CLASSES, MEAN_FACTOR, POINT_WIDTH, RADIUS, TOKENS, D
from components.training.recipes import recipe_of
from tests.scenes.claims import said, stop

EXACT = 1e-9


def state(**params):
    recipe = recipe_of(SCENE)
    return recipe, recipe.defaults | params


def gains(params):
    return np.array([params[f"gamma{i + 1}"] for i in range(D)])


def probabilities(y, params):
    """The probabilities of the classes at points y (n, 3), by SciPy's softmax: (n, classes).

    params: values of the sliders. The recipe computes the same by steps.
    """
    return softmax(params["w"] * (y * gains(params)) @ CLASSES.T, axis=1)


def normed(x):
    return RADIUS * x / np.linalg.norm(x, axis=1, keepdims=True)


def shown(recipe, params, stage=-1):
    return recipe.cloud("points").stages(params)[stage][:, :POINT_WIDTH]


@pytest.mark.parametrize("n", [2, 5, 8])
@pytest.mark.parametrize("t", [0.3, 0.7, 1])
def test_all_points_are_inside_the_picture_wherever_both_sliders_are(n, t):
    recipe, params = state(n=n, t=t)
    for progress in (0, 1):
        view = recipe.views[0].at(progress, params)
        points = next(mark for mark in view.layers if mark.cloud == "points")
        at = recipe.moment(params, progress)
        assert np.abs(on_paper(view, points.points(at), view.camera)[0]).max() <= 1


def ceiling(recipe, params):
    return recipe.cloud("equator").stages(params)[-1][:, 3:6].max(0)


@pytest.mark.parametrize(
    "change", ({}, {"w": 3.0, "gamma1": -1.5}, {"n": 5.0}, {"t": 0.4, "n": 2.0}, {"gamma3": 0.0})
)
def test_points_have_these_probabilities_and_entropies(change):
    recipe, params = state(**change)
    x = TOKENS + params["n"] * np.eye(3)[2]
    t = params["t"]
    for stage, y in ((0, x), (1, (1 - t) * normed(x) + t * MEAN_FACTOR * x)):
        p = probabilities(y, params)
        want = np.hstack([y, p, -np.sum(p * np.log(p), 1, keepdims=True)])
        np.testing.assert_allclose(shown(recipe, params, stage), want, atol=EXACT)


@pytest.mark.parametrize(
    "change", ({}, {"w": 2.5}, {"gamma1": 0.3}, {"gamma1": -1.5, "gamma2": 0.4, "gamma3": 2.0})
)
def test_the_ceiling_is_the_maximum_over_the_sphere(change):
    """The scene's ceiling for each class is the largest probability that an optimiser finds on the sphere.

    The optimiser starts at 12 points. change: values of sliders that differ from the defaults.
    """
    recipe, params = state(**change)
    starts = np.random.default_rng(0).normal(size=(12, 3))
    for k, most in enumerate(ceiling(recipe, params)):
        best = max(
            -minimize(lambda x, k=k: -probabilities(normed(x[None]), params)[0, k], at).fun for at in starts
        )
        assert most == pytest.approx(best, abs=2e-4) and most <= best + EXACT


# --- what the text says


def at(title):
    state = stop("confidence", title)
    return state, [stage[:, :POINT_WIDTH] for stage in state.recipe.cloud("points").stages(state.params)]


def three_classes():
    assert CLASSES.shape == (3, 3)
    np.testing.assert_allclose(CLASSES @ CLASSES.T, np.where(np.eye(3), 1, -0.5), atol=EXACT)  # 120° apart


def under_the_ceiling():
    for change in ({}, {"w": 3.0}, {"n": 4.0}, {"gamma2": 0.5}):
        recipe, params = state(**change)
        assert (shown(recipe, params)[:, 3:6] <= ceiling(recipe, params) + 2e-4).all()
        np.testing.assert_allclose(np.linalg.norm(shown(recipe, params)[:, :3], axis=1), RADIUS)


def closed_form():
    for w in (0.5, 1.0, 3.0):
        recipe, params = state(w=w)
        assert ceiling(recipe, params)[0] == pytest.approx(
            1 / (1 + 2 * np.exp(-1.5 * np.sqrt(D) * w)), abs=EXACT
        )


def bounded_logits():
    z = normed(np.random.default_rng(1).normal(size=(2000, 3)))
    for gain in ([1, 1, 1], [0.3, -2, 1.7]):
        rows = CLASSES * gain
        assert (z @ rows.T <= RADIUS * np.linalg.norm(rows, axis=1) + EXACT).all()


def one_factor():
    recipe, params = state()
    for n in (1.0, 6.0):
        x, pushed = TOKENS, TOKENS + n * np.eye(3)[2]
        np.testing.assert_allclose(x @ CLASSES.T, pushed @ CLASSES.T, atol=EXACT)
        ratio = np.linalg.norm(x, axis=1) / np.linalg.norm(pushed, axis=1)
        want = softmax(ratio[:, None] * (normed(x) @ CLASSES.T), axis=1)
        p, kept = (shown(recipe, params | {"n": k})[:, 3:6] for k in (n, 0.0))
        assert ((p.max(1) < kept.max(1)) == (ratio < 1)).all()
        np.testing.assert_allclose(p, want, atol=EXACT)
        np.testing.assert_array_equal(p.argsort(1), shown(recipe, params)[:, 3:6].argsort(1))
    assert (shown(recipe, params | {"n": 6.0})[:, 6] > shown(recipe, params)[:, 6]).mean() > 0.95


def no_thermostat():
    recipe, params = state(t=1.0)
    ends = [shown(recipe, params | {"n": n})[:, 3:6] for n in (0.0, 4.0)]
    np.testing.assert_allclose(ends[0], ends[1], atol=EXACT)
    assert (ends[0].max(0) > ceiling(recipe, params)).any()
    assert pytest.approx(np.mean(1 / np.sqrt(np.mean(TOKENS**2, 1)))) == MEAN_FACTOR
    blended, kept = (recipe.cloud(name).stages(params)[-1] for name in ("blended", "normed"))
    np.testing.assert_allclose(blended, ends[0], atol=EXACT)
    np.testing.assert_allclose(kept, probabilities(normed(TOKENS), params), atol=EXACT)


def the_longer_is_surer():
    _, params = state()
    ends = [probabilities(longer * TOKENS, params).max(1) for longer in (1.0, 1.2, 3.0)]
    assert (np.diff(ends, axis=0) > 0).all()


def the_surest():
    _, (start, _) = at("Before the norm")
    said(start[:, 3].max(), "0.934")


def the_most():
    state, (_, end) = at("A ceiling")
    said(end[:, 3].max(), "0.865")
    said(ceiling(state.recipe, state.params)[0], "0.870")


def sure_again():
    state, _ = at("A longer W")
    assert state.params["w"] == 3
    said(ceiling(state.recipe, state.params)[0], "0.999")


def narrow():
    state, _ = at("The gain of one coordinate")
    p = state.recipe.cloud("equator").stages(state.params)[-1][:, 3:6]
    assert np.ptp(p @ CLASSES[:, 0]) < 0.5 * np.ptp(p @ CLASSES[:, 1])


def towards_the_middle():
    state, (_, end) = at("Into the null space")
    assert state.params["n"] == 4
    before = shown(state.recipe, state.params | {"n": 0.0})
    assert np.mean(end[:, 6]) > 1.2 * np.mean(before[:, 6])


def through_the_length_alone():
    state, (_, end) = at("The gain of the null space")
    np.testing.assert_allclose(
        end[:, 3:6], shown(state.recipe, state.params | {"gamma3": 1.0})[:, 3:6], atol=EXACT
    )


def removes_the_mean():
    x = np.array([[3.0, -1.0, 0.5, 2.0]])
    centred = [each - each.mean() for each in (x, x + 5)]
    np.testing.assert_allclose(*centred, atol=EXACT)


CLAIMS = {
    "a small model with three classes, **A**, **B** and **C**.": three_classes,
    "softmax makes probabilities of the three logits.": three_classes,
    "they have one length, $\\sqrt d$.": under_the_ceiling,
    "With the norm, no token passes this curve.": under_the_ceiling,
    "no logit is larger than $\\sqrt d$ times the length of a row of $W$": bounded_logits,
    r"With the three rows 120° apart, all of length $w$, and $\gamma = 1$, the largest possible probability of class A is $$\frac{1}{1 + 2\, e^{-\frac{3}{2} \sqrt d\, w}}.$$": closed_form,
    "is this maximum for the $w$ and $\\gamma$ of the sliders": closed_form,
    "After the norm, the logits of a token all change by one factor, since the norm divides by another length; they shrink if the token has become longer.": one_factor,
    "Add a number to every token's third coordinate, which $W$ does not see.": one_factor,
    r"the mean of $1/\mathrm{RMS}$ over these tokens (computed with the slider **null space** at 0). Then neither the ceiling nor the thermostat is left": no_thermostat,
    "Baroni et al. removed every LayerNorm from GPT-2 models": no_thermostat,
    "The slider **constant factor** does something similar here. It leads from the norm, at 0, to a constant, at 1. There the norm is gone: all tokens are multiplied by the same number": no_thermostat,
    "Of two tokens in one direction the model is surer about the longer, unless $W$ does not see that direction.": the_longer_is_surer,
    "No token gives class A a larger probability than 0.934.": the_surest,
    "Now the largest probability of class A is 0.865. No token of this sphere could have more than 0.870, the ceiling.": the_most,
    "The length of $W$ is now $w = 3$, and the ceiling is 0.999.": sure_again,
    "**B** and **C** differ in the first coordinate alone": narrow,
    "The third coordinate of all tokens has grown by 4.": towards_the_middle,
    r"$\gamma_3$ multiplies a coordinate that $W$ does not see, so it changes nothing.": through_the_length_alone,
    "Now the constant factor replaces the norm, and some tokens pass the ceiling. Move **null space**: no probability changes any more.": no_thermostat,
    "LayerNorm removes the part along $𝟏$ first": removes_the_mean,
}
