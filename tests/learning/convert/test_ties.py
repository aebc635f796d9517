"""Models with tied weights: `from_pretrained` of transformers reads the same weights as we do."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file

from normscape import certify, convert
from tests.learning.convert.checkpoints import SHORT, from_pretrained, model, save

HEAD = "lm_head.weight"


@pytest.fixture(autouse=True)
def single_precision(double_precision):
    torch.set_default_dtype(torch.float32)


def saved(name, folder, head=None, **entries):
    """Save a model in a new folder, and return the folder.

    name: a model of MODELS. head: a function of the saved weights that returns an output matrix to add to the
    file. entries: new values of entries of the configuration; None removes an entry.
    """
    folder.mkdir()
    save(model(name), folder)
    weights = load_file(folder / "model.safetensors")
    assert HEAD not in weights
    if head is not None:
        save_file(weights | {HEAD: head(weights)}, folder / "model.safetensors", {"format": "pt"})
    config = json.loads((folder / "config.json").read_text()) | entries
    config = {name: entry for name, entry in config.items() if entry is not None}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def of_its_own(weights):
    embedding = weights.get("shared.weight", weights.get("transformer.wte.weight"))
    return 0.2 * torch.randn(embedding.shape, generator=torch.Generator().manual_seed(1))


def logits(name, folder):
    made, ids = from_pretrained(name, folder, dtype=torch.float64), torch.tensor([[5, 17, 40, 8]])
    more = {"decoder_input_ids": ids.flip(1)} if made.config.is_encoder_decoder else {}
    with torch.no_grad():
        return made(input_ids=ids, **more).logits


T5_V1_1 = {"tie_word_embeddings": False, "scale_decoder_outputs": None}  # as on Hugging Face
T5_V1_0 = {"tie_word_embeddings": None, "scale_decoder_outputs": None}


@pytest.mark.parametrize(
    ("name", "head", "entries", "written"),
    [
        ("GPT-2", of_its_own, {}, True),
        ("GPT-2", lambda weights: weights["transformer.wte.weight"].clone(), {}, False),
        ("GPT-2", None, {}, False),
        ("T5", of_its_own, T5_V1_1, False),
        ("T5", None, T5_V1_0, None),
    ],
    ids=["own head", "equal head", "no head", "T5 v1.1", "T5 v1.0"],
)
def test_a_converted_model_is_that_of_from_pretrained(name, head, entries, written, tmp_path):
    folder, out = saved(name, tmp_path / "one", head, **entries), tmp_path / "out"
    assert convert(folder, out, text=SHORT).passed
    one, other = logits(name, folder), logits(name, out)
    assert (one - other).abs().max() <= 1e-4 * one.abs().max()
    assert HEAD in load_file(out / "model.safetensors")
    assert json.loads((out / "config.json").read_text()).get("tie_word_embeddings") is written


@pytest.mark.parametrize(("name", "entries"), [("GPT-2", {}), ("T5", T5_V1_1)])
def test_models_that_differ_only_in_the_head_are_told_apart(name, entries, tmp_path):
    one, other = (saved(name, tmp_path / each, of_its_own, **entries) for each in ("one", "other"))
    assert certify(one, other, text=SHORT).passed
    weights = load_file(other / "model.safetensors")
    weights[HEAD][5] *= 1.1
    save_file(weights, other / "model.safetensors", {"format": "pt"})
    assert not certify(one, other, text=SHORT).passed


def test_a_head_that_is_stored_with_the_embedding_it_repeats_is_written_again(tmp_path):
    folder = saved("XGLM", tmp_path / "one", lambda weights: weights["model.embed_tokens.weight"].clone())
    assert convert(folder, tmp_path / "out", text=SHORT).passed
    before, after = (load_file(each / "model.safetensors") for each in (folder, tmp_path / "out"))
    assert after.keys() == before.keys() and torch.equal(after[HEAD], before[HEAD])
