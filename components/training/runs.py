"""Stored runs: films and recordings by their key, and a list of them that bounds what they take together.

At most MAX_BYTES, and at most HALF of the room that there is: the other half is the queue's. Beyond that runs
are deleted: opened files before trained runs, of the client that holds most of them, its oldest first.
"""

from __future__ import annotations

import json
import logging
import re
import time
from collections import Counter
from typing import Any

from components.language.scene import Stored, WrongValue
from components.training.former_runs import former_run
from components.training.store import PATIENCE, Store, StoreFull, StoreUnavailable, free_bytes, json_object
from learning.film import Film, FilmError, from_npz, key, to_npz
from learning.safetensors import FileError

KEPT_DAYS = 30
KEY = re.compile("[0-9a-f]{16}|[0-9a-f]{32}")  # of contents; drawn at random
MAX_BYTES = 500 * 2**20  # of all runs
HALF = 0.5
MIN_COUNTED = 2**17  # bytes that a run counts for at least, which bounds their number
NEARLY = 0.95  # of the bytes, from which on runs count as full
FILMS, LIST = Store("films"), Store("runs")

Run = dict[str, Any]  # size, client, trained, since


class UnknownKey(WrongValue):
    """A key under which nothing is kept: it is too old, or a guess."""


def save(film: Film, *, client: str = "", trained: bool = False) -> str:
    """Store a film that a client has trained, or opened; its key. Raises StoreUnavailable."""
    return keep(key(film), to_npz(film), client=client, trained=trained)


def keep(name: str, data: bytes, *, client: str, trained: bool = False) -> str:
    """Store bytes under a key, among the runs; the key. Raises StoreUnavailable."""
    run: Run = {
        "size": max(len(data), MIN_COUNTED),
        "client": client,
        "trained": trained,
        "since": time.time(),
    }
    listed = _listed()
    before = listed.pop(name, None)
    if before and before["trained"] >= trained:  # a trained run stays one
        run = before | {"since": run["since"]}
    most = _max_bytes(listed)
    if run["size"] > most:
        raise StoreFull("there is no room for this")
    _make_room(listed, most - run["size"])
    LIST.set(name, json.dumps(run).encode())  # first: whatever is stored is counted
    FILMS.set(name, data)
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
        known = _run(LIST.get(run))
        data = FILMS.get(run) if known and not _old(known) else former_run(run)
    except StoreUnavailable:
        raise WrongValue(name, "what was opened or trained cannot be reached now", "try again") from None
    if data is None:
        gone = f"{name} {run} is not here, or no longer: it is kept {KEPT_DAYS} days"
        raise UnknownKey(name, f"{gone}; open its file, or train again", "a key that is kept")
    try:
        return stored.read(data)
    except (FilmError, FileError) as problem:  # of another kind or version, say
        raise WrongValue(name, f"{name} {run} cannot be read: {problem}", "open its file again") from None


def forget(*runs: str) -> None:
    """Delete runs. Raises StoreUnavailable."""
    FILMS.delete(*runs)
    LIST.delete(*runs)


def settle() -> None:
    """Delete runs until they fit the room that there is now. Raises StoreUnavailable."""
    listed = _listed()
    _make_room(listed, _max_bytes(listed))


def full(patience: float = PATIENCE) -> bool:
    """Whether a new run takes the place of another. Raises StoreUnavailable."""
    listed = _listed(patience)
    return _taken(listed) > NEARLY * _max_bytes(listed, patience)


def _listed(patience: float = PATIENCE) -> dict[str, Run]:
    """All runs. One whose entry cannot be read is deleted first."""
    runs = {name: _run(data) for name, data in Store(LIST.name, patience).items().items()}
    forget(*(name for name, run in runs.items() if run is None))
    return {name: run for name, run in runs.items() if run is not None}


def _run(data: bytes | None) -> Run | None:
    run = json_object(data)
    sound = all(isinstance(run.get(field), int | float) for field in ("size", "trained", "since"))
    return run if sound and isinstance(run.get("client"), str) else None


def _make_room(listed: dict[str, Run], most: float) -> None:
    """Delete old runs, and others until those that are left take at most so many bytes."""
    gone = [name for name, run in listed.items() if _old(run)]
    left = {name: run for name, run in listed.items() if name not in gone}
    while _taken(left) > most:
        gone.append(_next(left))
        del left[gone[-1]]
        logging.getLogger(__name__).warning("runs are full (%.0f MB): one is deleted", most / 2**20)
    forget(*gone)


def _next(listed: dict[str, Run]) -> str:
    """The run to delete next."""
    pool = {name: run for name, run in listed.items() if not run["trained"]} or listed
    held: Counter[str] = Counter()
    for run in pool.values():
        held[run["client"]] += run["size"]
    ((largest, _),) = held.most_common(1)
    return min((name for name in pool if pool[name]["client"] == largest), key=lambda n: pool[n]["since"])


def _old(run: Run) -> bool:
    return time.time() - run["since"] > KEPT_DAYS * 86400


def _taken(listed: dict[str, Run]) -> float:
    return sum(run["size"] for run in listed.values())


def _max_bytes(listed: dict[str, Run], patience: float = PATIENCE) -> float:
    return min(MAX_BYTES, HALF * (free_bytes(patience) + _taken(listed)))
