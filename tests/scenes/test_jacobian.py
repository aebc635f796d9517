"""The scene `jacobian` against PyTorch's automatic differentiation and the closed form; and its text."""

from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from components.scenes.jacobian import SCENE
from components.training.recipes import recipe_of
from geometry.centering import centering_matrix, upright_basis
from tests.scenes.claims import said, stop

EXACT = 1e-9  # double precision, relative, where 1/σ is at most some hundreds
KINDS = (("layernorm", 3), ("layernorm", 4), ("rmsnorm", 3))


def state(pass_, norm, d, **params):
    recipe = recipe_of(SCENE, **{"pass": pass_, "norm": norm, "d": str(d)})
    return recipe, recipe.defaults | params


def vector(letter, params, d):
    return np.array([params[f"{letter}{i + 1}"] for i in range(d)])


def jacobian(x, centred, eps):
    """The norm's Jacobian (d, d) at x, by PyTorch.

    centred: True for LayerNorm, False for RMSNorm. x and the Jacobian are in the coordinates of the scene.
    For LayerNorm these are rotated, so that the last axis is along 𝟏.
    """
    d = len(x)
    turn = torch.tensor(upright_basis(d) if centred else np.eye(d))

    def norm(turned):
        own = turned @ turn
        if centred:
            return turn @ torch.nn.functional.layer_norm(own, (d,), eps=eps)
        return torch.nn.functional.rms_norm(own, (d,), eps=eps)

    return torch.autograd.functional.jacobian(norm, torch.tensor(x)).numpy()


def shown(cloud, recipe, params):
    """The pairs (point, direction) of a cloud at the last stage, as two arrays (N, d)."""
    d = (3, 4)["x4" in params]
    end = recipe.cloud(cloud).stages(params)[-1]
    return end[:, :d], end[:, d : 2 * d]


numbers = st.integers(-200, 200).map(lambda k: k / 100)


@pytest.mark.parametrize("norm, d", KINDS)
@settings(max_examples=40)
@given(data=st.data())
def test_both_passes_are_those_of_pytorch(norm, d, data):
    """The scene maps vectors by PyTorch's Jacobian J forward, and by Jᵀ backward, at random slider values."""
    names = [f"{letter}{i + 1}" for letter in "xg" for i in range(d)]
    drawn = {name: data.draw(numbers, name) for name in names}
    drawn |= {"eps": data.draw(st.sampled_from((0.0, 1e-4, 0.3, 10.0)), "eps"), "r": 0.5}
    x, g, centred = vector("x", drawn, d), vector("g", drawn, d), norm == "layernorm"
    spread = np.linalg.norm(x[:-1] if centred else x)
    if spread < 0.01:
        return  # at σ = 0 there is no derivative
    J = jacobian(x, centred, drawn["eps"])
    close = {"rtol": 0, "atol": EXACT * (1 + np.abs(J).max())}
    recipe, params = state("backward", norm, d, **drawn)
    base, direction = shown("gradient", recipe, params)
    np.testing.assert_allclose(base, [x, x], **close)
    np.testing.assert_allclose(direction, [0 * g, J.T @ g], **close)
    recipe, params = state("forward", norm, d, **drawn)
    ball = recipe.cloud("ball")
    _, carried = shown("ball", recipe, params)
    np.testing.assert_allclose(carried, 0.5 * ball.points @ J.T, **close)
    frame = recipe.cloud("axes of the Jacobian").stages(params)[-1]
    np.testing.assert_allclose(frame[1:], J.T, **close)


def test_a_small_ball_goes_where_its_linear_image_is():
    far = []
    for r in (0.02, 0.04):
        recipe, params = state("forward", "layernorm", 4, r=r)
        ends = [recipe.cloud(name).stages(params)[-1] for name in ("linear", "neighbours")]
        far.append(np.linalg.norm(ends[0] - ends[1], axis=1).max())
    assert far[0] < 1e-3 and far[1] / far[0] == pytest.approx(4, rel=0.1)  # the distance grows like r²


# --- what the text says


def singular(recipe, params):
    frame = recipe.cloud("axes of the Jacobian").stages(params)[-1]
    return np.linalg.svd(frame[1:] - frame[0])[1]


def deviation(params, d):
    return np.linalg.norm(vector("x", params, d)[:-1]) / np.sqrt(d)


def disc_then_segment():
    for d, left in ((3, 1), (4, 2)):
        recipe, params = state("forward", "layernorm", d)
        stages = recipe.cloud("ball").stages(params)
        ranks = [np.linalg.matrix_rank(stage[:, d : 2 * d], tol=1e-9) for stage in stages]
        assert ranks == [3, 2 if d == 3 else 3, left]  # for d = 4 the picture shows the hyperplane only
        z, v = stages[-1][:, :d], stages[-1][:, d : 2 * d]
        assert np.abs((z * v).sum(1)).max() < EXACT  # it touches the sphere
    recipe, params = state("forward", "rmsnorm", 3)
    assert np.linalg.matrix_rank(shown("ball", recipe, params)[1], tol=1e-9) == 2


def factor():
    """The colour of a dot is log₁₀ of the largest singular value of the norm's Jacobian at the dot."""
    for norm, d in KINDS:
        recipe, params = state("forward", norm, d, eps=0.3)
        for dot in recipe.cloud("crowd").stages(params)[0][:20]:
            largest = np.linalg.svd(jacobian(dot[:d], norm == "layernorm", 0.3))[1][0]
            assert dot[d] == pytest.approx(np.log10(largest))


def most_near_the_line():
    recipe, params = state("forward", "layernorm", 3)
    place = recipe.cloud("crowd").stages(params)[0]
    distance = np.linalg.norm(place[:, :2], axis=1)
    assert (np.diff(place[np.argsort(distance), 3]) <= 1e-12).all()
    recipe, params = state("forward", "rmsnorm", 3)
    place = recipe.cloud("crowd").stages(params)[0]
    distance = np.linalg.norm(place[:, :3], axis=1)
    assert (np.diff(place[np.argsort(distance), 3]) <= 1e-12).all()


def loses_two_parts():
    recipe, params = state("backward", "layernorm", 3)
    stages = recipe.cloud("gradient").stages(params)
    z, x = stages[0][1, :3], vector("x", params, 3)
    tips = [stage[1, 3:6] for stage in stages]
    assert abs(tips[0][2]) > 0.1 and abs(tips[1][2]) < EXACT
    assert abs(tips[1] @ z) > 0.1 and abs(tips[2] @ z) < EXACT
    np.testing.assert_allclose(tips[3], tips[2] / deviation(params, 3), atol=EXACT)
    np.testing.assert_allclose(stages[4][1, :6], [*x, *tips[3]], atol=EXACT)


def singular_values():
    for d in (3, 4):
        recipe, params = state("forward", "layernorm", d)
        want = [*[1 / deviation(params, d)] * (d - 2), 0, 0]
        np.testing.assert_allclose(singular(recipe, params), want, atol=EXACT)
    for d in (3, 4, 9):
        x = np.random.default_rng(d).normal(size=d)
        z = (x - x.mean()) / x.std()
        J = (centering_matrix(d) - np.outer(z, z) / d) / x.std()
        assert np.sum(np.linalg.svd(J)[1] < EXACT) == 2


def the_rank():
    """The ranks of PyTorch's Jacobians: LayerNorm's is d − 2, RMSNorm's d − 1, and ε > 0 adds one to each."""
    for d in (3, 4, 9):
        x = np.random.default_rng(d).normal(size=d) + 1
        for centred, lost in ((True, 2), (False, 1)):
            for eps, fewer in ((0.0, 0), (0.1, 1)):
                J = jacobian(x, centred, eps)
                assert np.linalg.matrix_rank(J, tol=EXACT) == d - lost + fewer


def closed_form():
    for eps in (0.0, 1e-5, 2.0):
        x = np.random.default_rng(1).normal(size=5) + 3
        z = (x - x.mean()) / np.sqrt(x.var() + eps)
        J = (centering_matrix(5) - np.outer(z, z) / 5) / np.sqrt(x.var() + eps)
        norm = partial(torch.nn.functional.layer_norm, normalized_shape=(5,), eps=eps)
        want = torch.autograd.functional.jacobian(norm, torch.tensor(x))
        np.testing.assert_allclose(J, want.numpy(), atol=EXACT)


def twice_the_gradient():
    ends = []
    for size in (1.0, 0.5):
        recipe, params = state("backward", "layernorm", 3, x1=1.3 * size, x2=-0.9 * size)
        ends.append(shown("gradient", recipe, params)[1][1])
    np.testing.assert_allclose(ends[1], 2 * ends[0], atol=EXACT)


def at_most_one_over_root_eps():
    for eps in (1e-4, 0.3):
        for x in (0.0, 0.01, 0.4):
            recipe, params = state("forward", "layernorm", 3, x1=x, x2=0, eps=eps)
            assert singular(recipe, params)[0] <= 1 / np.sqrt(eps) * (1 + EXACT)


def explodes_and_vanishes():
    recipe, params = state("forward", "layernorm", 3, x1=0.01, x2=0)
    assert singular(recipe, params)[0] > 100
    recipe, params = state("forward", "layernorm", 3, x1=2, x2=2)
    assert singular(recipe, params)[0] == pytest.approx(1 / deviation(params, 3)) and deviation(params, 3) > 1


def half_of_the_others():
    recipe, params = state("forward", "layernorm", 4)
    params["eps"] = deviation(params, 4) ** 2
    values = singular(recipe, params)
    assert values[2] / values[0] == pytest.approx(0.5)


def the_ball():
    values = stop("jacobian", "Scaling makes it a segment")
    first, *others = singular(values.recipe, values.params)
    said(first, "1.095")
    np.testing.assert_allclose(others, 0, atol=EXACT)


def nothing_yet():
    at = stop("jacobian", "A ball of neighbours")
    ball = at.recipe.cloud("ball").stages(at.params)[0]
    np.testing.assert_allclose(np.linalg.norm(ball[:, 3:], axis=1), at.params["r"])


def centred():
    at = stop("jacobian", "Centring makes it a disc")
    ball = at.recipe.cloud("ball").stages(at.params)[1]
    assert np.abs(ball[:, [2, 5]]).max() < EXACT


def near_the_line():
    at = stop("jacobian", "Near the line along 𝟏")
    said(deviation(at.params, 3), "0.208")
    said(at.params["r"], "0.1")
    said(np.linalg.norm(shown("ball", at.recipe, at.params)[1], axis=1).max() / at.params["r"], "4.8")


def the_curve():
    at = stop("jacobian", "The curvature becomes visible")
    assert at.params["r"] > np.linalg.norm(vector("x", at.params, 3)[:2])
    ends = [at.recipe.cloud(name).stages(at.params)[-1] for name in ("linear", "neighbours")]
    np.testing.assert_allclose(np.linalg.norm(ends[1], axis=1), np.sqrt(3))
    assert np.linalg.norm(ends[0] - ends[1], axis=1).max() > 1


def tangent_disc():
    at = stop("jacobian", "Four dimensions")
    assert np.sum(singular(at.recipe, at.params) > EXACT) == 2


def along_z():
    at = stop("jacobian", "A gradient along z")
    stages = at.recipe.cloud("gradient").stages(at.params)
    before, after = (np.linalg.norm(stages[k][1, 3:6]) for k in (0, 3))
    assert 0 < after / before < 1e-3


def longer():
    recipe, params = state("backward", "layernorm", 4)
    x, v = (each[1] for each in shown("gradient", recipe, params))
    assert abs(v[3]) < EXACT and abs(x[:3] @ v[:3]) < EXACT
    assert np.linalg.norm((x - 0.3 * v)[:3]) > np.linalg.norm(x[:3])


def at_zero():
    for eps in (0.01, 0.5):
        recipe, params = state("forward", "layernorm", 3, x1=0, x2=0, eps=eps)
        frame = recipe.cloud("axes of the Jacobian").stages(params)[-1][1:]
        np.testing.assert_allclose(frame, np.diag([1, 1, 0]) / np.sqrt(eps), atol=EXACT / eps)
    recipe, params = state("forward", "layernorm", 3, x1=0, x2=0, eps=0)
    for cloud in ("ball", "ball net", "axes of the Jacobian", "linear"):
        assert np.isnan(recipe.cloud(cloud).stages(params)[-1][:, -3:]).all()


def across_and_along():
    """The sliders are coordinates of x: two in a basis of the hyperplane orthogonal to 𝟏, and one along 𝟏."""
    recipe, params = state("forward", "layernorm", 3)
    x = vector("x", params, 3) @ upright_basis(3)
    assert x.sum() / np.sqrt(3) == pytest.approx(params["x3"])
    assert x.std() == pytest.approx(deviation(params, 3))
    labels = [parameter.label for parameter in recipe.parameters[:3]]
    assert labels == ["x at right angles to 𝟏, 1", "x at right angles to 𝟏, 2", "x along 𝟏"]


CLAIMS = {
    r"The sliders do not set $x_1, x_2, \dots$: the last slider sets the part of $x$ along $𝟏$, the others its parts along directions at right angles to $𝟏$.": across_and_along,
    "For $d = 3$ this flattens the ball to a disc; for $d = 4$ the picture leaves this direction out.": disc_then_segment,
    r"With $\varepsilon = 0$, **scaling** flattens the ball along the image $z$ of $x$": disc_then_segment,
    "For $d = 3$ a segment is left that touches the circle, for $d = 4$ a disc that touches the sphere. With RMSNorm it is a disc already for $d = 3$.": disc_then_segment,
    r"Their colour shows the largest factor by which the norm multiplies a small difference there: $1/\sqrt{\sigma^2 + \varepsilon}$ (with RMSNorm, the mean square of $x$ stands for $\sigma^2$).": factor,
    r"It is largest near the line along $𝟏$, where $\sigma$ is small (with RMSNorm near the origin).": most_near_the_line,
    "$$J = \\frac{1}{\\sqrt{\\sigma^2 + \\varepsilon}} \\left(\\Pi - \\frac{1}{d}\\, z z^{\\top}\\right).$$": closed_form,
    r"With $\varepsilon = 0$ it loses its part along $𝟏$ (not with RMSNorm) and its part along $z$, and is divided as above. The rest arrives at $x$.": loses_two_parts,
    "With $\\varepsilon = 0$ its singular values are $1/\\sigma$ ($d - 2$ times) and 0 (twice: along $𝟏$ and along $z$).": singular_values,
    "So its *rank* is $d - 2$. With $\\varepsilon > 0$ only the direction along $𝟏$ is lost, and the rank is $d - 1$.": the_rank,
    "so only the part along $z$ is lost, and with $\\varepsilon > 0$ nothing: the rank is $d - 1$ or $d$.": the_rank,
    "With $\\varepsilon = 0$, half the $\\sigma$ means twice the gradient.": twice_the_gradient,
    "An $\\varepsilon$ above 0 keeps all singular values at or below $1/\\sqrt{\\varepsilon}$; nothing else bounds them.": at_most_one_over_root_eps,
    r"But one norm by itself can make gradients much larger or smaller: with $\varepsilon = 0$ its largest singular value is $1/\sigma$, and $\sigma$ can be as small or as large as you like.": explodes_and_vanishes,
    "For $\\varepsilon = \\sigma^2$ this factor is one half.": half_of_the_others,
    "A small ball around $x$, before the norm.": nothing_yet,
    "All differences along $𝟏$ are gone. Predict": centred,
    "In three dimensions one direction is left, along the circle. The singular values are 1.095, 0 and 0.": the_ball,
    "Here $\\sigma$ is 0.208. The ball has the radius 0.1, and the segment reaches 4.8 times as far.": near_the_line,
    "Now the radius of the ball is larger than the distance to the line. The blue dots bend around the circle": the_curve,
    "### Four dimensions The picture shows the hyperplane": tangent_disc,
    "Two directions are left: a disc in the tangent plane.": tangent_disc,
    "Follow the arrow from the output to $x$. The dotted line is the path of its tip.": loses_two_parts,
    "Less than a thousandth of it is left.": along_z,
    r"With $\varepsilon = 0$, can a gradient step make $x - \mu 𝟏$ shorter?": longer,
    "With $\\varepsilon = 0$ LayerNorm has no derivative there: the direction of $x - \\mu 𝟏$ is not defined. Then the picture does not show a derivative.": at_zero,
    "What happens at $\\sigma = 0$?": at_zero,
    "With $\\varepsilon > 0$ there is one, $\\Pi / \\sqrt{\\varepsilon}$.": at_zero,
}
