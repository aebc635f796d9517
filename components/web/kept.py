"""Answers that many ask for, as many as fit into some bytes; what nobody has asked for goes first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from weakref import WeakValueDictionary

MOST = 32 * 2**20  # bytes of a process


class Kept:
    """Bytes by key; safe for threads."""

    def __init__(self, most: int = MOST) -> None:
        self.most, self.size, self.lock = most, 0, Lock()
        self.known: OrderedDict[Hashable, bytes] = OrderedDict()
        self.makers: WeakValueDictionary[Hashable, Lock] = WeakValueDictionary()

    def made(self, key: Hashable, make: Callable[[], bytes]) -> bytes:
        """What is kept under a key; else it is made, and kept, unless the key is None.

        A class that asks for the same at once waits for the first, which alone makes it.
        """
        if (body := self.get(key)) is not None:
            return body
        with self.lock:
            maker = Lock() if key is None else self.makers.setdefault(key, Lock())
        with maker:
            if (body := self.get(key)) is not None:  # others have made it meanwhile
                return body
            return make() if key is None else self.keep(key, make())

    def get(self, key: Hashable) -> bytes | None:
        with self.lock:
            if key in self.known:
                self.known.move_to_end(key)
            return self.known.get(key)

    def keep(self, key: Hashable, body: bytes) -> bytes:
        """The body, which is kept unless it alone is too much."""
        with self.lock:
            self.size -= len(self.known.pop(key, b""))
            if len(body) <= self.most:
                self.known[key] = body
                self.size += len(body)
            while self.size > self.most:
                self.size -= len(self.known.popitem(last=False)[1])
        return body
