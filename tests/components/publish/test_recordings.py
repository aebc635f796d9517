"""From a reader's model to its report, on the command line."""

import json
import re
from dataclasses import replace

import pytest

import app
from learning.convert.effect import Effect
from learning.recording.analysis import COLUMNS, measured, with_effects
from learning.recording.checked import opened
from learning.recording.recording import Recording
from learning.recording.report import table
from tests.learning.recording import gpt2
from tests.learning.recording.gpt2 import WORDS
from tests.learning.recording.norms import norm, recording


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("gpt2")
    gpt2.save(path)
    return path


@pytest.mark.servers
def test_from_a_model_to_its_verdict(folder, tmp_path, capsys):
    out = tmp_path / "mine.safetensors"
    asked = ["record", str(folder), "--text", str(folder / "text.txt"), "--out", str(out), "--vectors", "90"]
    app.main(asked)
    said = capsys.readouterr().err
    assert "found 5 LayerNorms: up to 90 vectors of each" in said and "5 norms" in said
    assert "all 680 tokens of the text are read" in said
    (size,) = re.findall(r"the vectors take (\S+) MB", said)
    assert float(size) == pytest.approx(out.stat().st_size / 1e6, abs=0.06)
    found = opened(out)
    assert {len(norm.x) for norm in found.norms} == {90} and found.norms[0].seen > 600
    assert {found.words[int(token)] for token in found.norms[0].token} <= set(re.findall(r"\w+|\W", WORDS))
    app.main(["report", str(out)])
    table = capsys.readouterr().out
    assert "h.1.ln_2" in table and "Could the centring be left out?" in table
    app.main(
        ["report", str(out), "--model", str(folder), "--text", str(folder / "text.txt"), "--tokens", "99"]
    )
    shown = capsys.readouterr().out
    assert "in all at once; measured on 64 tokens." in shown  # a window
    lines = [line.split() for line in shown.splitlines()]
    start = next(k for k, line in enumerate(lines) if line[:1] == ["norm"])
    first, *below = lines[start : start + 6]
    effects = [float(line[3]) for line in below]
    assert first[3] == "KL" and effects == sorted(effects, reverse=True) and effects[0] > 0
    app.main(["report", str(out), "--json"])
    assert len(json.loads(capsys.readouterr().out)["norms"]) == 5
    app.main(["report", str(out), "--csv"])
    assert capsys.readouterr().out.startswith(",".join(column.name for column in COLUMNS))


def refused(capsys, *arguments):
    with pytest.raises(SystemExit) as end:
        app.main(list(map(str, arguments)))
    said = capsys.readouterr()
    (line,) = said.err.splitlines()
    assert end.value.code == 2 and not said.out
    return line


@pytest.mark.servers
def test_what_cannot_be_is_said_in_one_line(folder, tmp_path, capsys, monkeypatch):
    own, out = folder / "text.txt", ["--out", tmp_path / "mine.safetensors"]
    assert "No such file" in refused(capsys, "record", folder, "--text", tmp_path / "none", *out)
    assert "cannot be loaded" in refused(capsys, "record", tmp_path, "--text", own, *out)
    nowhere = ["--out", tmp_path / "none" / "mine.safetensors"]
    assert "there is no folder" in refused(capsys, "record", folder, "--text", own, *nowhere)
    assert "is a folder: name the file" in refused(capsys, "record", folder, "--text", own, "--out", tmp_path)
    own_text = own.read_text("utf-8")
    assert "--out is the text" in refused(capsys, "record", folder, "--text", own, "--out", own)
    assert own.read_text("utf-8") == own_text
    (tmp_path / "picture").write_bytes(b"\x89PNG\r\n")
    assert "not a text in UTF-8 (byte 0)" in refused(
        capsys, "record", folder, "--text", tmp_path / "picture", *out
    )
    (tmp_path / "zeros").write_bytes(bytes(9))
    assert "the character NUL" in refused(capsys, "record", folder, "--text", tmp_path / "zeros", *out)
    assert "at least 1" in refused(capsys, "record", folder, "--text", own, "--tokens", 0, *out)
    assert "--seed must be at least 0" in refused(capsys, "record", folder, "--text", own, "--seed", -1, *out)
    with monkeypatch.context() as patch:
        patch.setenv("CACHE_DIR", str(own))
        assert f"CACHE_DIR: {own} is not a folder" in refused(capsys, "model", own)
    for vectors, got in ((0, "0"), (3000, "3,000")):
        said = refused(capsys, "record", folder, "--text", own, "--vectors", vectors, *out)
        assert said.endswith(f"--vectors must be from 1 to 2,000, got {got}")
    (tmp_path / "nothing").touch()
    assert "no tokens" in refused(capsys, "record", folder, "--text", tmp_path / "nothing", *out)
    assert "belong together" in refused(capsys, "report", own, "--model", folder)
    assert f"{own}: this is not a safetensors file" in refused(capsys, "report", own)
    assert f"{own}: this is not a safetensors file" in refused(capsys, "model", own)
    assert "nothing: this file is empty" in refused(capsys, "report", tmp_path / "nothing")
    monkeypatch.setattr("learning.recording.pretrained.free_bytes", lambda: 1e4)
    assert "are free" in refused(capsys, "record", folder, "--text", own, *out)
    monkeypatch.setitem(__import__("sys").modules, "learning.recording.pretrained", None)
    assert "pip install torch transformers" in refused(capsys, "record", folder, "--text", own, *out)


@pytest.mark.servers
def test_a_device_is_refused_where_a_file_is_read(folder, tmp_path, capsys):
    device, out = tmp_path / "device", ["--out", tmp_path / "out"]
    device.symlink_to("/dev/null")  # reading it ends, so that this test ends also if it fails
    text = ["--text", folder / "text.txt"]
    odd = tmp_path / "odd"
    odd.mkdir()
    (odd / "config.json").symlink_to("/dev/null")
    for asked in (
        ("report", device),
        ("model", device),
        ("record", folder, "--text", device, *out),
        ("record", device, *text, *out),
        ("record", odd, *text, *out),
        ("convert", folder, "--text", device, *out),
        ("convert", odd, *out),
        ("certify", folder, folder, "--inputs", device),
    ):
        assert "is a device or a pipe, not a file" in refused(capsys, *asked)


@pytest.mark.servers
def test_a_report_on_another_model_is_refused(folder, tmp_path, capsys):
    text = folder / "text.txt"
    own = tmp_path / "own.safetensors"
    app.main(["record", str(folder), "--text", str(text), "--out", str(own), "--vectors", "20"])
    (recording,) = [opened(own)]
    capsys.readouterr()

    def reported(*norms):
        file = tmp_path / "other.safetensors"
        Recording(norms, recording.name).save(file)
        return refused(capsys, "report", file, "--model", folder, "--text", text).rpartition("\r")[2]

    first, *others = recording.norms
    assert "it has no norm h.7.ln_1" in reported(replace(first, path="h.7.ln_1"), *others)
    assert "γ of transformer.h.0.ln_1 is another" in reported(replace(first, gamma=2 * first.gamma), *others)
    shorter = {part: getattr(first, part)[..., :20] for part in ("gamma", "beta", "x")}
    assert "acts on 32 coordinates, recorded were 20" in reported(replace(first, **shorter), *others)
    other = replace(first, kind="rms_norm")
    assert "is a LayerNorm, recorded was an RMSNorm" in reported(other, *others)


def test_a_terminal_gets_what_it_can_show():
    rows = measured(recording(norm("encoder.layer.11.attention.output.LayerNorm"), norm("ln_f", "rms_norm")))
    effects = {row["path"]: Effect(kl=1.2e-5, loss=-1.2e-5, change=0.0012) for row in rows}
    for some in (rows, with_effects(rows, effects)):
        assert max(map(len, table(some).splitlines())) <= 150
