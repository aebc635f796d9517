"""Data files that come with Normscape: where they are, and functions that read them.

`make films` writes these files.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from learning.film import Film, from_npz, json_table

ROOT = Path(__file__).resolve().parents[1]


def folder(name: str) -> Path:
    """The path of a data folder: in `normscape` of an installed wheel, otherwise at the checkout's root."""
    inside = ROOT / "normscape" / name
    return inside if inside.is_dir() else ROOT / name


FOLDER = folder("films")


@cache
def read(name: str, what: Callable[[bytes], Any]) -> Any:
    """The contents of a shipped file as the parser `what` returns them; each file is read once per process.

    Raises FileNotFoundError.
    """
    return what((FOLDER / name).read_bytes())


def film(name: str) -> Film:
    return read(f"{name}.npz", from_npz)


def table(name: str) -> tuple[dict[str, Any], ...]:
    """The rows of a shipped table of experiments, such as "labels" or "digits"."""
    return read(f"{name}.json", json_table)
