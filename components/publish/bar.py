"""A progress bar on stderr for long commands."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")
WIDTH = 30  # characters


def over(items: Sequence[T], what: str) -> Iterator[T]:
    """Iterate over `items` and show a progress bar on stderr; outside of a terminal only its last state."""
    for done, item in enumerate(items):
        if sys.stderr.isatty():
            _show(done, len(items), what)
        yield item
    _show(len(items), len(items), what)
    print(file=sys.stderr)


def _show(done: int, total: int, what: str) -> None:
    full = WIDTH * done // max(total, 1)
    print(f"\r{what} {'━' * full}{'·' * (WIDTH - full)} {done}/{total}", end="", file=sys.stderr, flush=True)
