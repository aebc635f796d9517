"""A token's way with the norm in four places: the table anew, the laws, and what the text says."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch.nn import functional

from components.scenes.placement import SCENE
from components.scenes.placement.build import BLOCKS, SHORT
from components.training.recipes import recipe_of
from learning.placement import STEP, block, norm, scores
from learning.shipped import table
from learning.stack import drawn
from tests.scenes.claims import said
from tools.films import placement as made

EXACT = 1e-10


@cache
def row(kind, qk_norm=False, sharp=1):
    [found] = (
        r for r in table("placement") if (r["kind"], r["qk_norm"], r["sharp"]) == (kind, qk_norm, sharp)
    )
    return found


def values(name, kind, *choices):
    """[median, smallest, largest] of the draws at each place."""
    return np.array(row(kind, *choices)[name])


def reference(kind, own, x, qk_norm):
    """One block by PyTorch's own functions."""

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
    """Lengths and weights of all draws, computed anew."""
    stream, weights = made.run(kind, False, 3)
    lengths = np.stack([made.rms(each[:, -1]) for each in stream])
    found = {name: values(name, kind, False, 3) for name in ("length", "weight")}
    np.testing.assert_allclose(np.median(lengths, 1), found["length"][:, 0], rtol=2e-3)
    np.testing.assert_allclose(np.median(weights, 1), found["weight"][:, 0], rtol=2e-3, atol=1e-3)


def test_the_picture_keeps_lengths_and_turns():
    recipe = recipe_of(SCENE)
    for kind in SHORT:
        x = recipe.cloud(kind).points[:, :2]
        lengths, turns = (np.array(each) for each in row(kind)["path"])
        np.testing.assert_allclose(np.linalg.norm(x, axis=1), lengths)
        cosines = (x[1:] * x[:-1]).sum(1) / lengths[1:] / lengths[:-1]
        np.testing.assert_allclose(np.degrees(np.arccos(cosines)), turns, atol=1e-6)


def directions():
    recipe = recipe_of(SCENE)
    for kind in SHORT:
        end = recipe.cloud(kind).stages(recipe.defaults)[1][:, :2]
        np.testing.assert_allclose(np.linalg.norm(end, axis=1), 1)


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
    """Each block adds two vectors of length 1, and the median of the length is near the law."""
    k = np.arange(25)
    off = np.abs(values("length", "peri")[:, 0] / np.sqrt(1 + 2 * k) - 1)
    assert 0.03 < off.max() < 0.04


def root():
    lengths = values("length", "pre")[:, 0]
    said(lengths[-1], "5.1")
    k = np.arange(25)
    assert np.abs(lengths / np.sqrt(1 + (lengths[-1] ** 2 - 1) / 24 * k) - 1).max() < 0.2
    stream, _ = made.run("pre", False, 1)
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
    """With post-LN: the gradient at the start over all tokens, and the share of the first token in it."""
    stream, _ = made.run("post", False, 1)
    end = torch.tensor(np.random.default_rng(made.DRAWS).standard_normal(tuple(stream[-1][:, -1].shape)))
    [pulled] = torch.autograd.grad((stream[-1][:, -1] * end).sum(), stream[:1])
    squares = (pulled**2).sum(-1)
    said(float(np.median((squares.sum(1) / (end**2).sum(-1)).sqrt())), "1.25")
    said(100 * float(np.median(squares[:, 0] / squares.sum(1))), "99.9")


def alike():
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
    said(values("weight", "pre")[0, 0], "0.18")
    said(values("weight", "pre", False, 3)[0, 0], "0.88")
    said(values("weight", "pre", True, 3)[0, 0], "0.19")
    np.testing.assert_allclose(values("weight", "pre", True, 3), values("weight", "pre", True))


def fast_then_slow():
    turns = values("turn", "pre")[:, 0]
    assert turns[:4].min() > turns[-4:].max() and row("pre")["path"][0][-1] > 4


def in_all():
    totals = {kind: np.sum(row(kind)["path"][1]) for kind in SHORT}
    said(totals["post"] / 1000, "1.219")
    said(totals["ngpt"], "103")
    said(max(totals[kind] for kind in SHORT if kind != "post"), "467")
    assert min(totals.values()) == totals["ngpt"]


def survivors():
    gradients()
    found = [values("gradient", kind)[0, 0] for kind in ("pre", "peri", "ngpt")]
    said(min(found), "0.96")
    said(max(found), "3.6")


CLAIMS = {
    "A norm sees the direction alone: divided by their lengths, all paths lie on the circle.": directions,
    "# Four places for a norm": sizes,
    "A token with 64 numbers runs through 24 blocks of attention and MLP with random weights. Lengths are divided by $\\sqrt d$, so the sphere of the norm has the radius 1.": sizes,
    "All four paths have the same weights and the same start.": sizes,
    "medians of 20 draws": sizes,
    "takes a small step α of 0.05 towards it.": small_step,
    "With post-LN and nGPT the length is 1 after every block.": unit_lengths,
    "each block adds two vectors of length 1. If they were orthogonal to all before, the length after $k$ blocks would be $\\sqrt{1 + 2k}$; the median stays within 4 % of that.": two_vectors,
    "With pre-LN the two updates of a block together have a length near 1, and the growth is again like a root: 5.1 after 24 blocks": root,
    "With pre-LN the angle falls from 35° in the first block to 12° in the last, with peri-LN from 53° to 11°. With post-LN it rises from 37° to 53°: nothing slows it down. nGPT turns a token by about 4° in every block": angles,
    "At the start the token's gradient is 2.6 times that at the end with pre-LN, 3.6 with peri-LN and 0.96 with nGPT. With post-LN it is 0.0018, but nothing vanishes": gradients,
    "over all 16 tokens together it is 1.25 at the start.": of_all_tokens,
    "at the start nearly all of its gradient, 99.9 % of the square, belongs to the first token": of_all_tokens,
    "no weight is larger than 0.063 (median), hardly more than 1/16, the share of each of 16 tokens.": alike,
    "A score is at most $\\sqrt d$ then, which is 8, whatever the weights are. Let the matrices of queries and keys become three times as large. Without QK-norm scores become nine times as large": bounded,
    "the largest weight rises from 0.18 to 0.88. With QK-norm it stays 0.19": first_weights,
    "In the first blocks it turns fast, later slowly.": fast_then_slow,
    "With post-LN the length stays 1.": unit_lengths,
    "In this draw it turns by 1,219 degrees in all. The other norms turn it by 103 to 467.": in_all,
    "each block adds two vectors of length 1, nearly orthogonal to what was there.": two_vectors,
    "as each step is: 103 degrees.": in_all,
    "At the start 0.0018 of the gradient is left for this token. With the other norms it is 0.96 to 3.6 times that at the end.": survivors,
    "Queries and keys come from matrices that are three times as large. The token looks nearly at a single one: the largest weight is 0.88.": first_weights,
    "The largest weight is 0.19.": first_weights,
    "It goes through 64 dimensions.": sizes,
}
