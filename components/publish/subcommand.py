"""Helper for subcommands of the command line."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import Any

MODEL_HELP = "a name on Hugging Face, such as gpt2, a folder, or a GGUF file"


class CommandFailed(RuntimeError):
    """Raised if a command fails; the one-line message says why."""


def command(commands: Any, name: str, summary: str, *examples: str) -> argparse.ArgumentParser:
    """Add a subcommand whose help contains the summary and the examples."""
    lines = "\n".join(f"  {example}" for example in examples)
    return commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=f"example:\n{lines}" if len(examples) == 1 else f"examples:\n{lines}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def needing_torch(module: str, purpose: str) -> Any:
    """Import a module that needs PyTorch and transformers. purpose: begins the error message ("to record …").

    Raises CommandFailed where these are not installed.
    """
    try:
        return import_module(module)
    except ImportError:
        needed = f"{purpose} PyTorch and transformers are needed: pip install torch transformers"
        raise CommandFailed(needed) from None
