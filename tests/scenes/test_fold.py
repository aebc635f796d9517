"""The fold, alone and with a stretch, against its closed form; singular places; the speed."""

import numpy as np
import pytest

from components.language.cloud import project
from components.language.marks import hand_of
from components.scenes.circle import angles, drawn
from components.scenes.fold import SCENE
from components.scenes.fold.build import HALF_STEP
from components.training.recipes import recipe_of
from tests.assets.engine import as_sent
from tests.scenes.claims import said, stop
from tests.scenes.test_temperature import SEEDS, right

EXACT = 1e-10  # double precision; nothing cancels, not even at |t| = |a|
FOLD, BOTH = recipe_of(SCENE), recipe_of(SCENE, map="both")
THETA = angles()
X, Y = np.cos(THETA), np.sin(THETA)
SHIFTS = (-3, -1, -0.98, 0, 0.5, 0.999, 1, 1.001, 1.25, 2, 3)


def last(recipe, cloud, **params):
    return recipe.cloud(cloud).stages(recipe.defaults | params)[-1]


@pytest.mark.parametrize("t", SHIFTS)
def test_points_meet_the_closed_form(t):
    points = last(FOLD, "points", t=t)
    np.testing.assert_allclose(points[:, :1], last(FOLD, "closed form", t=t), atol=EXACT)
    np.testing.assert_allclose(points[:, 0], (X + t) / np.hypot(X + t, Y), atol=EXACT)
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1, atol=EXACT)


@pytest.mark.parametrize("a", (-5, -1, 0, 0.5, 1, 4))
@pytest.mark.parametrize("t", SHIFTS)
def test_stretch_and_fold_meet_the_closed_form(a, t):
    x = last(BOTH, "points", a=a, t=t)[:, :1]
    np.testing.assert_allclose(x, last(BOTH, "closed form", a=a, t=t), atol=EXACT)
    np.testing.assert_allclose(x[:, 0], (a * X + t) / np.hypot(a * X + t, Y), atol=EXACT)


def test_at_one_every_angle_is_halved():
    np.testing.assert_allclose(last(FOLD, "points", t=1)[:, 0], np.cos(THETA / 2), atol=EXACT)


@pytest.mark.parametrize("recipe", (FOLD, BOTH))
@pytest.mark.parametrize("t", (-1, 1))
def test_the_origin_has_no_direction_and_stays(recipe, t):
    pipeline = recipe.cloud("points").pipeline
    reached = pipeline.stages(np.array([[-float(t), 0.0]]), recipe.defaults | {"t": t, "a": 1.0})
    np.testing.assert_array_equal(reached[-1], [[0, 0]])


@pytest.mark.parametrize("t", (1.25, 2, 3))
def test_the_dip(t):
    x = last(FOLD, "points", t=t)[:, 0]
    step = 2 * np.pi / len(THETA)
    near = step**2  # a minimum is met to second order in the step between the points
    assert x.min() == pytest.approx(np.sqrt(1 - 1 / t**2), abs=near)
    assert X[x.argmin()] == pytest.approx(-1 / t, abs=step)


@pytest.mark.parametrize("t", (-3, -1, 0, 0.98, 1, 1.25, 3))
@pytest.mark.parametrize("a", (0.5, 1, 4))
def test_speed_is_the_derivative(a, t):
    recipe, params = (FOLD, {"t": t}) if a == 1 else (BOTH, {"t": t, "a": a})
    r = np.hypot(a * X + t, Y)
    # a central difference is off by about (h/r)² of 1/r, the scale of the speed; rounding adds 1e-16/h
    near = (HALF_STEP / r) ** 2 / r * 2 + 1e-14 / HALF_STEP
    error = np.abs(last(recipe, "speed", **params)[:, 0] - Y**2 / r**3)
    assert (error <= near).all()
    if a == 1:
        assert (np.abs(Y) <= r * (1 + EXACT)).all()  # so the speed is at most 1/r


def test_stretch_and_shift_cross_zero_at_the_ratio():
    number = last(BOTH, "points", a=4.0, t=2.0)[:, 0]
    step = 2 * np.pi / len(THETA)
    assert X[np.abs(number).argmin()] == pytest.approx(-0.5, abs=step)


def test_the_number_is_the_followed_points_speed():
    number = FOLD.readouts[0]
    stages = FOLD.cloud(number.cloud).stages(FOLD.defaults)
    value = project((number.row,), stages[-1], stages)[FOLD.follow, 0]
    x, y, t = X[FOLD.follow], Y[FOLD.follow], FOLD.defaults["t"]
    assert value == pytest.approx(y**2 / np.hypot(x + t, y) ** 3, rel=1e-8)  # (h/r)² and rounding, r = 0.75


# --- what the text says

HALF = slice(300, 600)  # the upper half of the circle, from right to left


def at(title):
    """The positions of the points that a stop shows, as a list over stages."""
    state = stop("fold", title)
    only = next(layer.only for layer in state.recipe.views[0].layers if hand_of(layer))
    return [x[only] for x in state.recipe.cloud("points").stages(state.params)]


def through(x, t):
    """The x coordinates after the shift by t and the norm, for the points (x, √(1 − x²)) of the half circle.

    x: an array (n,). The result, (n,), is the first coordinate of u₀(x + t, √(1 − x²)).
    """
    xy = np.stack([x, np.sqrt(1 - x**2)], -1)
    return FOLD.cloud("points").pipeline.stages(xy, {"t": t, "eps": 0.0})[-1][:, 0]


def two_steps():
    for recipe in (FOLD, BOTH):
        assert len(recipe.cloud("points").pipeline.steps) == 2
        lengths = np.linalg.norm(last(recipe, "points", t=1.25)[:, :2], axis=1)
        np.testing.assert_allclose(lengths, 1)


def all_to_the_right():
    assert (last(FOLD, "points", t=1.25)[:, 0] > 0).all()
    np.testing.assert_allclose(through(np.array([-1.0, 1]), 1.25), 1)
    assert (through(np.linspace(-0.99, 0.99, 99), 1.25) < 1).all()


def dip_or_climb():
    x = np.linspace(-1, 1, 201)
    for t in (1.02, 1.25, 3):
        for sign in (1, -1):
            ends, between = np.split(sign * through(x, sign * t)[np.r_[0, -1, 1:200]], [2])
            np.testing.assert_allclose(ends, 1)
            assert (between < 1).all() and np.argmin(between) not in (0, 198)
    for t in (-0.98, 0, 0.7, 0.98):
        assert (np.diff(through(x, t)) > 0).all()


def the_two_agree():
    for recipe in (as_sent(FOLD), as_sent(BOTH)):
        for t in (-3, -1, 0.98, 1, 1.25, 3):
            points, closed = (last(recipe, name, t=t) for name in ("points", "closed form"))
            assert np.abs(points[:, 0] - closed[:, 0]).max() < 1e-4
            np.testing.assert_array_equal(last(recipe, "closed form", t=t, eps=1), closed)
            assert np.abs(last(recipe, "points", t=t, eps=1)[:, 0] - closed[:, 0]).max() > 0.1


def the_step_is():
    assert HALF_STEP == 1e-5


def one_way_only():
    for a in (-5, -1, -0.5, 0.5, 1, 4, 5):
        for t in (-0.9 * abs(a), 0, 0.5 * abs(a)):
            steps = np.sign(a) * np.diff(last(BOTH, "points", a=a, t=t)[HALF, 0])
            assert (steps < 0).all()  # the half runs from right to left


def the_formula():
    for t in SHIFTS:
        r = np.hypot(X + t, Y)
        np.testing.assert_allclose(r, np.sqrt(1 + t**2 + 2 * t * X), atol=1e-7)
        np.testing.assert_allclose(last(FOLD, "points", t=t)[:, 0], (X + t) / r, atol=EXACT)


def inside_or_outside():
    for a, t in ((1, 0.9), (1, -0.5), (1, 1.1), (1, -2), (4, 3.9), (4, 3), (0.5, 0.6), (2, -3)):
        moved = BOTH.cloud("points").stages(BOTH.defaults | {"a": a, "t": t})[1]
        around = np.unwrap(np.arctan2(moved[:, 1], moved[:, 0]))
        if abs(t) < abs(a):  # once around: a ray meets it once
            assert (np.diff(around) > 0).all() and np.ptp(around) > 6
        else:  # there and back: a ray meets it twice, or not at all
            turns = np.count_nonzero(np.diff(np.sign(np.diff(np.append(around, around[:2])))))
            assert turns == 2 and np.ptp(around) < np.pi


def the_dip_is():
    for t, words in ((1.25, "0.6"), (2, "0.866")):
        (lowest,) = through(np.array([-1 / t]), t)
        assert lowest == pytest.approx(np.sqrt(1 - 1 / t**2))
        assert lowest <= through(np.linspace(-1, 1, 2001), t).min()
        said(lowest, words)


def fast_near_the_origin():
    for t in (0.98, 1.02, 1.25, 3):
        r = np.hypot(X + t, Y)
        assert (np.abs(Y) <= r * (1 + EXACT)).all()
        assert (last(FOLD, "speed", t=t)[:, 0] <= (1 + 1e-3) / r).all()
    test_speed_is_the_derivative(1, 0.98)
    near = np.argmax(last(FOLD, "speed", t=1)[:, 0])
    assert np.abs(Y[near]) / np.hypot(X[near] + 1, Y[near]) > 0.99


def the_nearest():
    test_the_origin_has_no_direction_and_stays(FOLD, 1)
    for n, words in ((600, "0.3"), (120, "1.5")):
        said(180 - np.abs(np.degrees(THETA[drawn(n)])).max(), words)


def half_have_left():
    high = FOLD.views[1].ranges[1][1]
    _, moved, _ = at("Off the origin")
    assert np.mean(moved[:, 0] > high) == pytest.approx(0.5, abs=0.05)
    np.testing.assert_allclose(np.ptp(moved[:, 0] - at("Off the origin")[0][:, 0]), 0, atol=EXACT)
    assert np.linalg.norm(moved - [1.25, 0], axis=1).max() < 1.25  # the origin is outside


def two_on_one_ray():
    x, _, end = at("Two on one ray")
    k = end[:, 0].argmin()
    said(end[k, 0], "0.6")
    said(x[k, 0], "-0.8")
    inside_or_outside()


def a_shallow_fold():
    x, _, end = at("A shallow fold")
    k = end[:, 0].argmin()
    said(end[k, 0], "0.866")
    said(x[k, 0], "-0.5")
    np.testing.assert_allclose(through(np.array([-1.0, 1]), 2), 1)


def each_its_own():
    state = stop("fold", "The origin inside")
    said(state.params["t"], "0.7")
    start, _, end = at("The origin inside")
    upper = start[:, 1] > 0
    order = np.argsort(start[upper, 0])
    assert (np.diff(end[upper, 0][order]) > 0).all()


def half_of_every_angle():
    start, _, end = at("Half of every angle")
    before, after = (np.arctan2(x[:, 1], x[:, 0]) for x in (start, end))
    np.testing.assert_allclose(after, before / 2, atol=1e-6)
    assert np.diff(np.sort(after)).std() < 1e-6 and (end[:, 0] > 0).all()
    state = stop("fold", "Half of every angle")
    speed = state.recipe.cloud("speed").stages(state.params)[-1][:, 0]
    high = state.recipe.views[2].ranges[1][1]
    assert X[speed > high].max() < -0.9


def the_jump():
    state = stop("fold", "The jump")
    before, after = (last(FOLD, "points", t=t)[:, 0] for t in (state.params["t"], 1.02))
    assert before[state.follow] < -0.5 and after[state.follow] > 0.5
    assert np.abs(after - before)[X > 0].max() < 0.05


def a_step_where_you_want_it():
    state = stop("fold", "A step where you want it")
    assert (state.params["a"], state.params["t"]) == (4, 2)
    test_stretch_and_shift_cross_zero_at_the_ratio()
    one_way_only()


def what_a_fold_tells():
    """For a shift t > 1 the activation curve is lowest at −1/t.

    If t is well above 1, the best single threshold on temperatures finds extreme days (very hot or very cold
    ones) more accurately after the layer than before it. A layer that first multiplies x by a factor `a`
    needs a shift well above this factor.
    """
    x = np.linspace(-1, 1, 2001)
    for t in (1.05, 1.25, 2, 3):
        assert x[through(x, t).argmin()] == pytest.approx(-1 / t, abs=1e-3)
    for seed in SEEDS:
        for a, t, better in ((1, 1.25, False), (1, 2, True), (0.3, 1, True)):
            after, before = right("extreme", seed, shrink=a, shift=t)[::-1]
            assert (after > before + 0.1) if better else (after == before)


def why_halved():
    for x, y in zip(X[HALF], Y[HALF], strict=True):
        assert np.hypot(x + 1 - 1, y) == pytest.approx(1)
        at_one = np.arccos(np.clip(-x, -1, 1))  # between (−1, 0) and (x, y), seen from (1, 0)
        assert np.degrees(at_one) == pytest.approx(180 - np.degrees(np.arccos(x)))
        assert np.arctan2(y, x + 1) == pytest.approx(np.arccos(x) / 2)


def how_deep():
    said(1 - 0.99**2, "0.0199")
    said(np.sqrt(1 / (1 - 0.99**2)), "7.09")
    assert FOLD.parameters[0].max == 3
    said(1 - last(FOLD, "points", t=3)[:, 0].min(), "0.057")
    np.testing.assert_allclose(1 - through(np.array([-1 / 7.1]), 7.1), 0.01, atol=1e-4)


def evenly_around():
    start, *_ = at("Evenly around")
    steps = np.diff(np.arctan2(start[:, 1], start[:, 0]))
    np.testing.assert_allclose(steps, steps.mean(), atol=1e-6)
    assert stop("fold", "Evenly around").progress == 0


CLAIMS = {
    "Each goes through two steps.": two_steps,
    r"with $\varepsilon = 0$ it ends on the unit circle.": two_steps,
    "Without a stretch (see below), for $t = 1.25$, all rays point to the right, so all points land on the right.": all_to_the_right,
    r"At first it is a diagonal. Choose $t > 1$ and $\varepsilon = 0$, without a stretch: then the curve at the last stage has a dip, a little like $|x|$. Both ends, $x = -1$ and $x = 1$, have come to 1, and the points between them stay lower. For $t < -1$ the curve is upside down and mirrored. For $t$ between $-1$ and 1 it only climbs.": dip_or_climb,
    r"The brown line is the curve for $\varepsilon = 0$, computed by another formula; the largest distance between the two curves is shown under the picture.": the_two_agree,
    r"The speed is measured between $t - h$ and $t + h$, with $h = 10^{-5}$.": the_step_is,
    r"With $\varepsilon = 0$ and $x = \cos\theta$, $$x' = \frac{x + t}{r} = \frac{\cos\theta + t}{\sqrt{1 + t^2 + 2t\cos\theta}}$$": the_formula,
    "For $|t| < 1$ the origin is inside the shifted circle. Each ray meets the circle once, so every point gets a place of its own. For $|t| > 1$ the origin is outside: a ray meets the circle twice, touches it, or misses it. Two points that share a ray land on the same place. That is the fold. With a stretch $a$ the border is $|t| = |a|$ in place of 1.": inside_or_outside,
    r"For $t > 1$ the outermost rays touch the shifted circle. Where they touch it, $x = -1/t$ and $x' = \sqrt{1 - 1/t^2}$: 0.6 for $t = 1.25$, and 0.866 for $t = 2$.": the_dip_is,
    r"Since $|y|$ is at most $r$, the speed is at most $1/r$: only points that pass close to the origin are fast. At $t = 1$ the circle goes through the origin, and near it $|y|$ is almost $r$.": fast_near_the_origin,
    "At $t = 1$ the point $(-1, 0)$ is shifted to the origin. There it has no direction, and stays. None of our points begins at $(-1, 0)$: the nearest is 0.3° away if the circle has 600 points, and 1.5° if it has 120.": the_nearest,
    r"Half of the activation curve has left the picture; it is still a straight line.": half_have_left,
    r"### Two on one ray Follow one grey ray from the origin: it enters the shifted circle and leaves it again. Both points on it land on the same place. The curve dips to 0.6, at $x = -0.8$.": two_on_one_ray,
    r"the lowest value is 0.866, at $x = -0.5$. Both ends are at 1.": a_shallow_fold,
    r"At $t = 0.7$ the shifted circle goes around the origin. Will two points still land on one place?": each_its_own,
    r"The curve only climbs, or for a negative $a$ only falls": one_way_only,
    "### Half of every angle At $t = 1$ the circle passes through the origin. Every angle is halved, so the points fill the right half of the circle evenly. Look at the panel “Speed when t moves”: towards $x = -1$ the curve leaves it.": half_of_every_angle,
    r"Move $t$ slowly up to 1.02 and watch it rush to the other side, while the points on the right hardly move.": the_jump,
    r"Stretched by $a = 4$, then shifted by 2: the ellipse contains the origin again, and the curve is a step. It crosses 0 at $x = -t/a = -0.5$.": a_step_where_you_want_it,
    "But the lowest point is at $x = -1/t$, not at 0: for a $t$ just above 1 it is a rather cold day. One threshold separates extreme days from typical ones only if the shift $t$ is well above 1 or, with a stretch, well above $a$;": what_a_fold_tells,
    r"Why are angles halved at $t = 1$? The three points $(0, 0)$, $(1, 0)$ and $(x + 1, y)$ form a triangle with two sides of length 1. Its angle at $(1, 0)$ is $180° - \theta$, so the other two are $\theta/2$ each": why_halved,
    r"How large must $t$ be for the dip to be less than 0.01 deep? $1 - \sqrt{1 - 1/t^2} < 0.01$ means $1/t^2 < 1 - 0.99^2 = 0.0199$, so $t > 7.09$. (The slider ends at 3, where the dip is 0.057 deep.)": how_deep,
    "Near $|t| = 1$ a small step of $t$ carries some points from one side of the circle to the other, while others hardly move.": the_jump,
    "The points stand at equal angles on the circle. Nothing has moved yet, and the activation curve is a diagonal:": evenly_around,
}
