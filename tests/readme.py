"""The commands that the README gives for a reader's own model, so that tests can run them."""

import re
import shlex
from pathlib import Path

ROOT = Path(__file__).parents[1]
SECTION = "## Your own model"


def commands():
    """The lines of the first shell block in the README's section SECTION, each as a list of words.

    Comments are left out.
    """
    section = (ROOT / "README.md").read_text("utf-8").partition(SECTION)[2]
    block = re.search(r"```sh\n(.*?)```", section, re.S)[1]
    return [shlex.split(line, comments=True) for line in block.splitlines()]


def of(model, command):
    """The words of a command from the README, with the path `model` in place of each word gpt2."""
    return [str(model) if word == "gpt2" else word for word in command]
