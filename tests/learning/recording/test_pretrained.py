"""Cutting a text into a model's windows, and loading models from folders and GGUF files."""

import json
from functools import partial
from types import SimpleNamespace

import pytest
import torch

from learning.convert.checkpoint import Checkpoint, NotConverted
from learning.convert.load import load
from learning.recording import pretrained
from learning.recording.pretrained import NoModel, called, how_much_is_read, not_found, recorded, windows
from tests.learning.recording import gguf_llama, gpt2
from tests.learning.recording.strangers import GATED, stranger

WORDS = ["[UNK]", "[CLS]", "[SEP]", *"abcdefgh"]


@pytest.fixture(autouse=True)
def single_precision(double_precision):
    torch.set_default_dtype(torch.float32)


def bert_like():
    """A tokenizer that adds [CLS] and [SEP] to each text."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    own = Tokenizer(models.WordLevel({word: k for k, word in enumerate(WORDS)}, "[UNK]"))
    own.pre_tokenizer = pre_tokenizers.Whitespace()
    own.post_processor = processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    return PreTrainedTokenizerFast(tokenizer_object=own, unk_token="[UNK]")


def byte_like():
    """A tokenizer, written in Python, whose tokens are bytes; it adds </s> to each text."""
    from transformers import ByT5Tokenizer

    return ByT5Tokenizer()


def model(longest):
    empty = torch.nn.Module()
    empty.config = SimpleNamespace(max_position_embeddings=longest)
    return empty


def test_each_example_has_the_special_tokens_of_its_model():
    found = windows(bert_like(), model(5), "a b c d e f g h")
    assert found == [[1, 3, 4, 5, 2], [1, 6, 7, 8, 2], [1, 9, 10, 2]]
    assert windows(byte_like(), model(3), "abcde") == [[100, 101, 1], [102, 103, 1], [104, 1]]


def test_a_window_fits_a_roberta_which_does_not_use_its_first_positions():
    roberta = stranger("Roberta", **GATED, max_position_embeddings=12)
    examples = windows(bert_like(), roberta, "a b c d e f g h " * 5)
    assert roberta.config.pad_token_id == 0 and max(map(len, examples)) == 11
    for ids in examples:
        roberta(torch.tensor([ids]))
    with pytest.raises((IndexError, RuntimeError), match="out of"):
        roberta(torch.tensor([[5] * 12]))


def test_a_line_is_an_example():
    found = windows(bert_like(), model(5), "a b\n\nc\nd e f g\n", by_line=True)
    assert found == [[1, 3, 4, 2], [1, 5, 2], [1, 6, 7, 8, 2], [1, 9, 2]]


def test_examples_end_after_so_many_tokens():
    text = "a b c d e f g h " * 99
    found = windows(bert_like(), model(5), text, tokens=23)
    assert len(found) == 4 and {len(each) for each in found} == {5}
    with pytest.raises(NoModel, match="no tokens"):
        windows(bert_like(), model(5), " \n ")
    with pytest.raises(NoModel, match="does not know most of this text"):
        windows(bert_like(), model(9), "A B C D E f")


def test_how_much_of_a_text_is_read_is_said():
    text = "a b c d e f g h " * 99
    said = []
    for tokens, part in ((9999, text), (23, text), (2, text[:160])):
        found = windows(bert_like(), model(5), part, tokens=tokens)
        said.append(how_much_is_read(bert_like(), part, found, tokens))
    assert said[0] == "all 792 tokens of the text are read"
    assert said[1] == "12 of some 792 tokens of the text are read; --tokens sets how many"
    assert said[2].startswith("1 of some 80 tokens")
    found = windows(bert_like(), model(9), "a b\nc\n\n", by_line=True)
    assert how_much_is_read(bert_like(), "a b\nc\n\n", found, 99, by_line=True) == (
        "all 3 tokens of the text are read"
    )


def test_a_name_that_cannot_be_a_models(tmp_path):
    (tmp_path / "model.safetensors").touch()
    assert not_found(str(tmp_path / "model.safetensors")).endswith(
        "is a file: name its folder, or a GGUF file"
    )
    assert not_found("gpt2") == not_found("openai-community/gpt2") == ""
    assert not_found("models/of/mine").startswith("there is no folder models/of/mine")
    assert not_found("./mine").startswith("there is no folder ./mine")
    assert not_found("mine.gguf") == "there is no file mine.gguf"


@pytest.mark.parametrize(
    ("name", "sizes"), [("GPT2", {"n_embd": 32, "n_head": 2}), ("T5", {}), ("Llama", GATED)]
)
def test_a_folder_without_a_tokenizer(name, sizes, tmp_path):
    import transformers

    getattr(transformers, f"{name}Config")(**sizes).save_pretrained(tmp_path)
    with pytest.raises(NoModel, match="has no tokenizer"):
        pretrained.tokenizer_of("mine", tmp_path)


@pytest.mark.parametrize("kind", ["strange", "trocr"])  # transformers knows only the second
def test_code_that_comes_with_a_model_is_refused_without_a_question(monkeypatch, tmp_path, kind):
    """A model whose configuration names code of its own is refused.

    In a terminal, transformers itself would ask whether to run the code, and would run it after a "y".
    """
    own = {"model_type": kind, "auto_map": {"AutoConfig": "code.Config", "AutoModel": "code.Model"}}
    (tmp_path / "config.json").write_text(json.dumps(own))
    (tmp_path / "code.py").write_text("raise SystemExit")
    monkeypatch.setattr("builtins.input", lambda *_: pytest.fail("transformers asks"))
    for load_model in (partial(pretrained.loaded, predicts=True), Checkpoint):
        code_is_reached = (
            kind == "strange" or load_model is not Checkpoint
        )  # else weights are looked for first
        why = "contains custom code" if code_is_reached else r"has no model\.safetensors"
        with pytest.raises((NoModel, NotConverted), match=why):
            load_model(str(tmp_path))


def test_a_model_of_images_is_refused(tmp_path):
    import transformers

    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    transformers.ViTConfig(**sizes).save_pretrained(tmp_path)
    with pytest.raises(NoModel, match="reads pixel_values, and this command reads text: record it in Python"):
        pretrained.loaded(str(tmp_path))


def test_a_folder_that_convert_strict_wrote_has_its_rms_norms(tmp_path):
    gpt2.save(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    replaced = {"size": [gpt2.WIDE], "eps": 1e-5, "gain": True, "shift": True}
    config |= {"architectures": ["GPT2LMHeadModel"], "rms_norms": {"transformer.h.0.ln_1": replaced}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    found = recorded(str(tmp_path), gpt2.WORDS, vectors=20, seed=0, strict=load, tell=lambda line: None)
    kinds = {norm.path: norm.kind for norm in found.norms}
    assert kinds.pop("transformer.h.0.ln_1") == "rms_norm"
    assert len(kinds) == 4 and set(kinds.values()) == {"layer_norm"}


def test_the_norm_in_the_head_of_a_model_is_recorded(tmp_path):
    gpt2.save(tmp_path)  # for its tokenizer
    own = stranger("Bert", "AutoModelForMaskedLM", **{**GATED, "vocab_size": 64})
    own.save_pretrained(tmp_path)
    found = recorded(str(tmp_path), gpt2.WORDS, vectors=20, seed=0, tell=lambda line: None)
    assert found.norms[-1].path == "cls.predictions.transform.LayerNorm" and len(found.norms) == 6


def test_a_model_is_called_as_its_readme_says(tmp_path):
    folder = tmp_path / "checkpoint-500"
    folder.mkdir()
    assert called(f"{folder}/") == "checkpoint-500"
    (folder / "README.md").write_text("---\nlicense: mit\n---\n\n# Mine\n\nA model.\n")
    assert called(str(folder)) == "Mine"
    assert called("openai-community/gpt2") == "gpt2"


def test_a_gguf_file_is_a_model(tmp_path):
    gguf_llama.save(tmp_path / "tiny.gguf")
    found = recorded(str(tmp_path / "tiny.gguf"), "the " * 50, vectors=20, seed=0, tell=lambda line: None)
    assert found.name == "tiny" and {norm.kind for norm in found.norms} == {"rms_norm"}
    assert [norm.path for norm in found.norms][-1] == "model.norm" and len(
        found.norms
    ) == 2 * gguf_llama.LAYERS + 1
    assert found.norms[0].eps == pytest.approx(1e-5)
    assert "th" in found.words.values()
    (tmp_path / "broken.gguf").write_bytes(b"GGUF")
    with pytest.raises(NoModel, match="cannot be loaded"):
        pretrained.loaded(str(tmp_path / "broken.gguf"))


def test_a_folder_that_is_missing_is_named_before_the_network(monkeypatch):
    import huggingface_hub
    import transformers

    def unreachable(*_, **__):
        raise OSError("no network")

    monkeypatch.setattr(transformers.AutoConfig, "from_pretrained", unreachable)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", unreachable)
    for load_model, error in ((pretrained.loaded, NoModel), (Checkpoint, NotConverted)):
        words = "there is no folder none, and loading a model of this name from Hugging Face failed"
        with pytest.raises(error, match=f"^{words}: no network$"):
            load_model("none")


def test_only_a_file_that_loading_reads_is_blamed(tmp_path):
    """If a folder cannot be loaded, the error message blames a file only if loading reads it.

    A log in JSON Lines and a folder named a.json are not blamed, but a configuration that is nested too
    deeply is.
    """
    gpt2.save(tmp_path)
    (tmp_path / "log.json").write_text("{}\n{}\n")
    (tmp_path / "a.json").mkdir()
    config = tmp_path / "config.json"
    config.write_text('{"model_type": "nobody"}')
    with pytest.raises(NoModel, match=f"{tmp_path} cannot be loaded: .*nobody"):
        pretrained.loaded(str(tmp_path))
    config.write_text("[" * 200_000)
    with pytest.raises(NoModel, match=f"{config} cannot be read: maximum recursion depth"):
        pretrained.loaded(str(tmp_path))


def test_weights_of_a_folder_without_safetensors_are_read_and_nothing_in_them_runs(tmp_path):
    """Tensors are read from the pickle file `pytorch_model.bin`; a file that would run code is refused."""
    gpt2.save(tmp_path)
    own = stranger("GPT2", n_embd=gpt2.WIDE, n_layer=2, n_head=2, n_positions=64, vocab_size=64)
    (tmp_path / "model.safetensors").unlink()
    torch.save(own.state_dict(), tmp_path / "pytorch_model.bin")
    _, loaded = pretrained.loaded(str(tmp_path))
    torch.testing.assert_close(loaded.wte.weight, own.wte.weight)
    torch.save({"wte.weight": Runs()}, tmp_path / "pytorch_model.bin")
    with pytest.raises(NoModel, match="cannot be loaded"):
        pretrained.loaded(str(tmp_path))


class Runs:
    def __reduce__(self):
        return pytest.fail, ("a file was run",)


def test_the_head_of_a_model_is_the_one_that_its_configuration_names(tmp_path):
    stranger("Bert", **GATED).config.save_pretrained(tmp_path)
    from transformers import AutoConfig, BertForMaskedLM

    config = AutoConfig.from_pretrained(tmp_path)
    assert pretrained._head(config).__name__ == "AutoModelForMaskedLM"
    config.architectures = ["BertForPreTraining"]  # a model with two kinds of outputs
    assert pretrained._head(config).__name__ == "AutoModelForMaskedLM"
    config.architectures = ["NobodysModel", "BertForMaskedLM"]
    assert pretrained._head(config) is BertForMaskedLM
