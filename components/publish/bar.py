"""A progress bar on stderr for long commands."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")
WIDTH = 30  # characters


def over(items: Sequence[T], what: str) -> Iterator[T]:
    """Yield `items` one after the other, and show on stderr how many are done. what: a word for them.

    If stderr is not a terminal, only the final line is printed.
    """
    for done, item in enumerate(items):
        if sys.stderr.isatty():
            _show(done, len(items), what)
        yield item
    _show(len(items), len(items), what)
    print(file=sys.stderr)


def _show(done: int, total: int, what: str) -> None:
    full = WIDTH * done // max(total, 1)
    print(f"\r{what} {'━' * full}{'·' * (WIDTH - full)} {done}/{total}", end="", file=sys.stderr, flush=True)
