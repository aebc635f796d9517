"""Stored runs (trained networks, opened files, recordings) by key, with a limit on their total size.

The limit is MAX_BYTES, but at most half of the disk or of Redis's memory; the other half is for the queue.
When the limit is exceeded, runs are deleted one by one: first opened files and recordings, then trained
networks. Within each of these two groups, the next is always the oldest run of the client that stores most.
"""

from __future__ import annotations

import json
import logging
import re
import time
from collections import Counter
from contextlib import suppress
from threading import Event
from typing import Any

from components.language.scene import Stored, WrongValue
from components.training.former_runs import former_run
from components.training.store import Store, StoreUnavailable, capacity, json_object
from learning.file_error import FileError
from learning.film import Film, from_npz, key, to_npz

KEPT_DAYS = 30
EXPIRY_SECONDS = 3600.0  # between two deletions of expired runs
KEY = re.compile("[0-9a-f]{16}|[0-9a-f]{32}")  # a hash of a film, or a random key
MAX_BYTES = 500 * 2**20  # limit for the size of all runs together
MIN_COUNTED_BYTES = 2**17  # a smaller run counts as this size, which limits the number of runs
FILMS, LIST = Store("films"), Store("runs")

Run = dict[str, Any]  # size, client, trained, since


class UnknownKey(WrongValue):
    """Raised for a key with no stored run: the run was deleted or has expired, or the key was guessed."""


def save(film: Film, *, client: str = "", trained: bool = False) -> str:
    """Store a film that a client trained or uploaded, and return its key. Raises StoreUnavailable.

    client: the address of the client on whose account the film is stored. trained: whether this server has
    trained it; if room is needed, uploaded films are deleted before trained ones.
    """
    return keep(key(film), to_npz(film), client=client, trained=trained)


def keep(name: str, data: bytes, *, client: str, trained: bool = False) -> str:
    """Store bytes as a run under the key `name`, and return the key. Raises StoreUnavailable.

    If all runs together would exceed the limit, other runs are deleted first: uploaded ones before trained
    ones. Raises WrongValue, and deletes nothing, if this run alone exceeds the limit.
    client: the address of the client on whose account the run is stored. trained: whether this server has
    trained it, so that it was not only uploaded.

    If the run is stored already, its date is renewed. Its stored `client` and `trained` stay, except if it
    was uploaded and this server has now trained it.
    """
    size = max(len(data), MIN_COUNTED_BYTES)
    run: Run = {"size": size, "client": client, "trained": trained, "since": time.time()}
    listed = _listed()
    before = listed.pop(name, None)
    if before and before["trained"] >= trained:  # uploading a trained run again does not demote it
        run = before | {"since": run["since"]}
    room = min(MAX_BYTES, capacity()[0] / 2) - size
    if room < 0:
        raise WrongValue(
            "run", f"the server has no room for {size / 2**20:.0f} MiB", "a smaller file", status=507
        )
    LIST.set(name, json.dumps(run).encode())  # before the data, so that no data is uncounted
    _make_room(listed, room)
    FILMS.set(name, data)
    return name


def load(run: str) -> Film:
    """Load the film with the key `run`.

    Raises StoreUnavailable; raises WrongValue if the key is invalid, or the film is missing or broken.
    """
    return read(Stored("run", run, from_npz))


def read(stored: Stored) -> Any:
    """Load and parse the run (a stored film, file or recording) that a choice names.

    Raises StoreUnavailable; raises WrongValue for an invalid key or a broken run, and its subclass UnknownKey
    for a missing run.
    """
    name, run = stored.choice, stored.key
    kind = "training" if name == "run" else "recording"
    if not KEY.fullmatch(run):
        raise WrongValue(name, f"{run[:40]!r} is not the key of a {kind}", "16 or 32 digits, 0-9 and a-f")
    data = former_run(run) if _old(_run(LIST.get(run))) else FILMS.get(run)
    if data is None:
        gone = f"the {kind} {run} does not exist, was deleted or has expired after {KEPT_DAYS} days"
        again = "open its file, or train again" if kind == "training" else "open its file again"
        raise UnknownKey(name, f"{gone}; {again}", f"the key of a stored {kind}")
    try:
        return stored.read(data)
    except FileError as problem:  # for example of another kind or version
        raise WrongValue(name, f"the {kind} {run} cannot be read: {problem}", "open its file again") from None


def forget(*runs: str) -> int:
    """Delete runs; returns how many of them were stored. Raises StoreUnavailable."""
    stored = len(LIST.get_many(runs))
    FILMS.delete(*runs)
    LIST.delete(*runs)
    return stored


def expire(stop: Event) -> None:
    """Delete expired runs, now and each hour, until `stop` is set."""
    while True:
        with suppress(StoreUnavailable):
            forget(*(name for name, run in _listed().items() if _old(run)))
        if stop.wait(EXPIRY_SECONDS):
            return


def _listed() -> dict[str, Run]:
    """The list of runs, by key. Raises StoreUnavailable."""
    return {name: _run(entry) for name, entry in LIST.items().items()}


def _run(entry: bytes | None) -> Run:
    """Parse an entry of the list of runs; a missing or broken one counts as an expired run of size 0."""
    return {"size": 0, "client": "", "trained": False, "since": 0.0} | json_object(entry)


def _old(run: Run) -> bool:
    return time.time() - run["since"] > KEPT_DAYS * 86400


def _make_room(listed: dict[str, Run], most: float) -> None:
    """Delete expired runs, then further runs until the rest has at most `most` bytes in total.

    listed: the runs by key. Uploaded runs are deleted before trained ones. Among the runs of one kind, the
    next one to go is the oldest run of the client whose runs, of both kinds together, have the most bytes.
    """
    gone = [name for name in listed if _old(listed[name])]
    left = {name: run for name, run in listed.items() if name not in gone}
    held: Counter[str] = Counter()
    for run in left.values():
        held[run["client"]] += run["size"]
    while held.total() > most and left:
        name = min(left, key=lambda n: (left[n]["trained"], -held[left[n]["client"]], left[n]["since"]))
        gone.append(name)
        run = left.pop(name)
        held[run["client"]] -= run["size"]
        logging.getLogger(__name__).warning("runs are full (%.0f MiB): one is deleted", most / 2**20)
    forget(*gone)
