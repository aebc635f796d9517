"""What several processes share, for a while: in a folder of this machine, or in Redis for several machines.

Values are bytes, and go by themselves after some seconds. CACHE_DIR and REDIS_URL say where they are kept.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from components.settings import cache_folder, redis_url

LARGEST = 500 * 2**20  # bytes on disk; beyond, what was stored first goes first
PATIENCE = 2.0  # seconds for an answer of Redis
LOCKED = 10.0  # seconds for which another process may be writing to the folder
PREFIX = "normscape:"
Change = Callable[[bytes | None], bytes]


class Away(Exception):
    """The store does not answer, or cannot: a disk is full, say."""


class Store(Protocol):
    def get(self, key: str) -> bytes | None: ...
    def set(self, key: str, value: bytes, seconds: float) -> None: ...
    def delete(self, key: str) -> None: ...
    def change(self, key: str, change: Change, seconds: float) -> None:
        """Replace a value by `change(value)`, and let nobody else change it meanwhile; may call it twice."""


@cache
def here() -> Store:
    """The store of this process."""
    url = redis_url(os.environ)
    return Redis(url) if url else Disk(cache_folder(os.environ) / "store")


class Disk:
    """A folder, for the processes of one machine."""

    def __init__(self, folder: Path) -> None:
        import diskcache

        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.cache = diskcache.Cache(str(folder), size_limit=LARGEST, timeout=LOCKED)
        self.errors = (sqlite3.Error, diskcache.Timeout, OSError)

    def get(self, key: str) -> bytes | None:
        with _reached(self.errors):
            return self.cache.get(key)

    def set(self, key: str, value: bytes, seconds: float) -> None:
        with _reached(self.errors):
            self.cache.set(key, value, expire=seconds)

    def delete(self, key: str) -> None:
        with _reached(self.errors):
            self.cache.delete(key)

    def change(self, key: str, change: Change, seconds: float) -> None:
        with _reached(self.errors), self.cache.transact():
            self.set(key, change(self.get(key)), seconds)


class Redis:
    """A Redis server, for several machines."""

    def __init__(self, url: str) -> None:
        import redis

        waits: dict[str, Any] = {"socket_timeout": PATIENCE, "socket_connect_timeout": PATIENCE}
        self.client = redis.Redis.from_url(url, **waits)
        self.errors = (redis.RedisError,)

    def get(self, key: str) -> bytes | None:
        with _reached(self.errors):
            return self.client.get(PREFIX + key)  # type: ignore[return-value]

    def set(self, key: str, value: bytes, seconds: float) -> None:
        with _reached(self.errors):
            self.client.set(PREFIX + key, value, px=int(1000 * seconds))

    def delete(self, key: str) -> None:
        with _reached(self.errors):
            self.client.delete(PREFIX + key)

    def change(self, key: str, change: Change, seconds: float) -> None:
        name = PREFIX + key

        def attempt(pipe: Any) -> None:
            new = change(pipe.get(name))
            pipe.multi()
            pipe.set(name, new, px=int(1000 * seconds))

        with _reached(self.errors):
            self.client.transaction(attempt, name)


@contextmanager
def _reached(errors: tuple[type[Exception], ...]) -> Iterator[None]:
    try:
        yield
    except errors as problem:
        raise Away(f"the store does not answer: {problem}") from None
