"""`convert` and `certify` on the command line, with a GPT-2 in a folder like a reader's."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from safetensors.numpy import load_file, save_file

import app
from tests.learning.recording import gpt2
from tests.waiting import PATIENCE, until

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("gpt2")
    gpt2.save(path)
    return path


def ran(capsys, *arguments):
    app.main(list(map(str, arguments)))
    return capsys.readouterr().out


def refused(capsys, *arguments):
    with pytest.raises(SystemExit) as end:
        app.main(list(map(str, arguments)))
    said = capsys.readouterr()
    assert end.value.code == 2 and not said.out
    return said.err.splitlines()[-1]


@pytest.mark.servers
def test_a_folded_model_and_its_certificate(folder, tmp_path, capsys):
    out, text = tmp_path / "folded", ["--text", folder / "text.txt"]
    said = ran(capsys, "convert", folder, "--out", out, *text)
    assert said.startswith("passed: ") and "transformer.h.1.ln_2" in said
    assert (out / "certificate.txt").read_text("utf-8") == said
    assert {path.name for path in out.iterdir()} >= {"model.safetensors", "tokenizer.json", "config.json"}
    again = json.loads(ran(capsys, "certify", folder, out, *text, "--json"))
    told = json.loads((out / "certificate.json").read_text("utf-8"))
    assert again["verdict"] == "passed" and again["converted"]["sha256"] == told["converted"]["sha256"]
    weights = load_file(out / "model.safetensors")
    weights["transformer.h.0.mlp.c_fc.weight"][0] *= 2
    save_file(weights, out / "model.safetensors")
    with pytest.raises(SystemExit) as end:
        app.main(["certify", str(folder), str(out)])
    assert end.value.code == 1 and capsys.readouterr().out.startswith("refused: ")


@pytest.mark.servers
def test_a_conversion_that_is_stopped_leaves_nothing(folder, tmp_path):
    command = [sys.executable, "app.py", "convert", folder, "--out", tmp_path / "out"]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    until(lambda: list(tmp_path.iterdir()))
    process.send_signal(signal.SIGTERM)
    assert process.communicate(timeout=PATIENCE)[1].endswith("stopped; nothing was written\n")
    assert process.returncode == 130 and not list(tmp_path.iterdir())


@pytest.mark.servers
def test_a_refused_conversion_ends_with_1_and_writes_nothing(folder, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("learning.convert.certificate.MAX_ROUNDING_RATIO", 1e-9)
    with pytest.raises(SystemExit, match="nothing was written, for the certificate is refused: in float64"):
        app.main(["convert", str(folder), "--out", str(tmp_path / "out")])
    assert capsys.readouterr().out.startswith("refused: in float64") and not list(tmp_path.iterdir())


@pytest.mark.servers
def test_what_cannot_be_converted_is_said_in_one_line(folder, tmp_path, capsys, monkeypatch):
    out = ["--out", tmp_path / "out"]
    assert "exists: name a folder" in refused(capsys, "convert", folder, "--out", tmp_path)
    assert "there is no folder" in refused(capsys, "convert", folder, "--out", tmp_path / "none" / "out")
    assert "No such file" in refused(capsys, "convert", folder, *out, "--text", tmp_path / "none")
    assert "cannot be loaded" in refused(capsys, "convert", tmp_path, *out)
    assert "cannot be loaded" in refused(capsys, "certify", folder, tmp_path)
    monkeypatch.setitem(__import__("sys").modules, "learning.convert.conversion", None)
    monkeypatch.delattr("learning.convert.conversion", raising=False)
    assert "pip install torch transformers" in refused(capsys, "convert", folder, *out)
    assert not list(tmp_path.iterdir())
