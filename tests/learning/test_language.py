"""The language model: its results equal those of PyTorch's layers; its stages, file and shipped weights."""

import json
from itertools import pairwise

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch.nn import functional

from learning.file_error import FileError
from learning.language import (
    EPS,
    Shape,
    causal,
    cut,
    forward,
    from_file,
    initial,
    joined_heads,
    losses,
    measured,
    to_file,
)
from learning.safetensors import to_safetensors
from learning.shipped import FOLDER, table
from learning.shipped import read as shipped

LETTERS = "abcdefgh "
DOUBLE = 1e-12  # relative: some thousand roundings in double precision


def shape(**options):
    return Shape(LETTERS, **({"layers": 3, "window": 16} | options))


def model(shape, seed=0):
    """Random weights of a language model, all different from 0 and 1, also gains and biases."""
    rng = np.random.default_rng(seed)
    return {name: w + 0.3 * rng.standard_normal(w.shape) for name, w in initial(shape, seed).items()}


def theirs(shape, weights, tokens):
    """The list of keys (one array per layer) and the logits of the language model, by PyTorch's functions.

    If not `shape.scaled`, the norms before attention centre, but do not divide.
    """
    w = {name: torch.from_numpy(array) for name, array in weights.items()}
    d, x, keys = shape.width, functional.embedding(torch.from_numpy(tokens), w["wte.weight"]), []
    x = x + w["wpe.weight"][: tokens.shape[-1]]
    for k in range(shape.layers):

        def norm(name, x, k=k):
            return functional.layer_norm(x, (d,), w[f"h.{k}.{name}.weight"], w[f"h.{k}.{name}.bias"], eps=EPS)

        def linear(name, x, k=k):
            return functional.linear(x, w[f"h.{k}.{name}.weight"].T, w[f"h.{k}.{name}.bias"])

        if shape.scaled:
            keys.append(norm("ln_1", x))
        else:
            centred = x - x.mean(-1, keepdim=True)
            keys.append(centred * w[f"h.{k}.ln_1.weight"] + w[f"h.{k}.ln_1.bias"])
        q, key, v = (
            part.unflatten(-1, (shape.heads, -1)).transpose(-2, -3)
            for part in linear("attn.c_attn", keys[-1]).split(d, dim=-1)
        )
        attended = functional.scaled_dot_product_attention(q, key, v, is_causal=True)
        attended = attended.transpose(-2, -3).flatten(-2)
        x = x + linear("attn.c_proj", attended)
        hidden = functional.gelu(linear("mlp.c_fc", norm("ln_2", x)), approximate="tanh")
        x = x + linear("mlp.c_proj", hidden)
    last = functional.layer_norm(x, (d,), w["ln_f.weight"], w["ln_f.bias"], eps=EPS)
    return keys, last @ w["wte.weight"].T


@pytest.mark.parametrize("heads", [1, 2, 4])
@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("batch", [(), (1,), (2, 3)])
def test_agrees_with_pytorch(scaled, batch, heads):
    ours = shape(scaled=scaled, heads=heads)
    weights, tokens = model(ours), np.random.default_rng(1).integers(0, len(LETTERS), (*batch, 16))
    reading = forward(ours, weights, tokens)
    keys, logits = theirs(ours, weights, tokens)
    for block, wanted in zip(reading.blocks, keys, strict=True):
        np.testing.assert_allclose(block.keys, wanted.numpy(), rtol=DOUBLE, atol=DOUBLE)
    np.testing.assert_allclose(reading.logits, logits.numpy(), rtol=DOUBLE, atol=DOUBLE)
    if batch:
        flat = tokens.reshape(-1, 16)
        wanted = functional.cross_entropy(
            logits.reshape(-1, 16, len(LETTERS))[:, :-1].mT, torch.from_numpy(flat[:, 1:])
        )
        np.testing.assert_allclose(losses(reading.logits, tokens).mean(), wanted.numpy(), rtol=DOUBLE)


def test_numpy_and_torch_are_one_code():
    ours = shape()
    weights, tokens = model(ours), np.arange(9)
    tensors = {name: torch.from_numpy(w) for name, w in weights.items()}
    mine, theirs = forward(ours, weights, tokens), forward(ours, tensors, torch.from_numpy(tokens))
    for a, b in zip(mine.blocks, theirs.blocks, strict=True):
        for name, stage in vars(a).items():
            np.testing.assert_allclose(
                stage, getattr(b, name).numpy(), rtol=DOUBLE, atol=DOUBLE, err_msg=name
            )
    np.testing.assert_allclose(mine.logits, theirs.logits.numpy(), rtol=DOUBLE, atol=DOUBLE)


def test_the_stages_hang_together():
    ours = shape()
    weights, tokens = model(ours), np.arange(9)
    blocks = forward(ours, weights, tokens).blocks
    for k, block in enumerate(blocks):
        np.testing.assert_allclose(block.out, block.stream + block.branch + block.mlp)
        np.testing.assert_allclose(block.scores, block.q @ block.k.T / np.sqrt(ours.width))
        np.testing.assert_allclose(block.weights.sum(-1), 1)
        assert (block.weights[np.triu_indices(9, 1)] == 0).all()
        projection = weights[f"h.{k}.attn.c_proj.weight"]
        wanted = block.weights @ block.v @ projection + weights[f"h.{k}.attn.c_proj.bias"]
        np.testing.assert_allclose(block.branch, wanted)
    for before, after in pairwise(blocks):
        assert after.stream is before.out


def test_a_past_character_never_changes():
    """Activations do not depend on characters that come later."""
    ours = shape()
    weights, tokens = model(ours), np.random.default_rng(2).integers(0, len(LETTERS), 16)
    whole, part = forward(ours, weights, tokens), forward(ours, weights, tokens[:7])
    for a, b in zip(whole.blocks, part.blocks, strict=True):
        np.testing.assert_allclose(a.out[:7], b.out, rtol=DOUBLE, atol=DOUBLE)


def test_without_scaling_the_keys_are_centred_only():
    ours = shape(scaled=False)
    weights = initial(ours, 0)
    block = forward(ours, weights, np.arange(9)).blocks[0]
    np.testing.assert_allclose(block.keys, block.stream - block.stream.mean(-1, keepdims=True), atol=1e-6)


def test_with_scaling_they_are_on_a_sphere_before_the_gain():
    block = forward(shape(), initial(shape(), 0), np.arange(9)).blocks[0]
    variance = block.stream.var(-1)
    np.testing.assert_allclose((block.keys**2).sum(-1), 4 * variance / (variance + EPS), rtol=1e-5)


def test_causal_is_a_mean_where_all_scores_are_equal():
    np.testing.assert_allclose(causal(np.zeros((3, 3))), [[1, 0, 0], [1 / 2, 1 / 2, 0], [1 / 3] * 3])


def test_the_parts_are_those_of_gpt2():
    d, v, n = 4, len(LETTERS), 16
    each = 2 * d + (3 * d * d + 3 * d) + (d * d + d) + 2 * d + (4 * d * d + 4 * d) + (4 * d * d + d)
    assert sum(int(np.prod(size)) for size in shape().parts.values()) == v * d + n * d + 3 * each + 2 * d


@pytest.mark.parametrize(
    "wrong", [{"characters": "aa"}, {"characters": ""}, {"characters": "a", "window": 0}]
)
def test_what_is_no_shape(wrong):
    with pytest.raises(ValueError, match="of a model are"):
        Shape(**wrong)


def test_heads_divide_the_width():
    for heads in (0, 3):
        with pytest.raises(ValueError, match=f"{heads} heads do not divide a width of 4"):
            shape(heads=heads)


def test_heads_are_blocks_of_axes():
    x = np.arange(24.0).reshape(3, 8)
    assert (cut(x, 4)[1] == x[:, 2:4]).all() and cut(x, 1) is x
    for heads in (1, 2, 8):
        assert (joined_heads(cut(x, heads), heads) == x).all()


def test_what_it_cannot_read():
    with pytest.raises(ValueError, match="does not know '😀'"):
        shape().tokens("a 😀")
    with pytest.raises(ValueError, match="16 characters at most: got 17"):
        forward(shape(), initial(shape(), 0), np.zeros(17, dtype=int))


# --- its file


def test_the_file_gives_it_back():
    ours = shape(scaled=False)
    weights = initial(ours, 3)
    again, read_back = from_file(to_file(ours, weights, about="words"))
    assert again == ours and read_back.keys() == weights.keys()
    assert all((read_back[name] == weights[name]).all() for name in weights)


@pytest.mark.parametrize(
    ("meta", "words"),
    [
        ({}, "no language model"),
        ({"shape": "[]"}, "no language model"),
        ({"shape": json.dumps({"characters": "aa"})}, "none of them twice"),
        ({"shape": json.dumps({"characters": "ab", "width": 10**30})}, "not those of its shape"),
    ],
)
def test_a_file_of_something_else(meta, words):
    with pytest.raises(FileError, match=words):
        from_file(to_safetensors({"a": np.zeros(3, np.float32)}, meta))


# --- what is shipped


@pytest.mark.parametrize("name", ["language", "language_centred"])
def test_the_shipped_models_are_as_their_table_says(name):
    """On held-out text, a shipped model has the table's loss and the table's shares of unselectable keys."""
    ours, weights = shipped(f"{name}.safetensors", from_file)
    (row,) = (row for row in table("language") if (row["scaled"], row["seed"]) == (ours.scaled, 0))
    found = measured(ours, weights, (FOLDER / "language.txt").read_text("utf-8"))
    assert (found.loss, *found.before, *found.after) == pytest.approx(
        (row["loss"], *row["before"], *row["after"]), abs=5.1e-5
    )
    assert (ours.width, ours.layers, ours.window) == (4, 4, 256) and ours.scaled == (name == "language")


def test_the_shipped_models_know_the_letters_of_the_shipped_text():
    """The characters of the shipped model `language` are exactly those of the shipped training text.

    The held-out text has no other characters. No line of 40 or more characters is in both texts.
    """
    learned, held = ((FOLDER / name).read_text("utf-8") for name in ("language_learned.txt", "language.txt"))
    assert shipped("language.safetensors", from_file)[0].characters == "".join(sorted(set(learned)))
    assert set(held) <= set(learned)
    both = {*held.split("\n")} & {*learned.split("\n")}
    assert max(map(len, both)) < 40, "headings, not sentences"


def test_other_code_opens_them():
    """From a shipped model, the safetensors package reads the same arrays, by the same names, as we do."""
    for name in ("language", "language_centred"):
        theirs = load_file(FOLDER / f"{name}.safetensors")
        ours, weights = shipped(f"{name}.safetensors", from_file)
        assert {part: w.shape for part, w in theirs.items()} == ours.parts
        assert all((theirs[part].numpy() == w).all() for part, w in weights.items())


def test_a_text_to_measure_has_a_window():
    with pytest.raises(ValueError, match="16 characters or more: got 9"):
        measured(shape(), initial(shape(), 0), LETTERS)
