"""The norm as a central projection: cones, conic sections, great circles; what the text says of them."""

from itertools import product

import numpy as np
import pytest

from components.language.scene import scenes
from components.scenes.cone import SCENE
from components.scenes.cone.layers import FLAT
from components.scenes.cone.sheet import AROUND, HEIGHT, LONGEST, RADIUS
from components.training.recipes import recipe_of
from geometry import u_eps
from geometry.sheets import plane_sheets, sphere_preimages
from learning.datasets import spiral
from learning.network import Network
from learning.sheet_counts import FIRST_INPUTS, images, network_layers
from learning.shipped import film, table
from tests.geometry.circle_sheets import circle_sheets, layers_of
from tests.scenes.claims import said, stop
from tools.films.sheets import TURNS

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
    np.testing.assert_array_equal(grid[1], recipe.cloud("rim").stages(params)[0])


def length_one():
    np.testing.assert_allclose(np.linalg.norm(stages("sheet")[1][:, :3], axis=1), 1, atol=EXACT)


def conic(title, kind):
    """The points satisfy the focus–directrix property, and the conic through five of them is of the right
    kind.
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
    """The line of the recipe is in the plane of its circle; an infinite line covers 180°."""
    found = stop("cone", "A straight line")
    before, after = found.recipe.cloud("line").stages(found.params)
    normal_ = np.array([HEIGHT, 0, -found.params["a"]])
    np.testing.assert_allclose(before @ normal_, 0, atol=EXACT)
    np.testing.assert_allclose(after @ normal_, 0, atol=EXACT)
    ends = np.array([[0.4, -1e6, HEIGHT], [0.4, 1e6, HEIGHT]])
    a, b = ends / np.linalg.norm(ends, axis=1, keepdims=True)
    assert np.degrees(np.arccos(a @ b)) == pytest.approx(180, abs=1e-3)


def plane_through_origin():
    """Points of a half great circle come from points of the sheet on a straight line."""
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
    """Both lines lie on the sheet and end at its edge; the kink is a point of the bent line."""
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
    """The thin arc: a half of the great circle that contains the line's image, with ends at (0, ±1, 0)."""
    for a in (-0.8, 0.4, 0.7):
        arc, image = line_stages("half", a=a)[0], line_stages("line", a=a)[1]
        np.testing.assert_allclose(np.linalg.norm(arc, axis=1), 1, atol=EXACT)
        np.testing.assert_allclose(arc[[0, -1]], line_stages("far ends")[0], atol=EXACT)
        np.testing.assert_allclose(arc @ np.array([HEIGHT, 0, -a]), 0, atol=EXACT)
        steps = np.degrees(np.arccos(np.clip((arc[1:] * arc[:-1]).sum(-1), -1, 1)))
        assert steps.sum() == pytest.approx(180) and (arc[1:-1, 2] > 0).all()
        # the image of the line is a part of it: its plane is the same, and it is above the equator
        np.testing.assert_allclose(image @ np.array([HEIGHT, 0, -a]), 0, atol=EXACT)
        assert (image[:, 2] > 0).all()


def test_the_cone_always_meets_the_sheet():
    axis, opening = (each for each in recipe_of(SCENE).parameters if each.name in ("axis", "opening"))
    for n in np.linspace(axis.min, axis.max, 29):
        for alpha in np.linspace(opening.min, opening.max, 11):
            assert len(on_the_sheet(stages("rim", axis=n, opening=alpha)[0])) >= 2, (n, alpha)


def reached():
    return [(row["bound"], np.array(row["sheets"]), np.array(row["accuracy"])) for row in table("sheets")]


def trained():
    assert [row["norms"] for row in table("sheets")] == [2, 3, 4, 5, 6]
    assert {len(counts) for _, counts, _ in reached()} == {32} and TURNS == 1.5
    assert [np.median(counts) for _, counts, _ in reached()] == [2, 4, 4, 7, 8]
    assert [bound for bound, _, _ in reached()] == [2, 4, 8, 16, 32]
    assert [(counts == bound).sum() for bound, counts, _ in reached()] == [32, 27, 13, 3, 0]
    shares = [(counts / bound).mean() for bound, counts, _ in reached()]
    assert (np.diff(shares) < 0).all()


def learned():
    counts = np.concatenate([counts[accuracy >= 0.99] for _, counts, accuracy in reached()])
    assert len(counts) == 69 and counts.min() == 4


def two_norms():
    """All networks with two norms solve the spiral of one turn, which the scene `spiral` shows first."""
    found, choice = film("spiral"), next(each for each in scenes()["spiral"].choices if each.name == "turns")
    assert len(found.network.hidden_widths) == 2 and found.solved().all() and choice.default == "1"
    np.testing.assert_allclose(found.data.points, spiral(200, turns=1, noise=0, seed=0).points, atol=1e-3)


def inputs_drawn():
    # the first draw finds these sheets; two more draws must find no more
    assert FIRST_INPUTS * (1 + 2 + 4) == 28_000


def without_eps():
    assert Network(2, 3, 2, 1).eps == 0.001
    assert np.median([share for row in table("sheets") for share in row["same"]]) == 1
    assert len(spiral(200, turns=TURNS, noise=0, seed=0).points) == 200


def degree_doubles():
    """u = u_ε(x) of the plane ⟨n, x⟩ = h has ‖u‖² + ε/h²·⟨n, u⟩² = 1. Then y = u_ε(Au + b) fulfils an
    equation P(y) + r·Q(y) = 0 with r = √(1 − ‖y‖²) and polynomials of degree 2 and 1; P² − r²Q² has degree 4.
    """
    rng = np.random.default_rng(5)
    eps, h, n = 0.3, 0.7, np.array([0.6, 0, 0.8])
    plane = rng.normal(size=(200, 3))
    plane += np.outer(h - plane @ n, n)
    u = u_eps(plane, eps=eps)
    Q = np.eye(3) + eps / h**2 * np.outer(n, n)
    np.testing.assert_allclose(np.einsum("pi,ij,pj->p", u, Q, u), 1)
    A, b = rng.normal(size=(3, 3)), rng.normal(size=3)
    y = u_eps(u @ A.T + b, eps=eps)

    def product(y):
        """(P + rQ)·(P − rQ) of the image: with x = √ε·y/r, u = A⁻¹(x − b) and uᵀQu = 1, times r²."""
        r = np.sqrt(np.maximum(1 - (y**2).sum(-1), 0))
        both = []
        for sign in (1, -1):
            scaled = np.linalg.solve(A, (np.sqrt(eps) * y - sign * r[:, None] * b).T).T  # r·u
            both.append(np.einsum("pi,ij,pj->p", scaled, Q, scaled) - r**2)
        return both[0] * both[1]

    np.testing.assert_allclose(product(y), 0, atol=1e-9)
    t = np.linspace(-0.5, 0.5, 40)
    values = product(np.outer(t, [0.5, 0.3, -0.6]) + np.array([0.1, -0.2, 0.2]))
    fit = [np.abs(np.polyval(np.polyfit(t, values, degree), t) - values).max() for degree in (3, 4)]
    assert fit[1] < 1e-9 < fit[0]  # along a line its degree is 4, not lower
    r = np.sqrt(1 - (y**2).sum(-1, keepdims=True))
    np.testing.assert_allclose(np.sqrt(eps) * y / r, u @ A.T + b)
    assert 2 ** (6 - 1) == reached()[-1][0] == 32  # five norms before the last of six


def flat_once():
    """The ray of a direction meets a plane at most once; so it does after the first norm of each network."""
    found = film("spiral_15")
    for each in found.weights[:, -1]:
        layers = network_layers(found.network, each)[:1]
        x = np.random.default_rng(1).uniform(-1, 1, (2000, 2))
        assert (plane_sheets(layers, images(layers, x), 1.0) <= 1).all()
    doubled()


def third_panel():
    recipe, _ = layers_state()
    dots = recipe.cloud("networks").points
    for fold, (_, counts, _) in enumerate(reached(), 1):
        column = dots[np.abs(dots[:, 0] - fold) < 0.5, 1]
        np.testing.assert_allclose(np.sort(2**column), np.sort(counts))
    np.testing.assert_allclose(recipe.cloud("medians").points[:, 1], np.log2([2, 4, 4, 7, 8]))
    assert film("spiral_15").network.hidden_widths == (3, 3, 3)


def as_many_folds():
    assert np.median(reached()[-1][1]) == 8 and len(reached()[-1][1]) == 32
    assert table("sheets")[-1]["norms"] - 1 == 5
    random_sliders()


def doubled():
    """A ray meets an ellipsoid, the image of the sphere under an affine map, at most twice."""
    rng = np.random.default_rng(2)
    for _ in range(100):
        A, b, ray = rng.normal(size=(3, 3)), rng.normal(size=3), rng.normal(size=3)
        back, start = np.linalg.solve(A, ray), np.linalg.solve(A, -b)  # |start + t·back| = 1, t > 0
        roots = np.roots([back @ back, 2 * start @ back, start @ start - 1])
        assert len(roots) == 2


def layers_state(**params):
    recipe = recipe_of(SCENE, what="layers")
    return recipe, recipe.defaults | params


def sheets_after(norms=5, **params):
    recipe, params = layers_state(**params)
    return circle_sheets(layers_of(recipe.cloud("layers").pipeline, params)[:norms])


def crossings(heights, level):
    """The number of times that a closed curve crosses a level."""
    above = heights > level
    return int((above != np.roll(above, 1)).sum())


def sheet_by_sheet():
    """The curve crosses the height of the ray once for each sheet over the ray, counted in closed form.

    The sheets are counted as the preimages of the ray's point under all layers.
    """
    for angle in (20.0, -50.0, 40.0):
        recipe, params = layers_state(ray=angle)
        level = recipe.cloud("level").stages(params)[0][:, 0]
        np.testing.assert_allclose(level, np.sin(np.radians(angle)), atol=EXACT)
        tip = recipe.cloud("tip").stages(params)[0][0]
        np.testing.assert_allclose(np.arctan2(tip[1], tip[0]), np.radians(angle), atol=EXACT)
        layers = layers_of(recipe.cloud("layers").pipeline, params)
        heights = recipe.cloud("curve").stages(params)
        for norms in range(1, 6):
            points, exist = np.array([[np.cos(np.radians(angle)), level[0]]]), np.ones(1, bool)
            for layer in reversed(layers[:norms]):
                both, found = sphere_preimages(layer, points)
                points, exist = both.reshape(-1, 2), (found & exist).ravel()
            assert crossings(heights[2 * norms][:, 1], level[0]) == exist.sum(), (angle, norms)
            np.testing.assert_array_equal(heights[2 * norms], heights[2 * norms - 1])


def twice_on_an_ellipse():
    """Each map makes an ellipse on the right of the origin, at all ends of the sliders."""
    recipe, defaults = layers_state()
    ends = {each.name: (each.min, each.max) for each in recipe.parameters}
    for s, t in product(ends["s1"], ends["t1"]):
        for k in range(1, 6):
            image = recipe.cloud(f"ellipse {k}").stages(defaults | {f"s{k}": s, f"t{k}": t})[2 * k - 1]
            x, y = ((image - [t / 10, -s / 10]) / [FLAT, 1]).T
            np.testing.assert_allclose(x**2 + y**2, 1, atol=EXACT)
            assert image[:, 0].min() > 0 and image[:, 0].max() < t + 1
    doubled()


def on_the_circle():
    recipe, params = layers_state()
    assert sum(each.name[0] in "st" and each.vector for each in recipe.parameters) == 10
    stages = recipe.cloud("points").stages(params)
    assert len(stages) == len(recipe.stages) == 11
    for k in range(0, 11, 2):
        np.testing.assert_allclose(np.linalg.norm(stages[k], axis=1), 1, atol=EXACT)


def most_sheets():
    """The number beside the picture is that of the best of 4,000 directions, for random sliders too."""
    recipe, _ = layers_state()
    rng = np.random.default_rng(3)
    sliders = {each.name: (each.min, each.max) for each in recipe.parameters}
    for _ in range(20):
        params = {name: rng.uniform(*ends) for name, ends in sliders.items()}
        layers = layers_of(recipe.cloud("layers").pipeline, params)
        for norms in range(6):
            angle = np.linspace(-np.pi / 2, np.pi / 2, 4000)
            points = np.stack([np.cos(angle), np.sin(angle)], -1)[None]
            exist = np.ones((1, len(angle)), bool)
            for layer in reversed(layers[:norms]):
                both, found = sphere_preimages(layer, points)
                points, exist = both.reshape(-1, *both.shape[2:]), (found & exist).reshape(-1, len(angle))
            assert exist.sum(0).max() <= circle_sheets(layers[:norms]) <= 2**norms


def one_fold():
    found = stop("cone", "One fold")
    assert found.progress == 2 and sheets_after(1, **found.params) == 2
    assert [sheets_after(norms) for norms in range(6)] == [1, 2, 4, 8, 16, 32]
    most_sheets()


def five_folds():
    assert stop("cone", "Fold after fold").progress == 10
    assert sheets_after() == 32 and sheets_after(s2=0.0) == 4


def random_sliders():
    recipe, _ = layers_state()
    rng = np.random.default_rng(0)
    ends = [(each.name, each.min, each.max) for each in recipe.parameters if each.vector]
    assert len(ends) == 10
    drawn = [sheets_after(**{name: rng.uniform(low, high) for name, low, high in ends}) for _ in range(1000)]
    assert np.median(drawn) == 6


CLAIMS = {
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
    "A flat sheet that misses the origin lies over each direction at most once: the first norm cannot fold it. Each further norm at most doubles the strands.": flat_once,
    "For each number of norms, 32 networks were trained on one spiral of 1½ turns. | norms | bound on the strands | largest number of strands in a network (median of 32) | networks that reach the bound | | --- | --- | --- | --- | | 2 | 2 | 2 | 32 of 32 | | 3 | 4 | 4 | 27 of 32 | | 4 | 8 | 4 | 13 of 32 | | 5 | 16 | 7 | 3 of 32 | | 6 | 32 | 8 | 0 of 32 | So deeper networks stay farther below the bound.": trained,
    "All 69 networks that learn this spiral (accuracy 0.99 or more) do fold: they have 4 strands or more.": learned,
    "(Two norms, and so 2 strands at most, are enough for the spiral of one turn": two_norms,
    "For each network, strands are counted in at least 28,000 directions, those of random inputs;": inputs_drawn,
    "They are for $\\varepsilon = 0$": without_eps,
    r"The networks were trained with $\varepsilon = 0.001$. With $\varepsilon = 0$ at least half of the networks put all 200 training points into the same classes as before.": without_eps,
    r"### Does the bound hold with $\varepsilon > 0$? Yes, in networks of width 3. We count how often a line can meet the surface on which the points lie. - A plane has an equation of degree 1 in the coordinates $x$. A norm with $\varepsilon$ sends $x$ to $y$, and $x = \sqrt\varepsilon\, y / \sqrt{1 - \lVert y \rVert^2}$. - Put this into the equation of a surface, and you have an equation for its image after the norm. It contains a square root. Squaring removes the root, and at most doubles the degree. - So the flat sheet becomes a part of an ellipsoid, of degree 2. Before the last of six norms, the surface has degree 32 at most. - A line meets a surface of degree $n$ in at most $n$ points, unless it lies in the surface. So the last norm sends at most 32 points to one direction.": degree_doubles,
    "The third panel is about networks of width 3 that were trained on a spiral. Its horizontal axis counts the norms of a network, without the first, which gets a flat sheet and cannot fold it. The vertical axis has the largest number of strands in any direction. A longer grey bar means that more networks have this value. The bound is drawn as well.": third_panel,
    "Trained networks with six norms, of which the first cannot fold, reach 8 (median of 32).": as_many_folds,
    "With **norms in a row on one circle** there are two dimensions and five layers, each followed by a norm.": on_the_circle,
    "The sliders $s$ move each layer's ellipse down, the sliders $t$ move it away from the origin. They count in tenths: 3 means 0.3. - A ray from the origin meets an ellipse at most twice; drag the ray.": twice_on_an_ellipse,
    "The norm sends both points to one place, so pieces of the circle come to lie on one another, as *strands*. Count the pieces that a ray crosses: this is the number of strands in its direction. Each norm at most doubles it.": most_sheets,
    "After a norm all points are on the right half of the circle, where no two places have the same height. So a point at the height of the line is on the ray, and the number of crossings of the curve and the line is the number of strands.": sheet_by_sheet,
    "The numbers beside the picture are the largest number of strands in any direction, and its bound, which doubles with each norm.": most_sheets,
    "? A norm can fold the circle into two strands. How many can five norms in a row make? - 10 - 25 - * 32 Each norm at most doubles the strands.": one_fold,
    "Here the bound is reached: 32 strands. Set $s_2$ to 0, and 4 are left.": five_folds,
    "Random settings of all ten sliders give 6 strands (median of 1,000).": random_sliders,
    "A flat sheet of two dimensions still meets the cone in a conic section.": kinds,
}
