"""The text of the scene `depth`, tested with the table; and the table and the stream, recomputed."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
import torch

from components.language.cloud import project
from components.language.framing.paper import on_paper
from components.language.marks import Points, Trail
from components.scenes.depth import SCENE
from components.scenes.depth.build import MAX_DEPTH, NORM_LABELS, SHOW, TOKENS, D, rounded
from components.scenes.depth.build import SEED as FIRST
from components.training.recipes import recipe_of
from geometry import center, layer_norm
from geometry.angles import angles
from learning import stack
from learning.language import forward, from_file
from learning.shipped import FOLDER, table
from learning.shipped import read as read_file
from tests.scenes import atlas
from tests.scenes.claims import said, stop
from tools.films import depth as films

ROWS = table("depth")
FOUR_DIGITS = 6e-4  # relative tolerance: the table's numbers have four digits


@cache
def row(kind, width=64, gain=1.0):
    (found,) = (r for r in ROWS if (r["kind"], r["width"], r["gain"]) == (kind, width, gain))
    return found


def test_the_table_has_three_digits_or_whole_numbers():
    assert [rounded(x) for x in (1, 3.14159, 99.94, 99.97, 462.4, 1061.6)] == (
        ["1.00", "3.14", "99.9", "100", "462", "1,062"]
    )


@pytest.mark.parametrize("kind", NORM_LABELS)
@pytest.mark.parametrize("gain", [0.1, 1.0, 2.0])
def test_the_clouds_are_the_stack(kind, gain):
    for count in (1, 5, MAX_DEPTH):
        recipe = recipe_of(SCENE, norm=kind, blocks=count)
        want = stack.streams(kind, *stack.drawn(D, count, TOKENS, FIRST), gain)
        got = recipe.cloud("stream").stages({"gain": gain})
        reads = recipe.cloud("reads").stages({"gain": gain})
        for k, x in enumerate(want):
            scale = np.abs(x).max()
            np.testing.assert_allclose(got[k], x, atol=1e-10 * scale)
            np.testing.assert_allclose(reads[k][:, :D], stack.norm(kind, x), atol=1e-10 * scale)


@pytest.mark.parametrize("gain", [0.15, 0.95, 1.0, 1.05, 1.1, 1.3, 1.95])
def test_without_a_norm_the_picture_holds_the_ways_whatever_the_size(gain):
    recipe = recipe_of(SCENE, norm="none", blocks=MAX_DEPTH)
    params, view = {"gain": gain}, recipe.views[0]
    for k in range(MAX_DEPTH + 1):
        at = recipe.moment(params, k)
        for mark in (mark for mark in view.layers if isinstance(mark, Points | Trail)):
            flat, _ = on_paper(view.at(k, params), mark.points(at), view.camera)
            assert np.nanmax(np.abs(flat)) <= 1, (k, mark)


def test_the_table_is_whole():
    want = [(w, k, g) for w in films.STREAM_WIDTHS for k in stack.STREAM_KINDS for g in films.GAINS]
    assert [(r["width"], r["kind"], r["gain"]) for r in ROWS] == want
    assert all(len(r["size"]) == MAX_DEPTH + 1 and len(r["turn"]) == MAX_DEPTH for r in ROWS)
    assert all([len(each) for each in r["gradient"]] == list(range(2, MAX_DEPTH + 2)) for r in ROWS)
    assert all(each[-1] == 1 for r in ROWS for each in r["gradient"])


@pytest.mark.parametrize("kind", stack.STREAM_KINDS)
def test_the_table_anew(kind):
    """NumPy gives the table's sizes, angles and gradient for width 4, without PyTorch.

    The gradient, for a stack of four blocks, is computed by finite differences.
    """
    found, gain = row(kind, 4, 0.5), 0.5
    draws = [stack.drawn(4, films.BLOCKS, films.TOKENS, seed) for seed in range(films.DRAWS)]
    each = [stack.streams(kind, *one, gain) for one in draws]
    sizes = [[np.sqrt((x**2).mean()) for x in one] for one in each]
    np.testing.assert_allclose(np.median(sizes, axis=0), found["size"], rtol=FOUR_DIGITS)

    def angle(a, b):
        cosine = (a * b).sum(-1) / np.linalg.norm(a, axis=-1) / np.linalg.norm(b, axis=-1)
        return np.degrees(np.arccos(np.clip(cosine, -1, 1))).mean()

    turns = [[angle(a, b) for a, b in pairwise(one)] for one in each]
    np.testing.assert_allclose(np.median(turns, axis=0), found["turn"], rtol=FOUR_DIGITS)

    shape, step, last = (films.DRAWS, films.TOKENS, 4), 1e-6, 4
    ends = np.random.default_rng(films.DRAWS).standard_normal(shape)
    lengths = []
    for (blocks, x), end in zip(draws, ends, strict=True):
        moved = x + step * np.eye(x.size).reshape(-1, *x.shape)
        back = x - step * np.eye(x.size).reshape(-1, *x.shape)
        ahead = [stack.streams(kind, blocks[:last], each, gain)[-1] for each in (moved, back)]
        slopes = ((ahead[0] - ahead[1]) * end).sum((-1, -2)) / (2 * step)
        lengths.append(np.linalg.norm(slopes) / np.linalg.norm(end))
    assert np.median(lengths) == pytest.approx(found["gradient"][last - 1][0], rel=1e-3)


def test_curves_are_those_of_the_table():
    for below in ("turn", "gradient"):
        recipe = recipe_of(SCENE, below=below)
        for gain in (0.1, 1.0, 2.0):
            params, lines = (
                {"gain": gain},
                [m for v in recipe.views[1:] for m in v.layers if m.draws == "line"],
            )
            for mark, (what, kind) in zip(
                lines, [(w, k) for w in ("size", below) for k in NORM_LABELS], strict=True
            ):
                found, shown = row(kind, 64, gain), mark.points(recipe.moment(params, 0))
                want = (
                    found["turn"]
                    if what == "turn"
                    else np.log10(found[what] if what == "size" else found[what][-1])
                )
                np.testing.assert_allclose(shown[:, 1], want, atol=1e-12)
                assert shown[:, 0].tolist() == list(range(MAX_DEPTH + 1 - len(want), MAX_DEPTH + 1))
        for k in range(MAX_DEPTH + 1):
            now = recipe.moment({"gain": 1.0}, k)
            for view in recipe.views[1:]:
                (mark,) = (m for m in view.layers if m.draws == "points")
                thick = max((m for m in view.layers if m.draws == "line"), key=lambda m: m.size)
                points = thick.points(recipe.moment({"gain": 1.0}, 0))
                [at] = mark.points(now)
                assert (np.abs(points - at).max(-1) == 0).any() and at[0] == max(k, points[0, 0])


@pytest.mark.parametrize("gain", [0.15, 1.0, 1.05, 1.87])
def test_the_number_is_that_of_the_mark_on_its_curve(gain):
    """The readout of the stream's size agrees, within 4 %, with the point on the curve of sizes.

    This also holds for branch sizes (`gain`) that the table lacks: there, both are interpolated.
    """
    recipe = recipe_of(SCENE, norm="none", blocks=MAX_DEPTH)
    at = recipe.moment({"gain": gain}, MAX_DEPTH)
    (mark,) = (m for m in recipe.views[1].layers if m.draws == "points")
    [[number]] = at.shown("size now", [recipe.readouts[0].row])
    np.testing.assert_allclose(np.log10(number), mark.points(at)[0, 1], atol=np.log10(1.04))


# --- the text


def the_setup():
    assert MAX_DEPTH == films.BLOCKS == 12 and films.DRAWS == 20 and films.STREAM_WIDTHS == (4, 64)
    stream = recipe_of(SCENE).cloud("stream").points
    assert stream.shape == (6, 4) and SHOW.shape == (3, 4)
    assert len(NORM_LABELS) == 4


def on_the_sphere():
    reads = recipe_of(SCENE).cloud("reads").stages({"gain": 1.0})
    for x in reads:
        np.testing.assert_allclose(np.linalg.norm(x[:, :4], axis=-1), 2, atol=1e-3)
    stream = recipe_of(SCENE).cloud("stream").stages({"gain": 1.0})
    away = [np.linalg.norm(x @ SHOW.T, axis=-1) for x in stream]
    assert away[0].max() < 2 and away[-1].min() > 2.5


def sizes():
    said(row("layer_norm")["size"][12], "3.6")
    said(row("none")["size"][12], "462")
    for kind, words in (("none", ("236", "1062")), ("layer_norm", ("3.1", "4.1"))):
        for value, word in zip(row(kind)["spread"][0], words, strict=True):
            said(value, word)
    # with LayerNorm the squares of sizes grow linearly; without, sizes grow by a constant factor
    squares = np.square(row("layer_norm")["size"])
    assert np.corrcoef(squares, range(13))[0, 1] > 0.995
    assert np.diff(np.log(row("none")["size"]))[3:].min() > 0.4


def in_proportion():
    """Without norms, each block from the third on adds about 1.4 times its input; the first two add less.

    The numbers are ratios of root mean squares, and medians over the draws.
    """
    shares = []
    for seed in range(films.DRAWS):
        stream = np.array(stack.streams("none", *stack.drawn(64, films.BLOCKS, films.TOKENS, seed), 1.0))
        added, seen = (np.sqrt((x**2).mean((1, 2))) for x in (np.diff(stream, axis=0), stream[:-1]))
        shares.append(added / seen)
    found = np.median(shares, axis=0)
    assert films.DRAWS == 20 and (found[:2] < 1.25).all()
    np.testing.assert_allclose(found[2:], 1.4, rtol=0.1)
    sizes()


def out_of_its_panel():
    top = recipe_of(SCENE, norm="none").views[1].ranges[1][1]
    assert np.log10(row("none", gain=1.4)["size"][12]) > top > np.log10(row("none")["size"][12])
    test_without_a_norm_the_picture_holds_the_ways_whatever_the_size(1.95)


def turns():
    for kind, first, last in (("layer_norm", "40", "17"), ("post_ln", "42", "52")):
        said(row(kind)["turn"][0], first)
        said(row(kind)["turn"][-1], last)
    assert max(row("post_ln")["size"][1:]) < 1.001
    less = {
        (width, gain)
        for width in (4, 64)
        for gain in films.GAINS
        if row("post_ln", width, gain)["turn"][-1] < row("post_ln", width, gain)["turn"][0]
    }
    assert less == {(64, 0.1), (64, 0.2), *((4, gain) for gain in films.GAINS if gain <= 1)}
    turned = row("post_ln")["turn"]
    said(min(turned[:3]), "42")
    said(max(turned[:3]), "45")
    said(min(turned[6:]), "51")
    said(max(turned[6:]), "54")
    few = row("post_ln", 4)["turn"]
    assert few[-1] < few[0]
    assert (np.diff(row("layer_norm")["turn"]) < 0).all()


def gradients():
    said(row("none")["gradient"][-1][0], "5041")
    said(row("layer_norm")["gradient"][-1][0], "4.5")
    for kind, words in (("none", ("525", "115900")), ("layer_norm", ("3.3", "5.6"))):
        assert row(kind)["gradient"][-1][-1] == 1  # at the end, after the last block
        for value, word in zip(row(kind)["spread"][1], words, strict=True):
            said(value, word)
    said(row("layer_norm")["size"][-1], "3.6")
    said(row("post_ln")["gradient"][-1][0], "0.93")
    low, high = row("post_ln")["spread"][1]
    said(low, "0.47")
    said(high, "3.3")
    low, high = row("post_ln", 4)["spread"][1]
    said(low, "0.01")
    said(high, "185")


def of_the_last_token():
    """With post-LN, the last token after all blocks hardly depends on the last token before them.

    For a random linear function of the last token's output, the gradient at the last token's input is 0.073
    times as long as the gradient at this output. For a random linear function of the outputs of all tokens,
    the gradient at the first token's input has 92 % of the squared length of the gradient at all inputs. Both
    are medians over draws.
    """
    gradients()
    draws = [stack.drawn(64, films.BLOCKS, films.TOKENS, seed) for seed in range(films.DRAWS)]
    blocks = [
        {name: torch.tensor(np.stack([own[k][name] for own, _ in draws])) for name in draws[0][0][k]}
        for k in range(films.BLOCKS)
    ]
    x = torch.tensor(np.stack([x for _, x in draws]), requires_grad=True)
    end = torch.tensor(np.random.default_rng(films.DRAWS).standard_normal(tuple(x.shape)))
    out = stack.streams("post_ln", blocks, x, 1.0)[-1]
    (of_all,) = torch.autograd.grad((out * end).sum(), x, retain_graph=True)
    (of_last,) = torch.autograd.grad((out * end)[:, -1].sum(), x)
    own = of_last[:, -1].norm(dim=-1) / end[:, -1].norm(dim=-1)
    said(np.median(own.numpy()), "0.073")
    squares = (of_all**2).sum(-1).numpy()
    said(100 * np.median(squares[:, 0] / squares.sum(1)), "92")


def updates():
    """With LayerNorm, the updates divided by their factor g have the mean squares that the text states.

    Let c be the average of these mean squares over the first L blocks. These blocks multiply the size of the
    stream by √(1 + L·c·g²), to within 3 %.
    """
    for gain, words in ((0.2, ("0.75", "0.82", "0.77")), (1.0, ("0.73", "1.16", "1.00"))):
        squares = []
        for seed in range(films.DRAWS):
            at_depths = stack.streams("layer_norm", *stack.drawn(64, films.BLOCKS, films.TOKENS, seed), gain)
            squares.append((np.diff(at_depths, axis=0) ** 2).mean((1, 2)) / gain**2)
        first, last, mean = (
            np.median(each) for each in (*np.transpose(squares)[[0, -1]], np.mean(squares, 1))
        )
        for value, word in zip((first, last, mean), words, strict=True):
            said(value, word)
        size = row("layer_norm", gain=gain)["size"]
        count = np.arange(1, 13)
        means = np.median(np.cumsum(squares, axis=1) / count, axis=0)
        np.testing.assert_allclose(
            np.sqrt(1 + count * means * gain**2), np.divide(size[1:], size[0]), rtol=0.03
        )
        assert mean == means[-1] > means[5] > means[2]


def the_same():
    for gain in films.GAINS:
        a, b = (row(kind, 64, gain) for kind in ("rms_norm", "layer_norm"))
        np.testing.assert_allclose(a["size"], b["size"], rtol=0.05)
        np.testing.assert_allclose(a["turn"], b["turn"], rtol=0.06)
        np.testing.assert_allclose(a["gradient"][-1], b["gradient"][-1], rtol=0.06)


def trained_model():
    shape, weights = read_file("language.safetensors", from_file)
    text = (FOLDER / "language.txt").read_text("utf-8")
    count = len(text) // shape.window
    tokens = shape.tokens(text[: count * shape.window]).reshape(count, shape.window)
    blocks = forward(shape, weights, tokens).blocks
    streams = [*(b.stream for b in blocks), blocks[-1].out]
    for x, words in zip(streams, ("1.5", "3.7", "4.3", "8.6", "10.1"), strict=True):
        said(np.sqrt((x**2).mean()), words)
    for a, b, words in zip(streams[:-1], streams[1:], ("100", "36", "26", "20"), strict=True):
        cosine = (a * b).sum(-1) / np.linalg.norm(a, axis=-1) / np.linalg.norm(b, axis=-1)
        said(np.degrees(np.arccos(cosine)).mean(), words)


def twice():
    assert stop("depth", "Larger branches").params["gain"] == 2
    said(row("layer_norm")["turn"][-1], "17")
    said(row("layer_norm", gain=2.0)["turn"][-1], "17")
    more = np.array(row("layer_norm", gain=2.0)["turn"]) - row("layer_norm")["turn"]
    assert more[:2].min() > 5 and abs(more[-1]) < 1
    grown = row("layer_norm", gain=2.0)["size"][-1] / row("layer_norm")["size"][-1]
    assert 1.9 < grown < 2.1


def small_branches():
    assert stop("depth", "Small branches").params["gain"] == 0.2
    said(row("none", gain=0.2)["size"][0], "0.99")
    said(row("none", gain=0.2)["size"][12], "1.21")
    said(row("layer_norm", gain=0.2)["size"][0], "0.99")
    said(row("layer_norm", gain=0.2)["size"][12], "1.15")


def first_turn():
    said(row("post_ln", 4, 0.1)["turn"][0], "28")
    assert row("layer_norm", 4, 0.1)["turn"][0] < 6
    x = np.random.default_rng(0).standard_normal((20_000, 4))
    said(np.degrees(angles(x, center(x))).mean(), "27")


def by_number():
    said(row("layer_norm")["gradient"][3][0], "2.4")
    said(row("layer_norm")["gradient"][11][0], "4.5")


def no_norm_stop():
    assert stop("depth", "No norm").choices["norm"] == "none"
    sizes()


def logarithms():
    """The heights of the curve are log₁₀ of the table's sizes, and the curve starts at size 1."""
    recipe = recipe_of(SCENE, blocks=MAX_DEPTH)
    (own,) = (mark for mark in recipe.views[1].layers if mark.cloud == "size" and mark.size == 5)
    heights = project(own.rows, recipe.cloud("size").points, params=recipe.defaults)[:, 1]
    np.testing.assert_allclose(10**heights, row("layer_norm")["size"], rtol=1e-6)
    said(10 ** heights[0], "1.0")


def of_a_number_over_tokens():
    """LayerNorm fixes mean and σ over a vector's coordinates, not the mean of one coordinate over vectors."""
    x = np.random.default_rng(0).standard_normal((2000, 16))
    shifted = x + 2 * np.eye(16)[0]
    plain, moved = (layer_norm(each, eps=0) for each in (x, shifted))
    np.testing.assert_allclose([plain.mean(1), moved.mean(1)], 0, atol=1e-9)
    np.testing.assert_allclose([plain.std(1), moved.std(1)], 1)
    assert abs(plain[:, 0].mean()) < 0.1 and moved[:, 0].mean() > 1


def trained_streams():
    """The median lengths of the inputs of trained norms are those in the text.

    The text states the lengths at SmolLM2's first norm and at its last norm. For MiniLM it states the range
    over all norms except the first.
    """
    before, after = atlas.digest("smollm2").rows, atlas.digest("minilm").rows
    said(before[0]["size"], "2.8")
    said(before[-1]["size"], "1027")
    assert before[0]["kind"] == "RMSNorm" and after[0]["kind"] == "LayerNorm"
    said(min(row["size"] for row in after[1:]), "11")
    said(max(row["size"] for row in after[1:]), "35")


CLAIMS = {
    "grows from 2.8 before the first norm to 1,027 before the last.": trained_streams,
    "the median length of the vectors before a norm is between 11 and 35 for all norms but the first.": trained_streams,
    "It leaves open how one of these numbers is distributed over many tokens. Add a constant to one coordinate of every token: after LayerNorm, its mean over the tokens is still shifted.": of_a_number_over_tokens,
    "**Size** is the root mean square of all numbers of the stream, shown as a logarithm to base 10: 0 is the size at the start, 1 is ten times that size.": logarithms,
    "$$\\text{size}_L^2 \\approx 1 + L \\cdot c\\, g^2$$": sizes,
    "Twelve blocks in a row: each adds to the residual stream.": the_setup,
    "Here are up to 12 blocks in a row": the_setup,
    "The large picture shows six tokens of four numbers": the_setup,
    "The sphere, shown with the norms **LayerNorm** and **post-LN**, has radius 2": on_the_sphere,
    "The curves are medians of 20 draws with 64 numbers a token; the choice **dimension in the curves** offers four numbers as well.": the_setup,
    "There are four norms": the_setup,
    "the picture follows them, and their curve leaves its panel at the top": out_of_its_panel,
    "With $g = 1$ the size is 3.6 after 12 blocks (the draws range from 3.1 to 4.1).": sizes,
    "Later updates are larger than earlier ones, and more so if $g$ is large. So $c$ grows with $L$, and the stream grows somewhat faster than a root. The table has the mean squares of updates before they are multiplied by $g$ (12 blocks, medians of 20 draws with 64 numbers): | branches $g$ | first block | last block | mean $c$ | | --- | --- | --- | --- | | 0.2 | 0.75 | 0.82 | 0.77 | | 1 | 0.73 | 1.16 | 1.00 |": updates,
    "Without a norm an update is roughly proportional to the stream that the block reads: from the third block on, it is about 1.4 times as large as this stream (medians of 20 draws). So sizes multiply: with $g = 1$ the size is 462 after 12 blocks (median of 20 draws with 64 numbers; they range from 236 to 1,062).": in_proportion,
    "So each block turns the stream by a smaller angle. With post-LN the stream stays at size 1, and the angles need not shrink (64 numbers, branches of size 1, median of 20 draws): | norm | angle at the first block | at the last block | | --- | --- | --- | | LayerNorm | 40° | 17° | | post-LN | 42° | 52° | With post-LN the last block turns the stream less than the first if the branches are small enough. With 64 numbers a token, size 0.2 is small enough, and size 1 is too large. With four numbers, size 1 is small enough.": turns,
    "for all tokens together (each draw has 16 tokens; 12 blocks, branches of size 1; median and range of 20 draws with 64 numbers): | norm | median | range | | --- | --- | --- | | none | 5,041 | 525 to 115,900 | | LayerNorm | 4.5 | 3.3 to 5.6 | | post-LN | 0.93 | 0.47 to 3.3 |": gradients,
    "With 64 numbers a token and 12 blocks, we find that norms limit the gradient of all tokens together, whether they stand in the branches or after the sums.": gradients,
    "With four numbers single draws of post-LN lie between 0.01 and 185.": gradients,
    "**A single token.** The gradient in the table is that of a function of all 16 tokens. At the start it has a part for each token. With post-LN these parts are very different: the part of the first token alone has 92 % of the squared length (median of 20 draws). Now take a random linear function $f$ of a single token, the last one, at the end. We compare two gradients of $f$: with respect to this token at the start, and with respect to this token at the end. With post-LN the first is only 0.073 times as long as the second (median of 20 draws). So the last token hardly depends on its own start. “Four places for a norm” follows a single token.": of_the_last_token,
    "With 64 numbers the curves of RMSNorm nearly lie on those of LayerNorm": the_same,
    "has four layers, and its stream has the sizes 1.5, 3.7, 4.3, 8.6 and 10.1": trained_model,
    "Its layers turn a token by 100°, 36°, 26° and 20°.": trained_model,
    "### Through twelve blocks The tokens start inside the sphere and leave it behind.": on_the_sphere,
    "Suppose that all updates become twice as large (**size of the branches** 2).": twice,
    "about twice as far": twice,
    "The angle was 17° and is 17°. Only the first blocks turn a token more: later the stream has grown as much as the updates. Move **size of the branches** back to 1": twice,
    "The size grows to 462 (median of 20 draws), and the gradient with it.": no_norm_stop,
    "It cannot grow. With 64 numbers a token, as in the curve, the later blocks turn it farther than the first: each of the first three by 42° to 45°, each of the last six by 51° to 54° (medians of 20 draws).": turns,
    "Without a norm, but with branches of size 0.2: does": small_branches,
    "in 12 blocks it hardly grows": small_branches,
    "Its size grows from 0.99 to 1.21, with LayerNorm to 1.15 (medians of 20 draws).": small_branches,
    "With four numbers and $g = 0.1$ the angle is 28°. Most of this turn comes from the centring. The first norm removes the tokens' height along $𝟏$, and this alone turns random vectors of four numbers by 27° on average.": first_turn,
    "With 4 blocks it is 2.4 times as long at the start as at the end, with 12 it is 4.5 times.": by_number,
}
