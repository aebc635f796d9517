"""The queue of trainings: who waits, what runs, and what their pages and workers tell each other.

Huey's queue hands a ticket, a text that nobody can guess, to one worker. Beside it, by ticket: the training
itself, the last question of its page, the heartbeat of its worker, the worker's news, and the outcome. Any
process that looks notices a page that no longer asks, or a heartbeat that stands still, by its own clock.
"""

from __future__ import annotations

import importlib
import json
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any

from huey import Huey
from huey.api import TaskWrapper
from huey.registry import Message
from huey.serializer import Serializer

from components.training.store import PATIENCE, Store, StoreUnavailable, answered, json_object, storage

MAX_WAITING = 8
MAX_PER_ADDRESS = 4  # several people may share one: a lecture hall
MAX_MESSAGES = 64  # in Huey's queue, most of them of pages that have gone while no worker was there
PAGE_TIMEOUT = 90.0  # seconds without a question; a hidden page asks once a minute
WORKER_TIMEOUT = 10.0  # seconds without a heartbeat
HEARTBEAT_INTERVAL = 2.0  # seconds
OUTCOME_SECONDS = 86400.0
NOTHING = -1  # the step that a page has seen before the first
LOST, LEFT, REPLACED = ({"state": state} for state in ("lost", "left", "replaced"))
TRAINING = {"order", "owner", "address"}
CLOCK = re.compile(rb"[0-9]{1,12}([.][0-9]*)?")
NEWS = re.compile(rb"([0-9]{1,12}) (.*)", re.DOTALL)  # a step, and what there is to say of it
TICKET = re.compile("[0-9a-f]{32}")

Outcome = dict[str, Any]


class Refused(Exception):
    """No place in the queue; says why."""


class Watch:
    """For how many seconds a value has not changed, by this process's clock."""

    def __init__(self) -> None:
        self.last: dict[str, tuple[Any, float]] = {}

    def silence(self, key: str, value: Any) -> float:
        now = time.monotonic()
        if key not in self.last or self.last[key][0] != value:
            self.last[key] = value, now
        return now - self.last[key][1]

    def reset(self) -> None:
        """The store was away: nobody could write."""
        self.last.clear()


class JsonSerializer(Serializer):
    """Messages as JSON: a pickle from the store would run in whoever reads it."""

    def _serialize(self, data: Any) -> bytes:
        return json.dumps(data).encode()

    def _deserialize(self, data: bytes) -> Any:
        return Message(*json.loads(data))


def train_task() -> TaskWrapper:
    """Huey's task that trains: called with a ticket, it queues it; its `huey` is the queue."""
    return _train_task(storage("queue"))


@cache
def _train_task(opened: Any) -> TaskWrapper:
    huey = Huey(
        "normscape", results=False, serializer=JsonSerializer(), storage_class=lambda *_, **__: opened
    )
    return huey.task(name="train")(_train)


def _train(ticket: str) -> None:
    importlib.import_module("components.training.jobs").work(ticket)  # it imports this module


class TrainingQueue:
    def __init__(self, patience: float = PATIENCE) -> None:
        names = ("trainings", "signs", "outcomes")
        self.trainings, self.signs, self.outcomes = (Store(name, patience) for name in names)
        self.watch = Watch()

    # what a page does

    def join(self, order: dict[str, Any], *, owner: str, address: str) -> str:
        """A ticket at the end of the queue; the owner's training before is given up.

        Raises Refused, StoreUnavailable.
        """
        ticket = secrets.token_hex(16)
        self._tidy()
        training = {"order": order, "owner": owner, "address": address}
        self.signs.set(f"page:{ticket}", _page(NOTHING, False, {}))
        self.trainings.set(ticket, json.dumps(training).encode())
        try:
            others = self.active()
            others.pop(ticket, None)
            for name in [name for name, other in others.items() if other["owner"] == owner]:
                self.finish(name, REPLACED)
                del others[name]
            _check(others, address)
            with answered():
                train_task()(ticket)
        except (Refused, StoreUnavailable):
            with suppress(StoreUnavailable):
                self.forget(ticket)
            raise
        return ticket

    def ask(self, ticket: str, *, seen: int, stop: bool, look: dict[str, str] | None) -> str:
        """The outcome, the worker's news, or how many are before this one, as JSON; "" if nothing is new.

        An answer may be lost on its way: news stay until the page has `seen` the step they tell of.
        """
        keys = [f"{kind}:{ticket}" for kind in ("page", "beat", "news")]
        signs = self.signs.get_many(keys)
        page, beat, news = map(signs.get, keys)
        outcome = json_object(self.outcomes.get(ticket))  # read last: whoever ends a training writes it first
        if "state" in outcome or page is None:
            outcome.pop("at", None)
            return json.dumps({"end": outcome if "state" in outcome else LOST})
        wish = json_object(page).get("look", {}) if look is None else look
        self.signs.set(keys[0], _page(seen, stop, wish))
        if beat is None:
            return self._place(ticket)
        if self.watch.silence(keys[1], (False, beat)) > WORKER_TIMEOUT:
            self.finish(ticket, LOST)
            return json.dumps({"end": LOST})
        match = NEWS.fullmatch(news or b"")
        return match[2].decode() if match and int(match[1]) > seen and json_object(match[2]) else ""

    def _place(self, ticket: str) -> str:
        """Where in the queue a training waits."""
        active = list(self.active())
        if ticket not in active:
            return json.dumps({"end": LOST})
        missing = {} if self.has_worker() else {"worker": False}
        return json.dumps({"ahead": active.index(ticket)} | missing)

    def close(self, ticket: str) -> None:
        """The page goes."""
        if self.trainings.get(ticket) is not None:
            self.finish(ticket, LEFT)

    def active(self) -> dict[str, dict[str, Any]]:
        """Trainings that run or wait, in their order, each with `waits`.

        Ends those whose page or worker has gone. One whose message got lost, since Redis or a worker died as
        it was handed over, is queued again.
        """
        trainings = {name: json_object(data) for name, data in self.trainings.items().items()}
        with answered():
            queued = {task.args[0]: k for k, task in enumerate(train_task().huey.pending()) if task.args}
        signs = self.signs.get_many(f"{kind}:{name}" for name in trainings for kind in ("page", "beat"))
        for name in list(trainings):
            beat = signs.get(f"beat:{name}")
            waits = name in queued or beat is None
            page_silent = self.watch.silence(f"page:{name}", signs.get(f"page:{name}")) > PAGE_TIMEOUT
            worker_silent = self.watch.silence(f"beat:{name}", (name in queued, beat)) > WORKER_TIMEOUT
            if not trainings[name].keys() >= TRAINING or (page_silent if waits else worker_silent):
                self.finish(name, LEFT if waits else LOST)
                del trainings[name]
            elif worker_silent and name not in queued:
                with answered():
                    train_task()(name)
        return {
            name: trainings[name] | {"waits": f"beat:{name}" not in signs}
            for name in sorted(trainings, key=lambda name: queued.get(name, -1))
        }

    # what a worker does

    def start(self, ticket: str) -> dict[str, Any] | None:
        """The training of a ticket, which now runs; None if it has ended, or runs already."""
        training = json_object(self.trainings.get(ticket))
        if not training or self.signs.get(f"beat:{ticket}") is not None:
            return None
        self.beat(ticket)
        return training

    def beat(self, ticket: str) -> None:
        self.signs.set(f"beat:{ticket}", secrets.token_bytes(8))

    def sign_worker(self) -> None:
        """The heartbeat of any worker, idle or not."""
        self.signs.set("worker", str(time.time()).encode())

    def has_worker(self) -> bool:
        """By wall-clock time, since a health check looks seldom: clocks of several machines must agree."""
        sign = self.signs.get("worker") or b""
        return bool(CLOCK.fullmatch(sign)) and abs(time.time() - float(sign)) <= WORKER_TIMEOUT

    def page(self, ticket: str) -> dict[str, Any] | None:
        """A page's last question: `seen`, `stop`, `look`, and `silent`; None if its training has ended."""
        data = self.signs.get(f"page:{ticket}")
        if data is None:
            return None
        question = {"seen": NOTHING, "stop": False, "look": {}} | json_object(data)
        return question | {"silent": self.watch.silence(f"page:{ticket}", data) > PAGE_TIMEOUT}

    def tell(self, ticket: str, news: dict[str, Any]) -> None:
        words = json.dumps(news, separators=(",", ":"))
        self.signs.set(f"news:{ticket}", f"{news['step']} {words}".encode())

    def finish(self, ticket: str, outcome: Outcome) -> None:
        self.outcomes.set(ticket, json.dumps(outcome | {"at": time.time()}).encode())
        self.forget(ticket)

    # how it is kept

    def forget(self, ticket: str) -> None:
        self.trainings.delete(ticket)
        self.signs.delete(*(f"{kind}:{ticket}" for kind in ("page", "beat", "news")))

    def _tidy(self) -> None:
        """Delete old outcomes; and from Huey's queue, when it is long, trainings that have ended."""
        for name, data in self.outcomes.items().items():
            if time.time() - json_object(data).get("at", 0.0) > OUTCOME_SECONDS:
                self.forget(name)
                self.outcomes.delete(name)
        with answered():
            task = train_task()
            if task.huey.pending_count() > MAX_MESSAGES:
                waiting = [name for name, training in self.active().items() if training["waits"]]
                task.huey.flush()
                for name in waiting:
                    task(name)


@contextmanager
def beating(sign: Callable[[], None]) -> Iterator[None]:
    """Call `sign` now and every HEARTBEAT_INTERVAL until the block ends, whether the store answers or not."""
    ended = threading.Event()

    def beat() -> None:
        while not ended.is_set():
            with suppress(StoreUnavailable, OSError):
                sign()
            ended.wait(HEARTBEAT_INTERVAL)

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def is_ticket(text: Any) -> bool:
    return isinstance(text, str) and bool(TICKET.fullmatch(text))


def _page(seen: int, stop: bool, look: dict[str, str]) -> bytes:
    """A question of a page, which differs from the one before: it is the page's heartbeat, too."""
    beat = secrets.token_hex(4)
    return json.dumps({"beat": beat, "seen": seen, "stop": stop, "look": look}).encode()


def _check(others: dict[str, Any], address: str) -> None:
    if sum(other["waits"] for other in others.values()) >= MAX_WAITING:
        raise Refused(f"{MAX_WAITING} trainings are waiting already. Try again in a minute.")
    if sum(other["address"] == address for other in others.values()) >= MAX_PER_ADDRESS:
        raise Refused(f"{MAX_PER_ADDRESS} trainings of this address are under way. Try again in a minute.")
