"""Helpers for the subcommands of the command `normscape`."""

from __future__ import annotations

import argparse
import os
from importlib import import_module
from pathlib import Path
from typing import Any

MODEL_HELP = "a name on Hugging Face, such as gpt2, a folder, or a GGUF file"


class CommandFailed(RuntimeError):
    """Raised if a command fails, with a message of one line for the user."""


def command(commands: Any, name: str, summary: str, *examples: str) -> argparse.ArgumentParser:
    """Add a subcommand to a command-line parser, and return the subcommand's parser.

    commands: what `add_subparsers` of the parser returns. summary: what the subcommand does, for its help
    text. examples: commands that the help text shows.
    """
    lines = "\n".join(f"  {example}" for example in examples)
    return commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=f"example:\n{lines}" if len(examples) == 1 else f"examples:\n{lines}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def name_argument(text: str) -> str:
    """Return `text` unchanged. Raises ArgumentTypeError if it is empty.

    A shell variable without a value gives an empty argument, which as a path would mean the current folder.
    """
    if not text:
        raise argparse.ArgumentTypeError("it is empty")
    return text


def path_argument(text: str) -> Path:
    """The path that `text` names. Raises ArgumentTypeError if it is empty."""
    return Path(name_argument(text))


def check_output(path: Path) -> None:
    """Raise CommandFailed if no file or new folder can be written to `path`. Call this before long work.

    Nothing can be written if `path` is a folder, if its parent folder is missing, or if neither the parent
    folder nor an existing file at `path` is writable. If `path` is a symbolic link, its target is checked.
    """
    target = Path(os.path.realpath(path))
    folder = target.parent
    if not folder.is_dir():
        raise CommandFailed(f"{path}: there is no folder {folder}")
    if target.is_dir():
        raise CommandFailed(f"{path} is a folder: name the file to write")
    if not os.access(folder, os.W_OK) and not os.access(target, os.W_OK):
        raise CommandFailed(f"{path}: the folder {folder} is not writable")


def needing_torch(module: str, purpose: str) -> Any:
    """Import a module that needs PyTorch and transformers.

    Raises CommandFailed if these are not installed. purpose: the beginning of the message, such as "to record
    a model".
    """
    try:
        return import_module(module)
    except ImportError:
        needed = f"{purpose} PyTorch and transformers are needed: pip install torch transformers"
        raise CommandFailed(needed) from None
