"""Columns on massive vectors, kinds of tokens, gradients and half precision, each computed a second way."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from learning.file_error import FileError
from learning.recording import record
from learning.recording.analysis import COLUMNS, measured, row
from learning.recording.digest import digest, from_digest
from learning.recording.digest import to_file as to_digest
from learning.recording.precision import to_bfloat16, to_float16
from learning.recording.recording import Recording, from_file, to_file
from learning.recording.sources import Sources
from learning.recording.verdict import verdict
from learning.safetensors import from_safetensors, to_safetensors
from tests.learning.recording import second
from tests.learning.recording.norms import norm, recording
from tests.learning.recording.strangers import GATED, SMALL, stranger

CLOSE = {"rtol": 1e-6, "atol": 1e-9}
KINDS = ("layer_norm", "rms_norm")


def with_massive(kind="layer_norm", n=60, d=16):
    x = np.random.default_rng(0).normal(0.5, 1, (n, d)).astype(np.float32)
    x[[0, 7], 5] = 700, -400
    return norm("a", kind, n=n, d=d, x=x, eps=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_the_divisor_is_what_gradients_are_multiplied_by(kind):
    """With gain 1, the columns `gradient…` summarise the largest singular values of a norm's Jacobians.

    Each vector has one Jacobian. The columns are the median of the values, their 95th percentile, and their
    median over the massive vectors alone (None if there are none).
    """
    one = replace(with_massive(kind), gamma=np.ones(16, np.float32), beta=np.zeros(16, np.float32))
    found, inverse = row(one), []
    plain = {"layer_norm": torch.nn.functional.layer_norm, "rms_norm": torch.nn.functional.rms_norm}[kind]
    for x in torch.from_numpy(one.x.astype(float)):
        jacobian = torch.autograd.functional.jacobian(lambda x: plain(x, (16,), eps=1e-5), x)
        inverse.append(float(torch.linalg.svdvals(jacobian)[0]))
    np.testing.assert_allclose(found["gradient"], np.median(inverse), rtol=1e-6)
    np.testing.assert_allclose(found["gradient_high"], np.percentile(inverse, 95), rtol=1e-6)
    np.testing.assert_allclose(found["gradient_massive"], np.median(np.array(inverse)[[0, 7]]), rtol=1e-6)
    assert row(norm())["gradient_massive"] is None


@pytest.mark.parametrize("eps", [1e-12, 1e-5, 0.0, 3e-3])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 300.0])
@pytest.mark.parametrize("kind", KINDS)
def test_half_precision_does_to_the_divisor_what_pytorch_does(kind, scale, eps):
    one = with_massive(kind)
    one = replace(one, x=(scale * one.x).astype(np.float32), eps=eps)
    found, x = row(one), torch.from_numpy(one.x.astype(float))
    away = x - x.mean(1, keepdim=True) if kind == "layer_norm" else x
    variance = away.square().mean(1)
    for name in ("bfloat16", "float16"):
        dtype = getattr(torch, name)
        summed = variance.to(dtype) + torch.tensor(eps).to(dtype)
        finite = summed.isfinite()
        error = (summed.double() / (variance + eps) - 1).abs()[finite]
        lost = finite & (summed == variance.to(dtype)) & (eps > 0)
        assert found[f"{name}_lost"] == pytest.approx(float(lost.double().mean()))
        if len(error):
            np.testing.assert_allclose(found[f"{name}_error"], float(error.max()), rtol=1e-5, atol=1e-12)
        else:
            assert found[f"{name}_error"] is None
    over = away.square().half().isinf().any(1) | variance.half().isinf()
    assert found["float16_overflow"] == pytest.approx(float(over.double().mean()))


def test_roundings_are_those_of_pytorch():
    x = np.random.default_rng(0).normal(size=2000) * 2.0 ** np.random.default_rng(1).integers(-24, 17, 2000)
    x = np.concatenate([x, [0, 1 + 2**-8, 1 + 3 * 2**-8, 65504, 65520, 3.4e38]])
    for rounded, dtype in ((to_bfloat16, torch.bfloat16), (to_float16, torch.float16)):
        np.testing.assert_array_equal(rounded(x), torch.from_numpy(x).to(dtype).double().numpy())


def test_numbers_of_each_kind_of_token():
    one = norm(n=60, d=16, position=np.arange(60) % 10, token=np.arange(60) % 6)
    found = row(one, special={0, 3})
    x = one.x.astype(float)
    size = np.sqrt((x**2).sum(1))
    share = 16 * x.mean(1) ** 2 / size**2
    level = one.output(one.x, centres=False)
    cosine = (level * one.output(one.x)).sum(1)
    turn = np.degrees(
        np.arccos(cosine / np.linalg.norm(level, axis=1) / np.linalg.norm(one.output(one.x), axis=1))
    )
    first = [k % 10 == 0 for k in range(60)]
    special = [k % 6 in (0, 3) and k % 10 != 0 for k in range(60)]
    rest = [k % 6 not in (0, 3) and k % 10 != 0 for k in range(60)]
    for kind, chosen in (("first", first), ("special", special), ("rest", rest)):
        np.testing.assert_allclose(found[kind], np.median(size[chosen]) / np.median(size), **CLOSE)
        np.testing.assert_allclose(found[f"share_{kind}"], np.median(share[chosen]), **CLOSE)
        np.testing.assert_allclose(found[f"turn_{kind}"], np.median(turn[chosen]), rtol=1e-5)
    assert row(one)["special"] is None and row(one)["share_special"] is None


def test_numbers_with_and_without_the_massive_vectors():
    one = with_massive()
    found, x = row(one), one.x.astype(float)
    rest = np.delete(x, [0, 7], axis=0)
    size = np.median(np.linalg.norm(x, axis=1))
    for name, some in (("spread", rest), ("spread_all", x)):
        want = np.sqrt(some.var(0).sum()) / size
        np.testing.assert_allclose(found[name], want, **CLOSE)
    turns = np.array([row(replace_x(one, k))["turn_all"] for k in range(60)])
    np.testing.assert_allclose(found["turn_all"], np.median(turns), **CLOSE)
    np.testing.assert_allclose(found["turn_all_high"], np.percentile(turns, 95), **CLOSE)
    np.testing.assert_allclose(found["turn"], np.median(np.delete(turns, [0, 7])), **CLOSE)
    np.testing.assert_allclose(found["turn_high"], np.percentile(np.delete(turns, [0, 7]), 95), **CLOSE)
    energy = (x**2).sum(0) / (x**2).sum()
    order = np.argsort(energy)[::-1][:3]
    want = [f"{k} ({energy[k]:.1%}, |γ| {abs(one.gamma[k]):.2g})" for k in order]
    assert found["top_dimensions"] == ", ".join(want) and order[0] == 5


def replace_x(one, k):
    """A LayerNorm with the parameters of the norm `one`, and only the k-th of its vectors (from 0)."""
    return norm("one", n=1, d=one.d, x=one.x[k : k + 1], gamma=one.gamma, beta=one.beta, eps=one.eps)


SOURCES = {
    "mean_sources": Sources({"MLP": 1.5, "embedding": -0.5}, "h.1.mlp.c_proj", 1.25),
    "outlier_sources": Sources({"attention": 1.0}, "h.0.attn.c_proj", 0.75),
}


def test_sources_and_special_tokens_come_back_from_files():
    mine = Recording([norm("a", **SOURCES), norm("b")], "mine", {}, (), frozenset({2, 50}))
    back = from_file(to_file(mine))
    assert back.special == {2, 50} and back.norms[0].mean_sources == SOURCES["mean_sources"]
    assert back.norms[0].outlier_sources == SOURCES["outlier_sources"] and back.norms[1].mean_sources is None
    a, b = measured(back)
    assert (a["mean_from"], a["mean_writer"], a["mean_written"]) == (
        "MLP 150%, embedding -50%",
        "h.1.mlp.c_proj",
        1.25,
    )
    assert (a["outlier_from"], a["outlier_writer"], a["outlier_written"]) == (
        "attention 100%",
        "h.0.attn.c_proj",
        0.75,
    )
    assert b["mean_from"] is b["outlier_written"] is None
    shown = from_digest(to_digest(digest(back)))
    assert shown.special == {2, 50}
    for got, want in zip(shown.rows, (a, b), strict=True):
        assert got == {
            name: pytest.approx(x, rel=1e-6) if isinstance(x, float) else x for name, x in want.items()
        }


def test_older_files_say_less():
    arrays, meta = from_safetensors(to_file(recording(norm("a", **SOURCES))))
    about = json.loads(meta["about"])
    del about["special"]
    about["norms"] = [
        {name: each for name, each in one.items() if name not in SOURCES} for one in about["norms"]
    ]
    older = from_file(to_safetensors(arrays, meta | {"about": json.dumps(about)}))
    assert older.norms[0].mean_sources is None and older.special == frozenset()


@pytest.mark.parametrize("special", ["1", "[1.5]", "[true]", '["a"]', "null"])
def test_special_tokens_of_a_file_are_not_believed(special):
    arrays, meta = from_safetensors(to_file(recording()))
    about = meta["about"].replace('"special": []', f'"special": {special}')
    with pytest.raises(FileError, match="special tokens"):
        from_file(to_safetensors(arrays, meta | {"about": about}))


IDS = torch.arange(2 * 30).reshape(2, 30) % 37 + 3
GPT2 = {"n_embd": 32, "n_layer": 2, "n_head": 2, **SMALL}


@pytest.mark.parametrize(("name", "sizes"), [("GPT2", GPT2), ("Llama", GATED), ("Bert", GATED)])
def test_every_newer_column_of_a_model_is_computed_a_second_way(name, sizes):
    """For a model with massive vectors and special tokens, `measured` agrees with `second.py`."""
    torch.set_default_dtype(torch.float32)
    torch.manual_seed(0)
    model = stranger(name, **sizes)
    with torch.no_grad():
        for each in model.parameters():
            each.add_(0.2 * torch.randn(each.shape))
        model.get_input_embeddings().weight[3, 5] = 500
    with record(model) as seen:
        inputs = second.heard(model, lambda: model(input_ids=IDS))
    seen.special = frozenset({7, 11})
    assert len(seen.recording.norms) == 5
    for one, found in zip(seen.recording.norms, measured(seen.recording), strict=True):
        second.agrees(one, found, inputs[one.path], {7, 11})


def test_the_robust_number_comes_first():
    names = [column.name for column in COLUMNS]
    pairs = (("rank", "rank_all"), ("turn", "turn_all"), ("spread", "spread_all"))
    for robust, every in (*pairs, ("turn_high", "turn_all_high"), ("top_energy_rest", "top_energy")):
        assert names.index(robust) < names.index(every)


def test_the_verdict_names_the_module_that_writes_the_outlier():
    one = replace(with_massive(), outlier_sources=SOURCES["outlier_sources"])
    (line,) = [each for each in verdict([row(one)]) if each.name == "massive"]
    assert line.answer.endswith("longest vector, h.0.attn.c_proj writes 75%")
    (line,) = [each for each in verdict([row(with_massive())]) if each.name == "massive"]
    assert line.answer.endswith("without them")
