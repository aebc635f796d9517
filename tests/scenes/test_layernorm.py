"""LayerNorm by hand: what is drawn and said of the ellipsoid, the surface and ε."""

import numpy as np
import pytest

from components.scenes.layernorm import CONVENTIONS, SCENE
from geometry import layer_norm, rms_norm
from geometry.ellipsoid import diameters, semi_axes

EXACT = 1e-12  # double precision, a few operations
VARIANTS, DIMENSIONS, AXES = ("layernorm", "rmsnorm"), (2, 3, 4), (2.0, -0.5, 0.0, 1.5)
EACH = pytest.mark.parametrize(("variant", "d"), [(v, d) for v in VARIANTS for d in DIMENSIONS])


def scene(variant, d, **choices):
    recipe = SCENE.recipe(variant=variant, d=d, **choices)
    gains = {f"gamma{i}": g for i, g in enumerate(AXES[:d], 1)}
    return recipe, recipe.defaults | {"eps": 0.0} | gains


@EACH
def test_points_go_where_the_norm_sends_them(variant, d):
    recipe, params = scene(variant, d)
    start, *_, end = recipe.cloud("points").stages(params)
    norm = layer_norm if variant == "layernorm" else rms_norm
    np.testing.assert_allclose(end, norm(start, gamma=np.array(AXES[:d]), eps=0.0), rtol=0, atol=EXACT)


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


def test_without_direction_the_distance_is_that_of_the_origin():
    recipe, params = scene("layernorm", 3, points="own", vectors="1 1 1")
    points, ideal = (recipe.cloud(name).stages(params) for name in ("points", "ideal"))
    far = [np.linalg.norm(a - b) for a, b in zip(points, ideal, strict=True)]
    np.testing.assert_allclose(far[:4], [np.sqrt(3), 0, 1, np.sqrt(3)], rtol=0, atol=EXACT)


@pytest.mark.parametrize("points", ["gaussian", "lattice"])
@pytest.mark.parametrize("d", [2, 3, 4])
def test_one_direction_becomes_flat_and_not_two(points, d):
    """A source expects two: the fixed length costs a degree of freedom, but makes no direction flat."""
    [(_, *values)] = SCENE.recipe(d=d, points=points).facts.rows
    assert len(values) == d and values[-1] == "0.000" and all(float(value) > 1 for value in values[:-1])


@pytest.mark.parametrize("choices", [{"variant": "rmsnorm"}, {"points": "worked"}])
def test_without_a_spread_there_is_no_covariance(choices):
    """One point has none; that of RMSNorm would change with the mean."""
    assert SCENE.recipe(**choices).facts is None


@pytest.mark.parametrize("points", ["worked", "own"])
def test_given_vectors_are_shown_as_they_are(points):
    assert SCENE.recipe(points=points).defaults["mean"] == 0
