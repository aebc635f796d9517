"""The scene `activation`: u_ε in one dimension, its slope and limits; and what the text says of them."""

import numpy as np
import pytest

from components.language.cloud import project
from components.scenes.activation import SCENE
from components.scenes.activation.build import FUNCTIONS, HALF_STEP, REACH, ZERO_INDEX
from components.training.recipes import recipe_of
from geometry import to_sphere, u_eps
from tests.scenes.claims import said, stop

EXACT = 1e-10  # double precision, a few operations
EPSILONS = (1e-4, 1e-2, 0.25, 1.0, 10.0)
RECIPE = recipe_of(SCENE, others=",".join(FUNCTIONS))


def curve(eps, name="u_ε"):
    x, y = RECIPE.cloud(name).stages({"eps": eps})
    return x[:, 0], y[:, 0]


def slope(eps, name="u_ε"):
    return RECIPE.cloud(f"slope of {name}").stages({"eps": eps})[-1][:, 0]


@pytest.mark.parametrize("eps", EPSILONS)
def test_slope_is_the_derivative(eps):
    x, _ = curve(eps)
    # a central difference is off by h²·f‴/6, at most h²/2ε of the slope at 0; rounding adds 1e-16/h
    near = HALF_STEP**2 / (2 * eps) / np.sqrt(eps) + 1e-15 / HALF_STEP
    np.testing.assert_allclose(slope(eps), eps / (x**2 + eps) ** 1.5, rtol=0, atol=near)
    assert slope(eps)[ZERO_INDEX] == pytest.approx(1 / np.sqrt(eps), rel=1e-8)


@pytest.mark.parametrize("eps", EPSILONS)
def test_epsilon_only_stretches(eps):
    x, y = curve(eps)
    np.testing.assert_allclose(y, (x / np.sqrt(eps)) / np.sqrt((x / np.sqrt(eps)) ** 2 + 1), atol=EXACT)


def test_limit_is_the_sign_and_zero_stays():
    x, y = curve(0.0)
    np.testing.assert_array_equal(y, np.sign(x))


@pytest.mark.parametrize("eps", (0.0, *EPSILONS))
def test_tangent_reaches_one_at_the_root_of_epsilon(eps):
    ends = RECIPE.cloud("tangent").stages({"eps": eps})[-1]
    np.testing.assert_allclose(ends, [[-np.sqrt(eps), -1], [np.sqrt(eps), 1]], atol=EXACT)


def test_what_is_measured_at_the_jump_is_two_over_the_width():
    number = RECIPE.readouts[2]
    stages = RECIPE.cloud(number.cloud).stages({"eps": 0.0})
    assert project((number.row,), stages[-1], stages)[number.index, 0] == pytest.approx(1 / HALF_STEP)


def test_others_have_their_slopes_at_zero():
    wanted = {"tanh": 1, "sigmoid": 1 / 4, "erf": 2 / np.sqrt(np.pi), "relu": 1 / 2, "gelu": 1 / 2}
    rounding = 1e-15 / HALF_STEP
    for name, value in wanted.items():
        assert slope(1.0, name)[ZERO_INDEX] == pytest.approx(value, abs=rounding)


def test_none_beside_it():
    names = {cloud.name for cloud in recipe_of(SCENE, others="").clouds}
    assert names == {"u_ε", "slope of u_ε", "tangent", "tangent end", "sphere"}


# --- what the text says


def u(x, eps):
    return u_eps(np.asarray(x, float)[..., None], eps=eps)[..., 0]


def at(title, name="u_ε"):
    """The state at a stop, and the points of a curve in this state: x and height, (n,) each.

    name: the name of the curve's cloud.
    """
    state = stop("activation", title)
    x, y = state.recipe.cloud(name).stages(state.params)
    return state, x[:, 0], y[:, 0]


def two_numbers():
    x = np.array([-7.0, -0.1, 0.1, 3])
    np.testing.assert_array_equal(to_sphere(x[:, None])[:, 0], np.sign(x))
    np.testing.assert_allclose(curve(0.0)[1], np.sign(curve(0.0)[0]))


def the_tangent():
    for eps in EPSILONS:
        test_tangent_reaches_one_at_the_root_of_epsilon(eps)
        h = 1e-6 * np.sqrt(eps)
        assert u(h, eps) / h == pytest.approx(1 / np.sqrt(eps), rel=1e-6)


def measured_over_two_h():
    assert HALF_STEP == 1e-6
    x, _ = curve(0.25)
    rise = (u(x + HALF_STEP, 0.25) - u(x - HALF_STEP, 0.25)) / (2 * HALF_STEP)
    np.testing.assert_allclose(slope(0.25), rise, atol=1e-9)


def the_largest_slope():
    for eps in EPSILONS:
        test_slope_is_the_derivative(eps)
        assert slope(eps).argmax() == ZERO_INDEX


def only_stretches():
    for eps in EPSILONS:
        x = np.linspace(-4, 4, 33)
        np.testing.assert_allclose(u(x, eps), u(x / np.sqrt(eps), 1), atol=EXACT)
        np.testing.assert_allclose(u([-1e9, 1e9], eps), [-1, 1], atol=EXACT)  # and so the area is 2


def the_limit():
    x, y = curve(0.0)
    np.testing.assert_array_equal(y, np.sign(x))
    assert y[ZERO_INDEX] == 0
    test_what_is_measured_at_the_jump_is_two_over_the_width()
    assert pytest.approx(10**6) == 2 / (2 * HALF_STEP)


def the_tails():
    for eps in (0.25, 1.0):
        assert (1 - u(100, eps)) / (eps / (2 * 100**2)) == pytest.approx(1, rel=1e-3)
    assert (1 - np.tanh(8)) / (2 * np.exp(-16)) == pytest.approx(1, rel=1e-3)


def below_one():
    _, x, y = at("Where the points begin")
    assert np.abs(y).max() < 1 and x.max() == REACH


def towards_one():
    _, x, y = at("A soft step")
    assert np.abs(y)[np.abs(x) > 1].min() > 0.85 and (np.sign(y) == np.sign(x)).all()
    assert len(RECIPE.cloud("sphere").points) == 4  # two lines


def the_ring():
    state, *_ = at("The tangent shows ε")
    assert state.recipe.cloud("tangent end").stages(state.params)[-1][0] == pytest.approx([1, 1])
    assert slope(state.params["eps"])[ZERO_INDEX] == pytest.approx(1)


def narrower_is_taller():
    state, *_ = at("Narrower is taller")
    said(slope(state.params["eps"])[ZERO_INDEX], "3.162")
    said(1 / np.sqrt(0.1), "3.162")
    outside = [2 - 2 * u(REACH, eps) for eps in EPSILONS]
    assert outside == sorted(outside) and outside[-1] > 0.3
    only_stretches()


def flat_halves():
    state, x, y = at("The jump")
    assert set(y) == {-1.0, 0.0, 1.0} and (x[y == 0] == 0).all()
    assert not slope(state.params["eps"])[np.abs(x) > HALF_STEP].any()


def beside_tanh():
    state, x, y = at("Beside tanh")
    assert state.params["eps"] == 1 and x[state.follow] == 3
    said(y[state.follow], "0.949")
    said(at("Beside tanh", "tanh")[2][state.follow], "0.995")
    for name in ("u_ε", "tanh"):
        assert slope(1.0, name)[ZERO_INDEX] == pytest.approx(1)


def one_half():
    for eps in EPSILONS:
        assert u(np.sqrt(eps / 3), eps) == pytest.approx(0.5)
    said(np.sqrt(0.25 / 3), "0.289")


def never_one():
    for eps in EPSILONS:
        assert np.abs(curve(eps)[1]).max() < 1 and np.abs(u([1e3, -1e3], eps)).max() < 1
        assert u(1e6, eps) > 1 - 1e-10


def ten_times():
    x = np.linspace(-4, 4, 33)
    for eps in EPSILONS:
        np.testing.assert_allclose(u(10 * x, eps), u(x, eps / 100), atol=EXACT)


def out_at_the_top():
    state, x, relu = at("Functions that do not level off", "relu")
    _, _, gelu = at("Functions that do not level off", "gelu")
    top = state.recipe.views[0].ranges[1][1]
    assert relu.max() > top and gelu.max() > top
    np.testing.assert_allclose([relu[x == REACH], gelu[x == REACH]], REACH, atol=1e-3)


CLAIMS = {
    "Divide a number by its own size, and −1 or 1 is left: a step at 0.": two_numbers,
    "$x/|x|$ is $1$ or $-1$. These two numbers are the unit sphere of a line: all its points at distance 1 from the origin.": two_numbers,
    r"The brown line is the tangent at 0. It reaches the height 1 at $x = \sqrt\varepsilon$, at the small ring.": the_tangent,
    r"the rise between $x - h$ and $x + h$, divided by $2h$, with $h = 10^{-6}$.": measured_over_two_h,
    r"$u_\varepsilon'(x) = \varepsilon / (x^2 + \varepsilon)^{3/2}$. At $x = 0$ this is $\varepsilon / (\varepsilon \sqrt\varepsilon) = 1/\sqrt\varepsilon$. It is the largest slope": the_largest_slope,
    r"$$u_\varepsilon(x) = \frac{x/\sqrt\varepsilon}{\sqrt{(x/\sqrt\varepsilon)^2 + 1}} = u_1\left(\frac{x}{\sqrt\varepsilon}\right)$$": only_stretches,
    r"From end to end it always climbs from $-1$ to $1$, so the area under its slope is always 2": only_stretches,
    r"For $\varepsilon = 0$ the curve is the sign of $x$: a jump, without a slope at 0. The zero vector has no direction; here it stays at 0. The brown line then stands upright. The number “Slope at 0” below the picture is finite, because it is measured: a rise of 2 over a width of $2 \cdot 10^{-6}$ is $10^6$.": the_limit,
    r"For large $x$, the distance to 1, $1 - u_\varepsilon(x)$, is near $\varepsilon / (2x^2)$. For tanh this distance is near $2e^{-2x}$, which shrinks much faster.": the_tails,
    r"however large its $x$ is, it ends below 1.": below_one,
    r"Look at the two dashed lines. Positive numbers have gone towards 1, negative ones towards $-1$, and only those near 0 are still on the way.": towards_one,
    r"it stands at $x = \sqrt\varepsilon = 1$, so the slope at 0 is 1.": the_ring,
    r"the top of the curve is $1/\sqrt{0.1} = 3.162$.": narrower_is_taller,
    r"The area under it stays 2, but more of it lies outside the picture as $\varepsilon$ grows.": narrower_is_taller,
    r"With $\varepsilon = 0$ there are two flat halves and a lone point at 0. The slope is 0 on both sides. At 0 there is no slope; the brown line stands upright.": flat_halves,
    r"With $\varepsilon = 1$, $u_\varepsilon$ and tanh have the same slope at 0. Which of them comes nearer to 1 at $x = 3$?": beside_tanh,
    r"Both curves have slope 1 at 0. Look at the red point, $x = 3$: it has reached 0.949, where tanh is already at 0.995.": beside_tanh,
    r"For which $x$ is $u_\varepsilon(x)$ one half? $x / \sqrt{x^2 + \varepsilon} = 1/2$ means $4x^2 = x^2 + \varepsilon$ with $x > 0$, so $x = \sqrt{\varepsilon/3}$. For $\varepsilon = 0.25$ that is 0.289.": one_half,
    r"Does $u_\varepsilon(x)$ reach 1 for some $x$? Not for $\varepsilon > 0$: the root is larger than $|x|$, so the quotient stays below 1.": never_one,
    r"What happens to the curve if the input is ten times as large? $u_\varepsilon(10x)$ is the curve for $\varepsilon / 100$, because $\sqrt{100 x^2 + \varepsilon} = 10 \sqrt{x^2 + \varepsilon/100}$.": ten_times,
    r"ReLU and GELU leave the picture at the top: they keep the size of a large $x > 0$.": out_at_the_top,
}
