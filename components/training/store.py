"""What several processes share, for a while: in two folders of a machine, or in Redis for several machines.

Values are bytes, and go by themselves after some seconds. CACHE_DIR and REDIS_URL say where they are kept.
Nothing is evicted here: what is large, the films, is bounded in `runs`, to a part of the room that there is.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import sqlite3
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from components.settings import cache_folder, redis_url

PATIENCE = 2.0  # seconds for an answer of Redis
REST = 1.0  # seconds in which a Redis that did not answer is asked by nobody, then by one
AT_ONCE, NEXT = 3, 2  # threads that Redis may hold of a process; that wait until it lets go of one
LOCKED = 10.0  # seconds for which another process may be writing to the folder
MINUTE, YEAR = 60.0, 365 * 86400.0
PREFIX = "normscape:"
Change = Callable[[bytes | None], bytes]
Values = Mapping[str, tuple[bytes, float]]  # by key, each for some seconds


class Away(Exception):
    """The store does not answer, or cannot: a disk is full, say."""


class Crowded(Away):
    """It answers, but slowly, and others are before this caller."""


class Full(Away):
    """There is no room, and will be none soon."""


@dataclass(frozen=True)
class Room:
    """Bytes that a store may take in all, and those that are free."""

    all: float
    free: float


class Store(Protocol):
    def get(self, key: str) -> bytes | None: ...
    def set(self, key: str, value: bytes, seconds: float) -> None: ...
    def delete(self, key: str) -> None: ...
    def change(self, key: str, change: Change, seconds: float) -> None:
        """Replace a value by `change(value)`, and let nobody else change it meanwhile; may call it twice."""

    def sizes(self, prefix: str) -> dict[str, int]:
        """The bytes of all values whose keys begin so. Slow."""

    def room(self) -> Room: ...


class Lines(Store, Protocol):
    """Where the line of trainings is: many short questions, some of which belong together."""

    def held(self) -> AbstractContextManager[None]:
        """One place for all questions inside. Raises Away."""

    def exchange(self, values: Values, keys: Sequence[str]) -> list[bytes | None]:
        """Set values, then get others, as one question."""

    def lag(self) -> float:
        """The seconds that a server takes for an answer, 0 where there is none. Raises Away."""


@cache
def here(patience: float = PATIENCE) -> Lines:
    """Where the line of trainings is, for this process."""
    url = redis_url(os.environ)
    return Redis(url, patience) if url else Steady(Disk(cache_folder(os.environ) / "line"))


@cache
def films(patience: float = PATIENCE) -> Store:
    """Where films are: on a disk, in a folder apart."""
    url = redis_url(os.environ)
    return Redis(url, patience) if url else Disk(cache_folder(os.environ) / "store")


def clear() -> None:
    """Forget where they are: the environment has changed."""
    for kept in (here, films, _gate):
        kept.cache_clear()


def told(data: bytes | None) -> dict[str, Any] | None:
    """What a value says by name, as JSON; None where there is none, or it cannot be read."""
    try:
        found = json.loads(data or b"null")
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


class Disk:
    """A folder, for the processes of one machine; made anew when somebody has deleted it."""

    def __init__(self, folder: Path) -> None:
        import diskcache

        self.folder = folder
        self.errors = (sqlite3.Error, diskcache.Timeout, OSError)
        self.file = 0
        with suppress(*self.errors):  # on a full disk, say: whoever needs it is told
            self._open()

    def _open(self) -> None:
        import diskcache

        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.cache = diskcache.Cache(
            str(self.folder), eviction_policy="none", timeout=LOCKED, disk=_bytes_alone()
        )
        self.file = self._file()

    def _file(self) -> int:
        """The number of the file behind the cache, 0 where there is none."""
        try:
            return (self.folder / "cache.db").stat().st_ino
        except FileNotFoundError:
            return 0

    @contextmanager
    def _reached(self) -> Iterator[Any]:
        with _reached(self.errors):
            if not self.file or self._file() != self.file:
                if self.file:
                    logging.getLogger(__name__).warning("the folder of the store was deleted; made anew")
                self._open()
            yield self.cache

    def get(self, key: str) -> bytes | None:
        with self._reached() as held:
            return _bytes(held.get(key))

    def set(self, key: str, value: bytes, seconds: float) -> None:
        with self._reached() as held:
            held.set(key, value, expire=seconds)

    def delete(self, key: str) -> None:
        with self._reached() as held:
            held.delete(key)

    def change(self, key: str, change: Change, seconds: float) -> None:
        with self._reached() as held, held.transact():
            held.set(key, change(_bytes(held.get(key))), expire=seconds)

    def drop(self, ended: Callable[[bytes], bool]) -> None:
        """Delete the values that have ended."""
        with self._reached() as held:
            for key in list(held):
                with held.transact():
                    if ended(_bytes(held.get(key)) or b""):
                        held.delete(key)

    def sizes(self, prefix: str) -> dict[str, int]:
        with self._reached() as held:
            found = [key for key in held if str(key).startswith(prefix)]
            return {key: len(_bytes(held.get(key)) or b"") for key in found}

    def room(self) -> Room:
        with self._reached() as held:
            free = shutil.disk_usage(self.folder).free
            return Room(free + held.volume(), free)


@cache
def _bytes_alone() -> type:
    """How a folder is read: as bytes. Whoever could write a pickle into it would run in this process."""
    import diskcache

    class Bytes(diskcache.Disk):
        def fetch(self, mode: int, *where: Any) -> Any:
            return None if mode == diskcache.core.MODE_PICKLE else super().fetch(mode, *where)

        def get(self, key: Any, raw: bool) -> Any:
            return super().get(key, raw) if raw else ""

    return Bytes


class Steady:
    """A folder whose seconds are those that the machine runs: no step of its clock, no sleep, ends a value.

    What has ended is deleted every MINUTE in which there are changes.
    """

    STAMP = struct.Struct("<dd")  # when a value ends, and for how long it was meant

    def __init__(self, disk: Disk) -> None:
        self.disk, self.delete, self.sizes, self.room = disk, disk.delete, disk.sizes, disk.room
        self.tidied = time.monotonic()

    def held(self) -> AbstractContextManager[None]:
        return nullcontext()

    def exchange(self, values: Values, keys: Sequence[str]) -> list[bytes | None]:
        for key, (value, seconds) in values.items():
            self.set(key, value, seconds)
        return [self.get(key) for key in keys]

    def lag(self) -> float:
        self.get("line")
        return 0.0

    def get(self, key: str) -> bytes | None:
        return self._value(self.disk.get(key))

    def set(self, key: str, value: bytes, seconds: float) -> None:
        self.disk.set(key, self._stamped(value, seconds), YEAR)

    def change(self, key: str, change: Change, seconds: float) -> None:
        def stamped(data: bytes | None) -> bytes:
            return self._stamped(change(self._value(data)), seconds)

        self.disk.change(key, stamped, YEAR)
        if time.monotonic() - self.tidied > MINUTE:
            self.tidied = time.monotonic()
            self.disk.drop(lambda data: self._value(data) is None)

    def _stamped(self, value: bytes, seconds: float) -> bytes:
        return self.STAMP.pack(time.monotonic() + seconds, seconds) + value

    def _value(self, data: bytes | None) -> bytes | None:
        if not data or len(data) < self.STAMP.size:
            return None
        end, seconds = self.STAMP.unpack_from(data)
        left = end - time.monotonic()
        return (
            data[self.STAMP.size :] if 0 < left <= seconds else None
        )  # more is of before a restart of the machine


class Gate:
    """How many threads of a process a server may hold that is slow, or silent; for all who ask it.

    Who finds no place is refused, and nobody else. Who hears nothing says so for all who are no more patient:
    for a while none of them asks, then one.
    """

    def __init__(self) -> None:
        self.places, self.line = (threading.BoundedSemaphore(n) for n in (AT_ONCE, AT_ONCE + NEXT))
        self.rests: dict[float, float] = {}  # by the patience of who heard nothing, until when
        self.asked, self.mine = threading.Lock(), threading.local()

    @contextmanager
    def held(self, patience: float) -> Iterator[None]:
        """One place, for all that this thread asks inside. Raises Away. Who hears nothing in it, `shut`s."""
        if getattr(self.mine, "held", False):
            yield
            return
        with self._place(patience):
            self._try(patience)
            self.mine.held = True
            try:
                yield
            finally:
                self.mine.held = False

    @contextmanager
    def _place(self, patience: float) -> Iterator[None]:
        if not self.line.acquire(blocking=False):
            raise Crowded("the store answers slowly, and others wait for it")
        try:
            if not self.places.acquire(timeout=patience):
                raise Crowded("the store answers slowly")
            try:
                yield
            finally:
                self.places.release()
        finally:
            self.line.release()

    def _try(self, patience: float) -> None:
        with self.asked:
            now, rests = time.monotonic(), [each for each in self.rests if each >= patience]
            if any(now < self.rests[each] for each in rests):
                raise Away("the store did not answer just now")
            self.rests |= dict.fromkeys(rests, now + patience + REST)  # this call tries, for all

    def shut(self, patience: float) -> None:
        with self.asked:
            self.rests[patience] = time.monotonic() + REST

    def open(self, patience: float) -> None:
        """There was an answer: more patience would have heard it, too."""
        with self.asked:
            self.rests = {each: end for each, end in self.rests.items() if each < patience}


@cache
def _gate(url: str) -> Gate:
    return Gate()


class Redis:
    """A Redis server, for several machines."""

    def __init__(self, url: str, patience: float = PATIENCE) -> None:
        import redis

        waits: dict[str, Any] = {"socket_timeout": patience, "socket_connect_timeout": patience}
        self.client = redis.Redis.from_url(url, **waits)
        self.errors, self.silent = (redis.RedisError,), redis.TimeoutError
        self.patience, self.gate = patience, _gate(url)

    @contextmanager
    def _reached(self) -> Iterator[None]:
        """Who does not answer is left alone for a while: else all threads would wait for it."""
        with self.gate.held(self.patience):
            silent = False
            try:
                with _reached(self.errors):
                    yield
            except Away as away:
                silent = isinstance(away.__context__, self.silent)
                raise
            finally:
                (self.gate.shut if silent else self.gate.open)(self.patience)

    def held(self) -> AbstractContextManager[None]:
        return self.gate.held(self.patience)

    def get(self, key: str) -> bytes | None:
        with self._reached():
            return self.client.get(PREFIX + key)  # type: ignore[return-value]

    def set(self, key: str, value: bytes, seconds: float) -> None:
        with self._reached():
            self.client.set(PREFIX + key, value, px=int(1000 * seconds))

    def exchange(self, values: Values, keys: Sequence[str]) -> list[bytes | None]:
        with self._reached():
            pipe = self.client.pipeline(transaction=False)
            for key, (value, seconds) in values.items():
                pipe.set(PREFIX + key, value, px=int(1000 * seconds))
            if keys:
                pipe.mget([PREFIX + key for key in keys])
            said: list[Any] = pipe.execute()
            return said[-1] if keys else []

    def lag(self) -> float:
        with self._reached():
            start = time.monotonic()
            self.client.ping()
            return time.monotonic() - start

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

    def sizes(self, prefix: str) -> dict[str, int]:
        with self._reached():
            found = [name.decode() for name in self.client.scan_iter(match=f"{PREFIX}{prefix}*", count=1000)]
            return {name.removeprefix(PREFIX): int(self.client.strlen(name)) for name in found}

    def room(self) -> Room:
        """By its own bound, or else by the memory of its machine."""
        with self._reached():
            says: Any = self.client.info("memory")
        most = float(says.get("maxmemory") or says.get("total_system_memory") or "inf")
        return Room(most, most - says.get("used_memory", 0))


@contextmanager
def _reached(errors: tuple[type[Exception], ...]) -> Iterator[None]:
    try:
        yield
    except errors as problem:
        raise Away(f"the store does not answer: {problem}") from None


def _bytes(value: Any) -> bytes | None:
    """A value of ours; what else stands there is none."""
    return value if isinstance(value, bytes) else None
