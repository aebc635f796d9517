"""The text of the scene `block`, tested with its clouds; and the block against PyTorch's modules."""

from functools import cache

import numpy as np
import pytest
import torch
from torch import nn

from components.language.framing.paper import on_paper
from components.language.marks import Labels
from components.language.recipe import Residual
from components.language.scene import WrongValue
from components.scenes.block import SCENE
from components.scenes.block.build import ADD, GAIN, INNER, LAST, MLP, NAMES, SHOW, SPHERE, D, drawn
from components.scenes.blocks import own_of
from components.training.recipes import recipe_of
from geometry import layer_norm as geometry_layer_norm
from learning.language import EPS, forward, from_file
from learning.shipped import FOLDER
from learning.shipped import read as read_file
from tests.assets.engine import Node
from tests.scenes.claims import said, stop

ROUNDING = 1e-12  # of double precision, after some hundred operations
E = NAMES.index("e")
CASES = [
    *({"heads": str(h), "n": n, "seed": s} for h in (1, 2) for n in (4, 8) for s in (0, 1, 7)),
    *(
        {"weights": "trained", "layer": str(k), "text": text}
        for k in (1, 2, 3, 4)
        for text in ("the keys", "aaaa")
    ),
]
EVERYWHERE = [(0.1, 0.0, 0.0), (1.0, -3.0, 3.0), (2.0, 3.0, -3.0)]  # values of the sliders scale, mean, last


@cache
def recipe(**choices):
    return recipe_of(SCENE, **choices)


def stages(name, choices=None, **params):
    shown = recipe(**(choices or {}))
    return shown.cloud(name).stages(shown.defaults | params)


def size(x):
    return np.linalg.norm(x, axis=-1)


def other_codes_block(own, x, heads, approximate):
    """The block by torch.nn in float64, for the tokens x (n, D), with the weights `own` by name.

    Returns attention's output (n, D), its weights (heads, n, n), and the tokens after attention and after the
    MLP. approximate: "none" or "tanh", for GELU.
    """
    t = {name: torch.from_numpy(np.array(w)) for name, w in own.items()}

    def norm(name):
        made = nn.LayerNorm(D, eps=EPS, dtype=torch.float64)
        made.load_state_dict({"weight": t[f"{name}.weight"], "bias": t[f"{name}.bias"]})
        return made

    def linear(name):
        made = nn.Linear(*t[f"{name}.weight"].shape, dtype=torch.float64)
        made.load_state_dict({"weight": t[f"{name}.weight"].T, "bias": t[f"{name}.bias"]})
        return made

    attention = nn.MultiheadAttention(D, heads, batch_first=True, dtype=torch.float64)
    attention.load_state_dict(
        {
            "in_proj_weight": t["attn.c_attn.weight"].T,
            "in_proj_bias": t["attn.c_attn.bias"],
            "out_proj.weight": t["attn.c_proj.weight"].T,
            "out_proj.bias": t["attn.c_proj.bias"],
        }
    )
    stream = torch.from_numpy(x)[None]
    mask = nn.Transformer.generate_square_subsequent_mask(len(x), dtype=torch.float64)
    with torch.no_grad():
        normed = norm("ln_1")(stream)
        update, weights = attention(normed, normed, normed, attn_mask=mask, average_attn_weights=False)
        y = stream + update
        mlp = nn.Sequential(norm("ln_2"), linear("mlp.c_fc"), nn.GELU(approximate), linear("mlp.c_proj"))
        z = y + mlp(y)
    return [each[0].numpy() for each in (update, weights, y, z)]


@pytest.mark.parametrize("choices", CASES, ids=str)
def test_the_block_is_pytorchs(choices):
    if choices.get("weights") == "trained":
        _, weights = read_file("language.safetensors", from_file)
        own, approximate = own_of(weights, int(choices["layer"]) - 1), "tanh"
    else:
        own, approximate = drawn(choices)[0], "none"
    heads = int(choices.get("heads", 1))
    for scale, mean, last in EVERYWHERE:
        at = {"scale": scale, "mean": mean, "last": last}
        x, *_, z = stream = stages("stream", choices, **at)
        update, weights, y, want = other_codes_block(own, x, heads, approximate)
        bound = ROUNDING * (1 + np.abs(want).max() + scale * np.abs(x).max())
        np.testing.assert_allclose(stages("update", choices, **at)[-1][:, :D], update, atol=bound)
        np.testing.assert_allclose(stream[ADD], y, atol=bound)
        np.testing.assert_allclose(z, want, atol=bound)
        np.testing.assert_allclose(stages("branch", choices, **at)[-1], want, atol=bound)
        for head in range(heads):
            name = f"{head + 1}"
            paid = stages(f"weights {name}", choices, **at)[-1]
            np.testing.assert_allclose(paid, weights[head], atol=ROUNDING * 10)
            x, y, p = stages(f"cells {name}", choices, **at)[-1].T
            n = len(paid)
            np.testing.assert_allclose(p.reshape(n, n)[::-1], paid, atol=ROUNDING)
            np.testing.assert_allclose(np.diff(x.reshape(n, n), axis=1), 1)
            np.testing.assert_allclose(np.diff(y.reshape(n, n), axis=0), 1)


def test_letters_of_the_trained_block_keep_off_the_names_of_axes():
    """On a telephone, no letter of a token covers the middle of an axis's name, at the stop “A trained model”.

    The picture is about 280 pixels high there, and a letter 13 pixels. The centres of letter and name are
    more than 6 pixels apart, horizontally or vertically.
    """
    recipe, state = recipe_of(SCENE, weights="trained", layer="1"), stop("block", "A trained model")
    params, view = recipe.defaults, recipe.views[0]
    at = recipe.moment(params, state.progress)
    letters, axes = (
        on_paper(view.at(state.progress, params), mark.points(at), view.camera)[0] * 140
        for mark in sorted(
            (mark for mark in view.layers if isinstance(mark, Labels)), key=lambda mark: mark.role != "ink"
        )
    )
    apart = np.abs(letters[:, None] - axes[None])
    assert apart.max(-1).min() > 6


def test_the_trained_block_is_what_the_model_reads():
    shape, weights = read_file("language.safetensors", from_file)
    blocks = forward(shape, weights, shape.tokens("the keys")).blocks
    for k, block in enumerate(blocks, 1):
        stream = stages("stream", {"weights": "trained", "layer": str(k)})
        np.testing.assert_allclose(stream[0], block.stream, atol=1e-10)
        np.testing.assert_allclose(stream[ADD] - stream[0], block.branch, atol=1e-10)
        np.testing.assert_allclose(stream[LAST], block.out, atol=1e-10)


@pytest.mark.parametrize("choices", CASES, ids=str)
def test_copies_lie_on_one_sphere_and_branches_rejoin_the_stream(choices):
    """The branch's normalised copies lie in the hyperplane and, up to the effect of ε, on one sphere.

    Arrows show what attention and the MLP add to the stream. At stage 0 each arrow begins at the origin.
    At the stage where its vector is added, it leads from its token's old position to the new one.
    """
    branch, stream = stages("branch", choices), stages("stream", choices)
    centred = stream[0] @ SHOW.T
    on = np.sum(centred**2, axis=-1)  # ‖Πx‖²
    assert np.abs(branch[SPHERE][:, :D].sum(-1)).max() < ROUNDING * 10
    np.testing.assert_allclose(size(branch[SPHERE][:, :D]) ** 2, D * on / (on + D * EPS), rtol=1e-9)
    np.testing.assert_allclose(branch[ADD][:, :D], stream[ADD], atol=1e-9)
    n = len(stream[0])
    for name, at in (("update", ADD), ("second", LAST)):
        arrows = stages(f"{name} arrows", choices)
        assert not arrows[0][:n, :D].any()
        before = stream[0] if at == ADD else stream[ADD]
        np.testing.assert_allclose(arrows[at][:n], before, atol=ROUNDING)
        np.testing.assert_allclose(arrows[at][n:], stream[at], atol=1e-9)


@pytest.mark.parametrize("choices", CASES, ids=str)
def test_what_is_past_stays(choices):
    """If the last token changes, the earlier tokens stay exactly the same.

    If the last token is removed, they stay the same up to rounding.
    """
    want = stages("stream", choices)[LAST][:-1]
    for scale, mean, last in EVERYWHERE:
        other = stages("stream", choices, last=last)
        assert (other[LAST][:-1] == want).all() and (last == 0 or (other[LAST][-1] != want[-1]).any())
        at = {"scale": scale, "mean": mean, "last": last}
        earlier, alone = (stages(name, choices, **at)[-1] for name in ("earlier", "alone"))
        np.testing.assert_allclose(earlier, alone, atol=1e-13 * max(1, np.abs(alone).max()))


@cache
def in_the_browser():
    """A claim: in JavaScript, removing the last token leaves the earlier tokens the same in every bit."""
    cases = [(dict(zip(("scale", "mean", "last"), at, strict=True)), LAST) for at in EVERYWHERE]
    with Node() as node:
        for choices in CASES[::3]:
            for answer in node.run(recipe(**choices), cases):
                earlier, alone = (answer["stages"][name][-1] for name in ("earlier", "alone"))
                assert earlier.tobytes() == alone.tobytes() and len(alone) >= 3


def test_the_cache_needs_no_layer_norm():
    """In causal attention without any norm, the outputs of 7 tokens do not depend on an 8th token."""
    rng = np.random.default_rng(0)
    q, k, v = rng.normal(size=(3, 8, 4))

    def attended(n):
        scores = np.where(np.tril(np.ones((n, n))) > 0, q[:n] @ k[:n].T / 2, -np.inf)
        odds = np.exp(scores - scores.max(-1, keepdims=True))
        return odds / odds.sum(-1, keepdims=True) @ v[:n]

    np.testing.assert_allclose(attended(7), attended(8)[:7], atol=1e-15)


@pytest.mark.parametrize("text", ["abc", "ab", "øøøø"])
def test_a_text_that_is_too_short_or_unknown_is_refused(text):
    with pytest.raises(WrongValue, match=r"take 4 or more|never read") as wrong:
        recipe_of(SCENE, weights="trained", text=text)
    assert wrong.value.parameter == "text"


@pytest.mark.parametrize("choices", CASES[::4], ids=str)
def test_all_is_finite_at_the_ends_of_the_sliders(choices):
    shown = recipe(**choices)
    for scale, mean, last in EVERYWHERE:
        at = shown.defaults | {"scale": scale, "mean": mean, "last": last}
        for progress in (0, SPHERE, ADD - 0.5, LAST):
            assert all(np.isfinite(x).all() for x in shown.positions(at, progress).values())


# --- the text


def the_shapes():
    stream = stages("stream")[0]
    assert stream.shape == (6, D) == (6, 4) and stages("hidden")[0].shape == (6, INNER) == (6, 16)
    assert (
        np.linalg.matrix_rank(SHOW) == 3
        and np.abs(SHOW @ [1, 1, 1, 1]).max() < ROUNDING
        and np.abs(SHOW.sum(-1)).max() < ROUNDING
    )
    shapes = {row[0]: row[2] for row in recipe().facts.rows}
    own = drawn({"seed": 1, "n": 6})[0]
    for name, x in {
        "x, y, z": stream,
        "q, k, v": stages("keys 1")[-1],
        "weights p": stages("weights 1")[-1],
        "Σ p v": stages("v")[-1],
        "after W₁": stages("hidden")[0],
        "the other matrices W": own["attn.c_proj.weight"],
        "W₁": own["mlp.c_fc.weight"],
        "W₂": own["mlp.c_proj.weight"],
    }.items():
        rows, columns = x.shape
        assert shapes[name].removeprefix("1 × ") == f"{rows} × {columns}", name


def two_heads():
    assert stages("keys 2", {"heads": "2"})[-1].shape == (6, 2)


def the_sphere():
    copies = stages("branch")[SPHERE][:, :D]
    np.testing.assert_allclose(size(copies), 2, atol=1e-3)
    assert np.abs(copies.sum(-1)).max() < ROUNDING * 10
    gained = stages("branch")[GAIN][:, :D]
    gamma, beta = (drawn({"seed": 1, "n": 6})[0][f"ln_1.{part}"] for part in ("weight", "bias"))
    np.testing.assert_allclose(((gained - beta) / gamma), copies, atol=ROUNDING)


def key_lengths():
    each = size(stages("keys 1")[-1])
    said(each.max() / each.min(), "2.5")


def filled_by_narrow_heads():
    """Keys fill an ellipsoid if their head has d_k < d − 1 coordinates; otherwise they lie on its surface."""
    n = stages("branch")[GAIN][:, :D]
    own = drawn({"seed": 1, "n": 6})[0]
    many = rng_sphere(5000) * own["ln_1.weight"] + own["ln_1.bias"]
    assert n.shape[1] == D
    for heads, surface in ((1, True), (2, False)):
        matrix = own["attn.c_attn.weight"][:, D : D + D // heads]
        middle, reach = own["ln_1.bias"] @ matrix, rng_sphere(5000) * own["ln_1.weight"] @ matrix
        keys = many @ matrix - middle
        axes = np.linalg.svd(reach, full_matrices=False)[2][: min(D - 1, D // heads)]
        shape = np.linalg.pinv(np.cov((reach @ axes.T).T))
        out = np.einsum("ni,ij,nj->n", keys @ axes.T, shape, keys @ axes.T)
        assert (np.ptp(out) < 0.2 * out.max()) == surface and (out.min() < 0.05 * out.max()) != surface


def rng_sphere(n):
    """n random points, uniformly distributed on LayerNorm's sphere."""
    return geometry_layer_norm(np.random.default_rng(0).standard_normal((n, D)), eps=0)


def keys_of_trained_heads():
    shape, weights = read_file("heads.safetensors", from_file)
    assert (shape.width, shape.width // shape.heads, shape.layers) == (32, 8, 2)
    tokens = shape.tokens((FOLDER / "heads.txt").read_text("utf-8")).reshape(-1, 64)
    lengths = np.array([size(block.k) for block in forward(shape, weights, tokens).blocks])
    said(np.median(lengths.max(-1) / lengths.min(-1)), "4.0")


def scores_and_cosines():
    shape, weights = read_file("language.safetensors", from_file)
    text = (FOLDER / "language.txt").read_text("utf-8")
    count = len(text) // shape.window
    tokens = shape.tokens(text[: count * shape.window]).reshape(count, shape.window)
    found = []
    for block in forward(shape, weights, tokens).blocks:
        cosines = block.scores / size(block.q)[..., None] / size(block.k)[..., None, :]
        found.append(np.corrcoef(block.scores.ravel(), cosines.ravel())[0, 1])
    said(min(found), "0.92")
    said(max(found), "0.96")


def moved_by(**params):
    """Distances (n,) between attention's update of each token with `params` and its update with the defaults.

    params: values of sliders (scale and mean of x). The page displays the largest distance.
    """
    residual = next(r for r in recipe().readouts if isinstance(r, Residual) and r.a == "update")
    a, b = (stages(name, **params)[-1][:, : residual.coordinates] for name in (residual.a, residual.b))
    return size(a - b)


def twice():
    for mean in (-3, 0, 3):
        assert 0 < moved_by(scale=2, mean=mean).max() < 0.0001
    before, after = stages("weights 1")[-1], stages("weights 1", scale=2)[-1]
    assert np.abs(before - after).max() < 1e-3


def the_second_branch():
    """If x is doubled, the second branch's output changes by up to 59 % of its length.

    The second branch reads the sum of x and the first branch's output, and the latter hardly changes. A
    constant that is added to all components of x does not change the second branch's output.
    """
    plain, larger, higher = (stages("stream", **at) for at in ({}, {"scale": 2}, {"mean": 2}))
    arrows = [x[LAST] - x[ADD] for x in (plain, larger, higher)]
    said(100 * (size(arrows[0] - arrows[1]) / size(arrows[0])).max(), "59")
    np.testing.assert_allclose(arrows[2], arrows[0], atol=1e-9)


def small():
    assert EPS == 0.00001 and moved_by(scale=0.1).max() > moved_by(scale=2).max()
    said(moved_by(scale=0.1).max(), "0.009")
    assert moved_by(scale=0.1).argmax() == stages("stream")[0].std(-1).argmin()


def payments():
    paid = stages("weights 1")[-1]
    for token, words in (("c", "36"), ("e", "31"), ("b", "25")):
        said(100 * paid[E, NAMES.index(token)], words)
    assert paid[0, 0] == 1 and stop("block", "Who reads whom").follow == E


def negative():
    before, after = (stages("hidden")[k][E] for k in (0, MLP))
    assert (before < 0).sum() == 10 and np.abs(after[before < 0]).max() < 0.2
    said(after[before < 0].sum() / before[before < 0].sum(), "0.1")


def none_moves():
    state = stop("block", "The last token moves")
    assert state.params["last"] == 3 and state.follow == E
    there = [stages("stream", last=last)[LAST] for last in (0, 3)]
    moved = size(there[0] - there[1])
    assert (moved[:5] == 0).all() and len(moved) == 6 and moved[5] > 1


def six():
    assert stop("block", "Six tokens").choices["n"] == 6
    stream = stages("stream")[0]
    assert np.ptp(size(stream)) > 1 and np.ptp(stream.mean(-1)) > 1


def first_token():
    for seed in (0, 1, 7):
        assert stages("weights 1", {"seed": seed})[-1][0, 0] == 1


def a_trained_one():
    assert stop("block", "A trained model").choices["weights"] == "trained"
    test_the_trained_block_is_what_the_model_reads()


CLAIMS = {
    "a token is a vector of $d = 4$ numbers": the_shapes,
    "whose coordinates sum to zero, which has three dimensions. The fourth, the height "
    "along $𝟏 = (1, 1, 1, 1)$, is left out.": the_shapes,
    "with 16 numbers between them": the_shapes,
    "two matrices, $W_1$ and $W_2$": the_shapes,
    "The curves below show the 16 numbers between the two matrices": the_shapes,
    "**q, k, v**: three matrices": the_shapes,
    "With two **heads** the coordinates of $q$, $k$ and $v$ are cut into two blocks; each has its own weights, and the two sums stand": two_heads,
    "every copy has length $\\sqrt d = 2$ and height 0": the_sphere,
    "In the block of the tour the longest key is 2.5 times as long as the shortest (one draw).": key_lengths,
    r"The copies lie on one ellipsoid, in a space of $d - 1$ dimensions. $W_K$ makes keys of them. - If a head has $d_k \ge d - 1$ coordinates, and $W_K$ loses no direction of that space, its keys lie on an ellipsoid too. - If a head has fewer coordinates, its keys lie in a projection of the ellipsoid, anywhere inside its outline: with two heads here, in a filled ellipse.": filled_by_narrow_heads,
    "with heads of 8 coordinates, the longest key is 4.0 times as long as the shortest (median over its heads and over texts of 64 characters).": keys_of_trained_heads,
    "scores and cosines have a correlation of 0.92 to 0.96, by layer": scores_and_cosines,
    "Six tokens Six tokens, drawn at random. They have different lengths and heights.": six,
    "A copy of each goes to the sphere of radius 2. Suppose that the tokens become twice as large (**scale of x** 2). What": twice,
    "The blue points have gone twice as far out": twice,
    "The second branch reads the sum of $x$ and the first update, and of these two only $x$ grows. So with **scale of x** at 2 the arrows of the second branch change by up to 59 % of their length (the block of the tour).": the_second_branch,
    "less than 0.0001": twice,
    "Gain and shift make an ellipsoid of the sphere. The copy of every token of every text lands on it": the_sphere,
    "The same block with the weights of a small GPT.": a_trained_one,
    "The token *e* gives 36 % of its attention to *c*, 31 % to itself and 25 % to *b*. Its copy is now nearly a weighted average of these three values.": payments,
    "This is all that attention does to the stream: it adds an arrow to each of the six tokens. ### The second half The same once more,": six,
    "through the two matrices and the GELU between them": the_shapes,
    "For *e*, 10 of the 16 numbers between the matrices were negative. After GELU the sum of these 10 is about a tenth of what it was.": negative,
    "How many of the other five change? - all five - only *e*, beside it - * none": none_moves,
    "when the last one is left out altogether: 0, in every digit.": in_the_browser,
    "Set “scale of x” to 0.1. The number below the picture is larger than at 2.": small,
    r"$\varepsilon = 0.00001$. When the tokens are 10 times as small, $\varepsilon$ is 100 times as large relative to": small,
    "In the block of the tour the arrow of the first branch changes by 0.009 at most": small,
    "Whatever its query, its weight is 1": first_token,
    "Is the change of the earlier tokens really 0": in_the_browser,
    "In your browser it is 0 in all digits": in_the_browser,
}
