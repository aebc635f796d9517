"""The training queue, and the messages between waiting pages and workers.

Huey's queue hands a ticket, an unguessable text, to one worker. The store has for each ticket: the order, the
last poll of its page, the heartbeat of its worker, the latest progress (`news`), and the outcome. Any process
that looks at the queue detects, by its own clock, pages that no longer poll and heartbeats that stand still.
"""

from __future__ import annotations

import importlib
import json
import os
import secrets
import threading
import time
from functools import cache
from typing import Any

from huey import Huey
from huey.api import TaskWrapper
from huey.registry import Message
from huey.serializer import Serializer

from components.settings import redis_url
from components.training.store import (
    Store,
    StoreUnavailable,
    answered,
    capacity,
    json_object,
    silence,
    storage,
)

MAX_WAITING = 8
MAX_PER_ADDRESS = 4  # several, because people in a lecture hall share an address
MAX_MESSAGES = 64  # in Huey's queue; with more, most belong to pages that were closed while no worker ran
PAGE_TIMEOUT = 90.0  # seconds without a poll; a hidden page polls once a minute
WORKER_TIMEOUT = 10.0  # seconds without a heartbeat
OUTCOME_SECONDS = 86400.0
MIN_FREE_BYTES = 8 * 2**20  # below this the store counts as full
NOTHING = -1  # the last step that a page has seen, before any news
LOST, LEFT, REPLACED = ({"state": state} for state in ("lost", "left", "replaced"))
TRAININGS, SIGNS = Store("trainings"), Store("signs")

Outcome = dict[str, Any]
_running = ""  # the ticket of the training in this process
_heartbeat_lock = (
    threading.Lock()
)  # without it, a heartbeat could be written after its training was forgotten


class Refused(Exception):
    """Raised when the queue is full; the message says why."""


class JsonSerializer(Serializer):
    """Messages as JSON, because unpickling a message could execute code."""

    def _serialize(self, data: Any) -> bytes:
        return json.dumps(data).encode()

    def _deserialize(self, data: bytes) -> Any:
        return Message(*json.loads(data))


def train_task() -> TaskWrapper:
    """Huey's task: calling it with a ticket queues the training; its attribute `huey` is the queue."""
    return _train_task(storage("queue"))


@cache
def _train_task(opened: Any) -> TaskWrapper:
    huey = Huey(
        "normscape", results=False, serializer=JsonSerializer(), storage_class=lambda *_, **__: opened
    )

    @huey.task(name="train")
    def train(ticket: str) -> None:
        importlib.import_module("components.training.jobs").work(ticket)  # it imports this module

    return train


# --- what a page does; everything raises StoreUnavailable


def join(order: dict[str, Any], *, owner: str, address: str) -> str:
    """Queue a training and return its ticket. Ends an earlier one of the same owner. Raises Refused."""
    _tidy()
    others = active()
    for name in [name for name, other in others.items() if other["owner"] == owner]:
        finish(name, REPLACED)
        del others[name]
    if sum(other["waits"] for other in others.values()) >= MAX_WAITING:
        raise Refused(f"{MAX_WAITING} trainings are waiting already. Try again in a minute.")
    if sum(other["address"] == address for other in others.values()) >= MAX_PER_ADDRESS:
        raise Refused(f"{MAX_PER_ADDRESS} trainings of this address are under way. Try again in a minute.")
    ticket = secrets.token_hex(16)
    _ask(ticket, seen=NOTHING, stop=False, look={})
    TRAININGS.set(ticket, json.dumps({"order": order, "owner": owner, "address": address}).encode())
    _enqueue(ticket)
    return ticket


def ask(ticket: str, *, seen: int, stop: bool, look: dict[str, str] | None) -> str:
    """The JSON answer to a poll: the outcome, news, or the place in the queue; "" if nothing is new.

    Answers may get lost, so news are kept until the page confirms their step with `seen`.
    """
    signs = _signs(ticket)
    if "end" in signs or "page" not in signs:
        return _outcome(signs.get("end"))
    _ask(ticket, seen, stop, json_object(signs["page"])["look"] if look is None else look)
    if "beat" not in signs:
        waiting = list(active())
        if ticket not in waiting:  # it may have ended since the signs were read
            return _outcome(SIGNS.get(f"end:{ticket}"))
        return json.dumps({"ahead": waiting.index(ticket)} | ({} if has_worker() else {"worker": False}))
    if silence(f"beat:{ticket}", (False, signs["beat"])) > WORKER_TIMEOUT:
        finish(ticket, LOST)
        return json.dumps({"end": LOST})
    step, _, news = signs.get("news", b"-1").partition(b" ")
    return news.decode() if int(step) > seen else ""


def close(ticket: str) -> None:
    """End a training whose page is closed."""
    if TRAININGS.get(ticket) is not None:
        finish(ticket, LEFT)


def active() -> dict[str, dict[str, Any]]:
    """The trainings that run or wait, in order; `waits` tells which.

    Ends those whose page or worker has gone. Queues a training again if its message got lost because Redis or
    a worker died while it was handed over.
    """
    trainings = {name: json_object(data) for name, data in TRAININGS.items().items()}
    with answered():
        queued = {task.args[0]: k for k, task in enumerate(train_task().huey.pending()) if task.args}
    signs = SIGNS.get_many(f"{kind}:{name}" for name in trainings for kind in ("page", "beat"))
    for name in list(trainings):
        beat = signs.get(f"beat:{name}")
        trainings[name]["waits"] = waits = name in queued or beat is None
        page_silent = silence(f"page:{name}", signs.get(f"page:{name}")) > PAGE_TIMEOUT
        worker_silent = silence(f"beat:{name}", (name in queued, beat)) > WORKER_TIMEOUT
        if page_silent if waits else worker_silent:
            finish(name, LEFT if waits else LOST)
            del trainings[name]
        elif worker_silent and name not in queued:
            _enqueue(name)
    return {name: trainings[name] for name in sorted(trainings, key=lambda name: queued.get(name, -1))}


# --- what a worker does


def start(ticket: str) -> dict[str, Any] | None:
    """Mark a training as running in this process; None if it has ended, or runs already."""
    global _running
    training = TRAININGS.get(ticket)
    if training is None or "beat" in _signs(ticket):
        return None
    _running = ticket
    sign()
    return json_object(training)


def sign() -> None:
    """Write the heartbeat of this worker, and of the training that it runs."""
    SIGNS.set("worker", str(time.time()).encode())
    with _heartbeat_lock:
        if _running:
            SIGNS.set(f"beat:{_running}", secrets.token_bytes(8))


def has_worker() -> bool:
    """Whether a worker is alive, by wall-clock time, because a health check looks rarely."""
    return abs(time.time() - float(SIGNS.get("worker") or 0)) <= WORKER_TIMEOUT


def page(ticket: str) -> dict[str, Any] | None:
    """The last poll of a page: `seen`, `stop`, `look`, and `silent`; None if its training has ended."""
    data = SIGNS.get(f"page:{ticket}")
    if data is None:
        return None
    return json_object(data) | {"silent": silence(f"page:{ticket}", data) > PAGE_TIMEOUT}


def tell(ticket: str, news: dict[str, Any]) -> None:
    words = json.dumps(news, separators=(",", ":"))
    SIGNS.set(f"news:{ticket}", f"{news['step']} {words}".encode())


def finish(ticket: str, outcome: Outcome) -> None:
    SIGNS.set(f"end:{ticket}", json.dumps({"outcome": outcome, "at": time.time()}).encode())
    forget(ticket)


def forget(ticket: str) -> None:
    global _running
    with _heartbeat_lock:
        _running = "" if _running == ticket else _running
    TRAININGS.delete(ticket)
    SIGNS.delete(*(f"{kind}:{ticket}" for kind in ("page", "beat", "news")))


# --- what is full, away or missing


def degraded() -> list[str]:
    """The problems for /healthz; [] if there are none. Pages are served in any case."""
    try:  # with Redis a worker is always needed, otherwise while a training waits
        needed = bool(redis_url(os.environ)) or any(other["waits"] for other in active().values())
        full = ["store: full"] if capacity()[1] < MIN_FREE_BYTES else []
        return full + (["training: no worker"] if needed and not has_worker() else [])
    except StoreUnavailable:
        return ["store: away"]


# --- how it is kept


def _ask(ticket: str, seen: int, stop: bool, look: dict[str, str]) -> None:
    """Store a poll of a page. A random part makes each differ, because it is also the page's heartbeat."""
    question = {"beat": secrets.token_hex(4), "seen": seen, "stop": stop, "look": look}
    SIGNS.set(f"page:{ticket}", json.dumps(question).encode())


def _signs(ticket: str) -> dict[str, bytes]:
    """The last messages of a ticket's page and worker, by kind."""
    signs = SIGNS.get_many(f"{kind}:{ticket}" for kind in ("page", "beat", "news", "end"))
    return {key.partition(":")[0]: value for key, value in signs.items()}


def _outcome(end: bytes | None) -> str:
    """The JSON answer to the poll of a training that has ended; LOST if no outcome was stored."""
    return json.dumps({"end": json_object(end).get("outcome", LOST)})


def _enqueue(ticket: str) -> None:
    with answered():
        train_task()(ticket)


def _tidy() -> None:
    """Delete old outcomes and, when Huey's queue is long, its messages of ended trainings."""
    for key, data in SIGNS.items().items():
        if key.startswith("end:") and time.time() - json_object(data).get("at", 0.0) > OUTCOME_SECONDS:
            forget(key.removeprefix("end:"))  # a late poll may have stored the page's key again
            SIGNS.delete(key)
    with answered():
        huey = train_task().huey
        if huey.pending_count() > MAX_MESSAGES:
            waiting = [name for name, training in active().items() if training["waits"]]
            huey.flush()
            for name in waiting:
                _enqueue(name)
