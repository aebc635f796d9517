"""A key-value store that all processes share: SQLite files on one machine, or Redis for several machines.

Huey's storage does both (https://huey.readthedocs.io); CACHE_DIR and REDIS_URL say where. Nothing expires by
itself: `runs` limits the size of runs, and `queue` ends trainings whose pages were closed.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import huey.storage

from components.settings import cache_folder, redis_url

try:
    from redis import RedisError
except ImportError:  # not needed on one machine
    RedisError = sqlite3.Error  # type: ignore[assignment, misc]

ANSWER_SECONDS = 1.0  # for an answer of Redis, or to wait for another process that writes to SQLite
MAX_CONNECTIONS = 3  # threads of a process that may wait for Redis at a time
CONNECTION_SECONDS = 0.2  # to wait for one of these connections
DURABLE = {"films", "runs"}  # synced to disk at each write; others may be lost in a power failure
MAX_WATCHED_KEYS = 1000  # for which `silence` is measured
_creating = threading.Lock()
_last: dict[str, tuple[Any, float]] = {}  # by key: the last value, and the time when it was first seen


class StoreUnavailable(Exception):
    """Raised when the store does not answer or cannot write, for example because the disk is full."""


class StoreBusy(StoreUnavailable):
    """Raised when all connections to the store are in use."""


@dataclass(frozen=True)
class Store:
    """A namespace of keys in the store. Every method raises StoreUnavailable."""

    name: str

    def get(self, key: str) -> bytes | None:
        return self.get_many([key]).get(key)

    def get_many(self, keys: Iterable[str]) -> dict[str, bytes]:
        """The values of those keys that exist."""
        keys = list(keys)
        with answered():
            return self._storage().peek_many(keys) if keys else {}

    def set(self, key: str, value: bytes) -> None:
        with answered():
            self._storage().put_data(key, value)

    def delete(self, *keys: str) -> None:
        with answered():
            for key in keys:
                self._storage().delete_data(key)

    def items(self) -> dict[str, bytes]:
        with answered():
            return self._storage().result_items()

    def _storage(self) -> Any:
        return storage(self.name)


def storage(name: str) -> Any:
    """Huey's storage object for a namespace."""
    with _creating:  # `cache` alone would let threads that come first at the same time create one each
        if url := redis_url(os.environ):
            return _redis(name, url)
        return _sqlite(name, cache_folder(os.environ))


@cache
def _sqlite(name: str, folder: Path) -> Any:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = str(folder / f"{name}.db")
    return huey.storage.SqliteStorage(
        name, filename=file, timeout=ANSWER_SECONDS, strict_fifo=True, fsync=name in DURABLE
    )


@cache
def _redis(name: str, url: str) -> Any:
    return huey.storage.RedisStorage(f"normscape{name}", connection_pool=_pool(url))


@cache
def _pool(url: str) -> Any:
    """A connection pool with which an unresponsive Redis blocks at most MAX_CONNECTIONS threads."""
    from redis import BlockingConnectionPool, ConnectionError
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    return BlockingConnectionPool.from_url(
        url,
        max_connections=MAX_CONNECTIONS,
        timeout=CONNECTION_SECONDS,
        socket_timeout=ANSWER_SECONDS,
        socket_connect_timeout=ANSWER_SECONDS,
        retry=Retry(NoBackoff(), 1, (ConnectionError,)),
    )


def capacity() -> tuple[float, float]:
    """Total and free bytes of the disk, or of Redis's memory. Raises StoreUnavailable."""
    with answered():
        if not redis_url(os.environ):
            disk = shutil.disk_usage(cache_folder(os.environ))
            return disk.total, disk.free
        memory = storage("films").conn.info("memory")
        most = memory.get("maxmemory") or memory["total_system_memory"]
        return most, most - memory["used_memory"]


@contextmanager
def answered() -> Iterator[None]:
    """Convert errors to StoreUnavailable, and restart `silence`: no heartbeat could be written meanwhile."""
    try:
        yield
    except (sqlite3.Error, RedisError, OSError) as problem:
        _last.clear()
        busy = "No connection available" in str(problem)  # redis-py has no class for it
        raise (StoreBusy if busy else StoreUnavailable)(f"the store does not answer: {problem}") from problem


def silence(key: str, value: Any) -> float:
    """The seconds for which a key's value has not changed, by this process's monotonic clock."""
    now = time.monotonic()
    last, since = _last.get(key, (None, None))
    if since is not None and last == value:
        return now - since
    if len(_last) > MAX_WATCHED_KEYS:
        _last.clear()
    _last[key] = value, now
    return 0.0


def json_object(data: bytes | None) -> dict[str, Any]:
    """The JSON object in a value; {} if it is missing or broken."""
    try:
        value = json.loads(data or b"{}")
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
