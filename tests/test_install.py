"""Normscape installed from a wheel, in its own environment, away from the checkout.

That environment borrows the dependencies from the environment of the tests, through a path file (.pth). So
pip's resolution and downloads, which would need a network, are not tested.
"""

import json
import os
import re
import signal
import site
import subprocess
import sys
import urllib.request
import zipfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from components.language.scene import scenes
from tests import readme
from tests.learning.recording import gpt2
from tests.waiting import PATIENCE, until
from tools.ports import free

pytestmark = pytest.mark.servers

ROOT = Path(__file__).parents[1]
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")


def run(*command, cwd, **more):
    got = subprocess.run(
        list(map(str, command)), cwd=cwd, capture_output=True, text=True, timeout=PATIENCE, **more
    )
    assert got.returncode == 0, got.stderr
    return got.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    run(
        *PIP, "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, ROOT, cwd=folder
    )
    (found,) = folder.iterdir()
    return found


@pytest.fixture(scope="module")
def place(wheel, tmp_path_factory):
    """The `bin` folder of a new virtual environment in which the wheel is installed."""
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder)
    (packages,) = folder.glob("lib/python*/site-packages")
    lent = [path for path in sys.path if path.endswith("site-packages")] or site.getsitepackages()
    (packages / "lent.pth").write_text("\n".join(lent))
    (python,) = folder.glob("bin/python")
    run(*PIP, "--python", python, "install", "--quiet", "--no-deps", "--no-index", wheel, cwd=folder)
    return python.parent


@pytest.fixture
def around(tmp_path, place):
    """Keyword arguments for `subprocess.run`: an empty folder as `cwd`, and a reader's `env`.

    In `env`, PATH has the commands of the new environment first, and PYTHONPATH is not set.
    """
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    own |= {"PATH": f"{place}:{os.environ['PATH']}", "CACHE_DIR": str(tmp_path / "cache")}
    return {"cwd": tmp_path, "env": own}


@contextmanager
def serving(command, around):
    """Start a server with `command`, and yield its first line of output; interrupt it when the block ends.

    around: its folder and environment, as keyword arguments for `subprocess.Popen`.
    """
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **around)
    try:
        yield until(process.stdout.readline)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)


def got(url):
    with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
        return answer.read().decode()


def test_a_wheel_has_all_that_is_read_and_nothing_of_the_workshop(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    rooms = {name.partition("/")[0] for name in names}
    assert rooms == {"components", "geometry", "learning", "normscape", f"{wheel.name[:15]}.dist-info"}
    held = [
        path for room in ("components", "geometry", "learning", "normscape") for path in files(ROOT / room)
    ]
    held += [f"normscape/{path}" for room in ("assets", "docs", "films") for path in files(ROOT / room)]
    assert set(held) <= names and not [name for name in names if "__pycache__" in name]


def files(folder):
    """The files below a folder, except caches, as paths that begin with the folder's name."""
    kept = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return [path.relative_to(folder.parent).as_posix() for path in kept]


def test_the_command_works_anywhere(around):
    listed = run("normscape", "list", **around)
    assert [line.split()[0] for line in listed.splitlines()] == list(scenes())
    cut = subprocess.run("normscape list | head -1", shell=True, capture_output=True, text=True, **around)
    assert cut.stdout == listed.partition("\n")[0] + "\n" and cut.stderr == ""
    run("normscape", "export", "fold", "--out", "fold.html", **around)
    run("normscape", "export", "spiral", "--out", "spiral.svg", **around)
    page = (around["cwd"] / "fold.html").read_text("utf-8")
    assert "normscape/page/embed" in page and "Plotly" in page and "</html>" in page
    assert (around["cwd"] / "spiral.svg").read_text("utf-8").startswith("<svg")
    port = free()
    with serving(["normscape", "serve", "--port", str(port)], around) as said:
        assert f"http://127.0.0.1:{port}/" in said
        assert "data-slug" in got(f"http://127.0.0.1:{port}/layernorm")
        assert "export class Player" in got(f"http://127.0.0.1:{port}/assets/player/player.mjs")
        assert got(f"http://127.0.0.1:{port}/still/spiral.svg").startswith("<svg")


def test_a_notebook_finds_its_figures(around, place):
    code = "from normscape import Figure; print(Figure('fold', t=1.5)._drawn())"
    assert run(place / "python", "-c", code, **around).startswith("<img ")


def test_a_package_that_hides_one_of_ours_is_named(around):
    (around["cwd"] / "components").mkdir()
    (around["cwd"] / "components/__init__.py").touch()
    asked = [f"{around['env']['PATH'].split(':')[0]}/python", "-c", "from normscape import Scene"]
    failed = subprocess.run(asked, capture_output=True, text=True, timeout=PATIENCE, **around)
    said = failed.stderr.splitlines()[-1]
    assert (
        said.startswith("ImportError: normscape needs its own package 'components', which")
        and str(around["cwd"] / "components") in said
    )


# Runs several commands in one process, because importing PyTorch and Transformers takes the longest.
COMMANDS = (
    "import json, sys; from normscape.app import main; [main(each) for each in json.loads(sys.argv[1])]"
)


def test_from_a_model_in_a_folder_to_its_verdict_as_the_readme_says(around, place):
    """The README's commands, at most six, work unchanged, except for the model's name and the port.

    The commands that make the environment are not run.
    """
    commands = readme.commands()
    assert len(commands) <= 6 and [words[0] for words in commands[-4:]] == ["normscape"] * 4
    assert commands[-5][:2] == ["pip", "install"] and "--torch-backend=auto" in commands[-5]
    record, report, convert, model = commands[-4:]
    folder = around["cwd"] / "mine"
    folder.mkdir()
    gpt2.save(folder)
    (folder / "text.txt").rename(around["cwd"] / record[record.index("--text") + 1])
    asked = [readme.of(folder, command)[1:] for command in (record, report, convert)]
    said = run(place / "python", "-c", COMMANDS, json.dumps(asked), **around)
    assert "h.1.ln_2" in said
    assert "Could the centring be left out? Without it predictions change by a KL of" in said
    assert re.search("^passed: ", said, re.M)
    assert (around["cwd"] / convert[convert.index("--out") + 1] / "model.safetensors").is_file()
    with serving([*model, "--port", str(free())], around) as said:
        page = got(re.search(r"http://\S+", said)[0])
        assert 'data-slug="model"' in page and "Your own model" in page
