"""Cache of responses: each is computed within the budget of the first client, and others wait for it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import nullcontext
from threading import Condition

from cachetools import LRUCache, cached
from flask import current_app

from components.web import budget

MAX_CACHE_BYTES = 64 * 2**20  # of a process


def answer_cache(max_bytes: int = MAX_CACHE_BYTES):
    """Create a cache: a function that memoises bytes by key, and drops the least recently used first."""

    @cached(LRUCache(max_bytes, len), key=lambda key, compute: key, condition=Condition())
    def cached_answer(key: Hashable, compute: Callable[[], bytes]) -> bytes:
        return compute()

    return cached_answer


def made(key: Hashable, make: Callable[[], str | bytes], *, free: bool = False) -> bytes:
    """Return a cached or new response body; with key None it is not cached. free: charge no client."""

    def computed() -> bytes:
        with nullcontext() if free else budget.work():
            answer = make()
        return answer.encode() if isinstance(answer, str) else answer

    return computed() if key is None else current_app.extensions["answers"](key, computed)
