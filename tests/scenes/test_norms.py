"""The norms: each pipeline against geometry and PyTorch, and the surfaces that the picture claims."""

import numpy as np
import pytest

from components.scenes.norms import SCENE
from components.scenes.norms.build import NORMS, TITLES, ZOOM, apply, blocks, display, pipeline, surface

ROUNDING = 1e-10  # float64, points of size 1
TINY = 1e-30  # PyTorch asks for a positive ε in training; the variance swallows this one
RANGE = {"b": (-0.5, 0.5), "c": (0.25, 1.25)}
PARAMS = {"b": 0.0, "c": 1.0, "g": 1.5, "alpha": 1.0}
DIMENSIONS = (3, 4, 6)
LANDS = {  # the number of directions that are left, where blocks are m numbers: m − 1 a block, m − 2 centred
    "layernorm": (1, 2, 4), "rmsnorm": (2, 3, 5), "groupnorm": (1, 0, 2), "blockrms": (2, 2, 4),
    "instancenorm": (1, 0, 0), "batchnorm": (3, 4, 6), "weightnorm": (2, 3, 5), "dyt": (3, 4, 6),
}  # fmt: skip
CASES = [(norm, d) for norm in TITLES for d in DIMENSIONS]


def cloud(d, **choices):
    return SCENE.recipe(d=d, **choices).cloud("left").points


def image(norm, d, **params):
    recipe = SCENE.recipe(left=norm, d=d)
    return recipe.cloud("left").stages(PARAMS | params)[-1]


def in_torch(norm, x):
    torch = pytest.importorskip("torch")
    functional, k = torch.nn.functional, blocks(norm, x.shape[1])
    x = torch.tensor(x)
    n, d = x.shape
    if norm == "layernorm":
        return functional.layer_norm(x, (d,), eps=0.0)
    if norm == "rmsnorm":
        return functional.rms_norm(x, (d,), eps=0.0)
    if norm == "groupnorm":
        return functional.group_norm(x, k, eps=0.0)
    if norm == "blockrms":
        return functional.rms_norm(x.reshape(n, k, -1), (d // k,), eps=0.0).reshape(n, d)
    if norm == "instancenorm":
        return functional.instance_norm(x.reshape(n, k, -1), eps=0.0).reshape(n, d)
    if norm == "batchnorm":
        return functional.batch_norm(x, None, None, training=True, eps=TINY)
    if norm == "dyt":
        return torch.tanh(x)
    layer = torch.nn.Linear(d, n, bias=False, dtype=x.dtype)
    layer.weight.data = x
    layer = torch.nn.utils.parametrizations.weight_norm(layer)
    layer.parametrizations.weight.original0.data[:] = 1.5
    return layer.weight.detach()


@pytest.mark.parametrize(("norm", "d"), CASES)
def test_pipeline_is_the_norm(norm, d):
    x = cloud(d)
    np.testing.assert_allclose(image(norm, d), apply(norm, x), atol=ROUNDING)
    np.testing.assert_allclose(image(norm, d), in_torch(norm, x).numpy(), atol=ROUNDING)


@pytest.mark.parametrize(("norm", "d"), CASES)
def test_facts_are_those_of_the_mathematics(norm, d):
    table = {words: cells[0] for words, *cells in SCENE.recipe(left=norm, d=d).facts.rows}
    centered = NORMS[norm].centered
    assert table["for x + 0.7·𝟏"] == ("stays" if centered else "moves")
    assert table["for 1.7·x"] == ("moves" if norm in ("batchnorm", "dyt") else "stays")
    assert table["others doubled"] == ("moves" if norm == "batchnorm" else "stays")
    assert table["dimensions left"] == str(LANDS[norm][DIMENSIONS.index(d)])


@pytest.mark.parametrize(("norm", "d"), CASES)
def test_image_lies_on_its_surface(norm, d):
    if norm in ("batchnorm", "dyt"):
        return
    k = blocks(norm, d)
    parts = image(norm, d).reshape(-1, k, d // k)
    radius = 1.5 if norm == "weightnorm" else np.sqrt(d / k)
    np.testing.assert_allclose(np.linalg.norm(parts, axis=-1), radius, atol=ROUNDING)
    if NORMS[norm].centered:
        np.testing.assert_allclose(parts.sum(-1), 0, atol=ROUNDING)


def test_group_norm_leaves_points():
    assert (
        len(np.unique(image("groupnorm", 4).round(6), axis=0)) == 4 and surface("groupnorm", 4) == "4 points"
    )
    assert len(np.unique(image("instancenorm", 6).round(6), axis=0)) == 8
    assert surface("instancenorm", 6) == "8 points"


@pytest.mark.parametrize(("norm", "d"), [("groupnorm", 6), ("blockrms", 4)])
def test_torus_is_a_torus_of_revolution_in_the_picture(norm, d):
    """A stereographic projection takes the torus of two equal circles to one with radii √2 : 1."""
    assert surface(norm, d) == "a torus"
    recipe = SCENE.recipe(left=norm, d=d)
    layer = next(layer for layer in recipe.views[0].layers if layer.pick)
    x, y, z = recipe.layer_points(layer, PARAMS, 2).T / ZOOM
    np.testing.assert_allclose(np.hypot(np.hypot(x, y) - np.sqrt(2), z), 1, atol=ROUNDING)


@pytest.mark.parametrize(("norm", "d"), [("groupnorm", 6), ("blockrms", 4)])
def test_pole_of_the_projection_is_never_met(norm, d):
    """Also not by the raw cloud at the ends of its sliders, nor on the way."""
    over = display(norm, d)[1]
    for seed in range(20):
        left = SCENE.recipe(left=norm, d=d, seed=seed, n=5000).cloud("left")
        for b in RANGE["b"]:
            for c in RANGE["c"]:
                for stage in left.stages(PARAMS | {"b": b, "c": c}):
                    assert (stage @ over.weights + over.offset).min() > 0.1


def test_batch_norm_of_the_scene_is_affine():
    """One matrix for all points: the midpoint of two goes to the midpoint."""
    x = cloud(3)
    through = pipeline("batchnorm", x)
    middle = through.stages((x[:1] + x[1:2]) / 2)[-1]
    np.testing.assert_allclose(middle[0], through.stages(x[:2])[-1].mean(0), atol=ROUNDING)


def test_dyt_has_no_sphere():
    y = image("dyt", 3, alpha=4.0)
    assert np.abs(y).max() < 1 and np.ptp(np.linalg.norm(y, axis=-1)) > 0.1


@pytest.mark.parametrize("d", DIMENSIONS)
def test_the_same_norm_twice_has_no_distance(d):
    recipe = SCENE.recipe(left="groupnorm", right="layernorm" if d == 3 else "groupnorm", d=d)
    left, right = (recipe.cloud(name).stages(PARAMS)[-1] for name in ("left", "right"))
    np.testing.assert_allclose(left, right, atol=ROUNDING)


@pytest.mark.parametrize("norm", TITLES)
def test_the_formula_is_that_of_the_norm(norm):
    formula = SCENE.recipe(left=norm, right=norm).formula
    assert (r"\mu_G" in formula) == (NORMS[norm].centered or norm == "batchnorm")
    assert (r"\tanh" in formula) == (norm == "dyt") and "stage-2" in formula
