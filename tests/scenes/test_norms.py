"""Each norm's pipeline against geometry and PyTorch, and the surfaces that the figure shows."""

from itertools import combinations

import numpy as np
import pytest

from components.language.framing.paper import on_paper
from components.language.marks import hand_of
from components.scenes.norms import SCENE
from components.scenes.norms.build import (
    INSTANCE,
    NORMS,
    TITLES,
    TORUS_SCALE,
    apply,
    blocks,
    build,
    display,
    pipeline,
    surface,
)
from components.training.recipes import recipe_of
from tests.scenes.claims import said, stop

ROUNDING = 1e-10  # float64, points of size 1
TINY = 1e-30  # PyTorch requires a positive ε in training; this one is too small to change the variance
RANGE = {"b": (-0.5, 0.5), "c": (0.25, 1.25)}
PARAMS = {"b": 0.0, "c": 1.0, "g": 1.5, "alpha": 1.0}
DIMENSIONS = (3, 4, 6)
LANDS = {  # the dimension of the surface for blocks of m numbers: m − 1 for each block, m − 2 if centred
    "layernorm": (1, 2, 4), "rmsnorm": (2, 3, 5), "groupnorm": (1, 0, 2), "blockrms": (2, 2, 4),
    "instancenorm": (1, 0, 0), "batchnorm": (3, 4, 6), "weightnorm": (2, 3, 5), "dyt": (3, 4, 6),
}  # fmt: skip
CASES = [(norm, d) for norm in TITLES for d in DIMENSIONS]


def cloud(d, **choices):
    return recipe_of(SCENE, d=d, **choices).cloud("left").points


def image(norm, d, **params):
    recipe = recipe_of(SCENE, left=norm, d=d)
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
    table = {words: cells[0] for words, *cells in recipe_of(SCENE, left=norm, d=d).facts.rows}
    centered = NORMS[norm].centered
    assert table["for x + 0.7·𝟏"] == ("stays" if centered else "moves")
    assert table["for 1.7·x"] == ("moves" if norm in ("batchnorm", "dyt") else "stays")
    assert table["other points doubled"] == ("moves" if norm == "batchnorm" else "stays")
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
    """Stereographic projection maps the torus of two equal circles to one with radii √2 : 1."""
    assert surface(norm, d) == "a torus"
    recipe = recipe_of(SCENE, left=norm, d=d)
    layer = next(layer for layer in recipe.views[0].layers if hand_of(layer))
    x, y, z = layer.points(recipe.moment(PARAMS, 2)).T / TORUS_SCALE
    np.testing.assert_allclose(np.hypot(np.hypot(x, y) - np.sqrt(2), z), 1, atol=ROUNDING)


@pytest.mark.parametrize(("norm", "d"), [("groupnorm", 6), ("blockrms", 4)])
def test_pole_of_the_projection_is_never_met(norm, d):
    """No point of the cloud meets the pole at any stage, with each of the cloud's sliders at either end."""
    over = display(norm, d)[1]
    for seed in range(20):
        choices = SCENE.choose({"left": norm, "d": str(d), "seed": str(seed), "n": "5000"})
        left = build(choices).cloud("left")  # not framed, which takes long
        for b in RANGE["b"]:
            for c in RANGE["c"]:
                for stage in left.stages(PARAMS | {"b": b, "c": c}):
                    assert (stage @ over.weights + over.offset).min() > 0.1


def test_batch_norm_of_the_scene_is_affine():
    """BatchNorm is one affine map of all points: it maps a midpoint to the midpoint of the images."""
    x = cloud(3)
    through = pipeline("batchnorm", x)
    middle = through.stages((x[:1] + x[1:2]) / 2)[-1]
    np.testing.assert_allclose(middle[0], through.stages(x[:2])[-1].mean(0), atol=ROUNDING)


def test_dyt_has_no_sphere():
    y = image("dyt", 3, alpha=4.0)
    assert np.abs(y).max() < 1 and np.ptp(np.linalg.norm(y, axis=-1)) > 0.1


@pytest.mark.parametrize("d", DIMENSIONS)
def test_the_same_norm_twice_has_no_distance(d):
    recipe = recipe_of(SCENE, left="groupnorm", right="layernorm" if d == 3 else "groupnorm", d=d)
    left, right = (recipe.cloud(name).stages(PARAMS)[-1] for name in ("left", "right"))
    np.testing.assert_allclose(left, right, atol=ROUNDING)


@pytest.mark.parametrize("norm", TITLES)
def test_the_formula_is_that_of_the_norm(norm):
    formula = recipe_of(SCENE, left=norm, right=norm).formula
    assert (r"\mu_" in formula) == (NORMS[norm].centered or norm == "batchnorm")
    assert "_G" not in formula
    assert (r"\tanh" in formula) == (norm == "dyt") and "stage-2" in formula


def test_the_labels_of_the_axes_are_apart_in_the_first_picture():
    """As the scene opens, labels of axes are at least a fifteenth of the panel apart from each other.

    On a phone, this is the width of a label.
    """
    recipe = recipe_of(SCENE)
    for view in recipe.views[:2]:
        names = next(mark for mark in view.layers if mark.cloud.endswith("axis labels"))
        at, _ = on_paper(view, names.points(recipe.moment({}, 0)), view.camera)
        assert all(np.abs(a - b).max() / 2 > 1 / 15 for a, b in combinations(at, 2))


# --- what the text says

CENTRED = [name for name, norm in NORMS.items() if norm.centered]


def at(title, side="left"):
    """The state at a stop, and the points before and after the norm on one side, "left" or "right"."""
    state = stop("norms", title)
    start, *_, end = state.recipe.cloud(side).stages(state.params)
    return state, start, end


def places(x):
    """The number of different points; coordinates are compared with six decimals."""
    return len(np.unique(x.round(6), axis=0))


def two_norms():
    recipe = recipe_of(SCENE)
    np.testing.assert_array_equal(*(recipe.cloud(side).points for side in ("left", "right")))
    assert len(recipe.views) == 3 and recipe.views[2].name == "tensor"


def the_blocks():
    assert [blocks("groupnorm", d) for d in DIMENSIONS] == [1, 2, 2]
    assert [d // blocks("groupnorm", d) for d in DIMENSIONS[1:]] == [2, 3]


def one_block():
    x = cloud(3)
    for norm in ("groupnorm", "instancenorm"):
        np.testing.assert_allclose(apply(norm, x), apply("layernorm", x), atol=ROUNDING)


def sums_and_squares():
    for d in DIMENSIONS:
        for norm in CENTRED:
            group = image(norm, d).reshape(-1, blocks(norm, d), d // blocks(norm, d))
            np.testing.assert_allclose(group.sum(-1), 0, atol=ROUNDING)
            np.testing.assert_allclose((group**2).sum(-1), group.shape[-1], atol=ROUNDING)


def dimensions_of_the_spheres():
    for norm, d in CASES:
        if NORMS[norm].sphere:
            k = blocks(norm, d)
            own = d // k - (2 if NORMS[norm].centered else 1)
            assert LANDS[norm][DIMENSIONS.index(d)] == k * own
            test_facts_are_those_of_the_mathematics(norm, d)


def products():
    assert surface("layernorm", 3) == "a circle"
    assert surface("groupnorm", 6) == surface("blockrms", 4) == "a torus"
    for d in (4, 6):
        k, ends = blocks("instancenorm", d), image("instancenorm", d)
        np.testing.assert_allclose(np.abs(ends), 1, atol=ROUNDING)
        assert places(ends) == 2**k


def circles_at_right_angles():
    for norm, d in (("groupnorm", 6), ("blockrms", 4)):
        (first, second) = np.split(np.eye(d), 2)
        assert not (first @ second.T).any() and blocks(norm, d) == 2
        assert np.linalg.matrix_rank(image(norm, d)) == 4
        np.testing.assert_allclose(np.linalg.norm(image(norm, d), axis=1), np.sqrt(d), atol=ROUNDING)
        test_torus_is_a_torus_of_revolution_in_the_picture(norm, d)


def stereographic():
    said(TORUS_SCALE, "1.2")
    for norm, d in (("groupnorm", 6), ("blockrms", 4)):
        directions, over = display(norm, d)
        four = np.vstack([directions / TORUS_SCALE, over.weights])
        np.testing.assert_allclose(four @ four.T, np.eye(4), atol=ROUNDING)
        p = image(norm, d) @ four.T
        np.testing.assert_allclose(np.linalg.norm(p, axis=1), np.sqrt(d), atol=ROUNDING)
        recipe = recipe_of(SCENE, left=norm, d=d)
        layer = next(layer for layer in recipe.views[0].layers if hand_of(layer))
        shown = layer.points(recipe.moment(PARAMS, 2))
        np.testing.assert_allclose(shown, 1.2 * p[:, :3] / (np.sqrt(d) + p[:, 3:]), atol=ROUNDING)
        assert places(shown) == places(p) == len(p)


def rows_and_columns():
    _, start, left = at("A row and a column")
    right = at("A row and a column", "right")[2]
    np.testing.assert_allclose(
        [np.linalg.norm(left, axis=1), left.sum(1) + np.sqrt(3)], np.sqrt(3), atol=ROUNDING
    )
    np.testing.assert_allclose(right, (start - start.mean(0)) / start.std(0), atol=ROUNDING)


def grown():
    state, start, left = at("Shift the cloud")
    points, right = state.recipe.cloud("left").points, at("Shift the cloud", "right")[2]
    np.testing.assert_allclose(start - points, 0.5, atol=ROUNDING)
    still = state.params | {"b": 0.0}
    before = [state.recipe.cloud(side).stages(still)[-1] for side in ("left", "right")]
    np.testing.assert_allclose(left, before[0], atol=1e-8)
    assert right.mean() > before[1].mean() + 0.2


def a_torus():
    state, start, end = at("Two blocks, two circles")
    assert start.shape[1] == 6 and blocks("groupnorm", 6) == 2
    assert surface(state.choices["left"], 6) == "a torus"
    for block in np.split(end, 2, axis=1):
        assert np.linalg.matrix_rank(block, tol=1e-9) == 2
    layer = next(layer for layer in state.recipe.views[0].layers if hand_of(layer))
    x, y, _ = layer.points(state.recipe.moment(state.params, 2)).T
    colour = layer.values(state.recipe.moment(state.params, 2))
    turns = np.unwrap(np.arctan2(y, x)[np.argsort(colour)])
    assert abs(np.ptp(turns)) == pytest.approx(2 * np.pi, abs=0.1)  # the colours run once around the hole


def four_points():
    _, start, end = at("Only four points")
    assert len(end) == 400 and places(end) == 4
    np.testing.assert_array_equal(end[:, ::2] > 0, start[:, ::2] > start[:, 1::2])
    state = at("Only four points", "right")[0]
    assert surface(state.choices["right"], 4) == "a sphere"


def a_flat_torus():
    state, _, end = at("A flat torus")
    assert surface(state.choices["left"], 4) == "a torus" and places(end) == len(end)
    turn = np.sort(np.arctan2(*end[:, :2].T))
    assert np.diff(turn).max() < 0.2  # all around the circle
    assert places(at("A flat torus", "right")[2]) == 4


def corners_of_a_cube():
    _, start, end = at("Channels and positions")
    channels = start.reshape(-1, 3, 2)
    np.testing.assert_allclose(INSTANCE(channels).reshape(-1, 6), end, atol=ROUNDING)
    assert places(end) == 2**3 == 8
    show = display("instancenorm", 6)[0]
    corners = np.unique((end @ show.T).round(6), axis=0)
    assert len(corners) == 8 and places(np.abs(corners)) == 1


def no_distance():
    test_the_same_norm_twice_has_no_distance(3)
    x = cloud(4)
    np.testing.assert_array_equal(NORMS["layernorm"].apply(x[..., None]), 0)


def two_sides_alike():
    for norm, d in (("groupnorm", 6), ("blockrms", 4)):
        swap = np.roll(np.arange(d), d // 2)
        x = cloud(d)
        np.testing.assert_allclose(apply(norm, x[:, swap]), apply(norm, x)[:, swap], atol=ROUNDING)


def both_means_are_gone():
    state = stop("norms", "Two blocks, two circles")
    start, centred, end = state.recipe.cloud("left").stages(state.params)
    assert state.progress == 2
    for before, block, after in zip(*(np.split(x, 2, axis=1) for x in (start, centred, end)), strict=True):
        np.testing.assert_allclose(block, before - before.mean(1, keepdims=True), atol=ROUNDING)
        np.testing.assert_allclose(np.linalg.norm(after, axis=1), np.sqrt(3), atol=ROUNDING)


def whose_sliders():
    """Claim: shift and scale move the points before every norm; g and α belong to one norm each.

    All four are sliders. g is in the steps of WeightNorm, and α in those of DyT.
    """
    for norm in NORMS:
        recipe = recipe_of(SCENE, left=norm, right=norm)
        left = recipe.cloud("left")
        own = {"weightnorm": {"g"}, "dyt": {"alpha"}}.get(norm, set())
        assert set(left.place.parameters) == {"b", "c"} and set(left.pipeline.parameters) == own
        assert {p.name for p in recipe.parameters} == own | {"b", "c"}


def walls_and_a_sphere():
    state, _, cube = at("A cube, and a sphere of any size")
    assert np.mean(np.abs(cube).max(1) > 0.95) > 0.8 and np.abs(cube).max() <= 1
    for g in (0.5, state.params["g"], 2.5):
        sphere = state.recipe.cloud("right").stages(state.params | {"g": g})[-1]
        np.testing.assert_allclose(np.linalg.norm(sphere, axis=1), g, atol=ROUNDING)


def slopes():
    """LayerNorm maps the three numbers of a point along a line with the slope 1/σ, for this point's σ.

    Two more lines are fitted to numbers of all points: a steep one to the numbers that are nearer than 0.4 to
    the mean of all numbers, a flat one to those farther than 0.9. Most points' lines are steeper than both.
    Two further lines are fitted to the same numbers minus the mean of their own point.
    """
    recipe = recipe_of(SCENE, left="layernorm", right="dyt", d="3")
    start, *_, end = recipe.cloud("left").stages(recipe.defaults)
    assert len(start) == 400
    steep = 1 / start.std(1)
    for share, words in ((0.05, "1.6"), (0.95, "9.4")):
        said(np.quantile(steep, share), words)
    np.testing.assert_allclose(np.diff(end) / np.diff(start), steep[:, None] + 0 * start[:, 1:], rtol=1e-6)
    x, y = start.ravel(), end.ravel()
    away = np.abs(x - x.mean())
    for some, words in ((away < 0.4, "2.06"), (away > 0.9, "1.28")):
        said(np.polyfit(x[some], y[some], 1)[0], words)
    shifted = (start - start.mean(1, keepdims=True)).ravel()
    for some, words in ((away < 0.4, "3.02"), (away > 0.9, "1.77")):
        said(np.polyfit(shifted[some], y[some], 1)[0], words)
    assert np.quantile(steep, 0.05) > np.polyfit(x[away > 0.9], y[away > 0.9], 1)[0]
    assert np.median(steep) > np.polyfit(x[away < 0.4], y[away < 0.4], 1)[0]
    far = np.abs(start - x.mean()).max(1) > 0.9
    assert np.median(steep[far]) < np.median(steep[~far])


def lines_of_points():
    """Claim: the third picture has the numbers before the norm on one axis, and after the norm on the other.

    Its lines join the three numbers of a point; there are eight lines.
    """
    state = stop("norms", "Lines that make an S")
    assert state.recipe.views[2].name == "numbers"
    for side in ("left", "right"):
        stages = state.recipe.cloud(side).stages(state.params)
        shown = state.recipe.cloud(f"{side} numbers").stages(state.params)
        for one, whole in zip(shown, stages, strict=True):
            n = len(one) // 3
            np.testing.assert_allclose(one[:, 0], stages[0][:n].ravel(), atol=ROUNDING)
            np.testing.assert_allclose(one[:, 1], whole[:n].ravel(), atol=ROUNDING)
    np.testing.assert_allclose(shown[-1][:, 1], np.tanh(2 * shown[0][:, 0]), atol=ROUNDING)
    line = next(mark for mark in state.recipe.views[2].layers if mark.draws == "line")
    assert np.sum(line.order < 0) + 1 == 8 and len(line.order) == 8 * 3 + 7


@pytest.mark.parametrize(("norm", "d"), CASES)
def test_the_picture_of_numbers_has_each_number_before_and_after(norm, d):
    recipe = recipe_of(SCENE, left=norm, right=norm, d=d, below="numbers", n=5)
    params = recipe.defaults | {"b": 0.2, "c": 0.7}
    start, *_, end = recipe.cloud("left").stages(params)
    shown = recipe.cloud("left numbers").stages(params)[-1]
    np.testing.assert_allclose(shown[:, 0], start.ravel(), atol=ROUNDING)
    np.testing.assert_allclose(shown[:, 1], end.ravel(), atol=ROUNDING)


CLAIMS = {
    "The choice **third picture** can show single numbers instead: each number after the norms against the same number before.": lines_of_points,
    r"Take one point. Its numbers go through $y_i = (x_i - \mu)/\sigma$, a straight line of slope $1/\sigma$. Another point has another line.": slopes,
    "So the lines together make an S, steep in the middle and flat at the ends.": slopes,
    "We measured the 400 points at the start, in $d = 3$. The slopes of 90 % of their lines are between 1.6 and 9.4. Then we fitted two lines to the numbers of all points together: one to the numbers near the overall mean, one to those far from it. The first line is steeper: | fitted to the numbers | slope | slope, if each point's mean is subtracted from its numbers before the fit | | --- | --- | --- | | within 0.4 of the overall mean | 2.06 | 3.02 | | farther than 0.9 from it | 1.28 | 1.77 | With slopes 2.06 and 1.28 both fitted lines are flatter than the lines of most single points. One reason is that the points have different means: these shift the lines sideways, and a line fitted across shifted lines is flatter.": slopes,
    r"Look at the picture “Output against input”. LayerNorm puts the three numbers of a point on a line; eight such lines are drawn. Points with a large $\sigma$ have flat lines, and all lines together make an S. DyT has one S for all.": lines_of_points,
    r"**shift** and **scale** move the cloud itself, $g$ belongs to WeightNorm and $\alpha$ to DyT.": whose_sliders,
    r"One cloud, two norms.": two_norms,
    r"One cloud of vectors goes through two norms, which you choose.": two_norms,
    r"is a table of numbers": two_norms,
    r"each block of a point's numbers: two blocks of 2 in $d = 4$, of 3 in $d = 6$": the_blocks,
    r"In $d = 3$ there is only one block, so GroupNorm and InstanceNorm are LayerNorm.": one_block,
    r"Afterwards the numbers of the group sum to 0 and their squares sum to $m$.": sums_and_squares,
    "That sphere has $m - 2$ dimensions. Without subtracting the mean, the divisor is the root "
    r"mean square $\mathrm{rms}_G$, and the sphere has $m - 1$ dimensions.": dimensions_of_the_spheres,
    "- One block of 3, centred: a circle. - Two blocks of 3, centred: a circle times a circle. A "
    "pair of angles is a point of a torus. - Blocks of 2, centred: each becomes $(1, -1)$ or "
    "$(-1, 1)$. With $k$ blocks only $2^k$ points are left. - Two blocks of 2, not centred: again "
    "two circles, a torus.": products,
    r"Wherever there are two circles, also in $d = 6$, each lies in a plane. The two planes are at right angles to each other and together span four dimensions. In this space the torus can be rolled up from a sheet of paper without stretching it; in three dimensions it cannot. All points of the torus have length $\sqrt d$, so it lies in a 3-sphere of this space.": circles_at_right_angles,
    r"divided by $\sqrt d + p_4$, times 1.2. This is the stereographic projection: it changes "
    "sizes, yet no two points of the 3-sphere fall on each other.": stereographic,
    "The picture “Rows are points; violet: one group” shows why: LayerNorm averages a row, BatchNorm a column.": rows_and_columns,
    r"every number of every point grows by 0.5. Whose picture does the shift change? - LayerNorm's - * RMSNorm's": grown,
    "LayerNorm's circle has not changed.": grown,
    r"### Two blocks, two circles GroupNorm cuts six numbers into two blocks of three. Each block gives an angle, and two angles make a torus.": a_torus,
    "### Only four points With blocks of two, 400 points have landed on four. All that is left of "
    "a block is which of its two numbers is larger.": four_points,
    "each block of two reaches a whole circle. So on the left is a torus again; on the right are the four points.": a_flat_torus,
    r"InstanceNorm reads the six numbers as three channels of two positions. Three blocks of two give $2^3 = 8$ points, the corners of a cube.": corners_of_a_cube,
    r"Choose both in $d = 3$: the largest distance between the two results is zero. At the other extreme, with as many blocks as numbers, each number would be its own mean, and with any $\varepsilon > 0$ every result would be 0.": no_distance,
    r"In the 3-sphere the torus of two equal circles has two sides that are alike: exchanging the two blocks turns one into the other.": two_sides_alike,
    "Go one step back, where both blocks have only lost their means, and watch the points move to the torus.": both_means_are_gone,
    r"with a large $\alpha$ the points crowd at the walls of the cube. WeightNorm puts every "
    "vector on a sphere of radius $g$": walls_and_a_sphere,
}
