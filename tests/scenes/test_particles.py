"""Tokens that attract one another: the figure against SciPy, its counts against many draws; and the text."""

from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from components.language.marks import Carry, Relocate, hand_of
from components.scenes.particles import SCENE, compare
from components.scenes.particles.build import COUNT, ENERGY, MAX_CARRIED, TIME
from components.scenes.particles.compare import LOOKS
from components.scenes.particles.motion import SHARP, STOPS, hue, times
from components.training.recipes import recipe_of
from geometry import Pipeline, clouds
from tests.scenes.claims import said, stop

EXACT = 1e-9
DRAWS = 20
MORE_DRAWS = 100  # of which the largest distances are taken


def tokens(recipe, params, **moved):
    """The tokens (n, d) at stage 0, and an array of numbers that describe all tokens together.

    These numbers have the indices COUNT (of clusters), ENERGY and TIME. moved: values of parameters that
    replace those of `params`.
    """
    d = recipe.views[0].dims
    x = recipe.cloud("tokens").stages(params | moved)[0]
    return x[:, :d], x[0, 2 * d :]


@cache
def at(title):
    state = stop("particles", title)
    return state, *tokens(state.recipe, state.params)


def test_the_hue_of_a_token_is_its_angle_also_opposite_the_start():
    angles = np.radians([-179.9, -90, 0, 45, 179.9, 180])
    points = np.round([np.cos(angles), np.sin(angles)], 15).T  # the last one is (−1, 0)
    np.testing.assert_allclose(Pipeline(hue(2)).stages(points, {})[-1][:, 0], angles, atol=1e-5)


def average(x, beta):
    """Attention's output for each of the tokens x (…, n, d): a weighted average of all tokens, (…, n, d).

    The weights are the softmax of beta·⟨xᵢ, xⱼ⟩ over j.
    """
    weights = np.exp(beta * (x @ x.mT - 1))
    return weights / weights.sum(-1, keepdims=True) @ x


def tangent(x, v):
    return v - (v * x).sum(-1, keepdims=True) * x


def norm(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def counted(x):
    return (1 / np.exp(-SHARP * (1 - x @ x.mT)).sum(-1)).sum(-1)


def turn(degrees):
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array([[c, s], [-s, c]])


def scipy(x, beta, until, values=0, scores=0):
    """Integrate the tokens' motion by SciPy; returns a function from the time to the tokens (n, d).

    x (n, d): the tokens at time 0. beta: the factor of attention's scores. until: the latest time for which
    the function can be used. values, scores: the angles in degrees of the rotations V and K.
    """
    V, K = (turn(degrees) if degrees else np.eye(x.shape[-1]) for degrees in (values, scores))

    def velocity(_, y):
        now = norm(y.reshape(x.shape))  # where V turns tokens back, an error of the length would grow
        weights = np.exp(beta * (now @ (now @ K).T - 1))
        return tangent(now, weights / weights.sum(-1, keepdims=True) @ now @ V).ravel()

    path = solve_ivp(
        velocity, (0, until), x.ravel(), method="DOP853", rtol=1e-9, atol=1e-11, dense_output=True
    )
    return lambda t: norm(path.sol(t).reshape(x.shape))


@cache
def draws(d, n, beta, placement="post", count=DRAWS):
    """The tokens of random draws at all times of the integration, as unit vectors: (times, count, n, d).

    d: the dimension. n: the number of tokens. beta: the factor of attention's scores. placement: where the
    norm is, such as "post".
    """
    return norm(states(d, n, beta, placement, count))


@cache
def states(d, n, beta, placement, count=DRAWS):
    """The states of the tokens of random draws at all times of the integration: (times, count, n, d).

    A token is the direction of its state. States have length 1, except with the placements "pre" and "peri".
    NumPy computes them by Runge–Kutta steps of the same lengths as in the figure. d: the dimension. n: the
    number of tokens. beta: the factor of attention's scores. placement: where the norm is.
    """
    y = norm(np.stack([clouds.gaussian(n, d, seed=seed) for seed in range(count)]))

    def velocity(y):
        x = norm(y)
        added = average(x, beta)
        if placement in ("peri", "ngpt"):
            added = norm(added)
        return added if placement in ("pre", "peri") else tangent(x, added)

    out = [y]
    for h in np.diff(times()):
        a = velocity(y)
        b = velocity(y + h / 2 * a)
        c = velocity(y + h / 2 * b)
        y = y + h / 6 * (a + 2 * b + 2 * c + velocity(y + h * c))
        out.append(y)
    return np.array(out)


@pytest.mark.parametrize("choices", ({}, {"d": "3", "n": "64"}))
def test_the_numbers_are_those_of_their_definitions(choices):
    recipe = recipe_of(SCENE, **choices)
    for time in (-1.0, 0.5, 2.0):
        x, numbers = tokens(recipe, recipe.defaults, time=time)
        assert numbers[COUNT] == pytest.approx(counted(x), abs=EXACT)
        assert numbers[ENERGY] == pytest.approx(np.exp(9 * (x @ x.T - 1)).mean(), abs=EXACT)
        assert numbers[TIME] == pytest.approx(10**time)


def test_tokens_are_dragged_where_there_are_not_too_many():
    for n in ("64", "128"):
        recipe = recipe_of(SCENE, n=n)
        assert any(p.name == "x0" for p in recipe.parameters) == (int(n) <= MAX_CARRIED)
    recipe = recipe_of(SCENE)
    x, _ = tokens(recipe, recipe.defaults, x3=0.0, y3=-2.0, time=-1.0)
    assert np.linalg.norm(x[3] - [0, -1]) < 0.1


@pytest.mark.parametrize("d", ("2", "3"))
@pytest.mark.parametrize("placement", ("post", "pre"))
def test_a_token_is_put_elsewhere_on_its_way(d, placement):
    """A token that is put elsewhere at some time moves on from there, and changes the others' paths.

    Before that time, nothing changes.
    """
    recipe = recipe_of(SCENE, d=d, placement=placement)
    there = np.array([0.6, -0.8, 0.0])[: int(d)]
    moved = {"who1": 5, "when1": 0.55} | {f"to1{axis}": x for axis, x in zip("xyz", there, strict=False)}
    params = recipe.defaults
    before, after = ({"time": time} for time in (0.5, 0.8))
    np.testing.assert_array_equal(
        tokens(recipe, params, **before)[0], tokens(recipe, params, **before, **moved)[0]
    )
    x, _ = tokens(recipe, params, **moved, time=0.55)
    np.testing.assert_allclose(x[5], there, atol=EXACT)
    free, _ = tokens(recipe, params, time=0.55)
    np.testing.assert_allclose(np.delete(x, 5, 0), np.delete(free, 5, 0), atol=0.003)
    if placement == "post":
        path, start = scipy(x, 9, 10), 10**0.55
        for time in (0.7, 0.8):
            later, _ = tokens(recipe, params, **moved, time=time)
            assert np.linalg.norm(later - path(10**time - start), axis=1).max() < 0.02
    late, _ = tokens(recipe, params, **moved, **after)
    free, _ = tokens(recipe, params, **after)
    assert np.linalg.norm(np.delete(late - free, 5, 0), axis=1).max() > 1e-4, "others feel it"


# --- what the text says


@cache
def error(beta=9.0, values=0, scores=0):
    """The largest distance between a token's position in the figure and its position by SciPy.

    It is the maximum over all tokens and all times in STOPS. beta: the factor of attention's scores. values,
    scores: the angles in degrees of the rotations V and K.
    """
    recipe = recipe_of(SCENE)
    path = scipy(recipe.cloud("tokens").points, beta, 100, values, scores)
    params = recipe.defaults | {"beta": beta, "values": values, "scores": scores}
    found = [tokens(recipe, params, time=position)[0] - path(10**position) for position in STOPS]
    return max(np.linalg.norm(each, axis=1).max() for each in found)


def exact():
    said(error(), "0.012")
    steps = np.diff(times())
    assert steps[0] == pytest.approx(0.1) and steps.max() == pytest.approx(1)


def exact_at_ends():
    exact()
    inexact()
    parameters = {p.name: (p.min, p.max) for p in recipe_of(SCENE).parameters}
    assert parameters["beta"] == (0.1, 40) and parameters["values"] == parameters["scores"] == (-180, 180)
    said(error(beta=0.1), "0.013")
    said(error(beta=40.0), "0.006")
    said(error(values=180), "0.001")
    said(error(scores=180), "0.16")


def inexact():
    said(error(values=90), "2.0")


def five_degrees():
    """Two tokens count as 4/3 clusters at some angle from 4° to 6°; the count need not be a whole number."""

    def excess(angle):
        return counted(np.array([[1, 0], [np.cos(angle), np.sin(angle)]])) - 4 / 3

    assert 4 < np.degrees(brentq(excess, 0, 1)) < 6


def a_layer():
    recipe = recipe_of(SCENE)
    x, after, end = recipe.cloud("tokens").stages(recipe.defaults)
    np.testing.assert_allclose(after[:, :2], x[:, :2] + average(x[:, :2], 9) / 2, atol=EXACT)
    np.testing.assert_allclose(end[:, :2], norm(after[:, :2]), atol=EXACT)


def a_layer_of_long_tokens():
    """The figure divides a token y, and what the layer adds to it, by y's length.

    This length exceeds 1 only with pre-LN and peri-LN.
    """
    recipe = recipe_of(SCENE, placement="all", seed="0")
    t = times()[-1]
    for kind in LOOKS:
        x, after, end = recipe.cloud(kind).stages(recipe.defaults | {"time": np.log10(t)})
        added, y = average(x[:, :2], 9), states(2, 32, 9, kind)[-1, 0]
        if kind in ("peri", "ngpt"):
            added = norm(added)
        length = np.linalg.norm(y, axis=-1, keepdims=True) if kind in ("pre", "peri") else 1
        np.testing.assert_allclose(after[:, :2], x[:, :2] + added / length / 2, atol=1e-3)
        np.testing.assert_allclose(end[:, :2], norm(after[:, :2]), atol=EXACT)
        assert np.all(np.greater(np.linalg.norm(y, axis=-1), 1.1)) == (kind in ("pre", "peri"))
        if kind in ("post", "ngpt"):
            np.testing.assert_allclose(np.linalg.norm(y, axis=-1), 1, rtol=1e-4)  # integrated


def attraction():
    """A token gives another one, at an angle θ, e^(−β(1 − cos θ)) times the weight that it gives itself."""
    theta, beta = 1.1, 9.0
    x = np.array([[1, 0], [np.cos(theta), np.sin(theta)]])
    scores = np.exp(beta * x @ x.T)
    assert scores[0, 1] / scores[0, 0] == pytest.approx(np.exp(-beta * (1 - np.cos(theta))))


def energy():
    for d, n in ((2, 32), (3, 64)):
        x = draws(d, n, 9)
        energies = np.exp(9 * (x @ x.mT - 1)).mean((-1, -2))
        assert (np.diff(energies, axis=0) > -1e-12).all()
    three = np.repeat(np.eye(3), 5, axis=0)
    assert 1 / np.exp(9 * (three @ three.T - 1)).mean() == pytest.approx(3, rel=1e-3)


def halved(path):
    """For each draw, the interpolated time at which half as many clusters are left as at time 0: (DRAWS,).

    path: the tokens at all times, (times, DRAWS, n, d).
    """
    count = counted(path)
    k = np.argmax(count < count[0] / 2, axis=0)
    before, after = (np.take_along_axis(count, j[None], 0)[0] for j in (k - 1, k))
    share = (before - count[0] / 2) / (before - after)
    return times()[k - 1] + share * np.diff(times())[k - 1]


def ratios(beta, expected):
    """Assert how long it takes until the number of clusters has halved, in units of the time with post-LN.

    There are 32 tokens on the circle. beta: the factor of attention's scores. expected: for each placement of
    the norm, the median, smallest and largest of these times over the draws, as texts such as "1.23".
    """
    unit = halved(draws(2, 32, beta))
    for placement, numbers in expected.items():
        ratio = halved(draws(2, 32, beta, placement)) / unit
        for found, text in zip((np.median(ratio), ratio.min(), ratio.max()), numbers, strict=True):
            said(found, text)


def clocks():
    clocks_of_soft_attention()
    ratios(9, {"pre": ("5.0", "3.4", "9.2"), "peri": ("4.9", "3.3", "9.0"), "ngpt": ("0.96", "0.96", "0.97")})


def clocks_of_soft_attention():
    ratios(1, {"pre": ("2.3", "1.9", "4.0"), "peri": ("1.7", "1.4", "2.5"), "ngpt": ("0.60", "0.51", "0.67")})
    assert off(1, "pre", "post").max() > 1.9


def faster():
    """The number of clusters halves earlier if attention's output has length 1, above all for β = 1.

    The times are compared with those of post-LN and pre-LN, where this output keeps its length.
    """
    for placement, other in (("ngpt", "post"), ("peri", "pre")):
        sharp, soft = (
            np.median(halved(draws(2, 32, beta, placement)) / halved(draws(2, 32, beta, other)))
            for beta in (9, 1)
        )
        assert soft < 0.8 < 0.9 < sharp < 1


def off(beta, placement, other):
    """Distances between a token under `placement` at time t and the same token under `other` at log(1 + t).

    Returns (times, MORE_DRAWS, n), with a row for each t in `times()`. Tokens are unit vectors on the circle.
    Their positions at log(1 + t) are interpolated. beta: the factor of attention's scores.
    """
    own, path, t = np.log1p(times()), draws(2, 32, beta, other, MORE_DRAWS), times()
    k = np.maximum(np.searchsorted(t, own), 1)
    share = ((own - t[k - 1]) / np.diff(t)[k - 1])[:, None, None, None]
    then = norm((1 - share) * path[k - 1] + share * path[k])
    return np.linalg.norm(draws(2, 32, beta, placement, MORE_DRAWS) - then, axis=-1)


def own_clock():
    assert times()[-1] == 100
    for placement, other, half, largest in (("pre", "post", 0.05, 0.25), ("peri", "ngpt", 0.02, 0.06)):
        distances = off(9, placement, other).max(axis=(0, 2))
        assert np.median(distances) < half < 2 * np.median(distances)
        assert 0.9 * largest < distances.max() < largest
    said(np.median(np.linalg.norm(states(2, 32, 9, "pre")[-1], axis=-1)), "99.9")


def side_by_side():
    state = stop("particles", "Four clocks")
    starts = [state.recipe.cloud(kind).points for kind in ("post", "pre", "peri", "ngpt")]
    assert all(np.array_equal(start, starts[0]) for start in starts)


def equations():
    """The figure's tokens under each placement are those of `states`, which are integrated from equations."""
    recipe = recipe_of(SCENE, placement="all", seed="0")
    for kind in LOOKS:
        for k in (20, -1):
            t = times()[k]
            x = recipe.cloud(kind).stages(recipe.defaults | {"time": np.log10(t)})[0][:, :2]
            assert np.linalg.norm(x - draws(2, 32, 9, kind)[k, 0], axis=1).max() < 0.005, kind


def at_random():
    _, x, numbers = at("At random")
    assert len(x) == 32
    said(numbers[COUNT], "20.7")


def plateau():
    state, _, numbers = at("A plateau")
    said(numbers[TIME], "10")
    for time in (7, 10, 25):
        _, found = tokens(state.recipe, state.params, time=np.log10(time))
        said(found[COUNT], "4.0")


def merged():
    _, _, numbers = at("The end of the plateau")
    said(numbers[TIME], "100")
    said(numbers[COUNT], "2.0")


def one_cluster():
    state, _, numbers = at("Softer attention")
    assert state.params["beta"] == 1 and numbers[COUNT] == pytest.approx(1, abs=1e-3)
    path = [tokens(state.recipe, state.params, time=p)[1][COUNT] for p in np.linspace(0, 1, 21)]
    assert (np.diff(path) < 0).all()


def repelled():
    state, _, numbers = at("A change of sign")
    said(numbers[COUNT], "28.4")
    energies = [tokens(state.recipe, state.params, time=p)[1][ENERGY] for p in np.linspace(-1, 2, 31)]
    assert (np.diff(energies) < 1e-9).all() and energies[-1] < energies[0]


def causal():
    state, x, numbers = at("Only earlier tokens")
    np.testing.assert_allclose(x[0], state.recipe.cloud("tokens").points[0], atol=EXACT)
    assert state.recipe.follow == 0
    said(numbers[COUNT], "3")


def four_clocks():
    state = stop("particles", "Four clocks")
    said(state.params["beta"], "9")
    found = {kind: state.recipe.cloud(kind).stages(state.params)[0][0, 4:] for kind in LOOKS}
    said(found["post"][compare.TIME], "10")
    for kind, text in {"post": "4.0", "ngpt": "4.0", "pre": "10.9", "peri": "10.7"}.items():
        said(found[kind][compare.COUNT], text)


def sphere():
    _, x, numbers = at("On a sphere")
    assert x.shape == (64, 3)
    said(numbers[COUNT], "5")
    state, _, _ = at("On a sphere")
    said(10 ** state.params["time"], "20")
    assert tokens(state.recipe, state.params, time=2.0)[1][COUNT] < 4.5


def dragged():
    for n, hand in ((64, Carry), (128, type(None))):
        [rings] = [view for view in recipe_of(SCENE, n=n).views if view.name == "rings"]
        assert isinstance(rings.layers[-1].hand, hand)


def ends():
    """At time 100, all tokens are one cluster for β = 1; for β = 9 there are more clusters.

    Of the draws for β = 9, those on the circle have 2 to 4 clusters, and those on the sphere 3 to 5.
    """
    for beta, of_circle, of_sphere in ((1, (1, 1), (1, 1)), (9, (2, 4), (3, 5))):
        for shape, (least, most) in (((2, 32), of_circle), ((3, 64), of_sphere)):
            found = np.round(counted(draws(*shape, beta)[-1]))
            assert (found.min(), found.max()) == (least, most)
    assert times()[-1] == 100


def moves():
    for d in ("2", "3"):
        for n in ("8", "256"):
            for placement in ("post", "all"):
                recipe = recipe_of(SCENE, d=d, n=n, placement=placement)
                hands = [hand_of(layer) for layer in recipe.views[0].layers]
                hands = [hand for hand in hands if isinstance(hand, Relocate)]
                assert hands and all(len(hand.slots) == 4 for hand in hands)


CLAIMS = {
    "The figure keeps the last 4 such moves.": moves,
    "Each dot is a token. It is drawn by its direction alone, as a vector of length 1; the colour shows the direction too.": at_random,
    "tokens nearer than about 5 degrees count as one. This limit is not sharp,": five_degrees,
    "It leaves the time as it is, and shows what one ordinary layer would do to the tokens at this time. First the layer adds half of attention's output to each token. With post-LN and nGPT every token has length 1. With pre-LN and peri-LN most tokens have grown by this time. The picture still draws such a token with length 1: the token, and what is added to it, are both divided by the token's length. So a long token moves less.": a_layer,
    "With post-LN and nGPT every token has length 1. With pre-LN and peri-LN most tokens have grown by this time. The picture still draws such a token with length 1: the token, and what is added to it, are both divided by the token's length. So a long token moves less.": a_layer_of_long_tokens,
    "Then each sum is divided by its length, so all dots are back on the circle or sphere. With post-LN and nGPT this division is the norm of the model. With pre-LN and peri-LN only the drawing divides:": a_layer_of_long_tokens,
    "$\\mathrm{P}_x$ is the Jacobian of the norm at a vector of length 1.": exact,
    "and all end in one point": one_cluster,
    r"between two clusters at an angle $\theta$ the attraction is only about $e^{-β (1 - \cos \theta)}$.": attraction,
    r"The mean of $e^{β \langle x_i, x_j \rangle}$ over all pairs never falls, if all tokens attend to all and nothing is turned.": energy,
    "The last choice of **norm**, “all four, side by side”, starts the same tokens under four placements of the norm: - pre-LN normalises attention's input, - post-LN the sum of the token and attention's output,": side_by_side,
    "If there are at most 64 tokens, you can also drag them there, at the open dots": dragged,
    r"the length grows by nearly 1 in each unit of time: at time $t$ it is nearly $1 + t$, and the token moves $1 + t$ times as slowly as with post-LN. Summed up over time, this means that at time $t$ the token is nearly where post-LN has it at time $\log (1 + t)$": own_clock,
    "nGPT and peri-LN also stretch $a$ to length 1.": equations,
    "This makes nGPT faster than post-LN, and peri-LN faster than pre-LN: a little if attention is sharp, more if it is not.": faster,
    "We measured the time until the number of clusters is half of what it was at the start, with post-LN as the unit (20 draws of 32 tokens on the circle; median and range): | norm | β = 9 | β = 1 | | --- | --- | --- | | pre-LN | 5.0 (3.4 to 9.2) | 2.3 (1.9 to 4.0) | | peri-LN | 4.9 (3.3 to 9.0) | 1.7 (1.4 to 2.5) | | nGPT | 0.96 (0.96 to 0.97) | 0.60 (0.51 to 0.67) |": clocks,
    r"Each token has one place in the model with pre-LN at time $t$, and one in the model with post-LN at time $\log (1 + t)$. In each draw we took the largest distance between these two places, over all tokens and all times up to $t = 100$. It was at most 0.05 in half of 100 draws, and at most 0.25 in all of the draws. The places with peri-LN at time $t$ and with nGPT at time $\log (1 + t)$ were at most 0.02 apart in half of the draws, and at most 0.06 in all. The median length at time 100 was 99.9 with pre-LN and β = 9.": own_clock,
    "With β = 1 the paths of pre-LN and post-LN separate. With β = 9 they stay nearly the same": clocks,
    "There are 32 tokens, but 20.7 clusters, because near tokens count as one.": at_random,
    "Where are the tokens at time 10?": plateau,
    "all in one point": plateau,
    "There are 4 clusters. From time 7 to time 25 their number does not change.": plateau,
    "At time 100 there are 2 left.": merged,
    "With β = 1 all tokens are in one cluster. The curve has no plateau.": one_cluster,
    "$V = -1$ turns every pull into a push.": repelled,
    "tokens flee from one another": repelled,
    "There are more clusters than at the start, 28.4, and the energy falls.": repelled,
    "so it never moves. 3 clusters are left.": causal,
    "### Four clocks": four_clocks,
    "Attention is sharp (β = 9). The same start at time 10 under four placements of the norm:": four_clocks,
    "Post-LN and nGPT have 4 clusters. Pre-LN has 10.9 and peri-LN 10.7": four_clocks,
    r"The panel “Clusters, each norm with its own clock” uses $\log (1 + t)$ as the time of pre-LN and peri-LN; there the four curves nearly coincide.": own_clock,
    "In three dimensions 64 tokens form 5 clusters by time 20, and fewer later.": sphere,
    "### Does everything end in one cluster?": ends,
    "in three or more dimensions": ends,
    "At time 100 with β = 1, all of 20 draws had one cluster, on the circle and with 64 tokens on the sphere. With β = 9 none had: there were 2 to 4 clusters on the circle, 3 to 5 on the sphere.": ends,
    "by the Runge–Kutta method, in steps of time that grow from 0.1 to 1.": exact,
    "The largest distance of a token from its position by SciPy, up to time 100: | setting | largest error | | --- | --- | | the opening state | 0.012 | | β = 0.1 | 0.013 | | β = 40 | 0.006 | | $V$ turned by 180 degrees | 0.001 | | $K$ turned by 180 degrees | 0.16 | | $V$ turned by 90 degrees | 2.0 | At an error of 2.0 a token is opposite to its position by SciPy.": exact_at_ends,
    "with some exceptions at late times. If $V$ or $K$ is turned by an angle between 0 and 180 degrees, tokens can be far": inexact,
    "them. If $K$ is turned by 180 degrees, they can be visibly off that place.": exact_at_ends,
}
