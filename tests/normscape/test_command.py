"""The command line: help, version, misspelt scenes, a port that is taken."""

import argparse
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from components.publish import export
from normscape import __version__, app
from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[2]
COMMANDS = ("serve", "list", "export", "site", "story", "record", "report", "model")


def ended(capsys, *arguments):
    """Run `normscape` with arguments that make it exit; returns (output followed by errors, exit code)."""
    with pytest.raises(SystemExit) as end:
        app.main(list(arguments))
    said = capsys.readouterr()
    return said.out + said.err, end.value.code


def test_the_version(capsys):
    assert ended(capsys, "--version") == (f"normscape {__version__}\n", 0)


def test_python_runs_the_package_as_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "normscape", "nothing"], capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 2 and done.stderr.startswith("normscape: ") and done.stderr.count("\n") == 1


def test_help_names_every_command_and_an_example(capsys):
    told, code = ended(capsys, "--help")
    assert code == 0 and "normscape export spiral" in told
    assert all(f"    {name} " in told for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_explains_each_option_and_has_an_example(capsys, monkeypatch, name):
    parsers = []
    parse = argparse.ArgumentParser.parse_known_args
    monkeypatch.setattr(
        argparse.ArgumentParser,
        "parse_known_args",
        lambda self, *given: parsers.append(self) or parse(self, *given),
    )
    told, code = ended(capsys, name, "--help")
    assert code == 0 and f"  normscape {name}" in told
    assert [action.dest for action in parsers[-1]._actions if not action.help] == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["site", ""],
        ["story", ""],
        ["export", "fold", "--out", "a.html", "--assets", ""],
        ["record", "", "--text", "a", "--out", "b"],
        ["report", ""],
        ["model", ""],
        ["convert", "", "--out", "b"],
        ["convert", "a", "--out", ""],
        ["certify", "a", ""],
    ],
    ids=" ".join,
)
def test_an_empty_path_is_not_the_current_folder(capsys, monkeypatch, tmp_path, arguments):
    """An empty path is refused, and nothing is written.

    Otherwise a shell variable without a value would write a whole site into the current folder.
    """
    monkeypatch.chdir(tmp_path)
    said, code = ended(capsys, *arguments)
    assert code == 2 and said.endswith(": it is empty\n") and not list(tmp_path.iterdir())


def test_an_error_of_the_system_is_told_without_its_number(tmp_path, capsys):
    (tmp_path / "full.svg").symlink_to("/dev/full")
    said, code = ended(capsys, "export", "fold", "--out", str(tmp_path / "full.svg"))
    assert code == 2 and said.endswith(": No space left on device\n") and "Errno" not in said


def test_a_file_that_cannot_be_written_is_named(tmp_path, capsys):
    """`export` refuses a file as --assets and a folder as --out, names them, and leaves them unchanged."""
    file, folder, out = tmp_path / "file", tmp_path / "folder.html", str(tmp_path / "a.html")
    file.write_text("mine")
    folder.mkdir()
    said, code = ended(capsys, "export", "fold", "--out", out, "--assets", str(file))
    assert code == 2 and said.endswith(f" --assets: {file} is a file: name a folder\n")
    said, code = ended(capsys, "export", "fold", "--out", str(folder))
    assert code == 2 and said.endswith(f": {folder} is a folder: name the file to write\n")
    assert file.read_text() == "mine" and sorted(tmp_path.iterdir()) == [file, folder]


def test_an_argument_with_a_line_break_is_answered_in_one_line(capsys, tmp_path):
    said, code = ended(capsys, "report", str(tmp_path / "a\nb"))
    assert code == 2 and said.endswith("a b: No such file or directory\n") and said.count("\n") == 1


def test_the_folder_of_a_reader_s_own_page_is_not_overwritten(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "style.css").write_text("mine")
    said, code = ended(capsys, "export", "fold", "--out", "a.html", "--assets", ".")
    assert code == 2 and said.endswith("contains another file style.css: name another folder\n")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"]


def test_a_shared_folder_whose_writing_was_interrupted_is_written_again(tmp_path, capsys, monkeypatch):
    asked = ["export", "fold", "--out", str(tmp_path / "a.html"), "--assets", str(tmp_path / "shared")]
    real, written = export.write_whole, []

    def stop(path, data):
        if len(written) == 2:
            raise KeyboardInterrupt
        written.append(path)
        real(path, data)

    with monkeypatch.context() as patch:
        patch.setattr(export, "write_whole", stop)
        said, code = ended(capsys, *asked)
    assert code == 130 and said.endswith(": stopped\n")
    assert len(list((tmp_path / "shared").iterdir())) == 2 and not (tmp_path / "a.html").exists()
    app.main(asked)
    assert (tmp_path / "a.html").exists()


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_an_export_that_fails_leaves_the_older_file(tmp_path, capsys, monkeypatch, error):
    """If Ctrl+C or a full disk stops the writing, the folder still has the old file, and nothing else."""
    out = tmp_path / "a.svg"
    out.write_text("older")

    def stop(path, data):
        with path.open("wb") as file:
            file.write(data[:100])
        raise error

    monkeypatch.setattr(Path, "write_bytes", stop)
    said, code = ended(capsys, "export", "fold", "--out", str(out))
    stopped = error is KeyboardInterrupt
    assert code == (130 if stopped else 2)
    assert said.endswith(": stopped\n" if stopped else f": {out}: No space left on device\n")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["older"]


def test_a_file_is_written_in_place_if_its_folder_is_not_writable(tmp_path, capsys, monkeypatch):
    out, new = tmp_path / "a.svg", tmp_path / "b.svg"
    out.write_text("older")
    real = Path.write_bytes

    def write(path, data):
        if path != out:
            raise PermissionError(13, "Permission denied")
        return real(path, data)

    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) == out)
    monkeypatch.setattr(Path, "write_bytes", write)
    app.main(["export", "fold", "--out", str(out)])
    assert out.read_text().startswith("<svg")
    said, code = ended(capsys, "export", "fold", "--out", str(new))
    assert code == 2 and said.endswith(f": {new}: the folder {tmp_path} is not writable\n")
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize("arguments", ["list", "--help", "export --help"])
def test_a_full_disk_or_a_closed_pipe_behind_stdout_gives_no_traceback(arguments):
    command = [sys.executable, "-m", "normscape", *arguments.split()]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=PATIENCE)
    lines = ["normscape: No space left on device"] if arguments == "list" else []
    assert done.stderr.splitlines() == lines
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, timeout=PATIENCE)
    os.close(write)
    assert done.stderr == "" and done.returncode == (128 + signal.SIGPIPE if arguments == "list" else 0)


INTERRUPTED = """
import runpy, signal, sys

signal.signal(signal.SIGINT, signal.default_int_handler)  # `make test &` in a script has it ignored

class Interrupted:
    def find_spec(name, path, target=None):
        if name == "components":
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:
                raise ImportError(name)  # as NumPy does

sys.meta_path.insert(0, Interrupted)
sys.argv[1:] = ["list"]
"""


@pytest.mark.parametrize(
    "run", ["runpy.run_module('normscape', run_name='__main__')", "runpy.run_path('app.py', {}, '__main__')"]
)
def test_ctrl_c_while_modules_are_imported_gives_no_traceback(run):
    command = [sys.executable, "-c", INTERRUPTED + run]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (130, "normscape: stopped\n")


def test_a_misspelt_scene_is_answered_with_the_nearest(capsys, tmp_path):
    told, code = ended(capsys, "export", "layernrom", "--out", str(tmp_path / "a.svg"))
    assert (code, told.count("\n")) == (2, 1) and "did you mean 'layernorm'?" in told
    told, _ = ended(capsys, "export", "xyzzy", "--out", str(tmp_path / "a.svg"))
    assert "did you mean" not in told
    client = app.create_app().server.test_client()
    for path in ("/embed/layernrom", "/recipe/layernrom"):
        text = client.get(path, headers={"Accept": "text/html"}).text
        assert re.search(r"did you mean .{1,5}layernorm.{1,5}\?(<|$)", text), path
    page = client.get("/layernrom")
    assert page.status_code == 404 and 'Did you mean <a href="/layernorm"' in page.text


def test_an_ipv6_address_is_printed_as_in_a_url(monkeypatch, capsys):
    monkeypatch.setattr("components.web.serve.listen", lambda *_: {})
    for name in ("components.web.serve.run", "components.training.runs.expire"):
        monkeypatch.setattr(name, lambda _: None)
    app.main(["--host", "::1", "--port", "8051"])
    assert "Normscape is on http://[::1]:8051/ " in capsys.readouterr().out


def test_an_address_of_another_machine_is_told_without_an_error_number(monkeypatch):
    monkeypatch.setattr(
        "components.web.serve.listen", lambda _, host, port: socket.create_server((host, port))
    )
    with pytest.raises(SystemExit, match=r"this machine does not have the address 192\.0\.2\.1$"):
        app.main(["--host", "192.0.2.1", "--port", "0"])


@pytest.mark.parametrize("host", ["nosuch.invalid", "a" * 70, "a b"])
def test_an_unknown_host_is_named_with_its_option(capsys, host):
    with pytest.raises(SystemExit) as end:
        app.main(["--host", host, "--port", "0"])
    words = f"there is no host {host}; name an address of this machine, such as --host 127.0.0.1"
    assert end.value.code == f"normscape: cannot serve on {host}:0: {words}"


def test_a_taken_port_says_how_to_choose_another(monkeypatch):
    monkeypatch.setattr(
        "components.web.serve.listen", lambda _, host, port: socket.create_server((host, port))
    )
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SystemExit, match=rf"{port}: the port is in use; .* --port {port + 1}$"):
            app.main(["--host", "127.0.0.1", "--port", str(port)])
