"""The line of trainings: who waits, who is being trained, what their pages are told.

A job is known by its ticket, a text that nobody can guess. Two signs of life decide, values in the store
that expire by themselves: its page asks, and may be silent for a minute; the heartbeat of its worker expires
after WORKER_TIMEOUT, that of a job that waits after PATIENCE. One more key exists while any worker is alive.
"""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from components.training.store import Lines, Values, told

MOST_WAITING = 8
MOST_OF_AN_ADDRESS = 4  # several people may share one: a lecture hall
ASKED = (
    90.0  # seconds without a question after which the page counts as closed; a hidden page asks once a minute
)
WORKER_TIMEOUT = 10.0  # seconds without a heartbeat after which a worker counts as dead
PATIENCE = 900.0  # seconds within which a job that waits, and no longer for others, must find a worker
KEPT = 120.0  # seconds that news wait for their page
DONE_KEPT = LINE_KEPT = 86400.0
STEP = 5.0  # seconds by which two clocks differ after a sleep, or a step of one
HERE = "here"  # the worker where there is but one
WORKER = "worker"  # the key that exists while any worker is alive
NOTHING = -1  # the step that a page has seen before the first
DIGITS = 12  # of a step, at most
ENTRY = {"order", "owner", "address", "runs", "stop"}
TICKET = re.compile("[0-9a-f]{32}")

Outcome = dict[str, Any]


class Refused(Exception):
    """No place in the line; says why."""


@dataclass
class Glance:
    """What is known of a ticket, read at once: the line, its signs, the worker's words, how it ended."""

    line: dict[str, Any]
    alive: bool
    news: bytes | None
    outcome: bytes | None


class Trust:
    """Whether a missing sign of life means a death: not after the store was away, or the clock stepped."""

    def __init__(self) -> None:
        self.back, self.offset = 0.0, _offset()

    def doubt(self, seconds: float) -> None:
        self.back = time.monotonic() + seconds

    def sure(self, seconds: float) -> bool:
        """Whether nothing of the kind was in the last seconds."""
        if abs(_offset() - self.offset) > STEP:
            self.offset = _offset()
            self.doubt(seconds)
        return time.monotonic() > self.back


class Line:
    def __init__(self, store: Lines) -> None:
        self.store = store

    # what a page does

    def join(self, order: dict[str, Any], *, owner: str, address: str) -> str:
        """A ticket at the end of the line; the owner's job before is given up. Raises Refused, store.Away."""
        ticket = secrets.token_hex(16)
        entry = {"order": order, "owner": owner, "address": address, "runs": "", "stop": False}
        self.store.exchange({**_asked(ticket, NOTHING), **_beat(ticket, PATIENCE)}, [])
        line = self._read()
        dead = self._dead(line, line)
        others: list[str] = []

        def add(line: dict[str, Any]) -> None:
            others[:] = [name for name, each in line.items() if each["owner"] == owner]
            for name in {*dead, *others}:
                line.pop(name, None)
            _check(line, address)
            line[ticket] = entry

        try:
            self._change(add)
        except Refused:
            self._forget(ticket)
            raise
        for name in others:
            self.finish(name, {"state": "replaced"})
        return ticket

    def knows(self, ticket: str) -> bool:
        """Whether a ticket waits, or is being trained."""
        return ticket in self._read()

    def glance(self, ticket: str) -> Glance:
        """Whoever ends leaves word first, then the line, its signs last: this reads the other way round."""
        kinds = ("beat", "news", "outcome")
        line, beat, news, outcome = self.store.exchange({}, ["line", *(f"{kind}:{ticket}" for kind in kinds)])
        return Glance(_line(line), beat is not None, news, outcome)

    def ask(self, ticket: str, seen: int = NOTHING, found: Glance | None = None) -> str | None:
        """What there is to tell a page: the worker's last words, as JSON; or how many are before it.

        An answer may be lost on its way: the words stay until the page has `seen` the step they tell of.
        """
        found = found or self.glance(ticket)
        line, sign = found.line, _asked(ticket, seen) if ticket in found.line else {}
        step, _, words = (found.news or b"").partition(b" ")
        new = _step(step) > seen and told(words)
        if new or ticket not in line or line[ticket]["runs"]:
            self.store.exchange(sign, [])
            return words.decode() if new else None
        dead = self._dead(line, [name for name in line if name != ticket], sign)
        alive = [name for name in line if name not in dead]
        ahead = alive[: alive.index(ticket)]
        if any(line[name]["runs"] for name in ahead):  # a worker is there, and will come to this one
            self.store.exchange(_beat(ticket, PATIENCE), [])
            found.alive = True
            return json.dumps({"ahead": len(ahead)})
        return json.dumps({"ahead": len(ahead)} | ({} if self.has_worker() else {"worker": False}))

    def outcome(self, ticket: str, found: Glance | None = None) -> Outcome | None:
        """How a job has ended, None while it has not. One that nobody looks after any more is lost."""
        found = found or self.glance(ticket)
        if found.outcome is None and ticket in found.line:
            if found.alive:
                return None
            self.leave(ticket)
        said = told(found.outcome) or {}
        return said if "state" in said else {"state": "lost"}

    def stop(self, ticket: str) -> None:
        """Let the worker end, and keep what there is."""

        def mark(line: dict[str, Any]) -> None:
            if ticket in line:
                line[ticket]["stop"] = True

        if self.knows(ticket):
            self._change(mark)

    def look(self, ticket: str, choices: dict[str, str]) -> None:
        """What the page wants to see of its training, such as another seed."""
        if self.knows(ticket):
            self.store.set(f"look:{ticket}", json.dumps(choices).encode(), LINE_KEPT)

    def close(self, ticket: str) -> None:
        """The page goes; should it come back, it is told."""
        if self.knows(ticket):
            self.finish(ticket, {"state": "left"})

    def leave(self, ticket: str) -> None:
        """Out of the line; a worker gives the job up."""
        self._change(lambda line: line.pop(ticket, None))
        self._forget(ticket)

    # what a worker does

    def next(self) -> str | None:
        """The first ticket that waits and whose page still asks."""
        line = self._read()
        dead = self._dead(line, line)
        return next((name for name in line if not line[name]["runs"] and name not in dead), None)

    def start(self, ticket: str, worker: str = HERE) -> dict[str, Any] | None:
        """What is known of a ticket, which now runs; None if it is no longer in the line, or runs already."""
        started: list[dict[str, Any]] = []

        def mark(line: dict[str, Any]) -> None:
            started.clear()
            if ticket in line and not line[ticket]["runs"]:
                line[ticket]["runs"] = worker
                started.append(line[ticket])

        self.beat(ticket)
        self._change(mark)
        return started[0] if started else None

    def beat(self, ticket: str) -> None:
        """Heartbeat of the worker that trains a ticket."""
        self.store.exchange(_beat(ticket, WORKER_TIMEOUT), [])

    def sign_worker(self) -> None:
        """Heartbeat of any worker, idle or not."""
        self.store.set(WORKER, b"1", WORKER_TIMEOUT)

    def has_worker(self) -> bool:
        return self.store.get(WORKER) is not None

    def pulse(self, ticket: str) -> str:
        """What the worker should do: "go", "stop", or "gone" if the job is given up.

        "silent" if the page has not asked for a while: it may come back.
        """
        entry = self._read().get(ticket)
        if entry is None:
            return "gone"
        if self.store.get(f"asked:{ticket}") is None:
            return "silent"
        return "stop" if entry["stop"] else "go"

    def bury(self, worker: str = "") -> None:
        """A worker has died, or whoever there was before this one: its trainings are lost."""
        for ticket, entry in self._read().items():
            if entry["runs"] and worker in ("", entry["runs"]):
                self.finish(ticket, {"state": "lost"})

    def looked(self, ticket: str) -> dict[str, str]:
        """What `look` has said last."""
        return told(self.store.get(f"look:{ticket}")) or {}

    def heard(self, ticket: str, step: int) -> bool:
        """Whether the page has the words that were told of a step."""
        return _step(self.store.get(f"asked:{ticket}")) >= step

    def tell(self, ticket: str, news: dict[str, Any]) -> None:
        words = json.dumps(news, separators=(",", ":"))
        self.store.set(f"news:{ticket}", f"{news['step']} {words}".encode(), KEPT)

    def finish(self, ticket: str, outcome: Outcome) -> None:
        kept = DONE_KEPT if outcome["state"] == "done" else KEPT
        self.store.set(f"outcome:{ticket}", json.dumps(outcome).encode(), kept)
        self.leave(ticket)

    # how it is kept

    def _forget(self, ticket: str) -> None:
        for kind in ("asked", "beat", "look"):
            self.store.delete(f"{kind}:{ticket}")

    def _dead(self, line: dict[str, Any], names: Iterable[str], sign: Values | None = None) -> set[str]:
        """Those without a worker, and those that wait without a page; signed at the same time."""
        names = list(names)
        keys = [f"{kind}:{name}" for kind in ("beat", "asked") for name in names]
        found = self.store.exchange(sign or {}, keys)
        signs = zip(names, found[: len(names)], found[len(names) :], strict=True)
        return {
            name for name, beat, asked in signs if beat is None or (not line[name]["runs"] and asked is None)
        }

    def _read(self) -> dict[str, Any]:
        return _line(self.store.get("line"))

    def _change(self, change: Any) -> None:
        def changed(data: bytes | None) -> bytes:
            line = _line(data)
            change(line)
            return json.dumps(line).encode()

        self.store.change("line", changed, LINE_KEPT)


def _line(data: bytes | None) -> dict[str, Any]:
    """Who waits, in their order; entries that cannot be read, of another version, say, are not there."""
    found = (told(data) or {}).items()
    return {name: each for name, each in found if isinstance(each, dict) and each.keys() >= ENTRY}


def _asked(ticket: str, seen: int) -> Values:
    """A page's sign of life, which says what the page has."""
    return {f"asked:{ticket}": (str(seen).encode(), ASKED)}


def _beat(ticket: str, seconds: float) -> Values:
    """The sign of life of whoever looks after a ticket."""
    return {f"beat:{ticket}": (b"1", seconds)}


def _step(text: bytes | None) -> int:
    return int(text) if text and text.isdigit() and len(text) < DIGITS else NOTHING


def _offset() -> float:
    """Seconds from a clock that nobody sets, and that rests while the machine sleeps, to that on the wall."""
    return time.time() - time.monotonic()


def is_ticket(what: Any) -> bool:
    return isinstance(what, str) and bool(TICKET.fullmatch(what))


def _check(line: dict[str, Any], address: str) -> None:
    if sum(not each["runs"] for each in line.values()) >= MOST_WAITING:
        raise Refused(f"{MOST_WAITING} trainings are waiting already. Try again in a minute.")
    if sum(each["address"] == address for each in line.values()) >= MOST_OF_AN_ADDRESS:
        raise Refused(f"{MOST_OF_AN_ADDRESS} trainings of this address are under way. Try again in a minute.")
