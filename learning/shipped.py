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
    """The path of a data folder: inside an installed `normscape`, otherwise at the root of the repository."""
    inside = ROOT / "normscape" / name
    return inside if inside.is_dir() else ROOT / name


FOLDER = folder("films")


@cache
def read(name: str, what: Callable[[bytes], Any]) -> Any:
    """The contents of a data file, parsed: what(data), where `data` are the bytes of the file.

    name: the name of the file in FOLDER. Cached: a second call with the same `name` and `what` returns the
    same object. Raises FileNotFoundError if there is no such file.
    """
    return what((FOLDER / name).read_bytes())


def film(name: str) -> Film:
    return read(f"{name}.npz", from_npz)


def table(name: str) -> tuple[dict[str, Any], ...]:
    """The rows of the table of experiments called `name`, such as "labels" or "digits"."""
    return read(f"{name}.json", json_table)
