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
        if key is None:
            return make()
        if (body := self.get(key)) is not None:
            return body
        with self.lock:
            maker = self.makers.setdefault(key, Lock())
        with maker:
            body = self.get(key)  # others may have made it meanwhile
            return self.keep(key, make()) if body is None else body

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
