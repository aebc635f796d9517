"""The norm as a central projection: cones, conic sections, great circles; what the text says of them."""

from itertools import product

import numpy as np
import pytest

from components.scenes.cone import SCENE
from components.scenes.cone.sheet import AROUND, HEIGHT, LONGEST, RADIUS
from components.training.recipes import recipe_of
from tests.scenes.claims import said, stop

EXACT = 1e-9
TRACK = 2e-4  # cosines between whole degrees are interpolated


def state(**params):
    recipe = recipe_of(SCENE)
    return recipe, recipe.defaults | params


def stages(cloud, title=None, **params):
    if title is None:
        recipe, params = state(**params)
        return recipe.cloud(cloud).stages(params)
    found = stop("cone", title)
    return found.recipe.cloud(cloud).stages(found.params)


def eccentricity(title):
    return stages("eccentricity", title)[0][0, 0]


def normal(axis):
    return np.array([np.cos(np.radians(axis)), 0, np.sin(np.radians(axis))])


def on_the_sheet(points):
    return points[np.abs(points[:, 2] - HEIGHT) < EXACT]


@pytest.mark.parametrize(("axis", "opening"), [(70, 45), (45, 45), (20, 45), (90, 30), (133.4, 61.7)])
def test_the_rim_is_where_the_decision_changes(axis, opening):
    before, after = stages("rim", axis=axis, opening=opening)
    n, level = normal(axis), np.cos(np.radians(opening))
    np.testing.assert_allclose(np.linalg.norm(after, axis=1), 1, atol=EXACT)
    np.testing.assert_allclose(after @ n, level, atol=TRACK)
    np.testing.assert_allclose(before @ n, level * np.linalg.norm(before, axis=1), atol=3 * TRACK)
    off = np.abs(before[:, 2] - HEIGHT) > EXACT
    np.testing.assert_allclose(np.linalg.norm(before[off], axis=1), LONGEST)
    assert (before[off, 2] < HEIGHT).all()
    sheet = stages("sheet", axis=axis, opening=opening)[0]
    x = sheet[:, :3]
    np.testing.assert_allclose(sheet[:, 3], x @ n / np.linalg.norm(x, axis=1) - level, atol=TRACK)


@pytest.mark.parametrize("progress", [0, 1])
@pytest.mark.parametrize(
    ("title", "all_of_it"), [("An ellipse", True), ("A parabola", False), ("A hyperbola", False)]
)
def test_only_the_part_of_the_rim_that_is_on_the_sheet_is_drawn(title, all_of_it, progress):
    found = stop("cone", title)
    recipe, params = found.recipe, found.params
    (rim,) = [mark for mark in recipe.views[0].layers if mark.cloud == "rim"]
    before = recipe.cloud("rim").stages(params)[0]
    shown = np.isfinite(rim.points(recipe.moment(params, progress))).all(1)
    np.testing.assert_array_equal(shown, np.abs(before[:, 2] - HEIGHT) < EXACT)
    assert shown.all() == all_of_it and shown.sum() > 20


def test_the_edge_of_the_sheet_is_a_line_so_that_no_name_crosses_it():
    recipe = recipe_of(SCENE)
    assert any(mark.cloud == "edge" and mark.draws == "line" for mark in recipe.views[0].layers)
    for edge, sheet in zip(stages("edge"), stages("sheet"), strict=True):
        np.testing.assert_array_equal(edge, sheet[-AROUND:, :3])


def a_cone():
    test_the_rim_is_where_the_decision_changes(70, 45)
    recipe, params = state()
    grid = recipe.cloud("cone").stages(params)[0].reshape(2, -1, 3)
    assert not grid[0].any()
    np.testing.assert_allclose(grid[1], recipe.cloud("rim").stages(params)[0][::4], atol=1e-12)


def length_one():
    np.testing.assert_allclose(np.linalg.norm(stages("sheet")[1][:, :3], axis=1), 1, atol=EXACT)


def conic(title, kind):
    """Assert that at a stop the points of the rim on the sheet lie on a conic section of this kind.

    kind: −1 for an ellipse, 0 for a parabola, 1 for a hyperbola.
    """
    points = on_the_sheet(stages("rim", title)[0])[:, :2]
    x, y = points.T
    columns = np.stack([x * x, x * y, y * y, x, y, np.ones_like(x)], -1)
    values, forms = np.linalg.svd(columns)[1:]
    assert values[-1] < 1e-3 * values[-2]
    a, b, c = forms[-1, :3]
    discriminant = (b * b - 4 * a * c) / (a * a + c * c)
    assert np.sign(np.round(discriminant, 3)) == kind


def ellipse():
    said(eccentricity("An ellipse"), "0.37")
    conic("An ellipse", -1)
    edges = stages("edges", "An ellipse")[0]
    assert (edges[[1, 3], 2] > HEIGHT).all()


def circle():
    after = stages("rim", "A circle")[1]
    centre = after[:-1].mean(0)
    np.testing.assert_allclose(np.linalg.norm(after - centre, axis=1), np.sin(np.radians(45)), atol=TRACK)
    assert np.linalg.matrix_rank(after - centre, tol=1e-6) == 2


def parabola():
    assert eccentricity("A parabola") == pytest.approx(1)
    conic("A parabola", 0)
    lowest = stages("edges", "A parabola")[0][:, 2]
    assert np.abs(lowest[1:]).min() < EXACT


def hyperbola():
    said(eccentricity("A hyperbola"), "1.33")
    conic("A hyperbola", 1)
    assert stages("edges", "A hyperbola")[0][:, 2].min() < 0


def kinds():
    ellipse(), parabola(), hyperbola()
    for axis, opening in ((75, 30), (30, 60)):
        theta = np.radians(90 - axis)
        want = np.sin(theta) / np.cos(np.radians(opening))
        assert stages("eccentricity", axis=axis, opening=opening)[0][0, 0] == pytest.approx(want)


def great_circle():
    """The norm maps a line to an arc of a great circle: the plane through line and origin contains the arc.

    The arc of a nearly endless line spans 180°.
    """
    found = stop("cone", "A straight line")
    before, after = found.recipe.cloud("line").stages(found.params)
    normal_ = np.array([HEIGHT, 0, -found.params["a"]])
    np.testing.assert_allclose(before @ normal_, 0, atol=EXACT)
    np.testing.assert_allclose(after @ normal_, 0, atol=EXACT)
    ends = np.array([[0.4, -1e6, HEIGHT], [0.4, 1e6, HEIGHT]])
    a, b = ends / np.linalg.norm(ends, axis=1, keepdims=True)
    assert np.degrees(np.arccos(a @ b)) == pytest.approx(180, abs=1e-3)


def plane_through_origin():
    """If outputs of the norm lie on half a great circle, their inputs on the sheet lie on a straight line."""
    n = normal(20)
    one = np.array([0, 1.0, 0])
    angle = np.radians(np.linspace(10, 170, 9))[:, None]
    circle = np.cos(angle) * one + np.sin(angle) * np.cross(n, one)
    assert np.abs(circle @ n).max() < EXACT
    on_sheet = HEIGHT * circle / circle[:, 2:]
    assert np.linalg.matrix_rank(on_sheet - on_sheet[0], tol=EXACT) == 1


def kink():
    found = stop("cone", "A kink")
    before, after = found.recipe.cloud("bent line").stages(found.params)
    np.testing.assert_allclose(before[:, 1], found.params["w"] * np.maximum(before[:, 0], 0), atol=EXACT)
    for half in (after[before[:, 0] <= 0], after[before[:, 0] >= 0]):
        assert np.linalg.matrix_rank(half, tol=1e-9) == 2  # a plane through the origin
    assert np.linalg.matrix_rank(after, tol=1e-9) == 3


def line_stages(cloud, **params):
    recipe = recipe_of(SCENE, what="line")
    return recipe.cloud(cloud).stages(recipe.defaults | params)


def ends_of_sliders():
    return {each.name: (each.min, each.max) for each in recipe_of(SCENE, what="line").parameters}


def at_the_edge(**params):
    """Assert that the clouds "line" and "bent line" lie on the sheet, and begin and end at its edge.

    Also assert that the bent line runs parallel to the first axis as far as (u, v), and continues with the
    slope w. params: the values of the sliders, u, v and w among them.
    """
    for cloud in ("line", "bent line"):
        before = line_stages(cloud, **params)[0]
        away = np.linalg.norm(before[:, :2], axis=1)
        np.testing.assert_allclose(away[[0, -1]], RADIUS, atol=EXACT)
        assert away.max() < RADIUS + EXACT and (before[:, 2] == HEIGHT).all()
    middle = before[len(before) // 2]
    np.testing.assert_allclose(middle[:2], [params["u"], params["v"]], atol=EXACT)
    after_kink, before_kink = before[-1] - middle, before[0] - middle
    assert after_kink[1] == pytest.approx(params["w"] * after_kink[0]) and after_kink[0] > 0
    assert before_kink[1] == pytest.approx(0) and before_kink[0] < 0


@pytest.mark.parametrize("seed", range(20))
def test_lines_end_at_the_edge(seed):
    rng = np.random.default_rng(seed)
    at_the_edge(**{name: rng.uniform(*ends) for name, ends in ends_of_sliders().items()})


def test_lines_end_at_the_edge_at_the_ends_of_the_sliders():
    for values in product(*ends_of_sliders().values()):
        at_the_edge(**dict(zip(ends_of_sliders(), values, strict=True)))


def edges():
    at_the_edge(**recipe_of(SCENE, what="line").defaults)


def half_circle():
    """The thin arc is half a great circle from (0, −1, 0) to (0, 1, 0); the line's image is a part of it."""
    for a in (-0.8, 0.4, 0.7):
        arc, image = line_stages("half", a=a)[0], line_stages("line", a=a)[1]
        np.testing.assert_allclose(np.linalg.norm(arc, axis=1), 1, atol=EXACT)
        np.testing.assert_allclose(arc[[0, -1]], line_stages("far ends")[0], atol=EXACT)
        np.testing.assert_allclose(arc @ np.array([HEIGHT, 0, -a]), 0, atol=EXACT)
        steps = np.degrees(np.arccos(np.clip((arc[1:] * arc[:-1]).sum(-1), -1, 1)))
        assert steps.sum() == pytest.approx(180) and (arc[1:-1, 2] > 0).all()
        # the line's image is a part of this arc: it is in the same plane, and above the equator
        np.testing.assert_allclose(image @ np.array([HEIGHT, 0, -a]), 0, atol=EXACT)
        assert (image[:, 2] > 0).all()


def test_the_cone_always_meets_the_sheet():
    axis, opening = (each for each in recipe_of(SCENE).parameters if each.name in ("axis", "opening"))
    for n in np.linspace(axis.min, axis.max, 29):
        for alpha in np.linspace(opening.min, opening.max, 11):
            assert len(on_the_sheet(stages("rim", axis=n, opening=alpha)[0])) >= 2, (n, alpha)


def half_after_a_norm():
    """A plane that cuts the norm's output corresponds to a cone in the input.

    A line in the input becomes a part of half a great circle in the output.
    """
    a_cone()
    half_circle()


CLAIMS = {
    "After it, a linear layer draws a plane as the border between two classes.": a_cone,
    "A plane after the norm is a cone before it; a straight line before it is half a great circle after it.": half_after_a_norm,
    "and so decides between two classes, purple and yellow.": a_cone,
    "Each point has moved along its ray until its length is 1.": length_one,
    "below 1 it is an ellipse, at 1 a parabola, above 1 a hyperbola.": kinds,
    "of this circle the whole line covers half: its two ends tend to opposite points.": great_circle,
    "A border with a kink becomes two arcs of two great circles.": kink,
    "If the plane contains the origin, the cone is this plane itself, and the border on the sheet is a straight line.": plane_through_origin,
    "The eccentricity is 0.37. From the side, both outer rays of the cone meet the sheet.": ellipse,
    "The border is where the plane cuts the sphere, so it is a flat circle.": circle,
    "The eccentricity is 1. The parabola leaves the sheet and never returns.": parabola,
    "The eccentricity is 1.33: a hyperbola.": hyperbola,
    "a quarter - * half": great_circle,
    "Towards both ends of the line the rays become parallel to it. So the arc tends to opposite points, the two dots.": half_circle,
    "Drag the line; the dots stay.": half_circle,
    "Both end at the edge of the sheet. The thin arc shows where an endless straight line would go: half a great circle, from one dot to the opposite one.": half_circle,
    "Both end at the edge of the sheet.": edges,
    "Two half-lines with a common end: two arcs, from two great circles.": kink,
    "A flat sheet of two dimensions still meets the cone in a conic section.": kinds,
}
