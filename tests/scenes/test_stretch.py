"""The stretch against its closed form, and its limits."""

import numpy as np
import pytest

from components.language.marks import hand_of
from components.language.recipe import Residual
from components.scenes.circle import angles
from components.scenes.stretch import SCENE
from components.training.recipes import recipe_of
from tests.assets.engine import as_sent
from tests.scenes.claims import said, stop

EXACT = 1e-10  # double precision, a few operations
RECIPE = recipe_of(SCENE)
THETA = angles()


def last(cloud, **params):
    return RECIPE.cloud(cloud).stages(RECIPE.defaults | params)[-1]


@pytest.mark.parametrize("t", (-5, -1, -0.01, 0, 0.01, 0.5, 1, 3, 5))
def test_points_meet_the_closed_form(t):
    points = last("points", t=t)
    np.testing.assert_allclose(points[:, :1], last("closed form", t=t), atol=EXACT)
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1, atol=EXACT)
    angle = np.arctan2(np.sin(THETA), t * np.cos(THETA))
    np.testing.assert_allclose(points, np.stack([np.cos(angle), np.sin(angle)], -1), atol=EXACT)


def test_the_other_coordinate_plays_epsilon():
    x, y = RECIPE.cloud("points").stages(RECIPE.defaults)[0].T
    t = RECIPE.defaults["t"]
    np.testing.assert_allclose(last("points")[:, 0], t * x / np.sqrt((t * x) ** 2 + y**2), atol=EXACT)


def test_without_x_two_points_remain():
    np.testing.assert_allclose(last("points", t=0), np.stack([0 * THETA, np.sign(THETA)], -1), atol=EXACT)


@pytest.mark.parametrize("sign", (-1, 1))
def test_limit_is_the_sign(sign):
    t = sign * 1e9
    nearest = np.abs(np.cos(THETA)).min()
    near = 1 / (t * nearest) ** 2  # 1 − x′ is at most y²/2(tx)²
    np.testing.assert_allclose(last("points", t=t)[:, 0], np.sign(t * np.cos(THETA)), atol=near)


def test_epsilon_keeps_the_points_inside():
    assert (np.linalg.norm(last("points", eps=0.3), axis=1) < 1).all()


@pytest.mark.parametrize("count", (24, 120, 600))
def test_points_are_even_and_symmetric(count):
    only = next(layer.only for layer in recipe_of(SCENE, n=count).views[0].layers if hand_of(layer))
    theta, single = THETA[only], 3e-7  # the angles are kept in single precision
    assert len(only) == count
    np.testing.assert_allclose(np.diff(theta), 2 * np.pi / count, atol=2 * single)
    np.testing.assert_allclose(np.sort(-theta), theta, atol=single)


# --- what the text says


def at(title):
    """The positions of the points that a stop shows: a list with one array for each stage."""
    state = stop("stretch", title)
    only = next(layer.only for layer in state.recipe.views[0].layers if hand_of(layer))
    return [x[only] for x in state.recipe.cloud("points").stages(state.params)]


def through(x, t, eps=0.0):
    """The first coordinate after the stretch by t and the norm, for points (x, √(1 − x²))."""
    xy = np.stack([x, np.sqrt(1 - x**2)], -1)
    return RECIPE.cloud("points").pipeline.stages(xy, {"t": t, "eps": eps})[-1][:, 0]


def two_steps():
    assert len(RECIPE.cloud("points").pipeline.steps) == 2 == len(RECIPE.stages) - 1


def crowds_left_and_right():
    near = np.abs(last("points", t=3)[:, 0]) > np.sqrt(0.5)
    assert near.mean() > 0.75  # evenly it would be half


def residual_is_tiny():
    _, residual = RECIPE.readouts
    sent = as_sent(RECIPE)
    for t in np.linspace(-5, 5, 201):
        a, b = (sent.cloud(c).stages({"t": t, "eps": 0.0})[-1][:, :1] for c in (residual.a, residual.b))
        assert isinstance(residual, Residual) and np.abs(a - b).max() < 1e-6
    assert 7 < -np.log10(np.finfo(np.float32).eps / 2) < 8


def first_coordinate():
    x = np.linspace(-1, 1, 41)
    for t in (-5, -0.5, 0.25, 3):
        np.testing.assert_allclose(through(x, t), t * x / np.sqrt(1 + (t**2 - 1) * x**2), atol=EXACT)


def slopes():
    h = 1e-6
    for t in (0.25, 1, 3, 5):
        low, mid, high = through(np.array([-h, 1 - h, 1]), t)
        assert -low / h == pytest.approx(t, rel=1e-4) and (high - mid) / h == pytest.approx(
            1 / t**2, rel=1e-3
        )


def closed_form_needs_no_root():
    for t in (-3, 0.25, 5):
        x = last("points", t=t)[300:, 0]
        np.testing.assert_allclose(x, np.sin(np.arctan(t / np.tan(THETA[300:]))), atol=EXACT)


def nothing_left():
    points = at("Nothing left of x")[-1]
    assert {tuple(p) for p in points.round(9) + 0.0} == {(0.0, 1.0), (0.0, -1.0)}
    axis = np.array([[1.0, 0], [-1, 0]])
    np.testing.assert_array_equal(RECIPE.cloud("points").pipeline.stages(axis, {"t": 0, "eps": 0})[-1], 0)
    assert np.abs(np.sin(THETA)).min() > 0


def only_a_line():
    start, moved, _ = at("Still a straight line")
    np.testing.assert_allclose(moved[:, 0], 1.6 * start[:, 0], atol=EXACT)


def most_are_near_one():
    x = at("Two crowds")[-1][:, 0]
    assert np.mean(abs(x) > 0.9) > 0.6 and (x > 0.9).sum() == (x < -0.9).sum()


def above_and_below():
    assert np.mean(np.abs(at("The other way")[-1][:, 1]) > np.sqrt(0.5)) > 0.8
    h = 1e-6
    for t in (0.05, 0.25, 0.8):
        assert np.mean(np.abs(last("points", t=t)[:, 1]) > np.sqrt(0.5)) > 0.5
        low, mid, high = through(np.array([-h, 1 - h, 1]), t)
        assert -low / h < 1 < (high - mid) / h
    assert np.mean(np.abs(last("points", t=-3)[:, 1]) > np.sqrt(0.5)) < 0.5  # not below 0


def short_of_the_circle():
    *_, moved, end = at("With ε")
    short = 1 - np.linalg.norm(end, axis=1)
    assert stop("stretch", "With ε").params["eps"] == 0.3 and short.min() > 0
    far = np.linalg.norm(moved, axis=1)
    assert (np.diff(short[np.argsort(far)]) <= EXACT).all()  # the nearer to the origin, the shorter


def one_point():
    (x,) = through(np.array([0.5]), 3)
    said(x, "0.866")
    said(1 - 0.5**2, "0.75")
    said(3 * 0.5, "1.5")
    said(1.5**2, "2.25")
    said(np.degrees(np.arccos(0.5)), "60")
    said(np.degrees(np.arccos(x)), "30")


def beyond():
    for n in (24, 120, 600):
        only = next(layer.only for layer in recipe_of(SCENE, n=n).views[0].layers if hand_of(layer))
        share = np.mean(np.abs(last("points", t=5)[only, 0]) > 0.98)
        assert abs(share - 0.5) < 0.05, n
    cotangent = 0.98 / np.sqrt(1 - 0.98**2)
    said(cotangent, "4.92")
    said(np.degrees(np.arctan(5 / cotangent)), "45.4")
    said(np.degrees(np.arccos(0.98)), "11.5")
    assert 4 * np.arccos(0.98) / (2 * np.pi) == pytest.approx(1 / 8, abs=0.003)


def the_halves_agree():
    x, y = last("points", t=3).T
    np.testing.assert_allclose(x, x[::-1], atol=1e-6)  # the angles are kept in single precision
    np.testing.assert_allclose(y, -y[::-1], atol=1e-6)


def evenly_around():
    start, *_ = at("Evenly around")
    steps = np.diff(np.arctan2(start[:, 1], start[:, 0]))
    np.testing.assert_allclose(steps, steps.mean(), atol=1e-6)
    assert stop("stretch", "Evenly around").progress == 0


def along_its_ray():
    _, ellipse, end = at("Back along the rays")
    far = np.linalg.norm(ellipse, axis=1, keepdims=True)
    np.testing.assert_allclose(end, ellipse / far, atol=EXACT)
    move = np.linalg.norm(end - ellipse, axis=1)
    np.testing.assert_allclose(move, far[:, 0] - 1, atol=EXACT)


def a_mirror():
    start, _, end = at("A mirror")
    assert (np.sign(end[:, 0]) == -np.sign(start[:, 0])).all() and (
        np.sign(end[:, 1]) == np.sign(start[:, 1])
    ).all()


CLAIMS = {
    r"Each goes through two steps.": two_steps,
    "So the two steps together act on $x$": two_steps,
    r"for $t = 3$ they crowd together left and right": crowds_left_and_right,
    r"For $\varepsilon = 0$ both are equal up to rounding: the drawn points have about seven digits, and the distance stays below a millionth.": residual_is_tiny,
    r"On the circle $y^2 = 1 - x^2$. With $\varepsilon = 0$ the first coordinate becomes "
    r"$$x' = \frac{t x}{\sqrt{(t x)^2 + y^2}} = \frac{t x}{\sqrt{1 + (t^2 - 1) x^2}}$$": first_coordinate,
    r"At $x = 0$ the slope is $t$; at $x = \pm 1$ it is $1/t^2$ (for a positive $t$).": slopes,
    r"$x' = \sin(\arctan(t \cot\theta))$ on the upper half.": closed_form_needs_no_root,
    r"For $t = 0$ each point falls on the $y$ axis and goes to $(0, 1)$ or $(0, -1)$. Only $(\pm 1, 0)$ would "
    r"fall on the origin": nothing_left,
    r"$x$ is multiplied by 1.6": only_a_line,
    r"### Two crowds": most_are_near_one,
    r"most points are near 1 or $-1$": most_are_near_one,
    "For $t$ between 0 and 1 the points gather at the top and the bottom. The curve is flat in the middle, and steep at its ends.": above_and_below,
    r"With $t = 0$ all points are in two places, $(0, 1)$ and $(0, -1)$. The curve lies flat on 0.": nothing_left,
    r"Now $\varepsilon = 0.3$, and the points stop inside the circle, farthest inside where the ellipse is nearest to the origin. They leave the brown line, which is for $\varepsilon = 0$.": short_of_the_circle,
    r"For $t = 3$, where does a point with $x = 0.5$ land? $y^2 = 0.75$ and $tx = 1.5$, so "
    r"$x' = 1.5 / \sqrt{2.25 + 0.75} = 1.5 / \sqrt 3 = 0.866$. Its angle goes from 60° to 30°.": one_point,
    r"With $t = 5$, how many points end beyond $|x| = 0.98$? About half of them. $x' = 0.98$ means $5 \cot\theta = 4.92$, so $\theta = 45.4°$: all points that began within 45.4° of the $x$ axis. They now share two arcs, left and right. Each arc reaches from 11.5° below the axis to 11.5° above it; together the arcs are an eighth of the circle.": beyond,
    r"Why do the upper and the lower half give the same curve?": the_halves_agree,
    "The points stand at equal angles. The $x$ of each is the same before and now, so the activation curve is a diagonal.": evenly_around,
    r"a point slides along it, and its direction does not change. Points far out move most": along_its_ray,
    r"A negative $t$ swaps left and right.": a_mirror,
}
