"""The certificate of two models: its numbers, its text, its documentation, and what it refuses."""

import fnmatch
import json
import re
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from learning.convert.certificate import PRECISIONS
from learning.convert.certificate_text import text
from learning.convert.checkpoint import Checkpoint, NotConverted
from learning.convert.cost import costs
from learning.convert.samples import samples
from normscape import certify, convert
from tests.learning.convert.checkpoints import SHORT, from_pretrained, model, save

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def single_precision(double_precision):
    torch.set_default_dtype(torch.float32)


def test_models_that_differ_are_named_with_what_differs(made, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    save(model("GPT-2", n_positions=30), other)
    with pytest.raises(NotConverted, match=r"they differ in context length \(256 and 30\)"):
        certify(made("GPT-2"), other, text=SHORT)
    kinds = (
        r"they differ in architecture \(GPT2LMHeadModel and ViTForImageClassification\); the comparison ended"
    )
    with pytest.raises(NotConverted, match=kinds):
        certify(made("GPT-2"), made("ViT"), text=SHORT)


def test_a_model_with_nan_is_not_certified(tmp_path):
    folder = tmp_path / "nan"
    folder.mkdir()
    changed = model("GPT-2")
    with torch.no_grad():
        changed.transformer.h[1].mlp.c_fc.bias[0] = torch.nan
    save(changed, folder)
    for run in (lambda: certify(folder, folder, text=SHORT), lambda: convert(folder, tmp_path / "out")):
        with pytest.raises(NotConverted, match="the outputs of nan contain NaN or infinity"):
            run()


def test_a_certificate_says_how_much_was_read_and_folded(made, tmp_path):
    for name, amount, folded, same in (
        ("GPT-2", "44 tokens of text", "γ and β of 4 of 5 norms, centring of 5 of 5 norms", "token"),
        ("Llama", "44 tokens of text", "γ of 5 of 5 norms; an RMSNorm has no β and no centring", "token"),
        ("OLMo", "44 tokens of text", "centring of 5 of 5 norms", "token"),
        ("ViT", "4 random images", "γ and β of 5 of 5 norms, centring of 5 of 5 norms", "class"),
    ):
        page = text(convert(made(name), tmp_path / name, text=None if name == "ViT" else SHORT))
        assert page.startswith(f"passed: on {amount} no difference")
        assert f"\nfolded: {folded}\n" in page and f" same {same} " in page


def test_the_table_of_fields_in_the_documentation_is_that_of_a_certificate(made, tmp_path):
    convert(made("BERT"), tmp_path / "out", text=SHORT, partly=True)
    certificate = json.loads((tmp_path / "out" / "certificate.json").read_text())
    page = (ROOT / "docs" / "convert.md").read_text("utf-8").partition("## The certificate")[2]
    rows = re.findall(r"^\| (`[^|]*`) \|", page.partition("\n## ")[0], re.MULTILINE)
    named = [name for row in rows for name in re.findall(r"`([^`]+)`", row)]

    def paths(found, depth, start=""):
        inside = found.items() if isinstance(found, dict) and depth else ()
        return [
            each
            for name, value in inside
            for each in (start + name, *paths(value, depth - 1, f"{start}{name}."))
        ]

    every = paths(certificate, 4)
    assert [name for name in named if not fnmatch.filter(every, name)] == []
    rows_needed = [
        *certificate,
        *paths(certificate["original"], 1, "original."),
        *(each for each in paths(certificate["precisions"], 3, "precisions.") if each.count(".") > 1),
    ]
    assert [each for each in rows_needed if not any(fnmatch.fnmatchcase(each, name) for name in named)] == []


def test_images_of_the_reader_are_read(made, tmp_path):
    folder, images = made("ViT"), tmp_path / "images.safetensors"
    save_file({"pixel_values": torch.rand(3, 3, 32, 32)}, images)
    certificate = convert(folder, tmp_path / "out", inputs=images)
    assert certificate.passed and certificate.read["inputs"] == "images.safetensors"
    assert certificate.reason.startswith("on 3 images of images.safetensors no difference")
    drawn = certify(folder, tmp_path / "out")
    assert drawn.read == {"random inputs": {"pixel_values": 4}, "seed": 0}
    largest = [each.precisions["float32"].difference.largest for each in (certificate, drawn)]
    assert largest[0] != largest[1]
    wrong = tmp_path / "wrong.safetensors"
    wrong.write_bytes(b"no tensors")
    with pytest.raises(NotConverted, match="cannot be read"):
        certify(folder, folder, inputs=wrong)
    save_file({"pixels": torch.rand(1)}, wrong)
    with pytest.raises(NotConverted, match="takes pixel_values"):
        certify(folder, folder, inputs=wrong)
    save_file({"pixel_values": torch.rand(3, 3, 16, 32)}, wrong)
    with pytest.raises(NotConverted, match="has the shape"):
        certify(folder, folder, inputs=wrong)


@pytest.mark.parametrize("name", PRECISIONS)
def test_the_numbers_of_a_certificate_are_those_of_the_two_models(name, made, tmp_path):
    torch.manual_seed(0)
    changed = from_pretrained("GPT-2", made("GPT-2"))
    with torch.no_grad():
        for each in changed.parameters():
            each.add_(0.02 * torch.randn_like(each))
    save(changed, tmp_path)
    (sample,) = samples(Checkpoint(str(made("GPT-2"))), SHORT)
    inputs = sample.inputs
    with torch.no_grad():
        exact, a, b = (
            from_pretrained("GPT-2", folder, dtype=dtype)(**inputs).logits.double()[0]
            for folder, dtype in (
                (made("GPT-2"), torch.float64),
                (made("GPT-2"), PRECISIONS[name]),
                (tmp_path, PRECISIONS[name]),
            )
        )
    rounding = {"other_precision": (exact - a).abs().max().item()} if name != "float64" else {}
    found = certify(made("GPT-2"), tmp_path, text=SHORT).precisions[name]
    one, other = a.log_softmax(-1), b.log_softmax(-1)
    want = inputs["input_ids"][0, 1:, None]
    assert found.difference.largest == pytest.approx((a - b).abs().max().item(), rel=1e-4)
    assert found.difference.kl == pytest.approx((one.exp() * (one - other)).sum(-1).mean().item(), rel=1e-4)
    assert found.difference.same_choice == pytest.approx(
        (a.argmax(-1) == b.argmax(-1)).double().mean().item()
    )
    losses = [-each[:-1].gather(-1, want).mean().item() for each in (one, other)]
    assert [found.loss_before, found.loss_after] == pytest.approx(losses, rel=1e-5) and not found.passed
    for key, size in rounding.items():
        assert found.rounding[key].largest == pytest.approx(size, rel=1e-3)
    assert found.bound >= 10 * max(each.largest for each in found.rounding.values()) > 0


def test_a_norm_that_is_not_recognised_costs_nothing(made):
    source = Checkpoint(str(made("BERT")))
    whole, name = source.model(), "bert.encoder.layer.0.output.LayerNorm"
    read = samples(source, SHORT)
    assert [each["norm"] for each in costs(whole, [name], read)] == [name]
    whole.get_submodule(name).weight = None
    whole.get_submodule(name).normalized_shape = (1,)
    assert costs(whole, [name], read) == []
