"""Norms in a row that fold a circle, and the strands of trained networks; what the text says of them."""

from itertools import product

import numpy as np

from components.language.scene import scenes
from components.scenes.strands import SCENE
from components.scenes.strands.build import FLAT
from components.training.recipes import recipe_of
from geometry import u_eps
from learning.datasets import spiral
from learning.network import Network
from learning.shipped import film, table
from tests.geometry.circle_sheets import circle_sheets, crossed_edges, image_of_circle, layers_of
from tests.scenes.claims import stop
from tools.films.sheet_counts import FIRST_INPUTS, images, network_layers, plane_sheets, sphere_preimages
from tools.films.sheets import TURNS

EXACT = 1e-9


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
    """All networks of the film `spiral`, with two norm layers, classify the spiral of one turn correctly."""
    found, choice = film("spiral"), next(each for each in scenes()["spiral"].choices if each.name == "turns")
    assert len(found.network.hidden_widths) == 2 and found.solved().all() and choice.default == "1"
    np.testing.assert_allclose(found.data.points, spiral(200, turns=1, noise=0, seed=0).points, atol=1e-3)


def inputs_drawn():
    # the first draw finds these sheets; two more draws must find no more
    assert FIRST_INPUTS * (1 + 2 + 4) == 28_000


def without_eps():
    assert Network(2, 3, 2, 1).eps == 0.001
    rows = table("sheets")
    same, accuracy = (np.array([row[name] for row in rows]) for name in ("same", "accuracy"))
    assert (same.size, (same == 1).sum(), round(200 * (1 - same.min()))) == (160, 102, 16)
    assert ((accuracy >= 0.99).sum(), (same[accuracy >= 0.99] == 1).sum()) == (69, 46)
    assert len(spiral(200, turns=TURNS, noise=0, seed=0).points) == 200


def degree_doubles():
    """The image of a plane under a norm has degree 2, and its image under another layer and norm degree 4.

    For x in the plane ⟨n, x⟩ = h, the image u = u_ε(x) satisfies ‖u‖² + ε/h²·⟨n, u⟩² = 1. The next image is
    y = u_ε(Au + b). With the root r = √(1 − ‖y‖²), u = A⁻¹(√ε·y/r − b). Put into the equation of u, and
    multiplied by r², this gives P(y) + r·S(y) = 0, with polynomials P and S of degree 2 and 1. Multiplied by
    P − r·S this is P² − r²S² = 0, without a root and of degree 4.
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
        """The product of r²·(uᵀQu − 1) for the roots r = ±√(1 − ‖y‖²), at points y (N, 3): (N,).

        u = A⁻¹(√ε·y/r − b) is the point that the layer and its norm map to y. For an image y the
        product is 0, because the test's matrix Q gives uᵀQu = 1. It is P² − (1 − ‖y‖²)·S², with
        polynomials P and S.
        """
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
    """A ray from the origin meets a plane at most once, if the plane does not pass through the origin.

    So the first norm of each trained network of `spiral_15` sends at most one point of the square [−1, 1]² to
    each direction: counted for the directions of 2,000 points. An ellipsoid is met at most twice.
    """
    found = film("spiral_15")
    for each in found.weights[:, -1]:
        layers = network_layers(found.network, each)[:1]
        x = np.random.default_rng(1).uniform(-1, 1, (2000, 2))
        assert (plane_sheets(layers, images(layers, x), 1.0) <= 1).all()
    doubled()


def third_panel():
    recipe = recipe_of(SCENE)
    dots = recipe.cloud("networks").points
    for row in table("sheets"):
        column, counts = dots[np.abs(dots[:, 0] - row["norms"]) < 0.5, 1], row["sheets"]
        np.testing.assert_allclose(np.sort(2**column), np.sort(counts))
    np.testing.assert_allclose(recipe.cloud("medians").points[:, 1], np.log2([2, 4, 4, 7, 8]))
    np.testing.assert_allclose(recipe.cloud("bound").points, [[k, k - 1] for k in range(2, 7)])
    assert film("spiral_15").network.hidden_widths == (3, 3, 3)


def trained_networks_and_bound():
    third_panel()
    flat_once()


def most_below():
    below = {row["norms"]: np.mean(np.array(row["sheets"]) < row["bound"]) for row in table("sheets")}
    assert all((share > 0.5) == (norms >= 4) for norms, share in below.items())


def as_many_folds():
    assert np.median(reached()[-1][1]) == 8 and len(reached()[-1][1]) == 32
    assert table("sheets")[-1]["norms"] - 1 == 5
    random_sliders()


def doubled():
    """A ray meets an ellipsoid, the image of the sphere under an affine map, at most twice.

    Counted along 100 random rays, as changes between inside and outside at closely spaced points.
    """
    rng, most, t = np.random.default_rng(2), 0, np.geomspace(1e-3, 1e3, 10_000)[:, None]
    for _ in range(100):
        A, b, ray = rng.normal(size=(3, 3)), rng.normal(size=3), rng.normal(size=3)
        inside = np.linalg.norm(np.linalg.solve(A, (t * ray - b).T), axis=0) < 1
        most = max(most, np.count_nonzero(inside[1:] != inside[:-1]))
    assert most == 2


def layers_state(**params):
    recipe = recipe_of(SCENE)
    return recipe, recipe.defaults | params


def sheets_after(norms=5, **params):
    recipe, params = layers_state(**params)
    return circle_sheets(layers_of(recipe.cloud("layers").pipeline, params)[:norms])


def crossings(heights, level):
    """The number of times that a closed curve crosses a level. heights: those of its points, in order."""
    above = heights > level
    return int((above != np.roll(above, 1)).sum())


def sheet_by_sheet():
    """The panel “Height of each point” shows the number of strands: how often the curve crosses the line.

    The strands in the ray's direction are the points of the circle that the layers map to this direction.
    The test finds them in closed form. The line marks the height at which the ray meets the circle.
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
    """Each map sends the circle to an ellipse right of the origin, for both end values of its sliders."""
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
    stages = recipe.cloud("strands").stages(params)
    assert len(stages) == len(recipe.stages) == 11
    for k in range(0, 11, 2):
        np.testing.assert_allclose(np.linalg.norm(stages[k][:, :2], axis=1), 1, atol=EXACT)


def drawn_apart():
    """After a norm, each point is drawn on its ray, with a radius that grows with its angle at the start.

    At the start and after each affine map, it is drawn where it is.
    """
    recipe, params = layers_state()
    points, stages = recipe.cloud("strands"), recipe.cloud("strands").stages(params)
    start = np.arctan2(points.points[:, 1], points.points[:, 0])
    assert (np.diff(start) > 0).all()
    for k, stage in enumerate(stages):
        at, drawn = stage[:, :2], stage[:, 2:4]
        radius = np.linalg.norm(drawn, axis=1) / np.linalg.norm(at, axis=1)
        np.testing.assert_allclose(drawn, radius[:, None] * at, atol=EXACT)
        if k and k % 2 == 0:
            assert (np.diff(radius) > 0).all() and radius.min() > 0.6 and radius.max() < 1.4
        else:
            np.testing.assert_allclose(radius, 1, atol=EXACT)


def most_sheets():
    """At random sliders, `circle_sheets` is the largest number of times that a ray meets the circle's image.

    This number is at most 2^(number of norms).
    """
    recipe, _ = layers_state()
    rng = np.random.default_rng(3)
    sliders = {each.name: (each.min, each.max) for each in recipe.parameters}
    for _ in range(20):
        params = {name: rng.uniform(*ends) for name, ends in sliders.items()}
        layers = layers_of(recipe.cloud("layers").pipeline, params)
        for norms in range(6):
            assert crossed_edges(image_of_circle(layers[:norms])) == circle_sheets(layers[:norms]) <= 2**norms


def one_fold():
    found = stop("strands", "One fold")
    assert found.progress == 2 and sheets_after(1, **found.params) == 2
    assert [sheets_after(norms) for norms in range(6)] == [1, 2, 4, 8, 16, 32]
    most_sheets()


def five_folds():
    assert stop("strands", "Fold after fold").progress == 10
    assert sheets_after() == 32


def without_s2():
    found = stop("strands", "The second ellipse not moved down")
    assert found.params["s2"] == 0 and found.progress == 10
    assert sheets_after(**found.params) == 4
    heights = found.recipe.cloud("curve").stages(found.params)[10][:, 1]
    counts = {ray: crossings(heights, np.sin(np.radians(ray))) for ray in range(-85, 86)}
    assert counts[found.params["ray"]] == 4 and set(counts.values()) == {0, 2, 4}
    assert max(ray for ray, count in counts.items() if count == 4) < -76


def five_layers():
    on_the_circle()
    sheet_by_sheet()


def at_most_32():
    twice_on_an_ellipse()
    most_sheets()
    assert 2**5 == 32 == sheets_after()


def one_more():
    found = stop("strands", "One norm more")
    assert found.progress == 4 and found.recipe.stages[4] == "norm 2"
    assert [sheets_after(norms, **found.params) for norms in (2, 3, 4, 5)] == [4, 8, 16, 32]


def along_the_ray():
    """At the stop “Count along the ray”, the curve crosses the ray 8 times.

    If the ray's slider is at its upper end, the curve does not cross the ray.
    """
    found = stop("strands", "Count along the ray")
    assert found.progress == 6
    upper = next(each.max for each in found.recipe.parameters if each.name == "ray")
    for angle, strands in ((found.params["ray"], 8), (upper, 0)):
        params = dict(found.params) | {"ray": angle}
        level = found.recipe.cloud("level").stages(params)[0][0, 0]
        heights = found.recipe.cloud("curve").stages(params)[6][:, 1]
        drawn, up = found.recipe.cloud("strands").stages(params)[6][:, 2:4], np.radians(angle)
        assert (drawn[:, 0] > 0).all()  # on the right, where the ray is
        beyond = drawn @ [-np.sin(up), np.cos(up)]
        assert crossings(heights, level) == crossings(beyond, 0) == strands
    sheet_by_sheet()


def medians_and_bound():
    assert stop("strands", "Trained networks").progress == 10
    third_panel()
    lower = [np.median(counts) < bound for bound, counts, _ in reached()]
    assert lower == [False, False, True, True, True]


def random_sliders():
    recipe, _ = layers_state()
    rng = np.random.default_rng(0)
    ends = [(each.name, each.min, each.max) for each in recipe.parameters if each.vector]
    assert len(ends) == 10
    drawn = [sheets_after(**{name: rng.uniform(low, high) for name, low, high in ends}) for _ in range(1000)]
    assert np.median(drawn) == 6 and np.mean(np.array(drawn) <= 8) > 0.9


CLAIMS = {
    "Each norm can fold a circle in two. Put five layers with norms in a row": at_most_32,
    "The first norm cannot fold: a flat sheet that misses the origin lies over each direction at most once.": flat_once,
    "For each number of norms, 32 networks were trained on one spiral of 1½ turns. | norms | bound on the strands | largest number of strands in a network (median of 32) | networks that reach the bound | | --- | --- | --- | --- | | 2 | 2 | 2 | 32 of 32 | | 3 | 4 | 4 | 27 of 32 | | 4 | 8 | 4 | 13 of 32 | | 5 | 16 | 7 | 3 of 32 | | 6 | 32 | 8 | 0 of 32 | So deeper networks stay farther below the bound.": trained,
    "All 69 networks that learn this spiral (accuracy 0.99 or more) do fold: they have 4 strands or more.": learned,
    "(Two norms, and so 2 strands at most, are enough for the spiral of one turn": two_norms,
    "For each network, strands are counted in at least 28,000 directions, those of random inputs;": inputs_drawn,
    "They are for $\\varepsilon = 0$": without_eps,
    r"The networks were trained with $\varepsilon = 0.001$. Setting $\varepsilon = 0$ changes the answers little: 102 of all 160 networks give each of the 200 training points the same answer as before, and no network changes more than 16 answers. Of the 69 networks that learn the spiral, 46 change none.": without_eps,
    r"### Does the bound hold with $\varepsilon > 0$? Yes, in networks of width 3 with one-to-one linear layers. Before the last norm the sheet has become a surface in space. With $\varepsilon > 0$ this surface does not touch itself: different points of the sheet come to different places. After the last norm only the direction of a point counts, and all points of one ray from the origin have the same direction. So the number of strands in a direction is the number of points in which the ray meets the surface. How many can there be? - A surface of degree $n$ consists of the points where a polynomial of degree $n$ is 0. A norm with $\varepsilon$ sends $x$ to $y$, and $x = \sqrt\varepsilon\, y / r$ with $r = \sqrt{1 - \lVert y \rVert^2}$. - Put this $x$ into the polynomial, and multiply by $r^n$. A term of degree $k$ then has the factor $r^{n-k}$. If $n - k$ is even, this factor is a power of $r^2$. Since $r^2$ is a polynomial in $y$ of degree 2, $r^{n-k}$ is one of degree $n - k$, and the term is one of degree $n$ at most. If $n - k$ is odd, one factor $r$ is left over; so the term is $r$ times a polynomial of degree $n - 1$ at most. - Together the terms give $A + r B = 0$, with polynomials $A$ and $B$. It follows that $A^2 = r^2 B^2$: after the norm the surface has an equation of degree $2n$ at most. The linear layers between the norms do not change the degree. - So the flat sheet, of degree 1, becomes a part of an ellipsoid, of degree 2. Before the last of six norms, the surface has degree 32 at most. - A line meets a surface of degree $n$ in at most $n$ points, unless it lies in the surface. So, unless a ray lies in the surface, the last norm sends at most 32 points to its direction.": degree_doubles,
    "The panel “Strands in trained networks” is about networks of width 3 that were trained on a spiral. Across: the number of norms of a network. Upwards: the logarithm, to base 2, of its largest number of strands in any direction. A longer grey bar means that more networks have this value. The bound is drawn as well: the first norm of these networks gets a flat sheet, which it cannot fold, and each further norm at most doubles the strands.": trained_networks_and_bound,
    "**Most trained networks with four or more norms stay below their bound, too.**": most_below,
    "Those with six norms, of which the first cannot fold, reach 8 strands (median of 32 networks).": as_many_folds,
    "There are two dimensions and five layers, each followed by a norm. The norms lay pieces of a circle on one another. Drag": five_layers,
    "**Each norm at most doubles the strands, so five norms make at most 32.** A ray from the origin meets an ellipse at most twice, and the norm sends both places to one.": at_most_32,
    "After the second norm there are 4 strands. The norms that follow make 8, 16 and 32.": one_more,
    "The ray crosses 8 strands, and in the panel “Height of each point” the curve crosses the line 8 times. Drag the ray up to the end, and there are none.": along_the_ray,
    "So that you can count the strands, the picture draws them apart: the larger the angle at which a point began, the farther out it is drawn.": drawn_apart,
    "In the panel “Strands in trained networks”, compare the median with the bound. They meet for two and three norms. From four norms on the median is lower.": medians_and_bound,
    "The sliders $s$ move each layer's ellipse down, the sliders $t$ move it away from the origin. They count in tenths: 3 means 0.3.": twice_on_an_ellipse,
    "The norm brings each point along its ray back to the circle.": on_the_circle,
    "After a norm all points are on the right half of the circle, where no two places have the same height. So a point at the height of the line is on the ray, and the number of crossings of the curve and the line is the number of strands.": sheet_by_sheet,
    "The numbers beside the picture are the largest number of strands in any direction, and its bound, which doubles with each norm.": most_sheets,
    "The first norm has folded the circle into two strands. Each norm at most doubles the strands, so five norms make at most 32.": one_fold,
    "Here the bound is reached: 32 strands.": five_folds,
    "With $s_2 = 0$ only 4 strands are left, though all five norms are still there. The ray points to them. In other directions there are 2 or none.": without_s2,
    "If each of the ten sliders is drawn uniformly from its whole range, there are 6 strands (median of 1,000 draws).": random_sliders,
}
