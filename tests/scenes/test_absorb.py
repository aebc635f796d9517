"""The text of the scene `absorb`, tested with its clouds and with the whole trained model."""

from functools import cache

import numpy as np
import pytest
import torch
from torch.nn import functional

from components.scenes.absorb import SCENE
from components.scenes.absorb.build import LAST, STAGES, TEXT, drawn, frame
from components.training.recipes import recipe_of
from geometry.centering import center, centering_matrix
from learning import absorb
from learning.language import EPS, forward, from_file
from learning.shipped import read as shipped
from tests.scenes.claims import said, stop

ROUNDING = 1e-12
CASES = [*({"seed": seed} for seed in (0, 1, 7)), *({"weights": "trained", "layer": k} for k in ("1", "2"))]
EACH = pytest.mark.parametrize("choices", CASES, ids=str)


@cache
def recipe(seed=1, weights="drawn", layer="1"):
    return recipe_of(SCENE, seed=seed, weights=weights, layer=layer)


def at(name, stage, mean=0.0, **choices):
    """The positions of a cloud at a stage, in the first d coordinates, which are the ones that are drawn.

    name: the cloud. stage: the number of the stage. mean: the value of the slider "mean". choices: values
    of the scene's choices.
    """
    shown = recipe(**choices)
    d = shown.cloud("stream").points.shape[1]
    return shown.cloud(name).stages({"mean": mean})[stage][:, :d]


@EACH
def test_what_comes_out_never_changes(choices):
    """The next block's input is the same at all stages, except at the last if `mean` is not 0.

    The last stage replaces LayerNorm by RMSNorm.
    """
    want = at("says", 0, **choices)
    for mean in (-3.0, 0.0, 1.0):
        for stage in range(LAST):
            np.testing.assert_allclose(at("says", stage, mean, **choices), want, atol=1e-10)
        wrong = np.abs(at("says", LAST, mean, **choices) - want).max()
        assert wrong < ROUNDING * 100 if mean == 0 else wrong > 0.1


@EACH
def test_what_moves_and_what_does_not(choices):
    stream, reads = ([at(name, k, **choices) for k in range(LAST + 1)] for name in ("stream", "reads"))
    assert (stream[1] == stream[0]).all() and (stream[2] == stream[0]).all()
    np.testing.assert_allclose(stream[3], stream[0] @ centering_matrix(stream[0].shape[1]), atol=ROUNDING)
    assert (stream[LAST] == stream[3]).all()
    assert np.abs(reads[1] - reads[0]).max() > 0.1 and np.abs(reads[2] - reads[1]).max() > 0.1
    for k in (3, LAST):
        np.testing.assert_allclose(reads[k], reads[2], atol=ROUNDING * 10)
    assert np.abs(reads[2].sum(-1)).max() < ROUNDING * 10


def test_other_codes_block():
    """The scene's block, written again with PyTorch's functions, gives the vectors that the next block reads.

    It is tested with LayerNorm and the original weights, and with RMSNorm and the rewritten weights.
    """
    own, x = drawn(1)
    d = x.shape[1]

    def block(own, x, norm):
        t = {name: torch.from_numpy(w) for name, w in own.items()}
        y = torch.from_numpy(x)
        every = norm(y, "ln_1", t) @ t["attn.c_attn.weight"] + t["attn.c_attn.bias"]
        q, k, v = every.split(d, dim=-1)
        sums = functional.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True)[0]
        y = y + sums @ t["attn.c_proj.weight"] + t["attn.c_proj.bias"]
        hidden = functional.gelu(norm(y, "ln_2", t) @ t["mlp.c_fc.weight"] + t["mlp.c_fc.bias"])
        return y + hidden @ t["mlp.c_proj.weight"] + t["mlp.c_proj.bias"]

    def layer_norm(y, name, t):
        return functional.layer_norm(y, (d,), t[f"{name}.weight"], t[f"{name}.bias"], eps=EPS)

    def rms_norm(y, name, t):
        return functional.rms_norm(y, (d,), eps=EPS)

    want = functional.layer_norm(block(own, x, layer_norm), (d,), eps=EPS).numpy()
    np.testing.assert_allclose(at("says", 0), want, atol=ROUNDING)
    rewritten = absorb.centred(absorb.gains_absorbed(absorb.shifts_absorbed(own)))
    got = block(rewritten, x @ centering_matrix(d), rms_norm)
    np.testing.assert_allclose(at("stream", LAST), x @ centering_matrix(d), atol=ROUNDING)
    np.testing.assert_allclose(functional.rms_norm(got, (d,), eps=EPS).numpy(), want, atol=ROUNDING)


# --- the text


def the_numbers():
    assert recipe().cloud("stream").points.shape[1] == 3
    assert recipe(weights="trained").cloud("stream").points.shape[1] == 4
    assert len(STAGES) == 5


def the_whole_model():
    shape, weights = shipped("language.safetensors", from_file)
    assert shape.layers == 4 and sum(name.endswith(".weight") and "ln_" in name for name in weights) == 9
    rows = recipe().facts.rows
    assert [row[0] for row in rows] == list(STAGES[1:])
    for _, double, single in rows:
        assert float(double) < 5e-13 and float(single) < 5e-5
    found = absorb.centred(absorb.gains_absorbed(absorb.shifts_absorbed(absorb.untied(weights))))
    tokens = shape.tokens(TEXT)
    far = np.abs(
        forward(shape, found, tokens, norm=absorb.rms).logits - forward(shape, weights, tokens).logits
    ).max()
    assert far < 5e-13


def as_it_was():
    heights = at("stream", 0).mean(-1)
    assert heights.min() < -0.05 and heights.max() > 0.05 and np.abs(at("reads", 0).sum(-1)).max() > 0.1
    assert np.abs(heights).min() > 0.01
    assert stop("absorb", "The original block").follow == 7 == len(heights) - 1


def only_what_is_read():
    test_what_moves_and_what_does_not({"seed": 1})
    on = at("reads", 2)
    np.testing.assert_allclose(np.linalg.norm(on, axis=-1), np.sqrt(3), atol=1e-2)


def forgotten():
    assert stop("absorb", "A forgotten mean").params["mean"] == 1
    apart = at("says", LAST, 1.0) - at("says", 0)
    far = np.linalg.norm(apart, axis=-1)
    said(far.max(), "3.07")
    said(np.linalg.norm(frame(3)[:2] @ apart[far.argmax()]), "2.80")
    stream = at("stream", LAST, 1.0) - at("stream", LAST)
    np.testing.assert_allclose(stream, stream[0, 0])  # as a bias: one constant, for all tokens
    assert np.abs(at("reads", LAST, 1.0).sum(-1)).min() > 0.1
    assert np.abs(at("says", 3, 1.0) - at("says", 0)).max() < ROUNDING * 100


def a_zero_gain():
    own = drawn(1)[0]
    own["ln_1.weight"] = np.array([0.0, 1.0, 1.5])
    got = absorb.gains_absorbed(absorb.shifts_absorbed(own))
    assert not got["attn.c_attn.weight"][0].any() and got["attn.c_attn.weight"][1].any()


def one_matrix_twice():
    """If the language model's embedding is centred, its head must stay as it is.

    The original head is the transposed embedding. With the transposed centred embedding as head, the logits
    are different.
    """
    shape, weights = shipped("language.safetensors", from_file)
    tokens, own = shape.tokens(TEXT), absorb.untied(weights)
    np.testing.assert_array_equal(own["head.weight"], weights["wte.weight"].T)
    other = own | {"head.weight": center(weights["wte.weight"]).T}
    said_before, said_after = (forward(shape, each, tokens).logits for each in (own, other))
    assert np.abs(said_before - said_after).max() > 0.1


def nowhere_to_go():
    """A Linear whose bias is 0 gets a bias that is not 0 when it absorbs a shift."""
    own = drawn(1)[0]
    own["attn.c_attn.bias"] = 0 * own["attn.c_attn.bias"]
    assert np.abs(absorb.shifts_absorbed(own)["attn.c_attn.bias"]).max() > 0.1
    the_whole_model()


CLAIMS = {
    "Many language models use one embedding matrix twice": one_matrix_twice,
    "So each use first gets its own copy of the matrix.": one_matrix_twice,
    "Here a block with LayerNorm becomes a block with RMSNorm, step by step.": the_numbers,
    "Tokens drawn at random have three numbers, so the picture shows them whole. Tokens of the trained model have four, and the picture leaves out one direction": the_numbers,
    "A bias that the step **centred** had missed would do the same.": forgotten,
    r"If all of them are centred (multiplied by $\Pi$), the stream becomes $\Pi x$, and LayerNorm's results stay the same.": only_what_is_read,
    "On a vector whose mean is 0, LayerNorm and RMSNorm are one function": the_whole_model,
    "If one mean that is not 0 stays in the stream, RMSNorm": forgotten,
    "its nine LayerNorms and four layers, after each step. Its logits change by rounding only: in double precision they agree to 12 digits after the point, in single precision to 4.": the_whole_model,
    "Blue points lie above and below the teal plane: the mean of each is not 0.": as_it_was,
    "The ellipse has become a circle in the plane.": only_what_is_read,
    "Everything that writes is centred now, and the stream lies in the plane.": only_what_is_read,
    "Nothing moves. LayerNorm has become RMSNorm": only_what_is_read,
    "### A forgotten mean ? A forgotten bias adds a mean of 1 to the stream. Which norm goes wrong?": forgotten,
    "RMSNorm also puts points outside it, if the mean of the stream is not 0.": forgotten,
    "The number below the picture is the largest distance of a dot from its ring: 3.07. (In the picture “What the next block reads” it is 2.80, because one direction is left out there.)": forgotten,
    "it adds one constant to all coordinates of the stream": forgotten,
    "The number in the corner is the largest distance if LayerNorm takes the place of RMSNorm: 0 up to rounding.": forgotten,
    "The same with four numbers and trained weights.": the_numbers,
    r"without one the shift $\beta$ has nowhere to go": nowhere_to_go,
    "What can a pre-LN model with LayerNorm compute that one with RMSNorm cannot?": the_whole_model,
    r"but a gradient step in $\gamma$, $W$ and $b$ differs from one": the_numbers,
    "Could a gain of 0 be absorbed? Yes: a column of the matrix becomes 0.": a_zero_gain,
}
