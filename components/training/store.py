"""Bytes by key that all processes share: in SQLite files of this machine, or in Redis for several machines.

Huey's storage does both (https://huey.readthedocs.io); CACHE_DIR and REDIS_URL say where. Nothing expires by
itself: `runs` bounds what is large, `queue` ends trainings that nobody follows.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
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

PATIENCE = 2.0  # seconds for an answer of Redis, or for another process that writes to SQLite
MAX_CONNECTIONS = 3  # threads of a process that may wait for Redis at a time
CONNECTION_WAIT = 0.2  # seconds to wait for one of these connections
DURABLE = {"films", "runs"}  # on disk before a write returns; the rest may be lost in a power failure


class StoreUnavailable(Exception):
    """The store does not answer, or cannot: a disk is full, say."""


class StoreBusy(StoreUnavailable):
    """All connections to the store are in use."""


class StoreFull(StoreUnavailable):
    """The store has no room, and will have none soon."""


@dataclass(frozen=True)
class Store:
    """One namespace of keys. Every method raises StoreUnavailable."""

    name: str
    patience: float = PATIENCE

    def get(self, key: str) -> bytes | None:
        return self.get_many([key]).get(key)

    def get_many(self, keys: Iterable[str]) -> dict[str, bytes]:
        """The values of those keys that exist."""
        with answered():
            return self._storage().peek_many(list(keys))

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

    def clear(self) -> None:
        with answered():
            self._storage().flush_results()

    def _storage(self) -> Any:
        return storage(self.name, self.patience)


def storage(name: str, patience: float = PATIENCE) -> Any:
    """Huey's storage of a name. A folder that somebody has deleted is made again."""
    if url := redis_url(os.environ):
        return _redis(name, url, patience)
    path = cache_folder(os.environ) / f"{name}.db"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch()
    return _sqlite(name, path, patience, path.stat().st_ino, os.getpid())


@cache
def _sqlite(name: str, path: Path, patience: float, inode: int, process: int) -> Any:
    """A connection belongs to one file and one process."""
    return huey.storage.SqliteStorage(
        name, filename=str(path), timeout=patience, strict_fifo=True, fsync=name in DURABLE
    )


@cache
def _redis(name: str, url: str, patience: float) -> Any:
    return huey.storage.RedisStorage(f"normscape{name}", connection_pool=_pool(url, patience))


@cache
def _pool(url: str, patience: float) -> Any:
    """A silent Redis holds MAX_CONNECTIONS threads of a web server, and no more."""
    from redis import BlockingConnectionPool, ConnectionError
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    return BlockingConnectionPool.from_url(
        url,
        max_connections=MAX_CONNECTIONS,
        timeout=CONNECTION_WAIT,
        socket_timeout=patience,
        socket_connect_timeout=patience,
        retry=Retry(NoBackoff(), 1, (ConnectionError,)),
    )


def seconds_to_answer(patience: float = PATIENCE) -> float:
    """Of Redis; 0 for a folder, which is slow once, when it is made. Raises StoreUnavailable."""
    start = time.monotonic()
    Store("signs", patience).get("worker")
    return time.monotonic() - start if redis_url(os.environ) else 0.0


def free_bytes(patience: float = PATIENCE) -> float:
    """Of the disk; or of the memory that Redis, or else its machine, has. Raises StoreUnavailable."""
    with answered():
        if not redis_url(os.environ):
            return shutil.disk_usage(cache_folder(os.environ)).free
        memory = storage("films", patience).conn.info("memory")
        most = memory.get("maxmemory") or memory.get("total_system_memory") or float("inf")
        return float(most) - memory.get("used_memory", 0)


@contextmanager
def answered() -> Iterator[None]:
    """Raise what goes wrong inside as StoreUnavailable."""
    try:
        yield
    except (sqlite3.Error, RedisError, OSError) as problem:
        kind = (
            StoreBusy if "No connection available" in str(problem) else StoreUnavailable
        )  # redis-py has no class for it
        raise kind(f"the store does not answer: {problem}") from problem


def json_object(data: bytes | None) -> dict[str, Any]:
    """The object that a value holds as JSON; {} where there is none, or it cannot be read."""
    try:
        value = json.loads(data or b"{}")
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
