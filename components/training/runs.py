"""Films of trainings that were run here, by the key of their contents; and the shelf that bounds them.

The shelf is a list of all films that are kept, in the same store. Together they take at most LARGEST, and at
most a HALF of the room that there is: the other half is the line's. Beyond that films go: opened files before
trained runs, of the client that holds most of them, its oldest first.
"""

from __future__ import annotations

import json
import logging
import re
import time
from collections import Counter
from collections.abc import Iterable
from typing import Any

from components.language.scene import Stored, WrongValue
from components.training import store
from learning.film import Film, FilmError, from_npz, key, to_npz
from learning.safetensors import FileError

KEPT_DAYS = 30
KEY = re.compile("[0-9a-f]{16}|[0-9a-f]{32}")  # of contents; drawn at random
LARGEST = 500 * 2**20  # bytes of all films
HALF = 0.5
SMALLEST = 2**17  # bytes that a film counts for at least, which bounds their number
NEARLY = 0.95  # of the bytes, from which on the shelf counts as full
SHELF = "shelf"
ENTRY = {"size", "client", "trained", "since"}

Shelf = dict[str, dict[str, Any]]


class UnknownKey(WrongValue):
    """A key under which nothing is kept: it is too old, or a guess."""


def save(film: Film, *, client: str = "", trained: bool = False) -> str:
    """Store a film that a client has trained, or opened; its key. Raises store.Away."""
    return keep(key(film), to_npz(film), client=client, trained=trained)


def keep(name: str, data: bytes, *, client: str, trained: bool = False) -> str:
    """Store bytes under a key, among the films; the key. Raises store.Away."""
    size = max(len(data), SMALLEST)
    entry = {"size": size, "client": client, "trained": trained, "since": time.time()}
    if size > _most():
        raise store.Full("there is no room for this")
    _settle(name, entry)
    store.films().set(_place(name), data, _seconds())
    if name not in (_shelf(store.films().get(SHELF)) or {}):  # others came meanwhile
        _forget([name])
        raise store.Full("there was no room for this")
    return name


def load(run: str) -> Film:
    """The film of a key. Raises WrongValue for a text that is none, or a film that cannot be had."""
    return read(Stored("run", run, from_npz))


def read(stored: Stored) -> Any:
    """What the bytes of a key say. Raises WrongValue as `load`."""
    name, run = stored.choice, stored.key
    if not KEY.fullmatch(run):
        raise WrongValue(name, f"{name}={run[:40]!r} is not the key of a run", "16 or 32 digits, 0-9 and a-f")
    try:
        data = store.films().get(_place(run))
    except store.Away:
        raise WrongValue(name, "what was opened or trained cannot be reached now", "try again") from None
    if data is None:
        gone = f"{name} {run} is not here, or no longer: it is kept {KEPT_DAYS} days"
        raise UnknownKey(name, f"{gone}; open its file, or train again", "a key that is kept")
    try:
        return stored.read(data)
    except (FilmError, FileError) as problem:  # of another kind or version, say
        raise WrongValue(name, f"{name} {run} cannot be read: {problem}", "open its file again") from None


def forget(run: str) -> None:
    """Let go what is kept under a key. Raises store.Away."""
    _forget([run])
    _settle(run, None)


def settle() -> None:
    """Let films go until they fit the room that there is now. Raises store.Away."""
    if _taken(store.films()) > _most():
        _settle("", None)


def full(patience: float) -> bool:
    """Whether a new film takes the place of another. Raises store.Away."""
    films = store.films(patience)
    return _taken(films) > NEARLY * _bound(films.room())


def _settle(name: str, entry: dict[str, Any] | None) -> None:
    """Put a film onto the shelf, or take it off, and let others go first: a full store takes nothing new."""
    films, most = store.films(), _most()
    found = _shelf(films.get(SHELF))
    before = _adopted() if found is None else found
    _forget(_put(dict(before), name, entry, most))
    gone: list[str] = []

    def changed(data: bytes | None) -> bytes:
        now = _shelf(data)
        shelf = dict(before) if now is None else now
        gone[:] = _put(shelf, name, entry, most)
        return json.dumps(shelf).encode()

    films.change(SHELF, changed, _seconds())
    _forget(gone)
    if any(not _old(before.get(each, {"since": 0.0})) for each in gone):
        logging.getLogger(__name__).warning("runs are full (%.0f MB): %d go", most / 2**20, len(gone))


def _put(shelf: Shelf, name: str, entry: dict[str, Any] | None, most: float) -> list[str]:
    """A film onto a shelf; the names of those that went for it. One that is trained stays a trained one."""
    old = shelf.pop(name, None)
    if entry:
        shelf[name] = (
            {**old, "since": entry["since"]} if old and old["trained"] >= entry["trained"] else entry
        )
    gone = [each for each, its in shelf.items() if _old(its)]
    for each in gone:
        del shelf[each]
    while sum(each["size"] for each in shelf.values()) > most and (going := _next(shelf, name)):
        gone.append(going)
        del shelf[going]
    return gone


def _old(entry: dict[str, Any]) -> bool:
    return time.time() - entry["since"] > _seconds()


def _next(shelf: Shelf, new: str) -> str | None:
    """Who goes next, None if nobody but a new one is there."""
    others = {name: each for name, each in shelf.items() if name != new}
    pool = {name: each for name, each in others.items() if not each["trained"]} or others
    held: Counter[str] = Counter()
    for each in pool.values():
        held[each["client"]] += each["size"]
    largest = max(held, key=held.__getitem__, default=None)
    return min(
        (n for n in pool if pool[n]["client"] == largest), key=lambda n: pool[n]["since"], default=None
    )


def _shelf(data: bytes | None) -> Shelf | None:
    """What a shelf says; None for one that is lost, or cannot be read."""
    found = store.told(data)
    whole = found is not None and all(isinstance(e, dict) and e.keys() >= ENTRY for e in found.values())
    return found if whole else None


def _adopted() -> Shelf:
    """A shelf for films that are there without one: it was lost, or they are of an older version."""
    known = {"client": "", "trained": True, "since": time.time()}
    sizes = store.films().sizes(_place(""))
    return {
        name.removeprefix(_place("")): {"size": max(size, SMALLEST), **known} for name, size in sizes.items()
    }


def _forget(names: Iterable[str]) -> None:
    for name in names:
        store.films().delete(_place(name))


def _taken(films: store.Store) -> int:
    return sum(each["size"] for each in (_shelf(films.get(SHELF)) or {}).values())


def _most() -> float:
    return _bound(store.films().room())


def _bound(room: store.Room) -> float:
    return min(LARGEST, HALF * room.all)


def _seconds() -> float:
    return KEPT_DAYS * 86400


def _place(run: str) -> str:
    return f"film:{run}"
