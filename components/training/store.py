"""What several processes share, for a while: in a folder of this machine, or in Redis for several machines.

Values are bytes, and go by themselves after some seconds. CACHE_DIR and REDIS_URL say where they are kept.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from components.settings import cache_folder, redis_url

LARGEST = 500 * 2**20  # bytes on disk; beyond, what was stored first goes first
PATIENCE = 2.0  # seconds for an answer of Redis
PREFIX = "normscape:"
Change = Callable[[bytes | None], bytes]


class Away(Exception):
    """The store does not answer."""


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
        self.cache = diskcache.Cache(str(folder), size_limit=LARGEST)

    def get(self, key: str) -> bytes | None:
        return self.cache.get(key, retry=True)

    def set(self, key: str, value: bytes, seconds: float) -> None:
        self.cache.set(key, value, expire=seconds, retry=True)

    def delete(self, key: str) -> None:
        self.cache.delete(key, retry=True)

    def change(self, key: str, change: Change, seconds: float) -> None:
        with self.cache.transact(retry=True):
            self.set(key, change(self.get(key)), seconds)


class Redis:
    """A Redis server, for several machines."""

    def __init__(self, url: str) -> None:
        import redis

        waits: dict[str, Any] = {"socket_timeout": PATIENCE, "socket_connect_timeout": PATIENCE}
        self.client = redis.Redis.from_url(url, **waits)
        self.error = redis.RedisError

    def get(self, key: str) -> bytes | None:
        with self._reached():
            return self.client.get(PREFIX + key)  # type: ignore[return-value]

    def set(self, key: str, value: bytes, seconds: float) -> None:
        with self._reached():
            self.client.set(PREFIX + key, value, px=int(1000 * seconds))

    def delete(self, key: str) -> None:
        with self._reached():
            self.client.delete(PREFIX + key)

    def change(self, key: str, change: Change, seconds: float) -> None:
        name = PREFIX + key

        def attempt(pipe: Any) -> None:
            new = change(pipe.get(name))
            pipe.multi()
            pipe.set(name, new, px=int(1000 * seconds))

        with self._reached():
            self.client.transaction(attempt, name)

    @contextmanager
    def _reached(self) -> Iterator[None]:
        try:
            yield
        except self.error as problem:
            raise Away(f"the store does not answer: {problem}") from None
