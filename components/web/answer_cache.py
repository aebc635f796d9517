"""Cache of answers: what many ask for at once is computed once, by the first, for whom the others wait."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Condition

from cachetools import LRUCache, cached

MAX_CACHE_BYTES = 32 * 2**20  # of a process


def answer_cache(max_bytes: int = MAX_CACHE_BYTES):
    """A function of a key and of what computes its bytes; what was asked for longest ago goes first."""

    @cached(LRUCache(max_bytes, len), key=lambda key, compute: key, condition=Condition())
    def cached_answer(key: Hashable, compute: Callable[[], bytes]) -> bytes:
        return compute()

    return cached_answer
