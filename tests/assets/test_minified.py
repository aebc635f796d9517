"""The minified scripts that the server sends if there is no bundle are the same programs as their sources."""

import json
import shutil
import subprocess
from pathlib import Path

from components.pages import modules
from components.pages.modules import ASSETS, asset, is_script

TREES = Path(__file__).parent / "syntax_trees.mjs"
SOURCES = {path: path.read_text("utf-8") for path in ASSETS.rglob("*") if is_script(path.name)}


def test_a_served_script_is_the_same_program_in_fewer_bytes(monkeypatch):
    monkeypatch.setattr(modules, "folders", lambda: (ASSETS,))
    served = {path: asset(path.relative_to(ASSETS).as_posix()) for path in SOURCES}
    pairs = [(str(path), text, served[path]) for path, text in SOURCES.items()]
    pairs.append(("no comment in a string", "f(`a // b`)", "f(`a`)"))
    command = [shutil.which("node"), str(TREES)]
    answer = subprocess.run(command, input=json.dumps(pairs), capture_output=True, text=True, check=True)
    assert json.loads(answer.stdout) == ["no comment in a string"]
    assert sum(map(len, served.values())) < 0.7 * sum(map(len, SOURCES.values()))
