"""What is shipped in the folder films/, made by `make films`. All that reads it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from learning.film import Film, from_npz, rows

FOLDER = Path(__file__).resolve().parent.parent / "films"


@cache
def read(name: str, what: Callable[[bytes], Any]) -> Any:
    """What the bytes of a file say, once a process. Raises FileNotFoundError where there is none."""
    return what((FOLDER / name).read_bytes())


def film(name: str) -> Film:
    return read(f"{name}.npz", from_npz)


def table(name: str) -> tuple[dict[str, Any], ...]:
    """The rows of a table, such as "labels" or "digits"."""
    return read(f"{name}.json", rows)
