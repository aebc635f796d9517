"""Shuffles of axes: permuting weights does the same as permuting activations.

Also, which shuffles change nothing, and that training does not depend on the order of the stream's axes.
"""

import numpy as np
import pytest
import torch
from torch.nn import functional

from learning.language import Shape, forward, initial, losses
from tools.films import language_training
from tools.films.shuffles import PLACES, SHUFFLES, across, divergence, each, harm, one, shuffled

SHAPE = Shape("abcdefgh ", width=32, layers=2, window=12, heads=4)
TOKENS = np.random.default_rng(3).integers(0, 9, (2, 12))
DOUBLE = 1e-12  # some thousand roundings in double precision
SIZE = SHAPE.width // SHAPE.heads


def model(seed=0):
    rng = np.random.default_rng(seed)
    return {name: w + 0.3 * rng.standard_normal(w.shape) for name, w in initial(SHAPE, seed).items()}


def drawn(kind, count=50):
    rng = np.random.default_rng(1)
    return [kind(SHAPE.width, SHAPE.heads, rng) for _ in range(count)]


@pytest.mark.parametrize("kind", SHUFFLES.values())
def test_a_shuffle_is_four_swaps(kind):
    """A shuffle of any kind swaps four pairs of axes, so kinds differ only in which axes form pairs."""
    for permutation in drawn(kind):
        axes = np.arange(SHAPE.width)
        assert (permutation[permutation] == axes).all() and (permutation != axes).sum() == SIZE


def test_which_heads_they_touch():
    head = np.arange(SHAPE.width) // SIZE
    for kind, touched, stays in ((one, 1, True), (each, 4, True), (across, 4, False)):
        for permutation in drawn(kind):
            moved = permutation != np.arange(SHAPE.width)
            assert len(set(head[moved])) == touched
            assert ((head[permutation] == head)[moved] == stays).all()
            if touched > 1:
                assert (np.bincount(head[moved]) == 2).all()


def test_they_differ():
    for kind in SHUFFLES.values():
        assert len({tuple(permutation) for permutation in drawn(kind)}) > 40


@pytest.mark.parametrize(("d", "heads"), [(32, 1), (16, 4), (6, 3)])
def test_what_has_no_pairs_in_each_head(d, heads):
    with pytest.raises(ValueError, match="give no pairs of axes from each"):
        across(d, heads, np.random.default_rng(0))


def branch(weights, layer, place, permutation):
    """The output of attention in a layer, by PyTorch's functions, with permuted axes at a place of attention.

    place: a key of PLACES. At "read", "q", "v" and "concat" one activation is permuted: attention's input,
    the queries, the values, or the attended values of all heads. At "qk", queries and keys are permuted
    alike. At "vo", the values are permuted, and the attended values are permuted back. permutation: axis i
    gets the values of axis permutation[i].
    """
    own = {name: torch.from_numpy(w) for name, w in weights.items()}
    keys = torch.from_numpy(forward(SHAPE, weights, TOKENS).blocks[layer].keys)
    name = f"h.{layer}.attn"
    if place == "read":
        keys = keys[..., permutation]
    q, k, v = (keys @ own[f"{name}.c_attn.weight"] + own[f"{name}.c_attn.bias"]).split(SHAPE.width, dim=-1)
    q = q[..., permutation] if place in ("q", "qk") else q
    k = k[..., permutation] if place == "qk" else k
    v = v[..., permutation] if place in ("v", "vo") else v
    cut = lambda x: x.unflatten(-1, (SHAPE.heads, SIZE)).transpose(-2, -3)  # noqa: E731
    found = functional.scaled_dot_product_attention(cut(q), cut(k), cut(v), is_causal=True)
    found = found.transpose(-2, -3).flatten(-2)
    if place == "concat":
        found = found[..., permutation]
    if place == "vo":
        found = found[..., np.argsort(permutation)]
    return (found @ own[f"{name}.c_proj.weight"] + own[f"{name}.c_proj.bias"]).numpy()


@pytest.mark.parametrize("place", PLACES)
def test_shuffled_weights_are_shuffled_axes(place):
    """`shuffled` weights have the same effect on attention's output as permuted activations.

    This is true also for a permutation that is not its own inverse.
    """
    weights = model()
    turned = np.random.default_rng(5).permutation(SHAPE.width)
    for permutation in (*(kind(32, 4, np.random.default_rng(2)) for kind in SHUFFLES.values()), turned):
        for layer in range(SHAPE.layers):
            changed = forward(SHAPE, shuffled(weights, layer, place, permutation), TOKENS)
            wanted = branch(weights, layer, place, permutation)
            np.testing.assert_allclose(changed.blocks[layer].branch, wanted, rtol=DOUBLE, atol=DOUBLE)


@pytest.mark.parametrize("place", PLACES)
def test_where_a_shuffle_within_heads_changes_nothing(place):
    """At "qk" and "vo" shuffles within heads change nothing; all other shuffles change the predictions."""
    weights = model()
    for kind in SHUFFLES.values():
        found = harm(SHAPE, weights, TOKENS, 0, place, drawn(kind, 3))
        if place in ("qk", "vo") and kind is not across:
            assert np.abs(found).max() < DOUBLE
        else:
            assert found[:, 1].min() > 1e-6


@pytest.mark.parametrize("kind", [one, each])
def test_within_heads_values_and_results_are_shuffled_alike(kind):
    weights = model()
    for permutation in drawn(kind, 3):
        values, results = (
            forward(SHAPE, shuffled(weights, 1, p, permutation), TOKENS).logits for p in ("v", "concat")
        )
        np.testing.assert_allclose(values, results, rtol=DOUBLE, atol=DOUBLE)


def test_harm_is_that_of_the_whole_model():
    """`harm`, which reuses the layers before the changed one, gives the same as computing the whole model."""
    weights, (permutation,) = model(), drawn(across, 1)
    before = forward(SHAPE, weights, TOKENS).logits
    for layer in range(SHAPE.layers):
        after = forward(SHAPE, shuffled(weights, layer, "q", permutation), TOKENS).logits
        loss, far = harm(SHAPE, weights, TOKENS, layer, "q", [permutation])[0]
        assert loss == pytest.approx(losses(after, TOKENS).mean() - losses(before, TOKENS).mean(), abs=DOUBLE)
        assert far == pytest.approx(divergence(before, after).mean(), abs=DOUBLE)


def renumbered(weights, permutation):
    """The weights of the same model with the axes of its residual stream in another order.

    Axis i of the stream is axis permutation[i] of the original.
    """
    found = {}
    for name, w in weights.items():
        reads = name.endswith(("c_attn.weight", "c_fc.weight"))
        writes = "c_proj" in name or "ln_" in name or name.startswith("w")
        w = w[permutation] if reads else w
        found[name] = w[..., permutation] if writes else w
    return found


def copies(weights):
    """A copy of the weights, since PyTorch trains in place."""
    return {name: w.copy() for name, w in weights.items()}


def test_a_model_with_its_axes_renumbered_is_the_same_model():
    weights, permutation = model(), np.random.default_rng(6).permutation(SHAPE.width)
    same = forward(SHAPE, renumbered(weights, permutation), TOKENS).logits
    np.testing.assert_allclose(same, forward(SHAPE, weights, TOKENS).logits, rtol=DOUBLE, atol=DOUBLE)


def test_training_does_not_know_the_numbers_of_the_axes(monkeypatch):
    """Models trained from the original and from the renumbered weights give the same logits.

    So before the training, no axis of the stream belongs to a particular head.
    """
    text, permutation = "abc def gh ab cad bed fad " * 4, np.random.default_rng(6).permutation(SHAPE.width)
    start = {name: w.astype(float) for name, w in initial(SHAPE, 0).items()}
    ends = []
    for weights in (start, renumbered(start, permutation)):
        monkeypatch.setattr(language_training, "initial", lambda shape, seed, w=weights: copies(w))
        ends.append(language_training.learned(SHAPE, text, seed=0, steps=20, rate=0.01))
    first, second = (forward(SHAPE, w, TOKENS).logits for w in ends)
    np.testing.assert_allclose(second, first, rtol=1e-7, atol=1e-7)
    assert np.abs(first - forward(SHAPE, start, TOKENS).logits).max() > 0.1  # it has learned


def test_divergence_is_that_of_pytorch():
    rng = np.random.default_rng(0)
    a, b = 3 * rng.standard_normal((2, 5, 7))
    p, r = (torch.from_numpy(x).log_softmax(-1) for x in (a, b))
    wanted = functional.kl_div(r, p, log_target=True, reduction="none").sum(-1)
    np.testing.assert_allclose(divergence(a, b), wanted.numpy(), atol=1e-14)
    np.testing.assert_allclose(divergence(torch.from_numpy(a), torch.from_numpy(b)), wanted, atol=1e-14)
    assert divergence(a, a).max() == 0 and divergence(a, a + 1e3).max() == pytest.approx(0)
