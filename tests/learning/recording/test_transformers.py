"""In third-party models with random weights, the recorded norms compute the outputs of the models' norms."""

from collections import Counter

import numpy as np
import pytest
import torch
from torch import nn

from learning import shipped
from learning.convert import centring
from learning.language import forward, from_file
from learning.recording import record
from learning.recording.known import known
from learning.recording.recording import from_file as recording_of
from learning.recording.recording import to_file
from tests.learning.recording.strangers import GATED, SMALL, stranger
from tools.films.language import FOLDING_REASON

FEW = {"num_key_value_heads": 1, "head_dim": 16}
QUERIES = {"q_norm": 2, "q_layernorm": 2, "k_layernorm": 2}  # norms that are applied to each of two heads
MODELS = {
    "GPT-2": ("GPT2", {"n_embd": 32, "n_layer": 2, "n_head": 2, **SMALL}, 5, "layer_norm"),
    "Llama": ("Llama", GATED, 5, "rms_norm"),
    "BERT": ("Bert", GATED, 5, "layer_norm"),
    "Gemma": ("Gemma", {**GATED, **FEW}, 5, "rms_norm"),
    "T5": (
        "T5",
        {"d_model": 32, "d_ff": 48, "num_layers": 2, "num_heads": 2, "d_kv": 16, **SMALL},
        12,
        "rms_norm",
    ),
    "Qwen3": ("Qwen3", {**GATED, **FEW}, 9, "rms_norm"),
    "Gemma 3": ("Gemma3Text", {**GATED, **FEW}, 13, "rms_norm"),
    "OLMo 2": ("Olmo2", GATED, 9, "rms_norm"),
    "Persimmon": ("Persimmon", {**GATED, "qk_layernorm": True}, 9, "layer_norm"),
    "Phi": ("Phi", {**GATED, "qk_layernorm": True}, 7, "layer_norm"),
}
HEAD = {"GPT-2": "AutoModelForCausalLM", "Llama": "AutoModelForCausalLM", "T5": "AutoModelForSeq2SeqLM"}
WHOLE = ("OLMo 2",)  # its norms of queries and keys act on all heads together
IDS = torch.arange(3 * 14).reshape(3, 14) % 37 + 3


@pytest.fixture(autouse=True)
def single_precision(double_precision):
    torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("title", MODELS)
def test_every_norm_of_a_model(title):
    name, sizes, count, kind = MODELS[title]
    model = stranger(name, **sizes)
    with torch.no_grad():
        for each in model.parameters():
            if each.ndim == 1:  # gains and shifts as after a training, all different
                each.add_(0.3 * torch.randn(each.shape))
    mask = torch.ones_like(IDS)
    mask[0, 9:] = 0
    decoder = {"decoder_input_ids": IDS[:, :10]} if model.config.is_encoder_decoder else {}
    with record(model, vectors=25) as seen, torch.no_grad():
        model(input_ids=IDS, attention_mask=mask, **decoder)
    found = recording_of(to_file(seen.recording))
    assert len(found.norms) == count and not found.skipped
    for norm in found.norms:
        module = model.get_submodule(norm.path)
        heads = 1 if title in WHOLE else QUERIES.get(norm.path.rpartition(".")[2], 1)
        given = IDS[:, :10].numel() if norm.path.startswith("decoder") else 37 * heads
        assert (norm.kind, norm.seen, len(norm.x)) == (kind, given, 25)
        with torch.no_grad():
            own = module(torch.from_numpy(norm.x.copy())).numpy()
        np.testing.assert_allclose(norm.output(norm.x), own, rtol=0, atol=2e-6 * np.abs(own).max())


def test_the_shipped_language_model_in_their_gpt2():
    """With our model's weights, transformers' GPT-2 has the same vectors at its norms as our code.

    The centring of all its norms folds.
    """
    shape, weights = shipped.read("language.safetensors", from_file)
    sizes = {"n_embd": shape.width, "n_layer": shape.layers, "n_head": 1, "n_positions": shape.window}
    model = stranger("GPT2", **{**SMALL, **sizes, "vocab_size": 87})
    model.load_state_dict(
        {name: torch.from_numpy(each).float() for name, each in weights.items()}, strict=True
    )
    tokens = shape.tokens("The film was slow at first, but its end was a great success.")
    with record(model) as seen, torch.no_grad():
        model(torch.from_numpy(tokens)[None])
    assert set(centring(model, torch.from_numpy(tokens)[None]).values()) == {("yes", FOLDING_REASON)}
    ours = forward(shape, weights, tokens)
    norms = {norm.path: norm for norm in seen.recording.norms}
    for k, block in enumerate(ours.blocks):
        assert norms[f"h.{k}.ln_1"].token.tolist() == tokens.tolist()
        np.testing.assert_allclose(norms[f"h.{k}.ln_1"].x, block.stream, rtol=0, atol=1e-4)
        np.testing.assert_allclose(norms[f"h.{k}.ln_1"].output(block.stream), block.keys, rtol=0, atol=1e-4)
        np.testing.assert_allclose(norms[f"h.{k}.ln_2"].x, block.stream + block.branch, rtol=0, atol=1e-4)
    np.testing.assert_allclose(norms["ln_f"].output(ours.blocks[-1].out), ours.last, rtol=0, atol=1e-4)


@pytest.mark.parametrize("title", ["GPT-2", "Llama", "T5"])
@pytest.mark.parametrize("how", ["generate", "cache", "mask"])
def test_tokens_after_a_cache_continue_its_positions(title, how):
    """With a key–value cache, the recorded position of a token counts the tokens in the cache too."""
    name, sizes, _, _ = MODELS[title]
    model = stranger(name, HEAD[title], **sizes)
    prompt, one = IDS[:2, :5], {}
    if title == "T5":
        one, prompt = {"encoder_outputs": model.encoder(IDS[:2])}, torch.ones(2, 1, dtype=torch.int64)
    ids = {"decoder_input_ids" if one else "input_ids": prompt}
    n = prompt.shape[1]
    with record(model) as seen, torch.no_grad():
        if how == "generate":
            model.generate(**ids, **one, max_new_tokens=4, min_new_tokens=4, do_sample=False)
        else:
            cache = model(**ids, **one).past_key_values
            for k in range(1, 4):
                (argument,) = ids
                mask = {argument.replace("input_ids", "attention_mask"): torch.ones(2, n + k)}
                each = {argument: IDS[:2, k : k + 1]} | (mask if how == "mask" else {})
                cache = model(**each, **one, past_key_values=cache).past_key_values
    wanted = [*np.tile(np.arange(n), 2), *np.repeat(np.arange(n, n + 3), 2)]
    norms = [norm for norm in seen.recording.norms if not norm.path.startswith("encoder")]
    assert norms and all(norm.position.tolist() == wanted for norm in norms)


HEADS = {**GATED, "num_hidden_layers": 1}
IMAGE = {"num_channels": 3, "depths": [1, 1], "hidden_sizes": [8, 16], "num_stages": 2}
OTHERS = {
    "OLMo": ("Olmo", HEADS, {"layer_norm": 3}),
    "ALBERT": (
        "Albert",
        {**GATED, "num_hidden_layers": 12, "embedding_size": 16},
        {"layer_norm": 1 + 2 * 12},
    ),
    "Cohere": ("Cohere", {**HEADS, "use_qk_norm": True}, {"group_norm": 2, "layer_norm": 2}),
    "StableLM": (
        "StableLm",
        {**HEADS, "qk_layernorm": True, "num_key_value_heads": 2},
        {"layer_norm": 2 * 2 + 3},
    ),
    "ConvNeXt": ("ConvNext", IMAGE, {"layer_norm": 5}),
    "BiT": ("Bit", {**IMAGE, "embedding_size": 8, "num_groups": 2}, {}),
}


@pytest.mark.parametrize(("name", "sizes", "kinds"), OTHERS.values(), ids=OTHERS)
def test_norms_that_are_called_or_shaped_otherwise(name, sizes, kinds):
    """All norms are recorded, except those of BiT, which are listed with a reason.

    BiT's GroupNorms act on positions, or have an activation.
    """
    model = stranger(name, **sizes)
    given = {"pixel_values": torch.randn(2, 3, 32, 32)} if sizes.get("num_channels") else {"input_ids": IDS}
    with record(nn.Sequential(Last(model), nn.LayerNorm(4)), vectors=9) as seen, torch.no_grad():
        seen.model(given)
    *norms, _ = seen.recording.norms
    assert Counter(norm.kind for norm in norms) == kinds
    assert bool(seen.recording.skipped) == (not kinds)
    assert all("positions" in line or "within" in line for line in seen.recording.skipped)
    assert {norm.groups for norm in norms if norm.kind == "group_norm"} <= {2}


class Last(nn.Module):
    """A model of tokens or images, with its output reshaped to (rows, 4).

    The test adds a LayerNorm of four numbers, so that there is always a norm to record.
    """

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, given):
        return self.model(**given).last_hidden_state.reshape(-1, 4)


@pytest.mark.parametrize("size", [0.5, 5, 200])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_a_large_gain_less_one_is_told_from_a_gain(dtype, size):
    from transformers.models.gemma.modeling_gemma import GemmaRMSNorm
    from transformers.models.llama.modeling_llama import LlamaRMSNorm

    for made, plus in ((GemmaRMSNorm, 1), (LlamaRMSNorm, 0)):
        module = made(64).to(dtype)
        torch.manual_seed(0)
        torch.nn.init.normal_(module.weight, size, 0.3 * size)
        gamma = known("norm", module, module.weight).norm.gamma
        assert np.array_equal(gamma, plus + module.weight.detach().double().numpy())
