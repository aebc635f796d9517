"""Converted checkpoints of several architectures, read by plain transformers, compute the same as before."""

import importlib.util
import json
import resource
import shutil
from dataclasses import replace
from types import SimpleNamespace
from typing import ClassVar

import pytest
import torch
from safetensors.torch import load_file, save_file

from learning.convert import conversion, drafted
from learning.convert.certificate import PRECISIONS
from learning.convert.checkpoint import Checkpoint, NotConverted
from learning.convert.conversion import Refused
from learning.convert.cost import costs
from learning.convert.forward import output
from learning.convert.samples import samples
from normscape import certify, convert
from tests.learning.convert.checkpoints import SHARD, SHORT, VOCABULARY, from_pretrained, model, save

PRE_LN = ("GPT-2", "OPT", "GPT-NeoX", "Falcon", "Phi", "StarCoder2")  # with LayerNorm; they generate text


@pytest.fixture(autouse=True)
def single_precision(double_precision):
    torch.set_default_dtype(torch.float32)


def written(model):
    ids = torch.tensor([[5, 17, 40, 8]])
    mask = torch.ones_like(ids)
    options = {"max_new_tokens": 200, "min_new_tokens": 200, "do_sample": False, "pad_token_id": 0}
    return model.generate(ids, attention_mask=mask, **options)[0].tolist()


def classes(model):
    return [type(each) for each in model.modules()]


@pytest.mark.parametrize("name", PRE_LN)
def test_a_converted_model_writes_the_same_text(name, made, tmp_path):
    folder, out = made(name), tmp_path / "out"
    certificate = convert(folder, out, text=SHORT)
    assert certificate.passed and certificate.fold.largest <= 1e-12
    assert max(certificate.means.values()) <= 1e-15
    assert {norm["centring"]["verdict"] for norm in certificate.norms} == {"yes"}
    before, after = (from_pretrained(name, each) for each in (folder, out))
    text = written(before)
    assert len(set(text)) > 4 and written(after) == text
    assert classes(after) == classes(before)
    for norm in certificate.norms:
        module = after.get_submodule(norm["name"])
        folded = (module.weight == 1).all() and (module.bias == 0).all()
        assert folded == (norm["affine"]["verdict"] == "yes")
    assert sum(norm["affine"]["verdict"] == "yes" for norm in certificate.norms) >= len(certificate.norms) - 1


@pytest.mark.parametrize("name", ["ViT", "Whisper", "Llama", "Mixtral"])
def test_other_models_convert_too(name, made, tmp_path):
    certificate = convert(made(name), tmp_path / "out", text=None if name == "ViT" else SHORT)
    assert certificate.passed and certificate.fold.largest <= 1e-12
    from_pretrained(name, tmp_path / "out")


def test_strict_puts_rms_norms_in_the_place_of_layer_norms(made, tmp_path):
    folder, out = made("GPT-2"), tmp_path / "out"
    assert convert(folder, out, text=SHORT, strict=True).passed
    spec = importlib.util.spec_from_file_location("load", out / "load.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = module.load().eval()
    assert torch.nn.LayerNorm not in classes(found) and classes(found).count(torch.nn.RMSNorm) == 4
    assert written(found) == written(from_pretrained("GPT-2", folder))


def test_strict_writes_a_gain_that_was_stored_less_one_as_it_is(made, tmp_path):
    certificate = convert(made("Nemotron"), tmp_path / "out", text=SHORT, strict=True)
    assert certificate.passed and certificate.fold.largest <= 1e-12
    name = (
        "model.layers.0.input_layernorm"  # its γ stays, because the Linears that read it have no bias for β
    )
    one, other = (
        Checkpoint(str(each)).load(f"{name}.weight") for each in (made("Nemotron"), tmp_path / "out")
    )
    assert torch.allclose(one + 1, other)


@pytest.mark.parametrize(("name", "norms"), [("Persimmon", 9), ("Cohere", 7)])
def test_norms_of_heads_need_no_centring_any_more(name, norms, made, tmp_path):
    certificate = convert(made(name), tmp_path / "out", text=SHORT, strict=True)
    assert certificate.passed and certificate.fold.largest <= 1e-12
    assert len(certificate.means) == norms and max(certificate.means.values()) <= 1e-15
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    assert len(config["rms_norms"]) == norms


def test_a_folder_keeps_its_files_names_and_dtypes(made, tmp_path):
    out = tmp_path / "out"
    one = tmp_path / "half"
    one.mkdir()
    save(model("GPT-2").to(torch.bfloat16), one, max_shard_size=SHARD)
    before = {path.name: path.read_bytes() for path in one.iterdir()}
    convert(one, out, text=SHORT)
    assert {path.name: path.read_bytes() for path in one.iterdir()} == before
    assert {path.name for path in out.iterdir()} == {*before, "certificate.json", "certificate.txt"}
    index = json.loads((out / "model.safetensors.index.json").read_text())
    old = json.loads(before["model.safetensors.index.json"])
    assert set(index["weight_map"]) == {*old["weight_map"], "lm_head.weight"}
    assert json.loads((out / "config.json").read_text())["tie_word_embeddings"] is False
    source = Checkpoint(str(out))
    assert {source.load(name).dtype for names in source.shards.values() for name in names} == {torch.bfloat16}
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    told = json.loads((out / "certificate.json").read_text())
    assert told["converted"]["sha256"] == source.sha256() and told["verdict"] == "passed"


def without(plan, *edits):
    return replace(plan, edits=tuple(edit for edit in plan.edits if edit not in edits))


def one_writer_not_centred(plan):
    centred = (edit for edit in plan.edits if edit.kind == "center")
    return without(plan, next(edit for edit in centred if "c_proj" in edit.parameter))


def gain_folded_twice(plan):
    scale = next(edit for edit in plan.edits if edit.kind == "scale")
    return replace(plan, edits=(*plan.edits, scale))


def tied_head_forgotten(plan):
    head = {edit.parameter for edit in plan.edits if edit.kind == "copy"}
    return without(plan, *(edit for edit in plan.edits if edit.parameter in head))


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("mistake", [one_writer_not_centred, gain_folded_twice, tied_head_forgotten])
def test_a_planted_mistake_is_refused_and_nothing_is_written(mistake, strict, made, tmp_path, monkeypatch):
    spoiled = lambda *asked: SimpleNamespace(plan=lambda: mistake(drafted(*asked).plan()))  # noqa: E731
    monkeypatch.setattr(conversion, "drafted", spoiled)
    with pytest.raises(Refused) as refused:
        convert(made("GPT-2"), tmp_path / "out", text=SHORT, strict=strict)
    certificate = refused.value.certificate
    assert certificate.verdict == "refused" and "before any rounding" in str(refused.value)
    assert certificate.converted["name"] == "out"
    assert list(tmp_path.iterdir()) == []


class Bar:
    """A stand-in for `tqdm` that counts but draws nothing; `every` lists all bars."""

    every: ClassVar[list] = []

    def __init__(self, *, total, desc, **_):
        self.total, self.desc, self.done = total, desc, 0
        self.every.append(self)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def update(self, n=1):
        self.done += n


def test_progress_bars_end_with_the_work(made, tmp_path, monkeypatch):
    for module in ("certificate", "checkpoint", "cost"):
        monkeypatch.setattr(f"learning.convert.{module}.tqdm", Bar)
    monkeypatch.setattr(Bar, "every", [])
    convert(made("BERT"), tmp_path / "out", text=SHORT, partly=True)
    assert [each.desc for each in Bar.every] == ["writing", "comparing", "dropping centring"]
    assert all(each.done == each.total > 5 for each in Bar.every)


def test_a_mistake_in_the_files_alone_is_found_by_certify(made, tmp_path):
    folder, out = made("GPT-2"), tmp_path / "out"
    convert(folder, out, text=SHORT)
    assert certify(folder, out, text=SHORT).passed
    changed = from_pretrained("GPT-2", out)
    with torch.no_grad():
        changed.transformer.h[1].mlp.c_fc.weight[3] *= 1.01
    save(changed, tmp_path / "out")
    certificate = certify(folder, out, text=SHORT)
    assert not certificate.passed and certificate.reason.startswith("in float64 the outputs differ")
    other = tmp_path / "other"
    other.mkdir()
    save(model("StarCoder2"), other)
    assert not certify(folder, other, text=SHORT).passed
    save(model("GPT-2", vocab_size=VOCABULARY + 1), other)
    with pytest.raises(
        NotConverted, match=r"differ in vocabulary \(\d+ and \d+\); .* the outputs have different shapes"
    ):
        certify(folder, other, text=SHORT)


def test_post_ln_is_told_and_written_only_on_request(made, tmp_path):
    folder, out = made("BERT"), tmp_path / "out"
    with pytest.raises(NotConverted, match=r"is post-LN: 3 of 6 norms cannot be folded .*--partly"):
        convert(folder, out, text=SHORT)
    assert list(tmp_path.iterdir()) == []
    certificate = convert(folder, out, text=SHORT, partly=True)
    assert certificate.passed
    left = [norm["name"] for norm in certificate.norms if norm["centring"]["verdict"] != "yes"]
    assert [cost["norm"] for cost in certificate.cost] == [*left, "these 5 norms together"]
    assert all(cost["kl"] > 0 and cost["loss"] != 0 for cost in certificate.cost)


def test_the_cost_of_a_centring_is_what_an_rms_norm_in_its_place_makes(made):
    name = "bert.encoder.layer.0.output.LayerNorm"
    source = Checkpoint(str(made("BERT")))
    read = samples(source, SHORT)
    (found,) = costs(source.model(), ["bert.embeddings.LayerNorm", name], read, ["*.0.output.*"])
    own = from_pretrained("BERT", made("BERT"))
    with torch.no_grad():
        before = own(**read[0].inputs).logits.double().log_softmax(-1)
        norm = own.get_submodule(name)
        norm.forward = lambda x: norm.bias + torch.nn.functional.rms_norm(x, (32,), norm.weight, norm.eps)
        after = own(**read[0].inputs).logits.double().log_softmax(-1)
    kl = (before.exp() * (before - after)).sum(-1).mean().item()
    assert found["norm"] == name and found["kl"] == pytest.approx(kl, rel=1e-3) and kl > 1e-6


def test_the_cost_of_several_norms_says_how_many_were_measured(made, tmp_path):
    certificate = convert(made("BERT"), tmp_path / "out", text=SHORT, partly=True, norms="*.LayerNorm")
    left = [norm["name"] for norm in certificate.norms if norm["centring"]["verdict"] != "yes"]
    some = [name for name in left if name.endswith(".LayerNorm")]
    together = f"these {len(some)} norms together"
    assert [cost["norm"] for cost in certificate.cost] == [*some, together] and len(some) > 1
    assert f"\n{together} " in (tmp_path / "out" / "certificate.txt").read_text("utf-8")


@pytest.mark.parametrize("name", ["GPT-2", "Llama", "Whisper"])
def test_weights_are_read_block_by_block_and_what_is_said_is_the_models_own(name, made):
    source = Checkpoint(str(made(name)))
    (sample,) = samples(source, SHORT)
    for kind, dtype in PRECISIONS.items():
        outline = source.outline(dtype)
        said = output(outline, source.load, dtype, sample.inputs)
        assert all(each.is_meta for each in outline.parameters())
        own = from_pretrained(name, made(name), dtype=dtype)
        given = {
            key: each.to(dtype) if torch.is_tensor(each) and each.is_floating_point() else each
            for key, each in sample.inputs.items()
        }
        with torch.no_grad():
            theirs = own(**given).logits.double()
        assert (said - theirs).abs().max() <= (1e-5 if kind == "float64" else 0)


def test_a_model_without_a_limit_reads_the_whole_text(made):
    (sample,) = samples(Checkpoint(str(made("XLNet"))), SHORT)
    assert sample.tokens == 44


def test_nothing_is_left_when_a_conversion_stops_halfway(made, tmp_path, monkeypatch):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(conversion, "compared", stopped)
    with pytest.raises(KeyboardInterrupt):
        convert(made("GPT-2"), tmp_path / "out", text=SHORT)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_said_in_one_line_and_leaves_nothing(made, tmp_path):
    folder, (soft, hard) = made("GPT-2"), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))  # fewer bytes than a file of weights has
    try:
        with pytest.raises(NotConverted, match=r"^the folder .*/out cannot be written: .*File too large"):
            convert(folder, tmp_path / "out", text=SHORT)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_read_is_named(made, tmp_path):
    out = tmp_path / "out"
    with pytest.raises(NotConverted, match="exists: name a folder that does not"):
        convert(made("GPT-2"), tmp_path)
    (tmp_path / "file").touch()
    for missing in ("file", "none"):
        with pytest.raises(NotConverted, match=rf"there is no folder .*/{missing}$"):
            convert(made("GPT-2"), tmp_path / missing / "out")
    with pytest.raises(NotConverted, match="no file"):
        convert("none.gguf", out)
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(NotConverted, match="cannot be loaded"):
        convert(empty, out)
    (empty / "config.json").write_text((made("GPT-2") / "config.json").read_text())
    with pytest.raises(NotConverted, match="weights are read as safetensors alone"):
        convert(empty, out)
    for name in ("GPT-NeoX", "Mixtral"):  # their tensors are renamed or computed from the files
        save(model(name), empty)
        weights = load_file(empty / "model.safetensors")
        del weights[next(each for each in weights if each.endswith("input_layernorm.weight"))]
        save_file(weights, empty / "model.safetensors", {"format": "pt"})
        with pytest.raises(NotConverted, match=r"lacks 1 of its tensors, such as .*input_layernorm\.weight"):
            convert(empty, out)
    model("GPT-2").save_pretrained(tmp_path / "bare")
    advice = rf"/bare has no tokenizer: .*save_pretrained\('{tmp_path}/bare'\)$"
    with pytest.raises(NotConverted, match=advice):
        convert(tmp_path / "bare", out)
    with pytest.raises(
        NotConverted, match="the text has 5 tokens, too few to compare models: give 16 or more"
    ):
        convert(made("GPT-2"), out, text="one two three four five")
    with pytest.raises(NotConverted, match="reads no text"):
        certify(made("ViT"), made("ViT"), text=SHORT)
    with pytest.raises(TypeError, match=r"GPT2LMHeadModel is neither .* model\.save_pretrained\(folder\)"):
        convert(model("GPT-2"), out)
    with pytest.raises(TypeError, match="must be a string, not a PosixPath"):
        convert(made("GPT-2"), out, text=out)
    with pytest.raises(NotConverted, match=rf"contains, Path\('{tmp_path}/file'\)\.read_text\(\)$"):
        convert(made("GPT-2"), out, text=str(tmp_path / "file"))
    assert not out.exists()


def cut(path):
    path.write_bytes(path.read_bytes()[:-10])


def folder_instead(path):
    path.unlink(missing_ok=True)
    path.mkdir()


@pytest.mark.parametrize(
    ("damage", "name", "why"),
    [
        (cut, "model-00002-of-00004.safetensors", "cannot be read: .*not fully covered"),
        (cut, "config.json", "cannot be read: .*line"),
        (cut, "tokenizer.json", "cannot be read: .*line"),
        (folder_instead, "model.safetensors", "cannot be read: Is a directory"),
        (folder_instead, "config.json", "cannot be read: Is a directory"),
        (
            lambda path: path.symlink_to("nowhere"),
            "README.md",
            "cannot be copied: No such file or directory$",
        ),
    ],
)
def test_a_damaged_file_of_the_folder_is_named(made, tmp_path, damage, name, why):
    folder = shutil.copytree(made("GPT-2"), tmp_path / "model")
    damage(folder / name)
    with pytest.raises(NotConverted, match=f"{folder / name} {why}"):
        convert(folder, tmp_path / "out", text=SHORT)
    assert not (tmp_path / "out").exists()


def test_a_pattern_that_matches_no_norm_is_refused(made, tmp_path):
    near = r"no norm .* matches 'h\.1\.\*'; names .* are transformer\.h\.1\.ln_1, transformer\.h\.1\.ln_2$"
    with pytest.raises(NotConverted, match=near):
        convert(made("GPT-2"), tmp_path / "out", text=SHORT, norms=["*.h.1.*", "h.1.*"])
    assert not (tmp_path / "out").exists()
    assert convert(made("GPT-2"), tmp_path / "out", text=SHORT, norms="*.h.1.*").cost == []


def test_a_tied_bias_that_stays_as_it_is_is_written_twice(tmp_path):
    folder = tmp_path / "bert"
    folder.mkdir()
    changed = model("BERT")
    torch.nn.init.zeros_(changed.cls.predictions.transform.LayerNorm.bias)
    save(changed, folder)
    assert convert(folder, tmp_path / "out", text=SHORT, partly=True).passed
    again = from_pretrained("BERT", tmp_path / "out").cls.predictions
    assert torch.equal(again.decoder.bias, changed.cls.predictions.bias)
