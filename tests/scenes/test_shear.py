"""The scene `shear`: the map is linear in space; the shadow of a sphere follows a formula with a root."""

import numpy as np
import pytest

from components.scenes.shear import SCENE
from components.scenes.shear.build import CUBE_HALF
from components.training.recipes import recipe_of
from geometry.shear import shear
from tests.geometry.closed_forms import sheared_shadow
from tests.scenes.claims import stop

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
    recipe = recipe_of(SCENE, pair=pair, branch=branch)
    formula, sheared = (recipe.cloud(name).stages(params)[-1] for name in ("formula", "sheared"))
    np.testing.assert_allclose(formula, sheared, atol=ROUNDING)


@pytest.mark.parametrize("pair", PAIRS)
def test_shadow_is_the_formula_on_both_branches(pair):
    onto, stays, _ = axes(pair)
    for sign, branch in enumerate(["upper", "lower"]):
        dots = recipe_of(SCENE, pair=pair, branch=branch).cloud("dots")
        before, after = dots.stages({"s": 0.8, "r": 1.2})[:2]
        shadow = sheared_shadow(before[:, onto], before[:, stays], s=0.8, radius=1.2)[sign]
        np.testing.assert_allclose(after[:, [onto, stays]], shadow, atol=ROUNDING)


@pytest.mark.parametrize("pair", PAIRS)
def test_rim_does_not_move(pair):
    onto, stays, _ = axes(pair)
    before, after = recipe_of(SCENE, pair=pair).cloud("rim").stages({"s": 1.2, "r": 1.4})[:2]
    np.testing.assert_allclose(after, before, atol=ROUNDING)
    shadows = sheared_shadow(before[:, onto], before[:, stays], s=1.2, radius=1.4)
    for shadow in shadows:
        np.testing.assert_allclose(shadow, before[:, [onto, stays]], atol=RIM)


def test_middle_slides_by_s_times_r():
    recipe = recipe_of(SCENE)
    red = recipe.cloud("dots").stages({"s": 0.8, "r": 1.2})
    np.testing.assert_allclose(red[0][recipe.follow], [0, 0, 1.2], atol=ROUNDING)
    np.testing.assert_allclose(red[1][recipe.follow], [0.8 * 1.2, 0, 1.2], atol=ROUNDING)


@pytest.mark.parametrize("pair", PAIRS)
def test_every_cloud_is_sheared_as_geometry_has_it_and_comes_back_to_the_sphere(pair):
    onto, _, by = axes(pair)
    recipe = recipe_of(SCENE, pair=pair, branch="both")
    for name in ("sphere", "net", "dots", "upper grid", "lower grid"):
        before, after, back = recipe.cloud(name).stages({"s": -1.2, "r": 0.4})
        np.testing.assert_allclose(after, shear(before, s=-1.2, onto=onto, by=by), atol=ROUNDING)
        np.testing.assert_allclose(np.linalg.norm(back, axis=-1), 0.4, atol=ROUNDING)


@pytest.mark.parametrize("pair", PAIRS)
def test_shadow_of_a_face_of_the_cube_moves_as_a_whole(pair):
    onto, stays, _ = axes(pair)
    for name, sign in (("upper", 1), ("lower", -1)):
        before, after = recipe_of(SCENE, pair=pair).cloud(f"{name} face").stages({"s": 0.8, "r": 1.2})
        slide = (after - before)[:, [onto, stays]]
        np.testing.assert_allclose(
            slide, np.broadcast_to([sign * 0.8 * CUBE_HALF * 1.2, 0], slide.shape), atol=ROUNDING
        )


@pytest.mark.parametrize("params", EXTREMES)
def test_at_s_zero_and_everywhere_all_is_finite(params):
    recipe = recipe_of(SCENE, branch="both")
    for view in recipe.views:
        for layer in view.layers:
            if layer.draws != "line":
                for progress in (0, 0.5, 1, 1.5, 2):
                    assert np.isfinite(layer.points(recipe.moment(params, progress))).all()


@pytest.mark.parametrize("name, value, axis", [("s", 1.2, 0), ("s", -1.2, 0), ("s", 0.8, 1)])
def test_the_map_fills_its_panel_at_the_ends_of_the_sliders(name, value, axis):
    recipe = recipe_of(SCENE, branch="both")
    view, largest = recipe.views[2], {p.name: p.max for p in recipe.parameters}
    at = recipe.moment({"r": largest["r"], "s": recipe.defaults["s"]} | {name: value}, 1)
    far = max(np.nanmax(np.abs(mark.points(at)[:, axis])) for mark in view.layers)
    assert 0.9 < far / view.ranges[axis][1] <= 1


# --- what the text says

HALVES = (("upper", 1), ("lower", -1))
SHADOW = [0, 1]  # for the shear of x by z, which the text describes


def at(title, name):
    """The positions of the cloud `name` at each stage, with the sliders of a stop."""
    state = stop("shear", title)
    return state.recipe.cloud(name).stages(state.params)


def two_halves():
    for pair in PAIRS:
        onto, _, by = axes(pair)
        for half, sign in HALVES:
            before, after = (
                recipe_of(SCENE, pair=pair, branch="both")
                .cloud(f"{half} grid")
                .stages({"s": 0.8, "r": 1.2})[:2]
            )
            assert (sign * before[:, by] >= -ROUNDING).all()
            assert (sign * (after - before)[:, onto] >= -ROUNDING).all()


def two_straight_shadows():
    for pair in PAIRS:
        test_shadow_of_a_face_of_the_cube_moves_as_a_whole(pair)


def the_map():
    for r in (0.4, 1.4):
        for s in (-1.2, 0.5, 1.2):
            before, after = recipe_of(SCENE).cloud("dots").stages({"s": s, "r": r})[:2]
            shadow = sheared_shadow(before[:, 0], before[:, 1], s=s, radius=r)[0]
            np.testing.assert_allclose(after[:, :2], shadow, atol=ROUNDING)
    test_middle_slides_by_s_times_r()
    test_rim_does_not_move("x-z")


def not_affine():
    """The map of the shadow is not affine: it moves the middle, but not the rim.

    An affine map that keeps all points of the rim is the identity.
    """
    the_map()
    two_straight_shadows()
    angles = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    rim = np.column_stack([np.cos(angles), np.sin(angles), np.ones(12)])
    found, _, rank, _ = np.linalg.lstsq(rim, rim[:, :2])
    assert rank == 3
    np.testing.assert_allclose(found, np.eye(3)[:, :2], atol=ROUNDING)


def it_folds():
    r, k = 1.2, 0.3
    w, t = np.sqrt(r**2 - k**2), np.radians(np.linspace(-90, 90, 1801))
    for s in (0.2, 0.8, 1.2):
        shadow = sheared_shadow(w * np.sin(t), k + 0 * t, s=s, radius=r)[0][:, 0]
        np.testing.assert_allclose(shadow, w * np.sqrt(1 + s**2) * np.sin(t + np.arctan(s)), atol=RIM)
        assert np.degrees(t[shadow.argmax()]) == pytest.approx(90 - np.degrees(np.arctan(s)), abs=0.1)
        assert shadow.argmax() < len(t) - 1  # before the rim: from there on it turns back


def shadow_of_two():
    dots = at("A sphere and its shadow", "net")[0]
    inside = dots[np.hypot(*dots[:, SHADOW].T) < 1.2 - 1e-6]
    mirrored = inside * [1, 1, -1]
    distance = np.abs(mirrored[:, None] - dots[None]).max(-1).min(1)
    assert distance.max() < 0.05 and (inside[:, 2] != 0).mean() > 0.9


def two_faces_apart():
    for half, sign in HALVES:
        before, after = at("The cube", f"{half} face")[:2]
        slide = (after - before)[:, SHADOW]
        np.testing.assert_allclose(slide, slide[:1] + 0 * slide, atol=ROUNDING)
        assert sign * slide[0, 0] > 0.5


def the_shadow_as_a_map():
    state = stop("shear", "Straight lines become arcs")
    assert state.recipe.views[2].name == "map"
    before, after = at("Straight lines become arcs", "rim")[:2]
    assert not before[:, 2].any()
    np.testing.assert_allclose(after, before, atol=ROUNDING)


def they_trade_places():
    state = stop("shear", "Both halves")
    u, v = np.random.default_rng(0).uniform(-0.5, 0.5, (2, 20))
    plus, minus = sheared_shadow(u, v, s=state.params["s"], radius=1.2)
    np.testing.assert_array_equal(sheared_shadow(u, v, s=-0.8, radius=1.2), [minus, plus])
    assert state.params["s"] == 0.8


def the_outline():
    recipe = recipe_of(SCENE)
    for s in (-1.2, 0.8):
        _, sphere, _ = recipe.cloud("sphere").stages({"s": s, "r": 1.2})
        x, y = sphere[:, SHADOW].T
        inside = (x / np.sqrt(1 + s**2)) ** 2 + y**2
        assert inside.max() < 1.2**2 + ROUNDING and inside.max() > 0.99 * 1.2**2


def one_way_and_the_other():
    two_halves()
    up, low = (at("The shear", f"{half} grid")[1][:, SHADOW].mean(0) for half, _ in HALVES)
    assert up[0] > 0.3 and low[0] < -0.3


def both_cover_the_circle():
    """The shadow of each half covers the whole grey circle, and reaches beyond it on one side.

    This is tested at nine heights y.
    """
    params = stop("shear", "The shear").params
    one_way_and_the_other()
    for y in np.linspace(-1.1, 1.1, 9):
        w = np.sqrt(params["r"] ** 2 - y**2)
        x = np.linspace(-w, w, 501)
        up, low = (half[:, 0] for half in sheared_shadow(x, y + 0 * x, s=params["s"], radius=params["r"]))
        np.testing.assert_allclose([up.min(), low.max()], [-w, w], atol=RIM)
        assert up.max() > 1.2 * w and low.min() < -1.2 * w


def back_over_each_other():
    state = stop("shear", "A fold")
    x = np.linspace(0, state.params["r"], 200)
    shadow = sheared_shadow(x, 0 * x, s=state.params["s"], radius=state.params["r"])[0][:, 0]
    assert (np.diff(shadow)[:100] > 0).all() and (np.diff(shadow)[-60:] < 0).all()


def whole_again():
    state = stop("shear", "Back on the sphere")
    before, _, after = at("Back on the sphere", "net")
    np.testing.assert_allclose(np.linalg.norm(after, axis=1), state.params["r"], atol=ROUNDING)
    before, after = (x.reshape(13, -1, 3) for x in (before, after))  # 6 of longitude, 7 of latitude
    normals = np.linalg.svd(before[:6])[2][:, 2]
    left = np.abs(np.einsum("kni,ki->kn", after[:6], normals)).max(1)  # their planes
    left = np.append(left, np.abs(after - before)[6:, :, 2].max(1))  # their heights
    assert [k for k in range(13) if left[k] < 0.1] == [0, 9]
    np.testing.assert_allclose(after[0, :, 1], 0, atol=ROUNDING)
    np.testing.assert_allclose(after[9], before[9], atol=ROUNDING)
    assert not before[9, :, 2].round(9).any()  # the equator
    before, _, after = (x[state.follow] for x in at("Back on the sphere", "dots"))
    assert np.linalg.norm(after - before) > 0.1


def the_same_map():
    state = stop("shear", "Another wall")
    assert state.choices["pair"] == "z-x"
    before, after = at("Another wall", "dots")[:2]
    np.testing.assert_allclose(after[:, :2], before[:, :2], atol=ROUNDING)
    np.testing.assert_allclose(after[:, 2], before[:, 2] + state.params["s"] * before[:, 0], atol=ROUNDING)
    assert state.recipe.views[2].axes == ("z", "y")


CLAIMS = {
    r"The half with $z \ge 0$ is blue and slides one way; the half with $z \le 0$ is pink and slides the other way.": two_halves,
    "In the picture “A cube under the same shear” the shadows of the two coloured faces consist of straight lines.": two_straight_shadows,
    r"It is $r$ in the middle and 0 on the rim. So the middle slides by $s r$, and the rim does not move. A straight line $x = k$ becomes an arc of an ellipse (for $s \ne 0$).": the_map,
    r"On the blue half ($z \ge 0$), follow a half circle with a fixed $y = k$ to the right. Write $w = \sqrt{r^2 - k^2}$ and $x = w \sin(\varphi)$. The point at $x$ goes to $$x' = w \sin(\varphi) + s\, w \cos(\varphi) = w \sqrt{1 + s^2}\, \sin(\varphi + \arctan(s))$$ For $s > 0$ this is largest at $\varphi = 90° - \arctan(s)$, before the rim at $\varphi = 90°$. From there to the rim the shadow turns back, so two points of the half $z \ge 0$ share one shadow.": it_folds,
    "Every point inside the grey circle is the shadow of two points of the sphere, one blue and "
    "one pink.": shadow_of_two,
    "Its two coloured faces have moved apart, and every line of their shadows is still straight.": two_faces_apart,
    "Look at the picture “The shadow as a map”.": the_shadow_as_a_map,
    "The picture “The shadow as a map” shows where the shadow of each point goes in the plane.": the_shadow_as_a_map,
    r"The circle is the rim, where $z = 0$: it has not moved.": the_shadow_as_a_map,
    r"Change **s** to $-0.8$ and they trade places.": they_trade_places,
    r"An affine map of the plane that fixes all points of a circle fixes every point. But here the rim stays, and the middle of the shadow moves by $s r$. So the map on the sphere's shadow is neither linear nor affine. On the shadow of the cube's face it is affine: a shift by $\pm s h$.": not_affine,
    r"An ellipse: the circle, stretched along $x$ by the factor $\sqrt{1 + s^2}$. The shadow consists of all $(x + s z, y)$ with $x^2 + y^2 + z^2 = r^2$. At a given $y$ the sum $x + s z$ reaches $\pm\sqrt{1 + s^2}\,\sqrt{r^2 - y^2}$.": the_outline,
    "The blue half has gone one way, the pink half the other. Both shadows still cover the grey circle, and each reaches beyond it on its own side.": both_cover_the_circle,
    "At the right the arcs turn back over each other. Of two points of one horizontal line, the one that was further to the right can now have its shadow further to the left.": back_over_each_other,
    "Normalising brings every point back to distance $r$: the shape is a sphere again. Of its circles of longitude and latitude only two are where they were: the equator, and the circle in the plane $y = 0$. Compare the red point's numbers before and after.": whole_again,
    "Now the shift in $z$ depends on $x$. The light falls along $x$, so the shadow stands on a wall and shows $z$ against $y$.": the_same_map,
}
