"""The effect of one huge coordinate: the limit, the law 1/a and the grid of 8 bits; and the text."""

from functools import partial

import numpy as np
import pytest
import torch

from components.scenes.outlier import SCENE
from components.scenes.outlier.build import INT8_LEVELS, POINT_COUNT
from components.scenes.outlier.recorded import DATA_FILE, MASSIVE, D
from components.training.recipes import recipe_of
from learning import shipped
from learning.safetensors import from_safetensors
from tests.scenes.claims import said, stop

KINDS = (("layernorm", 3), ("layernorm", 4), ("rmsnorm", 3))
FILE = DATA_FILE.name, DATA_FILE.read
EXACT = 1e-12  # double precision, a few operations


def state(norm="layernorm", d=3, output="exact", **params):
    recipe = recipe_of(SCENE, norm=norm, d=str(d), output=output)
    return recipe, recipe.defaults | params


def end(cloud, recipe, params):
    return recipe.cloud(cloud).stages(params)[-1]


def normed(norm, x):
    given = torch.tensor(x)
    own = torch.nn.functional.layer_norm if norm == "layernorm" else torch.nn.functional.rms_norm
    return own(given, given.shape[-1:], eps=0.0).numpy()


@pytest.mark.parametrize("norm, d", KINDS)
@pytest.mark.parametrize("a", (0.1, 3.0, 1000.0))
def test_the_outputs_are_pytorchs(norm, d, a):
    recipe, params = state(norm, d, a=a)
    x = recipe.cloud("points").points + a * np.eye(d)[0]
    np.testing.assert_allclose(end("points", recipe, params), normed(norm, x), atol=1e-9)
    spread = x.std(1) if norm == "layernorm" else np.sqrt((x**2).mean(1))
    np.testing.assert_allclose(end("factor", recipe, params)[:, 0], 1 / spread, rtol=1e-6)


@pytest.mark.parametrize("norm, d", KINDS)
def test_all_outputs_go_to_the_limit_like_one_over_the_outlier(norm, d):
    far = []
    for a in (100.0, 1000.0):
        recipe, params = state(norm, d, a=a)
        far.append(np.linalg.norm(end("exact", recipe, params) - end("ends", recipe, params), axis=1).max())
    assert far[0] / far[1] == pytest.approx(10, rel=0.05)
    law = recipe.cloud("law").points
    factor = np.log10(end("factor", recipe, params))
    np.testing.assert_allclose(factor, law[1, 1], atol=2e-3)


@pytest.mark.parametrize("norm, d", KINDS)
def test_rounded_outputs_are_whole_multiples_of_one_step(norm, d):
    for a in (0.1, 3.0, 1000.0):
        recipe, params = state(norm, d, "bits", a=a)
        steps = end("points", recipe, params) / (np.sqrt(d - (norm == "layernorm")) / INT8_LEVELS)
        np.testing.assert_allclose(steps, steps.round(), atol=1e-9)
        assert np.abs(steps.round()).max() <= INT8_LEVELS
        exact = end("exact", recipe, params)
        assert np.abs(end("points", recipe, params) - exact).max() <= np.sqrt(d) / INT8_LEVELS / 2 + EXACT


# --- what the text says


def at(title, cloud="points"):
    state = stop("outlier", title)
    return state, state.recipe.cloud(cloud).stages(state.params)[-1]


def the_limits():
    for norm, d in KINDS:
        recipe, params = state(norm, d)
        one = np.eye(d)[0]
        if norm == "layernorm":
            want = np.sqrt(d / (d - 1)) * (np.sqrt(d) * one - np.ones(d) / np.sqrt(d))
        else:
            want = np.sqrt(d) * one
        np.testing.assert_allclose(end("ends", recipe, params), np.tile(want, (POINT_COUNT, 1)), atol=EXACT)


def the_factor():
    for norm, d in KINDS:
        test_the_outputs_are_pytorchs(norm, d, 3.0)


def fourteen():
    assert len(state()[0].cloud("log factor").points) == 14


def a_tenth():
    for norm, d in KINDS:
        [low, high] = state(norm, d)[0].cloud("law").points
        assert (high[1] - low[1]) / (high[0] - low[0]) == pytest.approx(-1)
        test_all_outputs_go_to_the_limit_like_one_over_the_outlier(norm, d)


def sigma_of_the_outlier_alone():
    for d in (2, 3, 4, 700):
        assert (7.0 * np.eye(d)[0]).std() == pytest.approx(7 * np.sqrt(d - 1) / d)


def eight_bits():
    assert INT8_LEVELS == 2**7 - 1
    for norm, d in KINDS:
        test_rounded_outputs_are_whole_multiples_of_one_step(norm, d)
    x = np.random.default_rng(0).normal(size=(4000, 3)) ** 3
    assert normed("layernorm", x).max() == pytest.approx(np.sqrt(2), abs=1e-3)
    assert normed("rmsnorm", x).max() == pytest.approx(np.sqrt(3), abs=1e-3)


def squeezed():
    """If the outlier a becomes ten times as large, the outputs come ten times nearer to one another.

    This is measured with a = 100 and a = 1000, by the distances of all outputs from one of them. Also, all
    coordinates except the outlier's are within 10/a of their limit: −1/√(d − 1) for LayerNorm, 0 for RMSNorm.
    """
    for norm, d in KINDS:
        near = []
        for a in (100.0, 1000.0):
            recipe, params = state(norm, d, a=a)
            y = end("exact", recipe, params)
            assert np.abs(y[:, 1:] + (norm == "layernorm") / np.sqrt(d - 1)).max() < 10 / a
            near.append(np.linalg.norm(y[0] - y[1:], axis=1))
        assert np.median(near[0] / near[1]) == pytest.approx(10, rel=0.02)
        assert near[0].max() / near[1].max() == pytest.approx(10, rel=0.02)


def the_most_of_a_gradient():
    """The number that the scene shows is the largest singular value of the norm's Jacobian J, by PyTorch.

    J maps the output y to 0; LayerNorm's J also maps 𝟏 to 0. J is symmetric, so gradients lose their parts
    along these vectors.
    """
    for norm, d in KINDS:
        recipe, params = state(norm, d, a=5.0)
        own = torch.nn.functional.layer_norm if norm == "layernorm" else torch.nn.functional.rms_norm
        x = torch.tensor(recipe.cloud("points").points + 5 * np.eye(d)[0])
        factor = end("factor", recipe, params)[:, 0]
        for k in range(10):
            J = torch.autograd.functional.jacobian(lambda v, own=own, d=d: own(v, (d,), eps=0.0), x[k])
            assert torch.linalg.svdvals(J)[0].item() == pytest.approx(factor[k], rel=1e-9)
            lost = [own(x[k], (d,), eps=0.0), torch.ones(d, dtype=x.dtype)][: 1 + (norm == "layernorm")]
            for v in lost:
                np.testing.assert_allclose(J @ v, 0, atol=1e-9)


def a_gradient_along_the_limit():
    """A gradient along the limit of the outputs, passed back through the norm, shrinks like 1/a².

    Here a is the outlier. As it grows, the outputs approach this limit. Tested with a = 1,000 and a = 10,000.
    """
    for norm, d in KINDS:
        own = torch.nn.functional.layer_norm if norm == "layernorm" else torch.nn.functional.rms_norm
        points = torch.tensor(state(norm, d)[0].cloud("points").points)
        first = torch.eye(d, dtype=points.dtype)[0]
        limit = own(first, (d,), eps=0.0)
        sizes = []
        for a in (1e3, 1e4):
            jacobian = partial(
                torch.autograd.functional.jacobian, lambda v, own=own, d=d: own(v, (d,), eps=0.0)
            )
            sizes.append(torch.stack([(jacobian(x + a * first).T @ limit).norm() for x in points[:10]]))
        np.testing.assert_allclose(sizes[0] / sizes[1], 100, rtol=0.05)


def drawn():
    assert {d for _, d in KINDS} == {3, 4}


def all_around():
    state, y = at("Without an outlier")
    said(state.params["a"], "0.1")
    centred = y - y.mean(0)
    turn = np.linalg.svd(centred)[2][:2] @ y.T
    gaps = np.diff(np.sort(np.arctan2(*turn)))
    assert gaps.max() < 0.3


def on_one_side():
    state, y = at("A moderate one")
    limit = state.recipe.cloud("ends").points[0]
    said(state.params["a"], "3")
    assert len(y) == 220 and (y @ limit > 0).all()


def at_one_point():
    state, y = at("All at one point")
    far = np.linalg.norm(y - state.recipe.cloud("ends").points, axis=1).max()
    assert state.params["a"] == 30 and 0.12 < far < 0.14
    said(state.recipe.cloud("factor").stages(state.params)[-1][state.recipe.follow, 0], "0.0695")


def a_pole():
    _, y = at("RMSNorm: a pole")
    assert np.linalg.norm(y - np.sqrt(3) * np.eye(3)[0], axis=1).max() < 0.15


def all_within_half():
    state, y = at("Four dimensions")
    assert np.linalg.norm(y - state.recipe.cloud("ends").points, axis=1).max() < 0.5


def places_left(title, count):
    _, y = at(title)
    assert len(y) == POINT_COUNT == 220 and len(np.unique(y.round(9), axis=0)) == count


def real(**params):
    """Recorded vectors with coordinate 507 scaled, the scene's recipe for them, and its parameters.

    The vectors are a list of two arrays: those of first tokens, and those of later tokens. params: values
    that replace defaults of parameters. The parameter `factor` multiplies coordinate 507.
    """
    recipe = recipe_of(SCENE, norm="smollm2")
    params = recipe.defaults | params
    scaled = [each * np.where(np.arange(D) == MASSIVE, params["factor"], 1) for each in shipped.read(*FILE)]
    return scaled, recipe, params


@pytest.mark.parametrize("factor", (1.0, 0.03, 0.001))
def test_real_vectors_go_through_pytorchs_rms_norm(factor):
    found, recipe, params = real(factor=factor)
    x = np.vstack(found)
    outputs, shown = normed("rmsnorm", x), end("points", recipe, params)
    np.testing.assert_allclose(shown[:, 0], outputs[:, MASSIVE], atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(shown, axis=1), np.sqrt(D), atol=1e-9)
    np.testing.assert_allclose(end("inverse", recipe, params)[:, 0], 1 / np.sqrt((x**2).mean(1)), rtol=1e-9)
    # the two other coordinates must be those along orthonormal directions, both orthogonal to the first axis
    rest = np.delete(outputs, MASSIVE, axis=1)
    directions = np.linalg.lstsq(rest, shown[:, 1:3], rcond=None)[0]
    np.testing.assert_allclose(rest @ directions, shown[:, 1:3], atol=1e-6)
    np.testing.assert_allclose(directions.T @ directions, np.eye(2), atol=1e-9)


def cosines(x):
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    return (unit @ unit.T)[np.triu_indices(len(x), 1)]


def real_vectors():
    (first, later), recipe, _ = real()
    assert first.shape == later.shape == (60, 576) and MASSIVE == 507
    pairs = shipped.read(FILE[0], lambda data: from_safetensors(data)[1]["words"]).split("\n")
    assert len({pair.split(" ")[0] for pair in pairs}) == 42
    ends = [f"{value:,.0f}" for x in (first, later) for value in (x[:, MASSIVE].min(), x[:, MASSIVE].max())]
    assert ends == ["17,824", "26,032", "41", "107"]
    assert cosines(first).min() > 0.9998 and cosines(first * (np.arange(D) != MASSIVE)).min() > 0.99
    said(np.median(cosines(later)), "0.54")
    for x, factor, kept in ((first, "0.0011", "84"), (later, "0.16", "478")):
        said(np.median(1 / np.sqrt((x**2).mean(1))), factor)
        said(np.median((np.round(normed("rmsnorm", x) * INT8_LEVELS / np.sqrt(D)) != 0).sum(1)), kept)
    assert [row[-1] for row in recipe.facts.rows] == ["84 of 576", "478 of 576"]


def normed_without_it():
    state = stop("outlier", "A real model")
    at = state.recipe.cloud("points").stages(state.params)[0]
    shown, received = at[:, :4], at[:, 4:] * [0, 1, 1, 1]
    np.testing.assert_allclose(shown, normed("rmsnorm", received) * np.sqrt(D / 4), rtol=1e-9, atol=1e-9)


def one_place_near_the_pole():
    state = stop("outlier", "A real model")
    for factor, far in ((1.0, 3), (0.01, 25)):
        y = state.recipe.cloud("points").stages(state.params | {"factor": factor})[-1]
        first, pole = y[:60], np.sqrt(D) * np.eye(4)[0]
        assert np.linalg.norm(first - first.mean(0), axis=1).max() < 2.5
        distance = np.linalg.norm(first - pole, axis=1)
        assert distance.max() < far if factor == 1 else distance.min() > far


def ratios_stay():
    x = np.array([[50.0, 1, -2]])
    np.testing.assert_allclose(normed("rmsnorm", x)[0] / x[0], normed("rmsnorm", x)[0, 0] / 50)
    y = normed("layernorm", x)[0]
    np.testing.assert_allclose(np.diff(y) / np.diff(x[0]), (y[0] - y[2]) / 52)
    assert abs(y[1] / y[2] - x[0, 1] / x[0, 2]) > 1  # the ratios of the coordinates change


CLAIMS = {
    "The first stage does not show the inputs, but what the norm would give if this coordinate were 0.": normed_without_it,
    "so the limit is $\\sqrt{\\frac{d}{d-1}} \\left(\\sqrt d\\, e_1 - \\frac{1}{\\sqrt d}\\, 𝟏\\right)$; for RMSNorm it is $\\sqrt d\\, e_1$.": the_limits,
    r"As $a$ grows, all outputs approach one point, marked by the ring. For LayerNorm this is a point of the hyperplane $\Sigma x = 0$ (for $d = 3$ a plane)": the_limits,
    r"The panel “Largest factor on a gradient” shows by how much the norm can multiply a gradient at most: $1/\sigma$": the_factor,
    "The gradient's part along the output is removed, and for LayerNorm also the part along $𝟏$.": the_most_of_a_gradient,
    "The curves belong to 14 of the points": fourteen,
    "ten times the outlier, a tenth of the factor.": a_tenth,
    "The panel “Near the limit” magnifies two coordinates": the_limits,
    "**The rest is squeezed like $1/a$.** For the vector $a\\, e_1$ alone, $\\sigma = a \\sqrt{d-1} / d$.": sigma_of_the_outlier_alone,
    r"so the differences between two outputs shrink like $1/a$. The other coordinates of its outputs tend to $-1/\sqrt{d-1}$. RMSNorm divides by nearly $a / \sqrt d$, and the other coordinates of its outputs shrink like $1/a$.": squeezed,
    "In training, gradients pass back through the norm. They shrink like $1/a$ too": the_most_of_a_gradient,
    "A gradient that points along the limit shrinks faster, like $1/a^2$. The norm removes the gradient's part along the output, and the output is so near to the limit that only a share like $1/a$ is left. The norm also divides by a number that grows like $a$.": a_gradient_along_the_limit,
    "**Eight bits are few.** An 8-bit integer (int8) stores a whole multiple of one step, here from −127 to 127 steps. The length of a step is the largest coordinate that any output can have, divided by 127.": eight_bits,
    "the outlier is one coordinate out of three or four. Real models have hundreds or thousands of dimensions, so an outlier must be larger to outweigh the rest; the law $1/a$ is the same.": drawn,
    "SmolLM2-135M-Instruct with $d = 576$ (here with weights of 4 bits). They are the inputs of the norm before attention in layer 15 (counted from 0), for the first token and for the twelfth token of 60 texts of this site. The slider **factor on x₅₀₇** multiplies one coordinate, number 507 counted from 0. The picture shows this coordinate and two directions in the space of all other coordinates.": real_vectors,
    "**A real model.** In SmolLM2 the coordinate 507 of the 60 first tokens is between 17,824 and 26,032, though they are 42 different tokens. For the twelfth tokens it is between 41 and 107. After RMSNorm, before its gain, the first tokens are nearly one vector. They share more than the outlier: without it, the cosine of any two first tokens is still at least 0.99. | after RMSNorm | first tokens | twelfth tokens | | --- | --- | --- | | cosine with one another | at least 0.9998 | 0.54 (median) | | largest factor of a gradient (median) | 0.0011 | 0.16 | | coordinates, of 576, that are not 0 after rounding to 8 bits (median) | 84 | 478 |": real_vectors,
    "The first tokens of 60 texts are all in one place near the pole. Move **factor on x₅₀₇** to the left: they leave the pole, and stay together.": one_place_near_the_pole,
    "With $a = 0.1$ the outputs are all around the circle.": all_around,
    "At $a = 3$ all 220 outputs are in the half of the circle around the limit.": on_one_side,
    "At $a = 30$ no output is farther than 0.14 from the limit. At the red point, gradients are multiplied by at most 0.0695.": at_one_point,
    "Without centring, the limit is the pole $\\sqrt d\\, e_1$ of the sphere.": a_pole,
    "### Four dimensions": all_within_half,
    "LayerNorm's sphere in the hyperplane. At $a = 10$ all outputs are within 0.5 of the limit.": all_within_half,
    "### Rounded to 8 bits The panel “Near the limit, rounded to 8 bits” shows the rounded points. Only 105 different ones are left of 220.": lambda: (
        places_left("Rounded to 8 bits", 105)
    ),
    "At $a = 100$ only 21 are left.": lambda: places_left("A larger outlier", 21),
    r"RMSNorm divides all coordinates by one number, so their ratios stay. LayerNorm also subtracts one number from all coordinates, so the ratios of their differences stay. A gain of $\gamma_1 = 0$": ratios_stay,
}
