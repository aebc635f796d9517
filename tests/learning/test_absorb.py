"""The steps after which RMSNorm can replace LayerNorm keep a model's output; each of them is needed."""

import numpy as np
import pytest

from learning import absorb
from learning.language import Shape, forward, from_file, initial
from learning.shipped import FOLDER
from learning.shipped import read as shipped

ROUNDING = 1e-11  # of logits, in double precision after four layers


def models():
    shape, weights = shipped("language.safetensors", from_file)
    text = (FOLDER / "language.txt").read_text("utf-8")
    yield shape, weights, shape.tokens(text[: 3 * 256]).reshape(3, 256)
    for seed in (0, 1):
        shape, rng = Shape("abcdef", width=6, layers=3, window=9), np.random.default_rng(seed)
        weights = {
            name: w.astype(float) + 0.3 * rng.normal(size=w.shape) for name, w in initial(shape, seed).items()
        }
        yield shape, weights, rng.integers(0, 6, (2, 9))


MODELS = list(models())
EACH = pytest.mark.parametrize(("shape", "weights", "tokens"), MODELS, ids=["trained", "drawn", "drawn too"])


@EACH
def test_no_step_changes_what_a_model_says(shape, weights, tokens):
    want = forward(shape, weights, tokens)
    untied = absorb.untied(weights)
    shifts = absorb.shifts_absorbed(untied)
    gains = absorb.gains_absorbed(shifts)
    centred = absorb.centred(gains)
    bound = ROUNDING * np.abs(want.logits).max()
    for found, norm in (
        (untied, None),
        (shifts, None),
        (gains, None),
        (centred, None),
        (centred, absorb.rms),
    ):
        got = forward(shape, found, tokens, norm=norm)
        np.testing.assert_allclose(got.logits, want.logits, atol=bound)
        for ours, theirs in zip(got.blocks, want.blocks, strict=True):
            np.testing.assert_allclose(ours.weights, theirs.weights, atol=1e-10)
    for block, before in zip(forward(shape, centred, tokens).blocks, want.blocks, strict=True):
        assert (
            np.abs(block.out.mean(-1)).max()
            < 1e-12 * np.abs(before.out).max()
            < np.abs(before.out.mean(-1)).max()
        )
    names = [n for n in gains if ".ln_" in n or n.startswith("ln_")]
    assert (
        all((gains[n] == float(n.endswith("weight"))).all() for n in names)
        and len(names) == 4 * shape.layers + 2
    )


@EACH
def test_each_step_is_needed(shape, weights, tokens):
    """No step of the folding can be left out: otherwise a function raises, or the output differs.

    ValueError is raised by `gains_absorbed` without `shifts_absorbed` before it, and by `centred` without
    `untied` before it. If another step is left out, the model with RMSNorm gives another output.
    """
    want = forward(shape, weights, tokens).logits
    whole = absorb.untied(weights)
    with pytest.raises(ValueError, match="absorb the shifts before the gains"):
        absorb.gains_absorbed(whole)
    with pytest.raises(ValueError, match="untie the weights before centring"):
        absorb.centred(weights)
    for steps in ((absorb.shifts_absorbed, absorb.centred), (absorb.shifts_absorbed, absorb.gains_absorbed)):
        found = whole
        for step in steps:
            found = step(found)
        assert np.abs(forward(shape, found, tokens, norm=absorb.rms).logits - want).max() > 1e-3
    tied = {**absorb.centred(absorb.gains_absorbed(absorb.shifts_absorbed(whole)))}
    del (
        tied["head.weight"],
        tied["head.bias"],
    )  # the embedding is also the output matrix: it writes to the stream and reads it
    assert np.abs(forward(shape, tied, tokens, norm=absorb.rms).logits - want).max() > 1e-3
