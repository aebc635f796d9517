"""LayerNorm against direct computation: the ellipsoid, the surface and ε, in the figure and the text."""

from itertools import product

import numpy as np
import pytest

from components.drawing.figure import document
from components.language.marks import hand_of
from components.scenes.layernorm import CONVENTIONS, POINTS, SCENE
from components.training.recipes import recipe_of
from geometry import center, layer_norm, rms_norm, u_eps
from geometry.ellipsoid import diameters
from tests.assets.engine import Node, as_sent
from tests.geometry.closed_forms import semi_axes
from tests.scenes.claims import said, stop

EXACT = 1e-12  # double precision, a few operations
VARIANTS, DIMENSIONS, AXES = ("layernorm", "rmsnorm"), (2, 3, 4), (2.0, -0.5, 0.0, 1.5)
EACH = pytest.mark.parametrize(("variant", "d"), [(v, d) for v in VARIANTS for d in DIMENSIONS])


def scene(variant, d, **choices):
    recipe = recipe_of(SCENE, variant=variant, d=d, **choices)
    gains = {f"gamma{i}": g for i, g in enumerate(AXES[:d], 1)}
    return recipe, recipe.defaults | {"eps": 0.0} | gains


@EACH
def test_points_go_where_the_norm_sends_them(variant, d):
    recipe, params = scene(variant, d)
    start, *_, end = recipe.cloud("points").stages(params)
    norm = layer_norm if variant == "layernorm" else rms_norm
    np.testing.assert_allclose(end, norm(start, gamma=np.array(AXES[:d]), eps=0.0), rtol=0, atol=EXACT)


def test_the_name_of_an_axis_stands_at_its_end_however_short_the_frame_makes_that():
    recipe = recipe_of(SCENE, points="worked")
    names, ends = (np.linalg.norm(recipe.cloud(name).points, axis=1) for name in ("axis names", "axes"))
    # below the hyperplane there is less room, so the axes are shorter
    assert ends[::2].max() > 2 * ends[::2].min()
    assert (names / ends[1::2] > 1).all() and (names / ends[1::2] < 1.2).all()


@EACH
def test_semi_axes_are_those_of_the_gain(variant, d):
    recipe, params = scene(variant, d)
    ends = diameters(recipe.cloud("frame").stages(params)[-1])
    lengths = np.linalg.norm(ends[1::3] - ends[::3], axis=1) / 2
    gamma = np.array(AXES[:d])
    want = semi_axes(gamma)[0] if variant == "layernorm" else np.sort(np.sqrt(d) * abs(gamma))[::-1]
    np.testing.assert_allclose(lengths, want[: len(lengths)], rtol=0, atol=EXACT)


@EACH
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_with_epsilon_points_stay_between_the_middle_and_the_surface(variant, d, convention):
    recipe, params = scene(variant, d, convention=convention)
    at = 2 if variant == "layernorm" else 1
    assert np.linalg.norm(recipe.cloud("points").stages(params | {"eps": 0.1})[at], axis=1).max() < 1
    assert rf"\class{{stage-{at} role-sphere}}" in recipe.formula and r"\varepsilon" in recipe.formula


@EACH
def test_the_surface_is_where_the_points_are_without_epsilon(variant, d):
    recipe, params = scene(variant, d)
    points, ideal = recipe.cloud("points"), recipe.cloud("ideal")
    one = points.stages(params | {"eps": 0.0})
    surface = [x[:1] for x in ideal.stages(params | {"eps": 1.0})]
    for k in range(1, len(one)):
        np.testing.assert_allclose(one[k][:1], surface[k], rtol=0, atol=EXACT)


@pytest.mark.parametrize("points, vectors", [("own", "1 1 1"), ("lattice", "")])
def test_a_point_without_direction_stays_at_the_origin_with_or_without_epsilon(points, vectors):
    recipe, params = scene("layernorm", 3, points=points, vectors=vectors)
    cloud, ideal = recipe.cloud("points"), recipe.cloud("ideal")
    assert np.ptp(cloud.points[0]) == 0
    for eps in (0.0, 0.1):
        for a, b in zip(*(each.stages(params | {"eps": eps})[1:] for each in (cloud, ideal)), strict=True):
            np.testing.assert_allclose(a[0], b[0], rtol=0, atol=EXACT)


def test_the_name_of_the_plane_says_that_gain_and_shift_move_it():
    recipe, params = scene("layernorm", 3)
    disc = recipe.cloud("hyperplane").stages(params | {"beta1": 1.5})
    assert np.abs(disc[0].sum(1)).max() < EXACT < np.abs(disc[-1].sum(1)).max()
    [title] = (m.title for m in recipe.views[0].layers if m.cloud == "hyperplane")
    assert title == "the plane Σx = 0, later moved"


@pytest.mark.parametrize("points", ["gaussian", "lattice"])
@pytest.mark.parametrize("d", [2, 3, 4])
def test_one_direction_becomes_flat_and_not_two(points, d):
    """The covariance of the outputs has exactly one eigenvalue 0.

    One source expects two, because the length is fixed too. But a fixed length makes no direction flat.
    """
    [(_, *values)] = recipe_of(SCENE, d=d, points=points).facts.rows
    assert len(values) == d and values[-1] == "0.000" and all(float(value) > 1 for value in values[:-1])


@pytest.mark.parametrize("choices", [{"variant": "rmsnorm"}, {"points": "worked"}])
def test_without_a_spread_there_is_no_covariance(choices):
    """No covariance is shown for a single point, or for RMSNorm, where it would change with the mean."""
    assert recipe_of(SCENE, **choices).facts is None


@pytest.mark.parametrize("points", ["worked", "own"])
def test_given_vectors_are_shown_as_they_are(points):
    assert recipe_of(SCENE, points=points).defaults["mean"] == 0


@pytest.mark.parametrize("d", DIMENSIONS)
def test_what_stands_on_the_line_along_one_goes_to_the_origin(d):
    """Constant vectors (multiples of 𝟏) become exactly 0, without rounding errors.

    In d = 2 two of the ring's 400 points are constant, and go to 0; the others have length √2. So the larger
    eigenvalue of the results' covariance is 2·398/400, and not 2.
    """
    recipe = as_sent(recipe_of(SCENE, d=d, points="ring", n=400))
    start, fallen, *_ = recipe.cloud("points").stages(recipe.defaults)
    assert (fallen[np.linalg.norm(fallen, axis=1) < 1e-6] == 0).all()
    assert np.ptp(start, axis=1).min() == 0 or d > 2
    assert d > 2 or recipe_of(SCENE, d=2, points="ring", n=400).facts.rows[0][1:] == ("1.990", "0.000")


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_first_row_of_the_table_says_what_it_measures(variant):
    recipe, params = scene(variant, 3)
    with Node() as node:
        first, *others = node.ask("rows", recipe=document(recipe), params=params, followed=7)
    height = abs(recipe.cloud("points").stages(params)[0][7].sum()) / np.sqrt(3)
    assert first[-1] == (f"{height:.3f} (to the plane Σx = 0)" if variant == "layernorm" else "0")
    assert all(" " not in row[-1] for row in others)


def test_the_menu_and_the_formula_name_the_same_length():
    assert "‖x−μ𝟏‖²" in CONVENTIONS["bare"]
    assert r"\lVert x - \mu 𝟏 \rVert^2" in recipe_of(SCENE, convention="bare").formula


def test_the_menu_names_the_convention_of_pytorch():
    torch = pytest.importorskip("torch")
    functional = torch.nn.functional
    x = torch.tensor([[5.0, 8.0, 2.0]], dtype=torch.float64)
    for name, title in CONVENTIONS.items():
        same = torch.allclose(
            layer_norm(x, eps=0.1, convention=name), functional.layer_norm(x, (3,), eps=0.1)
        )
        assert same == ("PyTorch" in title)


# --- what the text says


def at(title):
    """The positions of the cloud of points at each stage, with the sliders of a stop."""
    state = stop("layernorm", title)
    return state.recipe.cloud("points").stages(state.params)


def every(*, variant="layernorm", **choices):
    """The recipes of one norm for each dimension and each kind of random points, as a list.

    variant: the norm, a choice of the scene. choices: values of further choices.
    """
    return [recipe_of(SCENE, variant=variant, d=d, points=p, **choices) for d in DIMENSIONS for p in POINTS]


def a_point_in_space():
    assert recipe_of(SCENE, d=3).cloud("points").points.shape[1] == 3


def the_line_along_one():
    for d in (2, 3):
        ends = recipe_of(SCENE, d=d).cloud("mean line").points
        np.testing.assert_allclose(ends, ends[:, :1] * np.ones(d), atol=EXACT)


def where_the_steps_lead():
    for recipe in every():
        start, fallen, unit, grown, *_ = recipe.cloud("points").stages(recipe.defaults | {"eps": 0.0})
        d, some = start.shape[1], np.linalg.norm(fallen, axis=1) > 0
        np.testing.assert_allclose(fallen.sum(1), 0, atol=EXACT)
        np.testing.assert_allclose(np.linalg.norm(unit[some], axis=1), 1, atol=EXACT)
        np.testing.assert_allclose(np.linalg.norm(grown[some], axis=1), np.sqrt(d), atol=EXACT)


def the_sphere_grows():
    recipe = recipe_of(SCENE, d=3)
    sphere = recipe.cloud("sphere").stages(recipe.defaults)
    for k, radius in ((2, 1), (3, np.sqrt(3))):
        np.testing.assert_allclose(np.linalg.norm(sphere[k], axis=1), radius, atol=EXACT)
    where_the_steps_lead()


def the_last_column():
    for variant in VARIANTS:
        test_the_first_row_of_the_table_says_what_it_measures(variant)
        for d in DIMENSIONS:
            test_the_surface_is_where_the_points_are_without_epsilon(variant, d)


def the_height():
    for d in DIMENSIONS:
        x = recipe_of(SCENE, d=d).cloud("points").points
        one = np.ones(d) / np.sqrt(d)
        assert np.linalg.norm(one) == pytest.approx(1)
        np.testing.assert_allclose(x @ one, np.sqrt(d) * x.mean(1), atol=EXACT)


def the_mean_and_the_deviation():
    for d in DIMENSIONS:
        x = recipe_of(SCENE, d=d).cloud("points").points
        sigma = np.sqrt(((x - x.mean(1, keepdims=True)) ** 2).mean(1))
        np.testing.assert_allclose(np.linalg.norm(center(x), axis=1), np.sqrt(d) * sigma, atol=EXACT)
        np.testing.assert_allclose(layer_norm(x, eps=0), center(x) / sigma[:, None], atol=1e-9)


def points_come_nearer():
    for recipe in every(n=60):
        x, fallen, *_ = recipe.cloud("points").stages(recipe.defaults)
        before, after = (np.linalg.norm(p[:, None] - p, axis=-1) for p in (x, fallen))
        level = np.abs(x.mean(1)[:, None] - x.mean(1)) < EXACT
        assert (after[~level] < before[~level]).all()
        np.testing.assert_allclose(after[level], before[level], atol=EXACT)


def what_epsilon_leaves():
    torch = pytest.importorskip("torch")
    for d in DIMENSIONS:
        recipe = recipe_of(SCENE, d=d, convention="pytorch")
        for eps in (1e-5, 0.1, 10.0):
            x, _, _, z, *_ = recipe.cloud("points").stages(recipe.defaults | {"eps": eps})
            variance = x.var(1)
            np.testing.assert_allclose((z**2).sum(1), d * variance / (variance + eps), atol=EXACT)
            in_torch = torch.nn.functional.layer_norm(torch.tensor(x), (d,), eps=eps)
            np.testing.assert_allclose(z, in_torch.numpy(), atol=1e-9)
            (half,) = layer_norm(x[:1] * np.sqrt(eps / variance[0]), eps=eps)
            assert (half**2).sum() == pytest.approx(d / 2)


def with_deviation(sigma):
    return sigma * np.array([1.0, 1.0, -2.0]) / np.sqrt(2)


def tiny_vectors():
    for eps in (1e-5, 0.1):
        short = with_deviation(1e-4 * np.sqrt(eps))
        np.testing.assert_allclose(layer_norm(short, eps=eps), short / np.sqrt(eps), rtol=1e-7)
        assert (layer_norm(np.zeros(3), eps=eps) == 0).all()


def where_it_stands():
    for convention, half, felt in (("std", 1 / 2, 1e-5), ("pytorch", np.sqrt(1 / 2), 0.003)):
        for sigma, left in ((felt, half), (100 * felt, 1)):
            z = layer_norm(with_deviation(sigma), eps=1e-5, convention=convention)
            assert np.linalg.norm(z) / np.sqrt(3) == pytest.approx(left, abs=0.03)


def the_order_of_the_steps():
    recipe = recipe_of(SCENE, d=3)
    x, *_ = recipe.cloud("points").stages(recipe.defaults)
    first = center(np.sqrt(3) * u_eps(x, eps=0.0))
    q = x.mean(1) / x.std(1)
    np.testing.assert_allclose(np.linalg.norm(first, axis=1), np.sqrt(3 / (1 + q**2)), rtol=1e-9)
    for gamma in ((2.0, 1.0, 0.5), (2.0, 2.0, 2.0)):
        gained = layer_norm(np.array(gamma) * x, eps=0.0)
        np.testing.assert_allclose(np.linalg.norm(gained, axis=1), np.sqrt(3), atol=1e-9)
        np.testing.assert_allclose(gained.sum(1), 0, atol=1e-9)
        same = np.abs(gained - layer_norm(x, eps=0.0)).max() < 1e-9
        assert same == (len(set(gamma)) == 1)


def the_tilted_plane():
    rng = np.random.default_rng(0)
    for d in DIMENSIONS:
        gamma, v = rng.uniform(0.5, 2, d), center(rng.standard_normal((20, d)))
        np.testing.assert_allclose((gamma * v) @ (1 / gamma), 0, atol=EXACT)


def what_is_lost():
    x = recipe_of(SCENE, d=3).cloud("points").points
    for eps in (0.0, 0.1):
        y = layer_norm(x, eps=eps)
        np.testing.assert_allclose(layer_norm(x + 0.7, eps=eps), y, atol=1e-9)
        np.testing.assert_allclose(layer_norm(-x, eps=eps), -y, atol=1e-9)
        assert np.allclose(layer_norm(1.7 * x, eps=eps), y) == (eps == 0)


def neither_mean_nor_spread():
    """For ε = 0, changing the mean or the spread of the input does not change LayerNorm's result in the scene.

    Points near the line along 𝟏, whose direction is due to rounding, are left out.
    """
    for recipe in every():
        known = recipe.defaults | {"eps": 0.0}
        before = recipe.cloud("points").stages(known)
        some = np.linalg.norm(before[1], axis=1) > 1e-6
        for name, moved in (("mean", -2.0), ("mean", 2.0), ("spread", 0.1), ("spread", 2.0)):
            after = recipe.cloud("points").stages(known | {name: moved})
            x, y, b, c = before[0], after[0], moved - known["mean"], moved / known["spread"]
            at = known["mean"]
            np.testing.assert_allclose(y, x + b if name == "mean" else at + c * (x - at), atol=EXACT)
            for k in range(2, len(before)):
                np.testing.assert_allclose(after[k][some], before[k][some], atol=1e-9)
    recipe = recipe_of(SCENE, variant="rmsnorm")
    known = recipe.defaults | {"eps": 0.0}
    before = recipe.cloud("points").stages(known)[1]
    for moved in ({"mean": 2.0}, {"spread": 2.0}):
        assert np.abs(recipe.cloud("points").stages(known | moved)[1] - before).max() > 0.1


def length_of_an_output():
    for recipe in every():
        for eps in (0.0, 1e-5, 0.1):
            x, _, _, z, *_ = recipe.cloud("points").stages(recipe.defaults | {"eps": eps})
            size = np.linalg.norm(z[x.std(1) > EXACT], axis=1) / np.sqrt(x.shape[1])
            assert (size < 1).all() if eps else np.allclose(size, 1, rtol=0, atol=1e-9)


def one_flat_direction():
    for recipe in every():
        start, fallen, _, z, *_ = recipe.cloud("points").stages(recipe.defaults | {"eps": 0.0})
        flat = np.linalg.eigvalsh(np.cov(z.T)) < 1e-9
        rank = np.linalg.matrix_rank(fallen - fallen.mean(0), tol=1e-9)
        assert flat.sum() == start.shape[1] - rank
        assert flat.sum() == 1 or rank < start.shape[1] - 1  # the ring in d = 4 has no more than a plane


def one_place_above_another():
    x, fallen, *_ = at("The fall")
    np.testing.assert_allclose(center(x + 1.0), fallen, atol=EXACT)
    np.testing.assert_allclose((x - fallen), (x - fallen)[:, :1] * np.ones(3), atol=EXACT)


def to_the_root_of_three():
    np.testing.assert_allclose(np.linalg.norm(at("Out to the circle")[3], axis=1), np.sqrt(3), atol=EXACT)


def by_hand():
    x, fallen, _, z, *_ = (stage[0] for stage in at("One point by hand"))
    np.testing.assert_allclose([x, fallen], [[5, 8, 2], [0, 3, -3]], atol=EXACT)
    assert x.mean() == 5 and x.std() == pytest.approx(np.sqrt((0 + 9 + 9) / 3)) == pytest.approx(np.sqrt(6))
    said(x.std(), "2.449")
    said(z[1], "1.225")
    np.testing.assert_allclose(z, [0, z[1], -z[1]], atol=EXACT)


def inside_the_circle():
    x, fallen, _, z, *_ = at("A safe division")
    eps = stop("layernorm", "A safe division").params["eps"]
    said(eps, "0.1")
    np.testing.assert_allclose(
        np.sqrt(3) * np.sqrt(x.var(1) + eps), np.sqrt((fallen**2).sum(1) + 3 * eps), atol=EXACT
    )
    assert np.linalg.norm(z, axis=1).max() < np.sqrt(3)


def the_gain():
    state = stop("layernorm", "The gain tilts the plane")
    gamma = np.array([state.params[f"gamma{i}"] for i in (1, 2, 3)])
    assert gamma.tolist() == [2, 1, 0.5]
    ellipse = at("The gain tilts the plane")[4]
    np.testing.assert_allclose(ellipse @ [0.5, 1, 2], 0, atol=EXACT)
    ends = diameters(state.recipe.cloud("frame").stages(state.params)[-1])
    long, short = np.linalg.norm(ends[1::3] - ends[::3], axis=1) / 2
    said(long, "2.947")
    said(short, "1.347")
    for value in (-2, 0.3, 1, 2):
        level = state.recipe.cloud("points").stages(state.params | {f"gamma{i}": value for i in (1, 2, 3)})[4]
        np.testing.assert_allclose(level.sum(1), 0, atol=EXACT)


def two_points():
    ends = at("Two dimensions: two points")[3]
    assert len(ends) == 400
    assert {tuple(p) for p in ends.round(9).tolist()} == {(1.0, -1.0), (-1.0, 1.0)}
    start = at("Two dimensions: two points")[0]
    np.testing.assert_array_equal(ends[:, 0] > 0, start[:, 0] > start[:, 1])


def a_whole_sphere():
    _, fallen, _, z, *_ = at("Four dimensions: a whole sphere")
    state = stop("layernorm", "Four dimensions: a whole sphere")
    assert np.linalg.matrix_rank(fallen) == 3 == len(state.recipe.views[0].ranges)
    np.testing.assert_allclose(np.linalg.norm(z, axis=1), 2, atol=EXACT)
    (layer,) = (layer for layer in state.recipe.views[0].layers if hand_of(layer))
    before, after = (layer.points(state.recipe.moment(state.params, k)) for k in (0, 1))
    np.testing.assert_allclose(after, before, atol=EXACT)
    np.testing.assert_allclose(layer.values(state.recipe.moment(state.params, 1)), 0, atol=EXACT)


def three_vectors_one_point():
    recipe = recipe_of(SCENE, points="own", vectors="5 8 2; 10 16 4; 6 9 3")
    x, *_ = recipe.cloud("points").stages(recipe.defaults)
    np.testing.assert_array_equal([2 * x[0], x[0] + 1], x[1:])
    assert np.ptp(recipe.cloud("points").stages(recipe.defaults)[3], axis=0).max() < 1e-5


def at_the_origin():
    for n, eps in product((1, 400, 10_000), (0.0, 1e-5)):
        recipe = recipe_of(SCENE, points="lattice", n=n)
        x, *_, z = recipe.cloud("points").stages(recipe.defaults | {"eps": eps})[:4]
        constant = np.ptp(x, axis=1) == 0
        far = np.linalg.norm(z, axis=1)
        assert constant.any() and (z[constant] == 0).all() and x.std(1)[constant].max() < EXACT
        assert far[~constant].min() > np.sqrt(3) - 0.002  # too little to be visible


def still_an_ellipse():
    long, short = semi_axes(np.array([1.0, 1, 0]))[0][:2]
    said(long, "1.732")
    said(short, "1")
    recipe = recipe_of(SCENE, d=3)
    flat = recipe.defaults | {"eps": 0.0, "gamma3": 0.0}
    _, _, _, z, once, _ = recipe.cloud("points").stages(flat)
    assert (once[:, 2] == 0).all()
    np.testing.assert_allclose(-once[:, :2].sum(1), z[:, 2], atol=EXACT)
    segment = recipe.cloud("circle").stages(flat | {"gamma2": 0.0})[-1]
    assert (segment[:, 1:] == 0).all()
    np.testing.assert_allclose(np.abs(segment).max(), np.sqrt(2), atol=1e-3)
    np.testing.assert_allclose(layer_norm(np.array([2.0, -1, -1]), eps=0), np.array([2, -1, -1]) / np.sqrt(2))


def height_tells_the_mean():
    x = stop("layernorm", "The mean is a height").recipe.cloud("points").points
    heights, means = x @ np.ones(3) / np.sqrt(3), x.mean(1)
    assert x.shape[1] == 3 and np.array_equal(np.argsort(heights), np.argsort(means))
    np.testing.assert_allclose(center(x).mean(1), 0, atol=EXACT)


def the_cloud_rises():
    state = stop("layernorm", "The mean is a height")
    before, after = (state.recipe.cloud("points").stages(state.params | {"mean": m})[0] for m in (0.8, -1.0))
    np.testing.assert_allclose(after - before, -1.8, atol=EXACT)
    assert before.mean() > 0.5


def the_bend():
    """LN(x) = √d·u_{dε}(Πx), in every dimension offered and for every size of ε."""
    for d in (2, 3, 4):
        x = np.random.default_rng(d).normal(size=(50, d)) + 0.8
        for eps in (0.0, 1e-5, 0.1, 10.0):
            bent = np.sqrt(d) * u_eps(center(x), eps=d * eps)
            np.testing.assert_allclose(layer_norm(x, eps=eps), bent, atol=1e-12)


def two_dimensions_are_lost():
    """The derivative of LayerNorm, by central differences, has the rank d − 2."""
    for d in (2, 3, 4, 9):
        x, h = np.random.default_rng(d).standard_normal(d), 1e-4
        ends = layer_norm(x + h * np.concatenate([np.eye(d), -np.eye(d)]), eps=0.0)
        assert np.linalg.matrix_rank((ends[:d] - ends[d:]) / (2 * h), tol=1e-5) == d - 2


CLAIMS = {
    r"Each point is a vector of three numbers. The higher it stands over the teal plane, the larger is their mean; in the plane it is 0.": height_tells_the_mean,
    "With $d$ coordinates the results lie on a sphere of $d - 2$ dimensions: centring takes one away, the fixed length another.": two_dimensions_are_lost,
    r"$$\mathrm{LN}(x) = \sqrt d \; u_{d\varepsilon}(\Pi x)$$": the_bend,
    "With $d = 3$ it is a point in space, and the cloud shows": a_point_in_space,
    r"the multiples of $𝟏 = (1, 1, \dots, 1)$.": the_line_along_one,
    r"until its distance is 1, and then $\sqrt d$.": where_the_steps_lead,
    r"For $d = 3$ the violet sphere has radius 1, then $\sqrt 3$. With $\varepsilon = 0$ the points end on it and in the plane, so they reach only the circle where the two meet. With $d = 3$ a point's colour is its direction in the plane.": the_sphere_grows,
    "With three coordinates the sphere is a circle, and the ellipsoid an ellipse.": the_sphere_grows,
    "With $d = 3$ the circle becomes an ellipse.": the_sphere_grows,
    r"The first row is the norm's input: with LayerNorm its last column says how far the point is from the plane. In every other row the last column says how far the point is from where it would be with $\varepsilon = 0$. The": the_last_column,
    r"$$\mu = \frac{1}{d} \sum_i x_i, \quad \sigma^2 = \frac{1}{d} \sum_i (x_i - \mu)^2$$": the_mean_and_the_deviation,
    r"has length 1. The height of $x$ along it is": the_height,
    "But each point loses its own height, so the cloud does not move as a whole: it is flattened, and two points come nearer to each other unless they were at the same height.": points_come_nearer,
    r"at $\sigma^2 = \varepsilon$ half of the sum is left.": what_epsilon_leaves,
    r"A centred vector whose $\sigma$ is far below $\sqrt\varepsilon$ is multiplied by $1/\sqrt\varepsilon$ and no more: it stays short, and 0 stays 0.": tiny_vectors,
    r"then half of the length is left at $\sigma = \varepsilon$. With $\varepsilon = 10^{-5}$ this version affects vectors whose $\sigma$ is near or below 0.00001. PyTorch's version already affects vectors whose $\sigma$ is near or below 0.003.": where_it_stands,
    "### Does the order of the steps matter? Yes. **Normalise, then centre**: each vector is divided by its own root mean square, and then centred. The points lie in the plane, but those whose mean was not 0 lie inside the circle. The larger the absolute value of a point's mean was, compared with its standard deviation, the nearer it is to the middle.": the_order_of_the_steps,
    r"$$\sum_i z_i^2 = d \, \frac{\sigma^2}{\sigma^2 + \varepsilon}$$ in place of $d$.": what_epsilon_leaves,
    r"So before $\gamma$ and $\beta$ an output has the length $\sqrt d$ if $\varepsilon = 0$, and is shorter otherwise.": length_of_an_output,
    r"Let $v$ lie in the plane, so $\sum_i v_i = 0$, and let no $\gamma_i$ be 0. Then $\sum_i \frac{1}{\gamma_i} (\gamma_i v_i) = 0$: the vector $(1/\gamma_1, \dots, 1/\gamma_d)$ is perpendicular to the new plane.": the_tilted_plane,
    r"| $x + b𝟏$ | the same point | | $c x$, with $c > 0$ and $\varepsilon = 0$ | the same point | | $-x$ | the opposite point |": what_is_lost,
    r"Two sliders make the changes of the first two rows, for all points: **scale c** makes every vector $c$ times as long, then **mean** adds $b$ to every coordinate. With LayerNorm and $\varepsilon = 0$ they move no point at **unit sphere** or later. With RMSNorm **mean** does move the points. So does **scale c**, unless the slider **mean** is at 0: $cx + b𝟏$ has another direction than $x + b𝟏$.": neither_mean_nor_spread,
    r"**One direction becomes flat, not two.**": one_flat_direction,
    "Anonymous authors (2025) expect two eigenvalues near 0 in the covariance of the results. There is only one such eigenvalue, as long as the centred points lie in enough different directions": one_flat_direction,
    r"What becomes of two points that stand one above the other?": one_place_above_another,
    r"Only its distance changes, to $\sqrt 3$ for all.": to_the_root_of_three,
    r"This point is $(5, 8, 2)$. Its mean is 5, so it falls to $(0, 3, -3)$. There $\sigma = \sqrt{(0 + 9 + 9)/3} = \sqrt 6 \approx 2.449$, and $3 / 2.449 \approx 1.225$. Find $(0, 1.225, -1.225)$ in the table of numbers.": by_hand,
    r"Here $\varepsilon = 0.1$. The divisor is now larger than $\sigma$, so every point stays inside the circle.": inside_the_circle,
    r"With $\gamma = (2, 1, 0.5)$ the circle is an ellipse in a tilted plane, perpendicular to $(0.5, 1, 2)$. The magenta lines are its axes; half their lengths, 2.947 and 1.347, stand under the picture. Now set all three **γ** to one value: the tilt is gone.": the_gain,
    "### Two dimensions: two points With $d = 2$ the plane is only a line, and it meets the circle in two points, $(1, -1)$ and $(-1, 1)$. All 400 vectors end there. The only thing left of $x$ is which of its two coordinates is larger.": two_points,
    "### Four dimensions: a whole sphere With $d = 4$ the zero-sum vectors fill a space of three dimensions, and that space is what you see. The points now cover a sphere of radius 2. Drag the scrubber from **x** to **centre**: the height, shown as colour, goes to 0 everywhere, and no point moves.": a_whole_sphere,
    "with $d = 4$ this direction is left out": a_whole_sphere,
    r"Take the three points (5, 8, 2), (10, 16, 4) and (6, 9, 3). How many points are there at the stage × √3, and why? One, apart from the tiny effect of $\varepsilon$. $(10, 16, 4) = 2 \cdot (5, 8, 2)$ lies on the same ray through the origin, and $(6, 9, 3) = (5, 8, 2) + 𝟏$ is the same point raised along the orange line.": three_vectors_one_point,
    r"set ε to 1e-5 and go to the stage × √3. Some points are not on the circle.": at_the_origin,
    r"$\sigma$ is 0, and without $\varepsilon$ the formula would ask for $0 / 0$; the figure leaves such points at the origin.": at_the_origin,
    r"In d = 3, at the stage ⊙ γ, set γ₃ to 0. Is the ellipse now a segment? If not, what does it take? It is still an ellipse, with semi-axes 1.732 and 1 (for $\gamma_1 = \gamma_2 = 1$). All points now lie in the plane $x_3 = 0$, but nothing more is lost: before the gain the coordinates sum to zero, so the third was known from the other two. Set $\gamma_2$ to 0 as well and a segment is left. Its ends are at $\pm\sqrt 2$ on the first axis, because the circle reaches no further there: its farthest point is $(2, -1, -1)/\sqrt 2$.": still_an_ellipse,
    r"Move **mean**, which adds one number to every coordinate: the whole cloud rises or sinks along the orange line and keeps its shape.": the_cloud_rises,
}
