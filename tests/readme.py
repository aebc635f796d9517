"""The commands that the README gives for a reader's own model, so that tests can run them."""

import re
import shlex
from pathlib import Path

ROOT = Path(__file__).parents[1]
SECTION = "## Your own model"


def commands():
    """Each command line as a list of words, without comments."""
    section = (ROOT / "README.md").read_text("utf-8").partition(SECTION)[2]
    block = re.search(r"```sh\n(.*?)```", section, re.S)[1]
    return [shlex.split(line, comments=True) for line in block.splitlines()]


def of(model, command):
    """A command of the README with the path of a model in place of the name gpt2."""
    return [str(model) if word == "gpt2" else word for word in command]
