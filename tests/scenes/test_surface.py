"""Every slice of the activation surface is the curve that it claims to be; a line covers half a circle."""

import numpy as np
import pytest

from components.language.marks import Line
from components.scenes.surface import SCENE, SLICES
from components.scenes.surface.build import HEIGHT_SCALE, LINE_HALF_LENGTH, POINT_COUNT, THETA
from components.training.recipes import recipe_of
from geometry import fold, stretch, u_eps
from tests.scenes.claims import said, stop

SLICE = 1e-12  # the same formula in another order, in double precision
CLOSED = 1e-10  # the closed form goes by the tangent of the half angle
X, Y = np.cos(THETA), np.sin(THETA)


def last(kind, cloud, **params):
    recipe = recipe_of(SCENE, slice=kind)
    return recipe.cloud(cloud).stages(recipe.defaults | params)[-1]


@pytest.mark.parametrize("eps", (0.0, 0.3))
@pytest.mark.parametrize("t", (-2.5, -1.0, 0.0, 0.4, 1.3, 2.5))
@pytest.mark.parametrize("kind, curve", (("stretch", stretch), ("fold", fold)))
def test_a_slice_is_the_curve(kind, curve, t, eps):
    got = last(kind, "slice", t=t, eps=eps)
    np.testing.assert_allclose(got[:, :2], curve(np.stack([X, Y], -1), t=t, eps=eps), rtol=0, atol=SLICE)
    footprint = (t * X, Y) if kind == "stretch" else (X + t, Y)
    np.testing.assert_allclose(got[:, 2:4], np.stack(footprint, -1), rtol=0, atol=SLICE)


@pytest.mark.parametrize("t", (-2.5, -0.7, 0.0, 1.3, 2.5))
@pytest.mark.parametrize("kind", ("stretch", "fold"))
def test_a_slice_has_the_closed_form(kind, t):
    got = last(kind, "slice", t=t)[:, :1]
    np.testing.assert_allclose(got, last(kind, "closed form", t=t), rtol=0, atol=CLOSED)


@pytest.mark.parametrize("kind", ("stretch", "fold", "line"))
@pytest.mark.parametrize("eps", (0.0, 0.3))
def test_a_slice_lies_on_the_sheet(kind, eps):
    """The slice has the heights that the sheet's own pipeline gives at the slice's places."""
    recipe = recipe_of(SCENE, slice=kind)
    params = recipe.defaults | {"eps": eps}
    got = recipe.cloud("slice").stages(params)[-1]
    sheet = recipe.cloud("sheet").pipeline.stages(got[:, 2:4], params)[-1]
    np.testing.assert_allclose(got[:, :1], sheet[:, :1], rtol=0, atol=SLICE)


@pytest.mark.parametrize("eps", (0.0, 0.3))
@pytest.mark.parametrize("h", (0.05, 0.5, 1.2))
def test_a_straight_slice_is_the_activation_of_one_number(h, eps):
    x = np.linspace(-LINE_HALF_LENGTH, LINE_HALF_LENGTH, POINT_COUNT)[:, None]
    got = last("line", "slice", h=h, eps=eps)[:, :1]
    np.testing.assert_allclose(got, u_eps(x, eps=h * h + eps), rtol=0, atol=SLICE)


@pytest.mark.parametrize("eps", (0.0, 1.0))
@pytest.mark.parametrize("h", (0.05, 0.5, 1.2))
def test_the_angle_is_the_arctangent(h, eps):
    """The image of the point (x, h) of the line lies in the direction with the angle arctan(x/h).

    This holds for ε > 0 too, where the image is inside the circle: each point stays on its ray from 0.
    """
    x, angle = (
        np.linspace(-LINE_HALF_LENGTH, LINE_HALF_LENGTH, POINT_COUNT),
        last("line", "angle", h=h, eps=eps)[:, 0],
    )
    np.testing.assert_allclose(last("line", "arctangent", h=h)[:, 0], np.arctan(x / h), rtol=0, atol=CLOSED)
    np.testing.assert_allclose(angle, np.arctan(x / h), rtol=0, atol=CLOSED)


def test_the_line_named_arctan_is_drawn_after_both_its_steps():
    """The cloud “arctangent” is drawn after both steps; after the first alone it would be the line x/h."""
    view = next(view for view in recipe_of(SCENE, slice="line").views if view.name == "angle")
    row = next(layer for layer in view.layers if layer.cloud == "arctangent").rows[1]
    assert row.stage == len(recipe_of(SCENE, slice="line").cloud("arctangent").pipeline.steps)


def test_a_line_spans_half_a_circle():
    h = 0.05
    angle = last("line", "angle", h=h)[:, 0]
    missing = 2 * h / LINE_HALF_LENGTH  # π/2 − arctan(L/h) < h/L at each end
    assert np.pi - missing < np.ptp(angle) < np.pi


@pytest.mark.parametrize("kind", ("stretch", "fold", "line"))
def test_the_curtain_hangs_from_the_slice_to_the_floor(kind):
    curtain = last(kind, "curtain")
    np.testing.assert_array_equal(curtain[:POINT_COUNT], last(kind, "slice"))
    np.testing.assert_array_equal(curtain[POINT_COUNT:, [0, 1, 4]], 0)
    np.testing.assert_array_equal(curtain[POINT_COUNT:, 2:4], curtain[:POINT_COUNT, 2:4])


# --- what the text says

SHEET = recipe_of(SCENE).cloud("sheet")


def height(x, y, eps=0.0):
    """The first coordinate of u_ε(x, y): the height of the surface above the places (x, y)."""
    floor = np.stack(np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float)), -1)
    return SHEET.pipeline.stages(floor, {"eps": eps})[-1][..., 0]


def at(title):
    """At a stop: its state; the slice's points before all steps; the slice's points as the stop shows them."""
    state = stop("surface", title)
    slice_ = state.recipe.cloud("slice")
    return state, slice_.stages(state.params)[0], slice_.at(state.params, state.progress)


def three_slices():
    assert len(SLICES) == 3


def two_maps():
    for kind, t in (("stretch", 2.5), ("fold", 1.3)):
        test_a_slice_is_the_curve(kind, {"stretch": stretch, "fold": fold}[kind], t, 0.0)


def between_minus_one_and_one():
    assert HEIGHT_SCALE > 1
    for kind in SLICES:
        for eps in (0.0, 1.0):
            recipe = recipe_of(SCENE, slice=kind)
            *_, sheet = recipe.cloud("sheet").stages(recipe.defaults | {"eps": eps})
            assert np.abs(sheet[:, 0]).max() <= 1


def rays_are_level():
    phi, far = np.radians(np.arange(0, 360, 5))[:, None], np.array([1e-6, 0.1, 1, 3])
    heights = height(far * np.cos(phi), far * np.sin(phi))
    np.testing.assert_allclose(heights, np.cos(phi) + 0 * far, atol=SLICE)
    np.testing.assert_allclose(heights, heights[(-np.arange(72)) % 72], atol=SLICE)  # ±φ share one
    assert heights.min() == pytest.approx(-1) and heights.max() == pytest.approx(1)
    assert height(0, 0) == 0


def the_dip():
    for t in (1.05, 1.3, 2.5):
        np.testing.assert_allclose(height([t - 1, t + 1], 0), 1, atol=SLICE)
        curve = last("fold", "slice", t=t)[:, 0]
        assert curve.max() < 1  # no point is on the axis


def half_a_circle():
    for h in (0.05, 0.5, 1.2):
        image, angle = (last("line", name, h=h) for name in ("slice", "angle"))
        np.testing.assert_allclose(np.linalg.norm(image[:, :2], axis=1), 1, atol=SLICE)
        assert (np.linalg.norm(last("line", "slice", h=h, eps=0.3)[:, :2], axis=1) < 1).all()
        test_the_angle_is_the_arctangent(h, 1.0)
        assert np.abs(angle[:, 0]).max() < np.pi / 2 == pytest.approx(np.arctan(1e9 / h), abs=1e-8)


def half_a_sphere():
    normal, h = np.array([2.0, -1.0, 2.0]) / 3, 0.7
    y = np.random.default_rng(0).normal(size=(500, 3))
    y *= np.sign(y @ normal)[:, None] / np.linalg.norm(y, axis=1, keepdims=True)  # all over one half
    plane = y * (h / (y @ normal))[:, None]  # the plane's point on the ray of each y
    np.testing.assert_allclose(plane @ normal, h, atol=SLICE)
    np.testing.assert_allclose(u_eps(plane, eps=0.0), y, atol=SLICE)
    through = y - np.outer(y @ normal, normal)
    np.testing.assert_allclose(u_eps(through, eps=0.0) @ normal, 0, atol=1e-9)
    for size in (0.1, 10.0):  # a cone contains the whole ray of each of its points
        np.testing.assert_allclose(u_eps(size * plane, eps=0.0) @ normal, y @ normal, atol=SLICE)


def half_have_left():
    state, x, now = at("A shift alone")
    _, high = state.recipe.views[1].ranges[1]
    np.testing.assert_allclose(now[:, 0] - x[:, 2], 1.3, atol=SLICE)
    assert np.mean(now[:, 0] > high) == pytest.approx(0.5, abs=0.05)


def around_the_origin():
    state, x, now = at("Slide the slice")
    right = np.argsort(x[:, 2])
    assert now[right[0], 0] < -0.99 and now[right[-1], 0] > 0.99
    assert (np.diff(now[right, 0]) > -1e-6).all()
    left = [last("fold", "slice", t=t)[right[0], 0] for t in (state.params["t"], 0.95, 1.05, 1.3)]
    assert left[1] < -0.8 and left[2] > 0.8 and left[3] > 0.99


def level_around_the_axis():
    """For ε = 0, heights within 20° of the x axis are near ±1.

    The slope at right angles to a ray from the origin falls with the distance from the origin. For ε > 0, the
    slope along the x axis at the origin is 1/√ε.
    """
    phi, far = np.radians(np.arange(-20, 21, 5))[:, None], np.array([0.1, 1, 3])
    for side in (1, -1):
        heights = side * height(side * far * np.cos(phi), far * np.sin(phi))
        assert heights.min() > 0.93 and heights.max() <= 1
    phi, h = np.radians([30, 90, 150])[:, None], 1e-6
    x, y = far * np.cos(phi), far * np.sin(phi)
    across = [height(x - step * np.sin(phi), y + step * np.cos(phi)) for step in (-h, h)]
    assert (np.diff(np.abs(across[1] - across[0])) < 0).all()
    slopes = [height(h, 0, eps) / h for eps in (0.01, 0.1, 1.0)]
    np.testing.assert_allclose(slopes, [10, 10**0.5, 1], rtol=1e-6)


def under_the_level_parts():
    _, _, now = at("The stretch, on the same surface")
    assert np.mean(np.abs(now[:, 0]) > 0.8) > 0.6


def nearly_half():
    state, _, now = at("Half a circle")
    angle = state.recipe.cloud("angle").stages(state.params)[-1][:, 0]
    assert 0.95 < np.ptp(angle) / np.pi < 1
    lines = {mark.role: mark.size for mark in state.recipe.views[0].layers if isinstance(mark, Line)}
    assert max(lines, key=lines.__getitem__) == "meeting"  # the thick one
    assert [view.name for view in state.recipe.views] == ["surface", "curve", "angle"]
    np.testing.assert_allclose(np.linalg.norm(now[:, :2], axis=1), 1, atol=SLICE)


def rounded():
    state, _, now = at("A rounded cliff")
    said(state.params["eps"], "0.1")
    closed = state.recipe.cloud("closed form").stages(state.params)[-1][:, 0]
    assert (np.abs(now[:, 0]) < np.abs(closed)).all()
    near = np.array([1e-4, -1e-4])
    assert np.ptp(height(near, 0)) == 2 and np.ptp(height(near, 0, eps=0.1)) < 1e-3


def height_zero():
    np.testing.assert_array_equal(height(0, np.linspace(-3, 3, 7)), 0)
    assert (height(np.array([-1, -0.01, 0.01, 1]), np.linspace(-3, 3, 9)[:, None]) != 0).all()


def the_same_curve():
    x = np.linspace(-3, 3, 61)
    np.testing.assert_allclose(height(x, 0.3), u_eps(x[:, None], eps=0.09)[:, 0], atol=SLICE)
    said(0.3**2, "0.09")
    said(height(1e-6, 0.3) / 1e-6, "3.33")


def down_and_up():
    _, x, now = at("A slice")
    upper = now[POINT_COUNT // 2 :, 0][np.argsort(x[POINT_COUNT // 2 :, 2])]
    low = upper.argmin()
    assert (np.diff(upper[: low + 1]) < 0).all() and (np.diff(upper[low:]) > 0).all()
    assert upper[0] > 0.95 and upper[-1] > 0.95 and upper[low] < 0.7


def a_plane():
    state, x, now = at("Before anything bends")
    np.testing.assert_array_equal(now[:, 0], x[:, 2])
    sheet = state.recipe.cloud("sheet").at(state.params, state.progress)
    np.testing.assert_array_equal(sheet, state.recipe.cloud("sheet").points)


def closer_to_a_step():
    state, x, now = at("The sigmoid is a straight slice")
    np.testing.assert_allclose(now[:, 3], state.params["h"], atol=SLICE)
    off = [np.abs(last("line", "slice", h=h)[:, 0] - np.sign(x[:, 2])).mean() for h in (0.05, 0.2, 0.5, 1.2)]
    assert off == sorted(off) and off[0] < 0.1


CLAIMS = {
    "The activation curves of stretch, fold and sigmoid are slices of one surface: the first coordinate of a normalised point, drawn as a height.": three_slices,
    "At the last stage all heights lie between $-1$ and $1$; the picture enlarges them more than lengths on the floor.": between_minus_one_and_one,
    "So the two maps share one function, at different points:": two_maps,
    r"For $\varepsilon = 0$ the height is the cosine of the angle between $(x, y)$ and the $x$ axis. So it is constant along each ray from the origin. (Two rays that mirror each other in the $x$ axis have the same height.) Rays of every height from $-1$ to $1$ meet at the origin: the surface has a cliff there, and no value at the origin makes it continuous. The origin itself has the height 0,": rays_are_level,
    r"With $\varepsilon = 0$ and $t > 1$ the circle lies beside the origin. Its leftmost and its rightmost point are on the $x$ axis, both at height 1.": the_dip,
    r"With $\varepsilon = 0$ normalising moves the line onto a circle of radius 1. With a larger $\varepsilon$ each point stops inside this circle, on the same ray, so its angle is the same.": half_a_circle,
    r"It approaches $\pm\pi/2$ at the far ends: the whole line becomes half a circle, without its ends.": half_a_circle,
    "dividing by the length turns such a plane into a circle within it. A plane that misses the origin becomes half a sphere, as the line becomes half a circle.": half_a_sphere,
    "half of the points are now outside the panel.": half_have_left,
    "Now the circle surrounds the origin, and the curve climbs from $-1$ to $1$. Move **t** slowly to 1.3 and watch the left end of the curve as the circle passes the origin.": around_the_origin,
    r"For $\varepsilon = 0$ the surface is high and nearly level around the right half of the $x$ axis, low and nearly level around the left half. Between the two it climbs, more steeply near the origin. A larger $\varepsilon$ makes the surface flatter near the origin.": level_around_the_axis,
    "most of it lies under the two nearly level parts of the surface. So in the panel “The slice as a curve” both ends are nearly flat.": under_the_level_parts,
    "### Half a circle Normalising takes the line to the thick violet arc on the floor, nearly half of the unit circle. The panel “Its angle, an arctangent” shows the angle along this arc;": nearly_half,
    "nearly half of the unit circle.": nearly_half,
    r"With $\varepsilon = 0.1$ the cliff at the origin is rounded. In the panel “The slice as a curve” the points leave the brown line, which shows the formula with $\varepsilon = 0$.": rounded,
    "Where on the floor is the height 0? On the whole $y$ axis, where $x = 0$.": height_zero,
    r"Why does the curve of the fold reach 1 at both ends when $t > 1$ and $\varepsilon = 0$? Both ends of the circle, $(1 + t, 0)$ and $(-1 + t, 0)$, then lie on the right half of the $x$ axis. There $y = 0$ and $x > 0$, so the height is $x / |x| = 1$.": the_dip,
    r"Without an $\varepsilon$, a line that misses the origin by $h = 0.3$ becomes a curve. For which $\varepsilon$ does $u_\varepsilon$ of one number have the same curve? $\varepsilon = h^2 = 0.09$, since $x/\sqrt{x^2 + 0.3^2}$ is $u_{0.09}(x)$. Its slope at 0 is $1/h \approx 3.33$.": the_same_curve,
    "Follow the coloured curve on the surface: high, down into a dip, and high again.": down_and_up,
    "The height is $x$ itself, so the surface is a plane. The panel “The slice as a curve” shows a diagonal.": a_plane,
    r"The path is a line that misses the origin by $h$. Make **h** smaller: the curve in the panel “The slice as a curve” comes closer to a step.": closer_to_a_step,
}
