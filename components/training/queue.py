"""The training queue, and the messages between waiting pages and workers.

A training is identified by its ticket, an unguessable text. The page that started it polls: it asks for the
progress again and again. The store keeps for each ticket: the request to train, the page's latest poll, the
heartbeat of the worker, the latest progress (`news`), and the outcome. A training without a heartbeat waits;
the worker that writes the first heartbeat has claimed it. Any process that looks at the queue detects, by
its own clock, pages that no longer poll and workers that no longer write heartbeats. So a training is also
lost if its worker alone is suspended for longer than WORKER_TIMEOUT.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from typing import Any

from components import settings
from components.training.store import Store, StoreUnavailable, capacity, json_object, silence

PAGE_TIMEOUT = 90.0  # seconds without a poll until a page counts as closed; hidden pages poll every 60 s
WORKER_TIMEOUT = 10.0  # seconds without a heartbeat until a worker counts as dead
OUTCOME_SECONDS = 86400.0
MIN_FREE_BYTES = 8 * 2**20  # below this the store counts as full
NOTHING = -1  # in place of the last step that a page has seen, if it has seen none
LOST, LEFT, REPLACED, STOPPED = ({"state": state} for state in ("lost", "left", "replaced", "stopped"))
TRAININGS, SIGNS = Store("trainings"), Store("signs")
_running = ""  # the ticket of the training in this process


class Refused(Exception):
    """Raised when too many trainings wait, or one address has too many; the message says which."""


# --- what a page does; every function may raise StoreUnavailable


def join(order: dict[str, Any], *, owner: str, address: str) -> str:
    """Queue a training, end an earlier one of the same owner, and return the ticket.

    owner: identifies the reader's browser. address: the client's address. The settings limit how many
    trainings one address has, and how many trainings wait. If the trainings of other owners have reached one
    of these limits, this raises Refused, and the earlier training goes on. Outcomes older than
    OUTCOME_SECONDS are deleted.
    """
    limits = settings.read(os.environ)
    for key, data in SIGNS.items().items():
        if key.startswith("end:") and time.time() - json_object(data).get("at", 0.0) > OUTCOME_SECONDS:
            forget(key.removeprefix("end:"))  # a late poll or heartbeat may have stored its key again
            SIGNS.delete(key)
    trainings = active()
    others = [training for training in trainings.values() if training["owner"] != owner]
    if sum(other["waits"] for other in others) >= limits.waiting_trainings:
        raise Refused(f"{limits.waiting_trainings} trainings are waiting already")
    if sum(other["address"] == address for other in others) >= limits.client_trainings:
        raise Refused(f"{limits.client_trainings} trainings of this address are under way")
    for name, training in trainings.items():
        if training["owner"] == owner:
            finish(name, REPLACED)
    ticket, number = secrets.token_hex(16), TRAININGS.next_number()
    _poll(ticket, seen=NOTHING, stop=False, look={})
    entry = {"order": order, "owner": owner, "address": address, "number": number}
    TRAININGS.set(ticket, json.dumps(entry).encode())
    return ticket


def ask(ticket: str, *, seen: int, stop: bool, look: dict[str, str]) -> str:
    """The JSON answer to a page's poll: the outcome, news, or the place in the queue; "" if nothing is new.

    The poll is recorded, which keeps the training alive. If the worker is silent, the training ends with the
    outcome LOST; for an unknown ticket the answer is this outcome, too.

    seen  the training step of the last news that the page has received; only later news is sent
    stop  whether the worker is told to end the training and keep its result; a training that waits for a
          worker ends at once, with the outcome STOPPED
    look  the choices for which the page wants pictures
    """
    keys = SIGNS.get_many(f"{kind}:{ticket}" for kind in ("page", "beat", "news", "end"))
    signs = {key.partition(":")[0]: value for key, value in keys.items()}
    if "end" in signs or "page" not in signs:
        return _outcome(signs.get("end"))
    _poll(ticket, seen, stop, look)
    if "beat" not in signs:
        if stop:
            finish(ticket, STOPPED)
        elif ticket in (waiting := list(active())):  # it may have ended since the signs were read
            return json.dumps({"ahead": waiting.index(ticket)} | ({} if has_worker() else {"worker": False}))
        return _outcome(SIGNS.get(f"end:{ticket}"))
    if silence(f"beat:{ticket}", signs["beat"]) > WORKER_TIMEOUT:
        finish(ticket, LOST)
        return _outcome(SIGNS.get(f"end:{ticket}"))
    step, _, news = signs.get("news", b"-1").partition(b" ")
    return news.decode() if int(step) > seen else ""


def close(ticket: str) -> None:
    """End the training of a page that is closed; an unknown ticket is ignored."""
    if TRAININGS.get(ticket) is not None:
        finish(ticket, LEFT)


def active() -> dict[str, dict[str, Any]]:
    """All trainings, as a dict by ticket: running ones first, then waiting ones, both in order of arrival.

    A value has the keys of the stored entry (`order`, `owner`, `address`, `number`), and `waits`: whether the
    training waits for a worker. The function first ends some trainings: those with a corrupt entry, waiting
    ones whose page is silent for too long, and running ones whose worker is silent for too long.
    """
    trainings = {name: json_object(data) for name, data in TRAININGS.items().items()}
    signs = SIGNS.get_many(f"{kind}:{name}" for name in trainings for kind in ("page", "beat"))
    for name in list(trainings):
        if "owner" not in trainings[name]:
            finish(name, LOST)
            del trainings[name]
            continue
        page, beat = f"page:{name}", f"beat:{name}"
        trainings[name]["waits"] = waits = beat not in signs
        page_silent = silence(page, signs.get(page)) > PAGE_TIMEOUT
        worker_silent = silence(beat, signs.get(beat)) > WORKER_TIMEOUT
        if page_silent if waits else worker_silent:
            finish(name, LEFT if waits else LOST)
            del trainings[name]
    return dict(sorted(trainings.items(), key=lambda item: (item[1]["waits"], item[1]["number"])))


# --- what a worker does; every function may raise StoreUnavailable


def start(ticket: str) -> dict[str, Any] | None:
    """Claim a training for this process, and return its entry; None if it has ended or is claimed already.

    The entry has the keys `order`, `owner` and `address`, which are arguments of `join`, and `number`, which
    counts the trainings in order of arrival.
    """
    global _running
    training = TRAININGS.get(ticket)
    if training is None or not SIGNS.add(f"beat:{ticket}", secrets.token_bytes(8)):
        return None
    _running = ticket
    return json_object(training)


def sign() -> None:
    """Write the heartbeat of this worker and, if it runs a training, the heartbeat of this training."""
    SIGNS.set("worker", json.dumps({"at": time.time()}).encode())
    if ticket := _running:
        SIGNS.set(f"beat:{ticket}", secrets.token_bytes(8))


def page(ticket: str) -> dict[str, Any] | None:
    """The latest poll of the page of a training; None if the training has ended, or there is no such poll.

    seen    the training step of the last news that the page has received
    stop    whether the page asks to end the training and keep its result
    look    the choices for which the page wants pictures
    silent  whether the page has not polled for more than PAGE_TIMEOUT seconds
    """
    key, end = f"page:{ticket}", f"end:{ticket}"
    signs = SIGNS.get_many([key, end])
    if end in signs or key not in signs:
        return None
    return json_object(signs[key]) | {"silent": silence(key, signs[key]) > PAGE_TIMEOUT}


def tell(ticket: str, news: dict[str, Any]) -> None:
    """Store the progress of a training, for the next poll of its page. news: has the key `step`."""
    words = json.dumps(news, separators=(",", ":"))
    SIGNS.set(f"news:{ticket}", f"{news['step']} {words}".encode())


def finish(ticket: str, outcome: dict[str, Any]) -> None:
    """End a training with an outcome, unless it has one already."""
    SIGNS.add(f"end:{ticket}", json.dumps({"outcome": outcome, "at": time.time()}).encode())
    forget(ticket)


def forget(ticket: str) -> None:
    """Delete everything that is stored for a training, except its outcome."""
    global _running
    _running = "" if _running == ticket else _running
    TRAININGS.delete(ticket)
    SIGNS.delete(*(f"{kind}:{ticket}" for kind in ("page", "beat", "news")))


def abandon() -> None:
    """If this process runs a training, end it with the outcome LOST."""
    if _running:
        finish(_running, LOST)


# --- problems of the store and of the workers


def has_worker() -> bool:
    """Whether a worker is alive: the time of its last heartbeat is within WORKER_TIMEOUT seconds of now.

    This compares the clocks of two machines, because the answer must come at once; `silence` would have to
    wait for the next heartbeat.
    """
    return abs(time.time() - json_object(SIGNS.get("worker")).get("at", 0.0)) <= WORKER_TIMEOUT


def degraded() -> list[str]:
    """The problems that /healthz reports: of the store and of the workers; [] if there are none.

    Pages are served in any case. While the store is full, workers are not checked, because they may be unable
    to write their heartbeats. Without Redis, a missing worker is a problem only while a training waits.
    """
    try:  # with Redis a worker is always needed, otherwise while a training waits
        needed = bool(settings.redis_url(os.environ)) or any(other["waits"] for other in active().values())
        if capacity()[1] < MIN_FREE_BYTES:
            return ["store: full"]
        return ["training: no worker"] if needed and not has_worker() else []
    except StoreUnavailable:
        return ["store: away"]


def _poll(ticket: str, seen: int, stop: bool, look: dict[str, str]) -> None:
    """Store a page's poll, with a random part: a poll that differs from the last shows that the page is open.

    seen: the training step of the last news that the page has received. stop: whether the page asks to end
    the training. look: the choices for which the page wants pictures.
    """
    question = {"beat": secrets.token_hex(4), "seen": seen, "stop": stop, "look": look}
    SIGNS.set(f"page:{ticket}", json.dumps(question).encode())


def _outcome(end: bytes | None) -> str:
    """The JSON answer to a page whose training has ended. end: the stored outcome; LOST if there is none."""
    return json.dumps({"end": json_object(end).get("outcome", LOST)})


LOST_ANSWER = _outcome(None)  # the answer to a poll of a training that was lost, and of an unknown ticket
