"""The shear: linear in space, and on the shadow of a sphere the formula with the root."""

import numpy as np
import pytest

from components.scenes.shear import SCENE
from geometry.shear import shear, sheared_shadow

PAIRS = list(SCENE.choices[0].options)
ROUNDING = 1e-10  # float64 through a few angles, away from the rim
RIM = 1e-7  # on the rim the root of a rounding: √1e-16, times s
EXTREMES = [{"s": s, "r": r} for s in (-1.2, 0.0, 0.8, 1.2) for r in (0.4, 1.4)]


def axes(pair):
    onto, by = ("xyz".index(name) for name in pair.split("-"))
    return onto, 3 - onto - by, by


@pytest.mark.parametrize("params", EXTREMES)
@pytest.mark.parametrize("branch", ["upper", "lower", "both"])
@pytest.mark.parametrize("pair", PAIRS)
def test_closed_form_meets_the_sheared_points(pair, branch, params):
    recipe = SCENE.recipe(pair=pair, branch=branch)
    formula, sheared = (recipe.cloud(name).stages(params)[-1] for name in ("formula", "sheared"))
    np.testing.assert_allclose(formula, sheared, atol=ROUNDING)


@pytest.mark.parametrize("pair", PAIRS)
def test_shadow_is_the_formula_on_both_branches(pair):
    onto, stays, _ = axes(pair)
    for sign, branch in enumerate(["upper", "lower"]):
        dots = SCENE.recipe(pair=pair, branch=branch).cloud("dots")
        before, after = dots.stages({"s": 0.8, "r": 1.2})[:2]
        shadow = sheared_shadow(before[:, onto], before[:, stays], s=0.8, radius=1.2)[sign]
        np.testing.assert_allclose(after[:, [onto, stays]], shadow, atol=ROUNDING)


@pytest.mark.parametrize("pair", PAIRS)
def test_rim_does_not_move(pair):
    onto, stays, _ = axes(pair)
    before, after = SCENE.recipe(pair=pair).cloud("rim").stages({"s": 1.2, "r": 1.4})[:2]
    np.testing.assert_allclose(after, before, atol=ROUNDING)
    shadows = sheared_shadow(before[:, onto], before[:, stays], s=1.2, radius=1.4)
    for shadow in shadows:
        np.testing.assert_allclose(shadow, before[:, [onto, stays]], atol=RIM)


def test_middle_slides_by_s_times_r():
    recipe = SCENE.recipe()
    red = recipe.cloud("dots").stages({"s": 0.8, "r": 1.2})
    np.testing.assert_allclose(red[0][recipe.follow], [0, 0, 1.2], atol=ROUNDING)
    np.testing.assert_allclose(red[1][recipe.follow], [0.8 * 1.2, 0, 1.2], atol=ROUNDING)


@pytest.mark.parametrize("pair", PAIRS)
def test_every_cloud_is_sheared_as_geometry_has_it_and_comes_back_to_the_sphere(pair):
    onto, _, by = axes(pair)
    recipe = SCENE.recipe(pair=pair, branch="both")
    for name in ("sphere", "net", "dots", "upper grid", "lower grid"):
        before, after, back = recipe.cloud(name).stages({"s": -1.2, "r": 0.4})
        np.testing.assert_allclose(after, shear(before, s=-1.2, onto=onto, by=by), atol=ROUNDING)
        np.testing.assert_allclose(np.linalg.norm(back, axis=-1), 0.4, atol=ROUNDING)


@pytest.mark.parametrize("pair", PAIRS)
def test_shadow_of_a_face_of_the_cube_moves_as_a_whole(pair):
    onto, stays, _ = axes(pair)
    for name, sign in (("upper", 1), ("lower", -1)):
        before, after = SCENE.recipe(pair=pair).cloud(f"{name} face").stages({"s": 0.8, "r": 1.2})
        slide = (after - before)[:, [onto, stays]]
        np.testing.assert_allclose(
            slide, np.broadcast_to([sign * 0.8 * 0.75 * 1.2, 0], slide.shape), atol=ROUNDING
        )


@pytest.mark.parametrize("params", EXTREMES)
def test_at_s_zero_and_everywhere_all_is_finite(params):
    recipe = SCENE.recipe(branch="both")
    for view in recipe.views:
        for layer in view.layers:
            if layer.draws != "line":
                for progress in (0, 0.5, 1, 1.5, 2):
                    assert np.isfinite(recipe.layer_points(layer, params, progress)).all()
