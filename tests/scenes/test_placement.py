"""A token's path with the norm in four places: the table recomputed, properties, and the text's claims."""

from functools import cache
from itertools import pairwise, product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

from components.scenes.placement import SCENE
from components.scenes.placement.build import BELOW, BLOCKS, DRAWS, FINE, SHORT, SIZES, directions, distance
from components.training.recipes import recipe_of
from learning.placement import STEP, attention, block, mlp, norm, scores
from learning.shipped import table
from learning.stack import drawn
from tests.scenes.claims import said, text
from tools.films import placement as made

EXACT = 1e-10


@cache
def row(kind, qk_norm=False, sharp=1):
    [found] = (
        r for r in table("placement") if (r["kind"], r["qk_norm"], r["sharp"]) == (kind, qk_norm, sharp)
    )
    return found


def values(name, kind, *choices):
    """A quantity in a stack of blocks: its median, minimum and maximum over the random draws, (n, 3).

    A row is for one block, or for one place between blocks. name: the quantity, a column of the table
    "placement". kind: the placement of the norm. choices: whether queries and keys are normalised (by default
    False), and the factor of their matrices (by default 1).
    """
    return np.array(row(kind, *choices)[name])


def reference(kind, own, x, qk_norm):
    """The tokens after one block, with norms and attention computed by PyTorch's functions.

    kind: the placement of the norm. own: the weight matrices by name. x: the tokens (…, T, d). qk_norm:
    whether queries and keys are normalised.
    """

    def unit(y):
        return functional.rms_norm(y, y.shape[-1:], eps=0.0)

    def attention(y):
        q, k, v = (y @ own[name] for name in ("query", "key", "value"))
        q, k = (unit(q), unit(k)) if qk_norm else (q, k)
        return functional.scaled_dot_product_attention(q, k, v, is_causal=True) @ own["out"]

    def mlp(y):
        return functional.gelu(y @ own["first"]) @ own["second"]

    for f in (attention, mlp):
        x = {
            "pre": lambda f=f, x=x: x + f(unit(x)),
            "post": lambda f=f, x=x: unit(x + f(x)),
            "peri": lambda f=f, x=x: x + unit(f(unit(x))),
            "ngpt": lambda f=f, x=x: unit((1 - STEP) * x + STEP * unit(f(x))),
        }[kind]()
    return x


@pytest.mark.parametrize("qk_norm", (False, True))
@pytest.mark.parametrize("kind", SHORT)
def test_a_block_is_that_of_pytorch(kind, qk_norm):
    [own], x = drawn(16, 1, 5, seed=3)
    want = reference(kind, {name: torch.tensor(w) for name, w in own.items()}, torch.tensor(x), qk_norm)
    np.testing.assert_allclose(block(kind, own, x, qk_norm), want.numpy(), atol=EXACT)


@pytest.mark.parametrize("kind", ("peri", "ngpt"))
def test_the_table_is_what_the_blocks_give(kind):
    """The table's paths, and all its columns except the gradients, equal those recomputed from the blocks."""
    stream, largest, weights = made.run(kind, False, 3)
    units = [(each / each.norm(dim=-1, keepdim=True)).detach().numpy() for each in stream]
    last = np.stack([each[:, -1] for each in units])
    lengths = np.stack([made.rms(each[:, -1]) for each in stream])
    turns = np.degrees(np.arccos((last[1:] * last[:-1]).sum(-1)))
    starts = np.degrees(np.arccos((last * last[0]).sum(-1).clip(-1, 1)))
    pairs = np.triu_indices(made.TOKENS, 1)
    cosines = np.stack([(each @ each.swapaxes(1, 2))[:, *pairs].mean(1) for each in units])
    computed = {"length": lengths, "turn": turns, "start": starts, "cosine": cosines}
    computed |= {"score": largest, "weight": weights}
    for name, own in computed.items():
        for k, each in enumerate((np.median(own, 1), own.min(1), own.max(1))):
            atol = 1e-3 if name != "start" else 0.02  # near 0 the arc cosine is inexact
            np.testing.assert_allclose(each, values(name, kind, False, 3)[:, k], rtol=2e-3, atol=atol)
    for draw, shown in enumerate(row(kind, False, 3)["paths"]):
        for name in ("length", "turn", "start"):
            np.testing.assert_allclose(computed[name][:, draw], shown[name], rtol=1e-4, atol=0.02)


def test_scores_and_gradients_of_the_table_are_those_of_all_tokens():
    """For one draw with QK-norm, scores are at most 8, and the table's gradients are PyTorch's."""
    blocks, x = drawn(made.WIDTH, BLOCKS, made.TOKENS, 0)
    stream = [norm(torch.tensor(x)).requires_grad_()]
    for own in blocks:
        own = {name: torch.tensor(w) for name, w in own.items()}
        found = scores(own, norm(stream[-1]), True)[-1].abs()
        assert found.max() <= 8 + EXACT
        stream.append(reference("pre", own, stream[-1], True))
    end = torch.tensor(np.random.default_rng(made.DRAWS).standard_normal((made.DRAWS, made.WIDTH)))[0]
    pulled = torch.autograd.grad(stream[-1][-1] @ end, stream)
    own_part = [float(each[-1].norm() / end.norm()) for each in pulled]
    np.testing.assert_allclose(own_part, row("pre", True)["paths"][0]["gradient"], rtol=1e-4)
    of_all = [float(each.norm() / end.norm()) for each in pulled]
    low, high = values("gradients", "pre", True)[:, 1:].T
    assert (low * 0.999 <= of_all).all() and (of_all <= high * 1.001).all()


def angles_between(a, b):
    """The angle in degrees of each row of a to the same row of b, or to b if it has a single row."""
    cosines = (a * b).sum(-1) / np.linalg.norm(a, axis=-1) / np.linalg.norm(b, axis=-1)
    return np.degrees(np.arccos(cosines.clip(-1, 1)))


def keeps_the_angles(x, azimuth):
    """Assert that `directions` draws a path x (K, d) in three dimensions without changing its angles.

    These are the angles between each vector and the first, and between each vector and the next. azimuth: the
    direction in degrees in which the drawn path begins.
    """
    start, turn = angles_between(x, x[:1]), angles_between(x[:-1], x[1:])
    drawn_path = directions(start, turn, azimuth)
    np.testing.assert_allclose(np.linalg.norm(drawn_path, axis=1), 1)
    np.testing.assert_allclose(angles_between(drawn_path, drawn_path[:1]), start, atol=1e-5)
    np.testing.assert_allclose(angles_between(drawn_path[:-1], drawn_path[1:]), turn, atol=1e-5)


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), d=st.integers(3, 64), size=st.floats(0.05, 3))
def test_any_path_can_be_drawn_with_its_true_angles(seed, d, size):
    rng = np.random.default_rng(seed)
    keeps_the_angles(rng.normal(size=d) + size * rng.normal(size=(12, d)).cumsum(0), seed % 360)


@pytest.mark.parametrize("draw", "15")
def test_the_picture_keeps_lengths_and_angles(draw):
    recipe = recipe_of(SCENE, draw=draw)
    for kind in SHORT:
        cloud = recipe.cloud(kind)
        x, length, start = cloud.points[::FINE, :3], *cloud.points[::FINE, 3:].T
        shown = row(kind)["paths"][int(draw) - 1]
        np.testing.assert_allclose(length, shown["length"])
        np.testing.assert_allclose(start, shown["start"])
        np.testing.assert_allclose(np.linalg.norm(x, axis=1), distance(np.array(shown["length"])))
        np.testing.assert_allclose(angles_between(x, x[:1]), shown["start"], atol=2e-3)
        np.testing.assert_allclose(angles_between(x[:-1], x[1:]), shown["turn"], atol=2e-3)
        fine = cloud.points[:, :3]  # between places it follows the great circle at an even pace
        steps = angles_between(fine[:-1], fine[1:]).reshape(BLOCKS, FINE)
        np.testing.assert_allclose(
            steps, np.repeat(shown["turn"], FINE).reshape(BLOCKS, FINE) / FINE, atol=2e-3
        )


def test_the_token_goes_along_its_path():
    recipe = recipe_of(SCENE, norm="peri")
    for at in (0, 3.5, 24):
        now = recipe.cloud("now").stages({"block": at})
        np.testing.assert_allclose(now[0][0], recipe.cloud("peri").points[int(FINE * at)], atol=EXACT)
        assert np.linalg.norm(now[1][0, :3]) == pytest.approx(1)


def test_every_dot_is_inside_its_graph():
    """The curves of medians and extremes are inside the axes, with room for half a dot at the sides."""
    for kind, below, qk, size in product(SHORT, BELOW, ("no", "yes"), SIZES):
        query = {"norm": kind, "below": below, "qk": qk, "size": size}
        recipe = recipe_of(SCENE, **query)
        for view in recipe.views[1:]:
            low, high = np.array(view.ranges).T
            room = 0.02 * (high - low)
            for mark in view.layers:
                points = recipe.cloud(mark.cloud).stages({"block": 12})[0]
                shown = points[:, [0, 1, 2, 3][: points.shape[1]]]
                assert (shown[:, 0] >= low[0] + room[0]).all() and (shown[:, 0] <= high[0] - room[0]).all()
                inside = (shown[:, 1:] >= low[1]).all() and (shown[:, 1:] <= high[1]).all()
                assert inside, (query, view.name)
                assert (shown[:, 1] >= low[1] + room[1]).all(), (query, view.name)


def on_the_sphere():
    recipe = recipe_of(SCENE)
    for kind in SHORT:
        end = recipe.cloud(kind).stages(recipe.defaults)[1][:, :3]
        np.testing.assert_allclose(np.linalg.norm(end, axis=1), 1)


def keeps():
    for kind in SHORT:
        found = row(kind)["paths"][0]
        x = recipe_of(SCENE).cloud(kind).points[::FINE, :3]
        np.testing.assert_allclose(angles_between(x[:-1], x[1:]), found["turn"], atol=2e-3)
        np.testing.assert_allclose(x[0], [0, 0, 1], atol=EXACT)
    rng = np.random.default_rng(0)
    keeps_the_angles(rng.normal(size=(9, 64)).cumsum(0), 0.0)
    assert len(np.linalg.qr(rng.normal(size=(64, 3)))[0].T) == 3  # the dimensions that three vectors span


def five_of_twenty():
    assert made.SHOWN == len(DRAWS) == 5
    for kind in SHORT:
        assert len(row(kind)["paths"]) == 5
        ends = [each["start"][-1] for each in row(kind)["paths"]]
        assert max(ends) - min(ends) < 23


def table_of_ends():
    for kind, start, cosine in (
        ("pre", ("77", "69", "89"), ("0.74", "0.62", "0.84")),
        ("post", ("93", "79", "104"), ("1.000", "0.990", "1.000")),
        ("peri", ("80", "70", "93"), ("0.75", "0.58", "0.84")),
        ("ngpt", ("20", "16", "23"), ("0.04", "0.01", "0.07")),
    ):
        for name, words in (("start", start), ("cosine", cosine)):
            for value, word in zip(values(name, kind)[-1], words, strict=True):
                said(value, word)


def unlike_at_first():
    for kind in SHORT:
        median, low, high = values("cosine", kind)[0]
        assert abs(median) < 0.005
        said(-low, "0.03")
        said(high, "0.03")


def forgotten():
    table_of_ends()
    for kind in ("pre", "post", "peri"):
        assert values("start", kind)[-1, 1] > 69


def by_attention():
    """With post-LN and without the MLP, tokens become equal; without attention they do not.

    The median of the mean cosines after the last block is 1.000 without the MLP, and 0.48 without attention.
    """
    ends = {"1.000": [], "0.48": []}
    for seed in range(made.DRAWS):
        blocks, start = drawn(made.WIDTH, BLOCKS, made.TOKENS, seed)
        for words, without in (("1.000", "second"), ("0.48", "out")):
            x = norm(start)
            for own in blocks:
                x = block("post", own | {without: 0 * own[without]}, x)
            ends[words].append(made.mean_cosine(torch.tensor(x)[None])[0])
    for words, found in ends.items():
        said(np.median(found), words)


def two_steps():
    x, *outputs = norm(np.eye(3))
    end = x
    for output in outputs:
        end = norm(end + STEP * (output - end))
    [turn] = angles_between(end[None], x[None])
    assert STEP == 0.05
    said(turn, "4.3")
    assert np.abs(values("turn", "ngpt")[:, 0] - turn).max() < 0.3


def a_large_step():
    """With nGPT and α = 0.5, the last token ends 89° from its start, and all tokens become equal.

    The mean cosine of two tokens is 1.000. Both numbers are medians.
    """
    ends, cosines = [], []
    for seed in range(made.DRAWS):
        blocks, x = drawn(made.WIDTH, BLOCKS, made.TOKENS, seed)
        start = x = norm(x)
        for own, branch in product(blocks, (attention, mlp)):
            x = norm(0.5 * x + 0.5 * norm(branch(own, x)))
        ends += [*angles_between(x[-1:], start[-1:])]
        cosines += [*made.mean_cosine(torch.tensor(x)[None])]
    said(np.median(ends), "89")
    said(np.median(cosines), "1.000")


def end_of(kind, words):
    said(row(kind)["paths"][0]["start"][-1], words)


def sizes():
    assert (made.WIDTH, made.BLOCKS, made.TOKENS, made.DRAWS) == (64, BLOCKS, 16, 20)
    assert BLOCKS == 24 and len(SHORT) == 4
    x = np.random.default_rng(0).normal(size=(5, 64))
    np.testing.assert_allclose(np.linalg.norm(norm(x), axis=1) / 8, 1)
    for kind in SHORT:
        np.testing.assert_allclose(values("length", kind)[0], 1)


def small_step():
    assert STEP == 0.05


def unit_lengths():
    for kind in ("post", "ngpt"):
        np.testing.assert_allclose(values("length", kind), 1)


def two_vectors():
    """With peri-LN the median length after k blocks is within 4 % of √(1 + 2k)."""
    k = np.arange(25)
    off = np.abs(values("length", "peri")[:, 0] / np.sqrt(1 + 2 * k) - 1)
    assert 0.03 < off.max() < 0.04


def root():
    lengths = values("length", "pre")[:, 0]
    said(lengths[-1], "5.1")
    k = np.arange(25)
    assert np.abs(lengths / np.sqrt(1 + (lengths[-1] ** 2 - 1) / 24 * k) - 1).max() < 0.2
    stream, *_ = made.run("pre", False, 1)
    updates = [np.median(made.rms((after - before)[:, -1])) for before, after in pairwise(stream)]
    assert min(updates) > 0.7 and max(updates) < 1.2


def angles():
    for kind, first, last in (("pre", "35", "12"), ("peri", "53", "11"), ("post", "37", "53")):
        turns = values("turn", kind)[:, 0]
        said(turns[0], first)
        said(turns[-1], last)
    assert np.abs(values("turn", "ngpt")[:, 0] - 4.2).max() < 0.3


def gradients():
    for kind, words in (("pre", "2.6"), ("peri", "3.6"), ("ngpt", "0.96"), ("post", "0.0018")):
        said(values("gradient", kind)[0, 0], words)
    np.testing.assert_allclose([values("gradient", kind)[-1, 0] for kind in SHORT], 1, atol=1e-6)


def of_all_tokens():
    """With post-LN, the last token after all blocks depends almost only on the first token before them.

    A random linear function of the last token's output has a gradient at this output, and one at the inputs
    of all tokens. The second is 1.25 times as long as the first, and 99.9 % of its squared length belong to
    the first token. Both numbers are medians.
    """
    stream, *_ = made.run("post", False, 1)
    end = torch.tensor(np.random.default_rng(made.DRAWS).standard_normal(tuple(stream[-1][:, -1].shape)))
    [pulled] = torch.autograd.grad((stream[-1][:, -1] * end).sum(), stream[:1])
    squares = (pulled**2).sum(-1)
    said(float(np.median((squares.sum(1) / (end**2).sum(-1)).sqrt())), "1.25")
    said(100 * float(np.median(squares[:, 0] / squares.sum(1))), "99.9")


def of_the_depth_scene():
    """In scene `depth`, post-LN's gradient is 0.073 times as long at the last token's input as at its output.

    There are 12 blocks from input to output. In the scene `placement`, whose norm does not centre, the first
    12 blocks give 0.079.
    """
    stream, *_ = made.run("post", False, 1)
    end = torch.tensor(np.random.default_rng(made.DRAWS).standard_normal(tuple(stream[12][:, -1].shape)))
    [pulled] = torch.autograd.grad((stream[12][:, -1] * end).sum(), stream[:1])
    said(np.median(pulled[:, -1].norm(dim=-1) / end.norm(dim=-1)), "0.079")
    assert "With post-LN the first is only 0.073 times as long as the second" in text("depth")
    [found] = (r for r in table("depth") if (r["width"], r["kind"], r["gain"]) == (64, "post_ln", 1))
    assert len(found["gradient"]) == 12


def alike():
    said(values("weight", "post")[:, 0].max(), "0.25")
    said(values("weight", "post")[-1, 0], "0.063")
    assert values("weight", "post")[-1, 0] == pytest.approx(1 / 16, rel=0.02)


def bounded():
    [own], x = drawn(64, 1, 16, seed=0)
    loud = own | {name: 1e3 * own[name] for name in ("query", "key")}
    assert np.abs(scores(loud, x, True)).max() <= 8
    np.testing.assert_allclose(scores(loud, x, True), scores(own, x, True), atol=EXACT)
    three = own | {name: 3 * own[name] for name in ("query", "key")}
    np.testing.assert_allclose(scores(three, x, False), 9 * scores(own, x, False))


def first_weights():
    for choices, words in (((False, 1), "1.8"), ((False, 3), "17"), ((True, 3), "1.8")):
        said(values("score", "pre", *choices)[0, 0], words)
    said(values("weight", "pre")[0, 0], "0.18")
    said(values("weight", "pre", False, 3)[0, 0], "0.88")
    said(values("weight", "pre", True, 3)[0, 0], "0.19")
    np.testing.assert_allclose(values("weight", "pre", True, 3), values("weight", "pre", True))


def fast_then_slow():
    for turns in (values("turn", "pre")[:, 0], np.array(row("pre")["paths"][0]["turn"])):
        assert turns[:4].mean() > 2 * turns[-4:].mean()
    assert row("pre")["paths"][0]["length"][-1] > 4
    end_of("pre", "77")


def in_all():
    totals = {kind: np.sum(row(kind)["paths"][0]["turn"]) for kind in SHORT}
    said(totals["post"] / 1000, "1.219")
    said(totals["ngpt"], "103")
    said(max(totals[kind] for kind in SHORT if kind != "post"), "467")
    assert min(totals.values()) == totals["ngpt"]
    end_of("ngpt", "20")


def survivors():
    gradients()
    found = [values("gradient", kind)[0, 0] for kind in ("pre", "peri", "ngpt")]
    said(min(found), "0.96")
    said(max(found), "3.6")


CLAIMS = {
    "A norm sees the direction alone: divided by their lengths, the points of all paths lie on the sphere.": on_the_sphere,
    "# Four places for a norm": sizes,
    r"The last of 16 tokens, a vector of 64 numbers, runs through 24 blocks with random weights. Each block has two branches, attention and an MLP. Lengths are divided by $\sqrt d$, so the sphere of the norm has the radius 1.": sizes,
    "The drawing shows three things truly: the token's length (on the logarithmic scale of the axis), the angle by which each block turns it, and its angle to the start.": keeps,
    "All four paths have the same weights and the same start;": sizes,
    "medians of 20 seeds; thin dotted lines": sizes,
    "it moves the token a small part α = 0.05 of the way to this output, and normalises the result. So a branch always reads a token of length 1.": small_step,
    "With pre-LN the length grows roughly like the square root of the number of blocks, to 5.1 after 24 blocks": root,
    "With post-LN and with nGPT it stays 1.": unit_lengths,
    r"With peri-LN each block adds two vectors of length 1. If they were orthogonal to all vectors before, the length after $k$ blocks would be $\sqrt{1 + 2k}$; the median length stays within 4 % of this.": two_vectors,
    "So with pre-LN and peri-LN the last block turns the token less than the first. With post-LN it turns the token more. The angle by which a block turns the token (medians of 20 seeds): | norm | angle in the first block | angle in the last block | | --- | --- | --- | | pre-LN | 35° | 12° | | post-LN | 37° | 53° | | peri-LN | 53° | 11° | nGPT turns a token by about 4° in every block": angles,
    "A block moves the token twice, each time the part α = 0.05 of the way to the output of a branch. If both outputs are at right angles to the token and to each other, the block turns the token by 4.3°.": two_steps,
    "with α = 0.5 its token would end 89° from the start, and the mean cosine of two tokens would be 1.000 (medians of 20 seeds).": a_large_step,
    "After 24 blocks: the angle to the start, and the mean cosine between two tokens (median and range of 20 seeds)": forgotten,
    "| norm | angle to the start | mean cosine of two tokens | | --- | --- | --- | | pre-LN | 77° (69 to 89) | 0.74 (0.62 to 0.84) | | post-LN | 93° (79 to 104) | 1.000 (0.990 to 1.000) | | peri-LN | 80° (70 to 93) | 0.75 (0.58 to 0.84) | | nGPT | 20° (16 to 23) | 0.04 (0.01 to 0.07) |": table_of_ends,
    "At the start the mean cosine is 0.00 (−0.03 to 0.03).": unlike_at_first,
    "The cosine ends at 1.000 also without the MLP, and at 0.48 without attention (medians of 20 seeds).": by_attention,
    "divided by that at the end (medians of 20 seeds; queries and keys of the usual size, no QK-norm): | pre-LN | post-LN | peri-LN | nGPT | | --- | --- | --- | --- | | 2.6 | 0.0018 | 3.6 | 0.96 |": gradients,
    "start. It depends on the start of the first token. Take the gradient of $f$, the random linear function of the last token at the end, with respect to all 16 tokens": of_all_tokens,
    "tokens at the start. The part of the first token has 99.9 % of the squared length of this gradient. The last token's own part is tiny, but the whole gradient is not short: it is 1.25 times as long as the gradient of $f$ at the end (medians of 20 seeds).": of_all_tokens,
    "has another number for post-LN, 0.073 in place of 0.0018: it has only 12 blocks, and LayerNorm. (After 12 blocks we find 0.079 here.)": of_the_depth_scene,
    "With queries and keys of the usual size, the last token does not look at one token only: its largest weight is at most 0.25 in every block, and falls to 0.063 in the last (medians of 20 seeds). That is hardly more than 1/16, which each token gets if all get the same.": alike,
    r"no score is larger than $\sqrt d$, which is 8 (attention has a single head here). Without QK-norm, matrices of queries and keys that are three times as large make scores nine times as large.": bounded,
    "In the first block, with pre-LN (medians of 20 seeds): | matrices of queries and keys | largest score | largest weight | | --- | --- | --- | | usual, no QK-norm | 1.8 | 0.18 | | three times as large, no QK-norm | 17 | 0.88 | | of any size, with QK-norm | 1.8 | 0.19 |": first_weights,
    "It turns fast in the first blocks and slowly in the last. It ends 77° from its start (this seed).": fast_then_slow,
    "With post-LN the length stays 1. Does": unit_lengths,
    "With this seed the angles of all blocks add up to 1,219 degrees. With the other norms they add up to 103 to 467.": in_all,
    "each block adds two vectors of length 1, nearly orthogonal to the token.": two_vectors,
    "Each step is short, and so is the whole path on the sphere: 103 degrees. The token ends 20° from its start (this seed).": in_all,
    "The mean cosine is 1.000 at the end (median of 20 seeds).": table_of_ends,
    "With post-LN the token's gradient at the start is 0.0018 times that at the end (median of 20 seeds). With the other norms it is 0.96 to 3.6 times that at the end.": survivors,
    "The matrices of queries and keys are three times as large. In the first block the token looks nearly at a single token: the largest weight is 0.88 (median of 20 seeds).": first_weights,
    "The largest weight is 0.19 (median of 20 seeds).": first_weights,
    "It goes through 64 dimensions. But three directions always fit into three dimensions with their true angles.": keeps,
    "### Is the path really in three dimensions?": keeps,
    "you can see the paths of the first 5 of the 20.": five_of_twenty,
}
