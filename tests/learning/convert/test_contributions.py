"""Who writes a norm's input, against hooks on the modules that are known to write."""

import numpy as np
import pytest
import torch

from learning.convert import contributions
from learning.recording import record
from learning.recording.recording import from_file, to_file
from learning.recording.sources import Sources
from learning.safetensors import FileError
from tests.learning.recording.strangers import GATED, SMALL, stranger

IDS = torch.arange(2 * 11).reshape(2, 11) % 37 + 3
GPT2 = {"n_embd": 32, "n_layer": 2, "n_head": 2, **SMALL}
WRITERS = {
    "GPT2": {"wte": "embedding", "wpe": "embedding", "attn.c_proj": "attention", "mlp.c_proj": "MLP"},
    "Llama": {"embed_tokens": "embedding", "self_attn.o_proj": "attention", "mlp.down_proj": "MLP"},
    "Mixtral": {"embed_tokens": "embedding", "self_attn.o_proj": "attention", "mlp": "MLP"},
    "Gemma2": {
        "embed_tokens": "embedding",
        "post_attention_layernorm": "attention",
        "post_feedforward_layernorm": "MLP",
    },
    "GPTNeoX": {"embed_in": "embedding", "attention.dense": "attention", "mlp.dense_4h_to_h": "MLP"},
}
FEW = {**GATED, "num_key_value_heads": 1, "head_dim": 16}
SIZES = {"GPT2": GPT2, "Gemma2": FEW, "Mixtral": FEW}


@pytest.fixture(autouse=True)
def single_precision(double_precision):
    torch.set_default_dtype(torch.float32)


def shaken(name, **sizes):
    torch.manual_seed(0)
    model = stranger(name, **sizes)
    with torch.no_grad():
        for each in model.parameters():
            each.add_(0.2 * torch.randn(each.shape))
    return model


def written(model, writers):
    """The outputs of the modules whose names end so, as (rows, d) by module, in the order of their calls."""
    found, handles = {}, []
    for path, module in model.named_modules():
        kind = next((kind for end, kind in writers.items() if path.endswith(end)), None)
        if kind is not None:

            def keep(module, args, output, path=path, kind=kind):
                out = output[0] if isinstance(output, tuple) else output
                out = out.expand(IDS.shape[0], -1, -1) if out.ndim == 3 else out
                found[path] = kind, out.reshape(-1, out.shape[-1]).double().numpy()

            handles.append(module.register_forward_hook(keep))
    with torch.no_grad():
        model(input_ids=IDS)
    for handle in handles:
        handle.remove()
    return found


@pytest.mark.parametrize("name", WRITERS)
def test_shares_are_those_of_what_modules_write(name):
    model = shaken(name, **SIZES.get(name, GATED))
    with record(model, contributions=contributions) as seen, torch.no_grad():
        model(input_ids=IDS)
    parts = written(model, WRITERS[name])
    norms = from_file(to_file(seen.recording)).norms
    checked = 0
    for norm in norms:
        own = sums(parts, norm.x.astype(float))
        if own is None:
            assert norm.path not in ("ln_f", "norm", "final_layer_norm")
            continue
        checked += 1
        x = sum(each for _, each in own.values())
        means = x.mean(1)
        row = np.linalg.norm(x, axis=1).argmax()
        top = (norm.x.astype(float) ** 2).sum(0).argmax()
        mean = {path: each.mean(1) @ means / (means @ means) for path, (_, each) in own.items()}
        outlier = {path: each[row, top] / x[row, top] for path, (_, each) in own.items()}
        for sources, want in ((norm.mean_sources, mean), (norm.outlier_sources, outlier)):
            assert sum(sources.shares.values()) == pytest.approx(1, abs=1e-4)
            for kind, share in sources.shares.items():
                each = sum(value for path, value in want.items() if own[path][0] == kind)
                assert share == pytest.approx(each, abs=1e-4)
            largest = max(want, key=lambda path: abs(want[path]))
            assert sources.module.startswith(largest)
            assert sources.share == pytest.approx(want[largest], abs=1e-4)
    assert checked >= 5


def sums(parts, x):
    """The modules whose outputs have the sum x: all up to one of them, or these without one before."""
    names = list(parts)
    for k in range(1, len(names) + 1):
        chosen = {path: parts[path] for path in names[:k]}
        if np.allclose(sum(each for _, each in chosen.values()), x, atol=1e-4 * np.abs(x).max()):
            return chosen
    return None


def test_after_a_post_ln_norm_the_residual_is_a_source():
    model = shaken("Bert", **GATED)
    with record(model, contributions=contributions) as seen, torch.no_grad():
        model(input_ids=IDS)
    norms = {norm.path: norm.mean_sources for norm in seen.recording.norms}
    assert set(norms["embeddings.LayerNorm"].shares) == {"embedding"}
    assert set(norms["encoder.layer.0.attention.output.LayerNorm"].shares) == {"norm", "attention"}
    assert set(norms["encoder.layer.1.output.LayerNorm"].shares) == {"norm", "MLP"}


def test_padding_is_no_source():
    model = shaken("GPT2", **GPT2)
    mask = torch.ones_like(IDS)
    mask[1, 4:] = 0
    found = {}
    for name, given in (("all", IDS), ("cut", IDS[:, :4])):
        kept = mask if name == "all" else torch.ones_like(given)
        kept = kept.clone()
        kept[0, 4:] = 0
        with record(model, contributions=contributions) as seen, torch.no_grad():
            model(input_ids=given, attention_mask=kept)
        found[name] = seen.recording.norms[0].mean_sources
    assert found["all"].module == found["cut"].module
    assert found["all"].share == pytest.approx(found["cut"].share, abs=1e-5)


def test_heads_and_what_is_no_sum_have_no_sources():
    model = shaken("Qwen3", **FEW)
    with record(model, contributions=contributions) as seen, torch.no_grad():
        model(input_ids=IDS)
    norms = {norm.path: norm.mean_sources for norm in seen.recording.norms}
    assert norms["layers.0.self_attn.q_norm"] is None and norms["layers.0.input_layernorm"] is not None


@pytest.mark.parametrize(
    "wrong", [({"mind": 1.0}, "a", 1.0), ({"MLP": np.nan}, "a", 1.0), ({}, "\n", 0.0), ({}, "a", "1")]
)
def test_sources_of_a_file_are_not_believed(wrong):
    with pytest.raises(FileError):
        Sources(*wrong)
