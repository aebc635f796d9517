"""A key-value store that all processes share: SQLite files on one machine, or Redis for several machines.

Both are storages of Huey (https://huey.readthedocs.io): Redis at REDIS_URL if that is set, else SQLite files
in CACHE_DIR. Nothing expires by itself. The module `runs` limits the total size of runs, and the module
`queue` ends trainings whose pages were closed.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Condition
from typing import Any

import huey.storage
from cachetools import TTLCache, cached

from components.settings import cache_folder, made_folder, redis_url

try:
    from redis import RedisError
except ImportError:  # not needed on one machine
    RedisError = sqlite3.Error  # type: ignore[assignment, misc]

ANSWER_SECONDS = 1.0  # how long to wait for an answer of Redis, or while another process writes to SQLite
MAX_CONNECTIONS = 3  # threads of a process that may wait for Redis at a time
CONNECTION_SECONDS = 0.2  # how long a thread waits for one of these connections
LOG_SECONDS = 60.0  # between two lines in the log about the same problem
DURABLE = {"films", "runs"}  # synced to disk at each write; others may be lost in a power failure
MAX_WATCHED_KEYS = 1000  # number of keys for which `silence` is measured
_last: dict[str, tuple[Any, float]] = {}  # by key: the last value, and the time when it was first seen


class StoreUnavailable(Exception):
    """Raised when the store does not answer or cannot write, for example because the disk is full."""


@dataclass(frozen=True)
class Store:
    """A namespace of keys in the store. Every method may raise StoreUnavailable."""

    name: str

    def get(self, key: str) -> bytes | None:
        return self.get_many([key]).get(key)

    def get_many(self, keys: Iterable[str]) -> dict[str, bytes]:
        """The values by key, for those of `keys` that exist."""
        keys = list(keys)
        return self._call("peek_many", keys) if keys else {}

    def items(self) -> dict[str, bytes]:
        return self._call("result_items")

    def set(self, key: str, value: bytes) -> None:
        self._call("put_data", key, value)

    def add(self, key: str, value: bytes) -> bool:
        """Store a value under a new key, atomically. If the key exists, change nothing and return False."""
        return self._call("put_if_empty", key, value)

    def next_number(self) -> int:
        """A new number: 1 at the first call, 2 at the second, and so on."""
        return self._call("incr", "next number")

    def delete(self, *keys: str) -> None:
        for key in keys:
            self._call("delete_data", key)

    def _call(self, method: str, *arguments: Any) -> Any:
        with answered():
            return getattr(storage(self.name), method)(*arguments)


def storage(name: str) -> Any:
    """Huey's storage object for a namespace, in Redis if REDIS_URL is set, else in SQLite; made only once."""
    return _storage(name, redis_url(os.environ), cache_folder(os.environ))


@cached({}, condition=Condition())  # threads that come first at the same time share one object
def _storage(name: str, url: str, folder: Path) -> Any:
    if url:
        return huey.storage.RedisStorage(f"normscape{name}", connection_pool=_pool(url))
    file = str(made_folder(folder) / f"{name}.db")
    return huey.storage.SqliteStorage(name, filename=file, timeout=ANSWER_SECONDS, fsync=name in DURABLE)


@cached({}, condition=Condition())
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


@contextmanager
def answered() -> Iterator[None]:
    """Convert errors of the store in the block to StoreUnavailable.

    An error is logged. It also resets `silence` for all keys, because no heartbeat can be written while the
    store does not answer.
    """
    try:
        yield
    except (sqlite3.Error, RedisError, OSError) as problem:
        _last.clear()
        _log(str(problem))
        raise StoreUnavailable(f"the store does not answer: {problem}") from problem


@cached(TTLCache(16, LOG_SECONDS), condition=Condition())
def _log(problem: str) -> None:
    """Log a problem of the store, the same one at most once in LOG_SECONDS."""
    logging.getLogger(__name__).error("the store of trainings and recordings has failed: %s", problem)


def capacity() -> tuple[float, float]:
    """Total and free bytes of the disk, or of Redis's memory. Raises StoreUnavailable."""
    with answered():
        if not redis_url(os.environ):
            disk = shutil.disk_usage(made_folder(cache_folder(os.environ)))
            return disk.total, disk.free
        memory = storage("films").conn.info("memory")
        most = memory.get("maxmemory") or memory["total_system_memory"]
        return most, most - memory["used_memory"]


def silence(key: str, value: Any) -> float:
    """For how many seconds this process has seen the same `value` of a key; 0 at the first call for a key.

    The count starts at 0 again for all keys after an error of the store (see `answered`), and also when more
    than MAX_WATCHED_KEYS keys are watched. The time is measured by this process's monotonic clock. So wrong
    clocks of other machines do not matter, and on Linux the time during which the whole machine sleeps does
    not count.
    """
    now = time.monotonic()
    last, since = _last.get(key, (value, now))
    since = since if last == value else now
    if len(_last) > MAX_WATCHED_KEYS:
        _last.clear()
    _last[key] = value, since
    return now - since


def json_object(data: bytes | None) -> dict[str, Any]:
    """Parse a value of the store as a JSON object; {} if the value is missing or is no JSON object."""
    try:
        value = json.loads(data or b"{}")
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
