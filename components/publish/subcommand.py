"""A subcommand of the command line, with its help."""

from __future__ import annotations

import argparse
from typing import Any


def command(commands: Any, name: str, summary: str, *examples: str) -> argparse.ArgumentParser:
    """Add a subcommand, whose help has the summary and the examples."""
    lines = "\n".join(f"  {example}" for example in examples)
    return commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=f"example:\n{lines}" if len(examples) == 1 else f"examples:\n{lines}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
