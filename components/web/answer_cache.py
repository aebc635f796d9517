"""Cache of answers, each computed within the budget of the client who asks first; the others wait for it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import nullcontext
from threading import Condition

from cachetools import LRUCache, cached
from flask import current_app

from components.web import budget

MAX_CACHE_BYTES = 64 * 2**20  # of a process


def answer_cache(max_bytes: int = MAX_CACHE_BYTES):
    """A function that memoises bytes by key; the least recently used are dropped first."""

    @cached(LRUCache(max_bytes, len), key=lambda key, compute: key, condition=Condition())
    def cached_answer(key: Hashable, compute: Callable[[], bytes]) -> bytes:
        return compute()

    return cached_answer


def made(key: Hashable, make: Callable[[], str | bytes], *, free: bool = False) -> bytes:
    """The cached or newly computed answer; with key None it is not cached. free: not charged."""

    def computed() -> bytes:
        with nullcontext() if free else budget.work():
            answer = make()
        return answer.encode() if isinstance(answer, str) else answer

    return computed() if key is None else current_app.extensions["answers"](key, computed)
