"""The text of the scene `heads`, tested with the recipes and with shipped tables."""

import numpy as np
import pytest
from scipy.stats import f_oneway

from components.scenes.heads import SCENE
from components.scenes.heads.build import HEADS, WINDOWS
from components.scenes.heads.cut import FOLLOW, SHOW, D
from components.training.recipes import recipe_of
from geometry import layer_norm, rms_norm
from geometry.centering import hyperplane_basis
from geometry.windows import windows
from learning.language import forward, from_file
from learning.shipped import FOLDER, table
from learning.shipped import read as read_file
from tests.scenes.claims import said, stop
from tools.films import soft_heads

ROUNDING = 1e-12
TRACK = 3e-3  # between two overlaps of the track, windows are interpolated linearly
CUTS = [(int(heads), window) for heads in HEADS for window in WINDOWS]
EVERY = pytest.mark.parametrize(("heads", "window"), CUTS)


def cut(**choices):
    return recipe_of(SCENE, **choices)


def moved(recipe, **params):
    return recipe.defaults | {name: float(value) for name, value in params.items()}


def stages(recipe, cloud, **params):
    return recipe.cloud(cloud).stages(moved(recipe, **params))


def share(heads, window, overlap):
    return windows(np.arange(1, D + 1), D, heads, overlap, shape=window)


def points():
    return layer_norm(cut().cloud("whole").points, eps=0)


# --- properties of the cut


@EVERY
def test_the_parts_are_shares_of_the_point_and_sum_to_it(heads, window):
    recipe, x = cut(heads=heads, window=window), points()
    for overlap in (0, 0.35, 0.5, 1):
        parts = [stages(recipe, f"part {h + 1}", overlap=overlap) for h in range(heads)]
        own = share(heads, window, overlap)
        for h, part in enumerate(parts):
            np.testing.assert_allclose(part[1], x, atol=ROUNDING)
            np.testing.assert_allclose(part[2][:, :D], own[h] * x, atol=ROUNDING)
            np.testing.assert_allclose(part[3], x, atol=ROUNDING)
        np.testing.assert_allclose(sum(part[2][:, :D] for part in parts), x, atol=ROUNDING)
        squares = sum((part[2][:, :D] ** 2).sum(-1) for part in parts)
        if overlap == 0:
            np.testing.assert_allclose(squares, D)
        elif window == "box" or overlap > 0.9:
            assert squares.max() < D


def test_between_the_drawn_overlaps_a_window_is_nearly_as_it_is():
    for heads, window in CUTS:
        recipe = cut(heads=heads, window=window)
        found = stages(recipe, "part 1", overlap=0.525)[2][:, :D]
        assert np.abs(found - share(heads, window, 0.525)[0] * points()).max() < TRACK * np.sqrt(D)


@EVERY
def test_scores_are_products_of_what_a_head_sees(heads, window):
    recipe, x = cut(heads=heads, window=window), points()
    for overlap, query in ((0, 30), (0.5, 44), (1, 90), (0, 0)):
        turn = np.deg2rad(query)
        q = 2 * (np.cos(turn) * SHOW[0] + np.sin(turn) * SHOW[1])
        own = share(heads, window, overlap)
        found = stages(recipe, "scored", overlap=overlap, query=query)[-1]
        np.testing.assert_allclose(found[:, :D], x, atol=ROUNDING)
        for h in range(heads):
            wanted = (own[h] * x) @ (own[h] * q) / np.sqrt(D / heads)
            np.testing.assert_allclose(found[:, D + h], wanted, atol=ROUNDING)


def test_the_picture_is_the_space_of_vectors_that_sum_to_0():
    np.testing.assert_allclose(SHOW @ SHOW.T, np.eye(3), atol=ROUNDING)
    np.testing.assert_allclose(SHOW.sum(1), 0, atol=ROUNDING)


@EVERY
def test_the_arrows_go_by_the_part_to_the_point(heads, window):
    recipe = cut(heads=heads, window=window)
    for h in range(heads):
        way = stages(recipe, f"way {h + 1}", overlap=0.5)
        assert not way[0][:, :D].any() and not way[1][:, :D].any()
        np.testing.assert_allclose(way[2][:, :D], share(heads, window, 0.5)[h] * points(), atol=ROUNDING)
        np.testing.assert_allclose(way[3], points(), atol=ROUNDING)


@EVERY
def test_rings_are_sums_of_parts_of_different_points(heads, window):
    recipe, x = cut(heads=heads, window=window), points()
    own = share(heads, window, 0.5)
    wanted = sum(own[h] * np.roll(x, 11 * h, axis=0) for h in range(heads))
    np.testing.assert_allclose(stages(recipe, "mixed", overlap=0.5)[3], wanted, atol=ROUNDING)


# --- what the text says of the cut


def the_cut():
    assert {len(np.flatnonzero(share(2, "box", 0)[h])) for h in range(2)} == {2} and D == 4
    assert {len(np.flatnonzero(share(4, "box", 0)[h])) for h in range(4)} == {1}


def on_the_sphere():
    np.testing.assert_allclose(np.linalg.norm(points(), axis=1), 2)
    np.testing.assert_allclose(points().sum(1), 0, atol=ROUNDING)
    assert np.linalg.matrix_rank(points()) == 3
    assert {"1.0", "0.0"} == {f"{w:.1f}" for w in share(2, "sine", 0).ravel()}


def shadows(heads):
    """The semi-axes, longest first, of LayerNorm's ball as the first of several heads sees it.

    heads: the number of heads. Their windows have the shape "sine" and overlap 0.
    """
    return 2 * np.linalg.svd(share(heads, "sine", 0)[0] * SHOW)[1]


def of_two_heads():
    """The second view shows the scores of two heads. A head of k axes sees a k-dimensional projection."""
    assert [int((shadows(heads) > ROUNDING).sum()) for heads in (2, 4)] == [2, 1]
    assert len(cut(heads=4).views[1].axes) == 2


def twice_as_wide():
    """At overlap 1 a window is twice as wide as at overlap 0, so it ends at the middle of the next block.

    The test moves an axis, of width 1, past a window of width 2 or 4. While the axis overlaps the window, it
    must move by the width of the window plus 1.
    """
    for window in WINDOWS:
        assert share(2, window, 0)[0].tolist() == pytest.approx([1, 1, 0, 0])
        narrow, wide = (
            (windows(np.linspace(0.5, 8.5, 801), 8, 4, overlap, shape=window)[0] > 1e-9).sum() / 100
            for overlap in (0, 1)
        )
        assert narrow == pytest.approx(2 + 1, abs=0.05) and wide == pytest.approx(4 + 1, abs=0.05)


def semi_axes():
    assert shadows(2)[:2] == pytest.approx([2, np.sqrt(2)])
    assert points().shape[1] - np.linalg.matrix_rank(points()) == 1  # one equation is linear, the other not
    np.testing.assert_allclose((points() ** 2).sum(1), 4)
    inside = points()[:, :2] / [1, 1]
    along, across = (inside @ np.array(u) / np.sqrt(2) for u in ([1, 1], [1, -1]))
    filled = (along / np.sqrt(2)) ** 2 + (across / 2) ** 2
    assert filled.max() <= 1 + ROUNDING and filled.min() < 0.1


def in_general():
    for d, m in ((4, 2), (16, 4), (768, 64), (6, 3), (6, 4), (16, 14)):
        block = (np.eye(d) - 1 / d)[:m]
        found = np.sqrt(d) * np.linalg.svd(block)[1]
        assert found[:-1] == pytest.approx(np.sqrt(d)) and found[-1] == pytest.approx(np.sqrt(d - m))
        ones = np.linalg.svd(block)[0][:, -1]
        assert abs(ones.sum()) == pytest.approx(np.sqrt(m))
    said(np.sqrt(768), "27.7")
    said(np.sqrt(768 - 64), "26.5")
    for d in (
        4,
        6,
        9,
    ):  # how far out in the ellipsoid: a block of d - 2 axes fills it, one of d - 1 is its surface
        x = layer_norm(np.random.default_rng(0).standard_normal((20_000, d)), eps=0)
        out = {m: ((x[:, :m] ** 2).sum(1) + x[:, :m].sum(1) ** 2 / (d - m)) / d for m in range(1, d)}
        for m in range(1, d - 1):
            assert out[m].max() <= 1 + ROUNDING and out[m].min() < 0.5
        np.testing.assert_allclose(out[d - 1], 1)


def two_less():
    """The tangent space of LayerNorm's sphere has d − 2 dimensions: it is orthogonal to x and to 𝟏."""
    x = points()[0]
    assert D - np.linalg.matrix_rank(np.stack([x, np.ones(D)])) == 2


def ties():
    x = points()
    np.testing.assert_allclose(x[:, :2].mean(1) + x[:, 2:].mean(1), 0, atol=ROUNDING)
    rings = np.linalg.norm(stages(cut(), "mixed")[3], axis=1)
    said(rings.min(), "0.76")
    said(rings.max(), "2.67")
    assert len(rings) == 160 and np.linalg.matrix_rank(stages(cut(), "mixed")[3]) == 4


def all_sums():
    """The sum of what two heads see of two different points has a length from 0 to √8.

    Both 0 and √8 occur. The two heads have windows of the shape "box" without overlap.
    """
    ties()
    first, second = np.array([1, -1, 0, 0]), np.array([0, 0, 1, -1])
    sees = share(2, "box", 0)
    ends = [
        np.linalg.norm(np.sqrt(2) * (sees[0] * a + sees[1] * b))
        for a, b in ((second, first), (first, second))
    ]
    assert ends == pytest.approx([0, np.sqrt(8)])
    said(ends[1], "2.83")
    x = layer_norm(np.random.default_rng(0).standard_normal((20_000, D)), eps=0)
    lengths = np.linalg.norm(sees[0] * x + sees[1] * np.roll(x, 1, axis=0), axis=1)
    assert lengths.min() < 0.3 and 2.7 < lengths.max() <= np.sqrt(8)


def soft():
    recipe = cut(window="box")
    scores = stages(recipe, "scored", overlap=1)[-1][:, D:]
    np.testing.assert_allclose(scores[:, 0], scores[:, 1], atol=ROUNDING)
    np.testing.assert_allclose(share(2, "box", 1), 1 / 2)
    for window, words in (("triangle", "75"), ("sine", "82")):
        for own in share(2, window, 1)[0, :2]:
            said(100 * own, words)
    scores = stages(cut(window="triangle"), "scored", overlap=1, query=0)[-1][:, D:]
    np.testing.assert_allclose(9 * scores[:, 1], scores[:, 0], atol=ROUNDING)
    assert np.abs(scores).max() > 1


# --- the stops


def at(title):
    state = stop("heads", title)
    assert state.follow == FOLLOW
    return state.recipe, dict(state.params), state


def two_shadows():
    recipe, params, state = at("Two shadows")
    assert state.progress == 2 and params["overlap"] == 0
    np.testing.assert_allclose(np.linalg.norm(recipe.cloud("whole").stages(params)[1], axis=1), 2)
    semi_axes()
    said(np.sqrt(2), "1.41")
    shown = np.linalg.svd((share(2, "box", 0)[0] * SHOW) @ SHOW.T)[1] * 2
    assert shown[:2] == pytest.approx([2, 1])  # in the picture the shorter one has 1


def one_direction():
    """Claim: in the picture, the shorter semi-axes of what each of two heads sees lie on one line.

    What a head sees of the sphere is an ellipse in the plane of its two axes. In ℝ⁴ the two planes meet only
    at 0. The picture leaves out the direction 𝟏, and in it the planes meet in a line. The shorter semi-axes,
    which are (1, 1, 0, 0) and (0, 0, 1, 1) in ℝ⁴, lie on this line.
    """
    blocks, along = np.eye(D)[:, :2], SHOW @ [1, 1, 0, 0]
    for shown, common in ((np.eye(D), 0), (SHOW, 1)):
        a, b = shown[:, :2], shown[:, 2:]
        assert 4 - np.linalg.matrix_rank(np.hstack([a, b]), tol=ROUNDING) == common
    np.testing.assert_allclose(SHOW @ [0, 0, -1, -1], along, atol=ROUNDING)
    parts = points()[:, :2] @ blocks.T, points() - points()[:, :2] @ blocks.T
    np.testing.assert_allclose(*(part @ SHOW.T @ along for part in parts), atol=ROUNDING)
    for head, wanted in enumerate(([1, 1, 0, 0], [0, 0, 1, 1])):
        _, lengths, directions = np.linalg.svd(2 * SHOW * share(2, "box", 0)[head], full_matrices=False)
        shorter = lengths[1] * directions[1] * np.sign(directions[1].sum())
        np.testing.assert_allclose(shorter, wanted, atol=ROUNDING)
        flat = np.array([1, 1, -1, -1]) / 2 * (-1) ** head
        np.testing.assert_allclose(shorter - shorter.mean(), flat, atol=ROUNDING)
    two_shadows()


def added_up():
    recipe, params, state = at("Added up")
    assert state.progress == 3
    rings = np.linalg.norm(recipe.cloud("mixed").stages(params)[3], axis=1)
    assert (rings < 1.9).any() and (rings > 2.1).any()


def four_heads():
    recipe, params, _ = at("Four heads")
    said(shadows(4)[0], "1.73")
    assert np.abs(recipe.cloud("part 1").stages(params)[2][:, 1:D]).max() == 0
    assert [2 * np.linalg.norm(row) for row in (np.eye(D) - 1 / D)] == pytest.approx(4 * [np.sqrt(3)])


def for_one_head():
    recipe, params, _ = at("A query for one head")
    scores = recipe.cloud("scored").stages(params)[-1][:, D:]
    assert np.abs(scores[:, 1]).max() < ROUNDING and np.abs(scores[:, 0]).max() > 2


def the_query():
    """With two heads, the query's slider gives only head 1 a score ≠ 0 at 0°, and only head 2 at 90°.

    With four heads, heads 1 and 2 have scores ≠ 0 at 0°, and both have the score 0 at 90°.
    """
    for heads, query, seen in ((2, 0, (1, 0)), (2, 90, (0, 1)), (4, 0, (1, 1)), (4, 90, (0, 0))):
        scores = stages(cut(heads=heads), "scored", overlap=0, query=query)[-1][:, D : D + 2]
        assert (np.abs(scores).max(0) > ROUNDING).tolist() == [bool(head) for head in seen]
    start, end = SHOW[:2] * np.sqrt(2)
    np.testing.assert_allclose((start, end), [[1, -1, 0, 0], [0, 0, 1, -1]], atol=ROUNDING)


def boxes():
    recipe, params, state = at("Boxes that overlap")
    assert params["overlap"] == 1 and state.choices["window"] == "box"
    soft()
    seen = [recipe.cloud(f"part {h}").stages(params)[2][:, :D] for h in (1, 2)]
    np.testing.assert_allclose(*seen, atol=ROUNDING)
    np.testing.assert_allclose(np.linalg.norm(seen[0], axis=1), 1)


def alike():
    """Both norms commute with permutations of the axes and with rotations that leave 𝟏 where it is.

    RMSNorm commutes with all other rotations too, LayerNorm does not.
    """
    rng = np.random.default_rng(0)
    x, renumbered = rng.normal(size=(50, 6)), rng.permutation(6)
    up, across = np.ones((6, 1)) / np.sqrt(6), hyperplane_basis(6).T
    anyhow, inside = (np.linalg.qr(rng.normal(size=(n, n)))[0] for n in (6, 5))
    around = across @ inside @ across.T + up @ up.T  # leaves 1
    for norm in (layer_norm, rms_norm):
        np.testing.assert_array_equal(norm(x[:, renumbered]).round(9), norm(x)[:, renumbered].round(9))
        np.testing.assert_allclose(norm(x @ around.T), norm(x) @ around.T, atol=ROUNDING)
    np.testing.assert_allclose(rms_norm(x @ anyhow.T), rms_norm(x) @ anyhow.T, atol=ROUNDING)
    assert np.abs(layer_norm(x @ anyhow.T) - layer_norm(x) @ anyhow.T).max() > 0.5


# --- other windows, other surfaces


def found(name, **of):
    """The column `name` of the table "soft_heads" for models of one kind: an array ordered by seed.

    of: the settings of these models, as names of columns with their values.
    """
    every = [row for row in table("soft_heads") if all(row.get(key) == value for key, value in of.items())]
    assert [row["seed"] for row in every] == list(range(soft_heads.MODELS_PER_KIND))
    return np.array([row[name] for row in every])


def soft_models():
    shape, _ = read_file("heads_triangle.safetensors", from_file)
    assert (
        shape.width,
        shape.heads,
        shape.layers,
        soft_heads.TRAINING_STEPS,
        soft_heads.MODELS_PER_KIND,
    ) == (16, 4, 2, 1200, 4)
    usual = found("held", window="box", overlap=0.0)
    said(usual.mean(), "2.036")
    more = [found("held", window=w, overlap=o) - usual for w, o in soft_heads.SOFT_WINDOWS[1:]]
    said(min(each.mean() for each in more), "0.007")
    said(max(each.mean() for each in more), "0.020")
    said(min(each.std(ddof=1) for each in more), "0.012")
    said(max(each.std(ddof=1) for each in more), "0.029")


def surfaces():
    kinds = ("layer_norm", "rms_norm", "layer_norm_ball", "rms_norm_ball")
    assert kinds == soft_heads.SURFACES and soft_heads.NOISE_SIZE == 0.5
    gaps = [found("held", surface=kind) - found("learned", surface=kind) for kind in kinds]
    noise = [found("noise", surface=kind) for kind in kinds]
    for each, words in zip(gaps, ("1.56", "1.63", "1.53", "1.53"), strict=True):
        said(each.mean(), words)
    for each, words in zip(noise, ("1.14", "1.16", "1.20", "1.24"), strict=True):
        said(each.mean(), words)
    for each in (gaps, noise):  # analysis of variance
        assert f_oneway(*each).pvalue > 0.05
    for each, words in ((gaps, ("0.07", "0.20")), (noise, ("0.11", "0.26"))):
        spreads = [models.std(ddof=1) for models in each]
        said(min(spreads), words[0])
        said(max(spreads), words[1])


def loudest():
    assert soft_heads.MODELS_PER_KIND == 4
    for taught, words in ((True, ("0.63", "0.54")), (False, ("0.52", "0.44"))):
        for name, word in zip(("said", "most"), words, strict=True):
            said(found(name, trained=taught, layer=0).mean(), word)


@pytest.mark.parametrize(("window", "overlap"), soft_heads.SHIPPED_WINDOWS)
def test_the_losses_of_soft_heads_are_those_of_the_shipped_models(window, overlap):
    shape, weights = read_file(f"heads_{window}.safetensors", from_file)
    text, held = soft_heads.soft_texts()
    own = {name: w.astype(np.float32) for name, w in weights.items()}
    now = soft_heads.measured_losses(
        shape, own, text[:4096], held, shares=soft_heads.soft_shares(shape, window, overlap)
    )
    known = found("held", window=window, overlap=overlap)[0]
    assert now["held"] == pytest.approx(known, abs=1e-3)
    assert now["noise"] == pytest.approx(found("noise", window=window, overlap=overlap)[0], abs=0.02)


def test_shares_that_do_not_overlap_are_the_usual_cut():
    shape, weights = read_file("heads_box.safetensors", from_file)
    tokens = shape.tokens((FOLDER / "heads.txt").read_text("utf-8"))[:64]
    own = windows(np.arange(1, 17), 16, 4, 0, shape="box")
    usual, soft_ = (forward(shape, weights, tokens, shares=shares).logits for shares in (None, own))
    np.testing.assert_allclose(soft_, usual, atol=1e-10)
    others = windows(np.arange(1, 17), 16, 4, 1, shape="box")
    assert np.abs(forward(shape, weights, tokens, shares=others).logits - usual).max() > 0.1


def only_together():
    """Claim: the points lie on a sphere of radius 2, but what one head sees of them fills an ellipsoid.

    This calls the functions of three other claims.
    """
    semi_axes()
    in_general()
    on_the_sphere()


CLAIMS = {
    "In the usual cut, a head of at most $d - 2$ axes sees a filled ellipsoid. Such a head alone cannot tell that the points lie on a sphere; all heads together can.": only_together,
    "In four models of each of four kinds the differences are not significant.": surfaces,
    "With $d = 16$, four heads and two layers, four models of each kind learned from the same text for 1,200 steps. Unseen text cost 2.036 nats a character with the usual cut. With windows that overlap it cost 0.007 to 0.020 more, with standard deviations over the four models of 0.012 to 0.029.": soft_models,
    "half as large as what the heads read, is added to what they read. All numbers are in nats, and means of four models: | what the heads read | dimensions | new text | noise | | --- | --- | --- | --- | | LayerNorm's sphere | 14 | 1.56 | 1.14 | | RMSNorm's sphere | 15 | 1.63 | 1.16 | | the ball within LayerNorm's sphere | 15 | 1.53 | 1.20 | | the ball within RMSNorm's sphere | 16 | 1.53 | 1.24 | The standard deviations over the models of one kind are 0.07 to 0.20 for a new text and 0.11 to 0.26 for noise.": surfaces,
    "Can a linear map guess, from the place of a token on the sphere, which head adds most to the token in the first layer? The map is right in 63 % of cases; always guessing the commonest head is right in 54 %. In untrained models these shares are 52 % and 44 % (means of four models).": loudest,
    "Here a vector has $d = 4$ axes, and there are $H = 2$ heads of two axes each, or $H = 4$ of one.": the_cut,
    "LayerNorm has put each point $x$ on a sphere of radius 2. The picture shows the space in which it lies: the vectors whose coordinates sum to zero, in three dimensions.": on_the_sphere,
    "In the usual cut a share is 1 within the block and 0 outside. So a head sees a shadow (a projection) of the sphere. With two axes this is a filled ellipse, with one axis a segment. The shadows lie in four dimensions, but the picture has only three: it leaves out the height along $𝟏 = (1, 1, 1, 1)$.": of_two_heads,
    r"That is, it subtracts from each vector the mean of its four numbers. This distorts the ellipses. Look at their shorter semi-axes, $(1, 1, 0, 0)$ and $(0, 0, 1, 1)$. They are 1.41 long and at right angles to each other. Without their mean, ½, they become $\frac12 (1, 1, -1, -1)$ and $\frac12 (-1, -1, 1, 1)$. So in the picture they are only 1 long, and lie on one line.": one_direction,
    "Two arrows show the parts of the followed point in heads 1 and 2. With two heads, at **sum** the second arrow begins where the first ends, and leads to the point itself.": lambda: (
        test_the_arrows_go_by_the_part_to_the_point(2, "sine")
    ),
    "the score of each point as a key, in heads 1 and 2.": of_two_heads,
    "from the direction of $(1, -1, 0, 0)$ to that of $(0, 0, 1, -1)$. With two heads and no overlap, head 1 alone sees the first direction, and head 2 alone the second. With four heads, heads 1 and 2 each see one coordinate of the first direction, and nothing of the second direction.": the_query,
    "With overlap 1 it is twice as wide": twice_as_wide,
    "so that the shares of an axis sum to 1": soft,
    r"**Four axes, three dimensions, two on the sphere.** The four numbers of a point on the sphere satisfy two equations: they sum to 0, and their squares sum to 4. Both equations connect the heads. Within a block of two axes no equation is left: the block sees a filled ellipse, with semi-axes 2 and $\sqrt{2}$.": semi_axes,
    r"In general a block of $m \le d - 2$ axes sees a filled ellipsoid of all $m$ dimensions; a block of all axes but one sees an ellipsoid's surface and nothing inside it. The semi-axes of such an ellipsoid are $\sqrt{d}$, and $\sqrt{d - m}$ along the direction in which all coordinates of the block are equal. For $d = 768$ and $m = 64$ these are 27.7 and 26.5.": in_general,
    "Anonymous authors (2025) say that the sphere has two dimensions less than the whole space. So it has, because of the two equations. But a head of at most $d - 2$ axes": two_less,
    r"The means of the blocks sum to zero. The squared lengths of the parts sum to $d$: where one part is longer, the others together are shorter. A grey ring combines parts of different points. All such sums together fill a body of four dimensions. With two heads and no overlap, they can lie at any distance from 0 to $\sqrt 8 = 2.83$ from the origin, not only at distance 2. (These distances are measured in all four dimensions, so they include the height along $𝟏$.) The 160 rings of the picture lie at distances from 0.76 to 2.67.": all_sums,
    "Take two heads and overlap 1. With boxes as windows each head has half of every axis, so their scores are equal. With triangles a head has 75 % of each of its own axes, with squared sines 82 %. A query meant for head 1 then has scores in head 2, too. With triangles these are a ninth as large as those in head 1, because a score contains a head's share twice": soft,
    "### Two shadows After LayerNorm all points have length 2.": two_shadows,
    "filled ellipses: the part that one head sees can be short, if the part that the other head sees is long.": two_shadows,
    "what head 1 sees of them, brown what head 2 sees": two_shadows,
    "The semi-axes are 2 and 1.41; in the picture, which leaves out the height, the second is 1.": two_shadows,
    "The two arrows lead to the followed point": added_up,
    "### Four heads Each head sees one axis, and on it the sphere is a segment from −1.73 to 1.73.": four_heads,
    "The query now lies where head 1 alone sees it. All scores of head 2 are 0": for_one_head,
    "each is as wide as all four axes. How are the scores of the two heads related?": boxes,
    "Every head has half of every axis. Both ellipses have become the same smaller sphere, of radius 1. In the graph the points lie on the dashed line, where the two scores are equal.": boxes,
    "so the sum of the others is minus the sum of its own block.": ties,
    "Does LayerNorm treat all axes alike? Before $\\gamma$ and $\\beta$ it does": alike,
}
