"""What a client may cost. Nobody takes the server from the others; what costs nothing is answered at once.

Work is what takes the processor for long: to build a recipe, to draw a picture, to read a run. A client may
cause `BURST` seconds of it at once, and `REFILL` a second from then on; whoever owes more gets 429. At most
`PLACES` threads wait for their turn or work, the last of them for clients that owe little. Who owes
least, and has fewest places, has the next turn; where no place is left it takes that of whoever has most.
Beyond that there is 503. So other threads remain for `/healthz` and all that is kept.

Assumed is a class of forty behind one address, who open as many different links at once (0.2 s each) and then
make a choice every 15 s (0.05 s). All this is of one process: with several, a client has as many shares.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from flask import Blueprint, Flask, Response, current_app, jsonify, request

from components.training.runs import UnknownKey
from components.web.clients import client

BURST, REFILL = 20.0, 0.25  # seconds of one processor
PLACES, FEW, AT_ONCE = 6, 2, 2  # threads that wait or work; for those who owe half their burst; that work
EACH = 0.5  # seconds that a place counts, until it is known what it has cost
CROWD = "There is a lot to do at the moment"
CLIENTS = 10_000  # that are remembered
GUESS = 0.1  # seconds that an unknown key costs: 200 guesses at once, then 2.5 a second
TRAINING = 0.5  # what it costs to ask for a training, in seconds: others do the work
UNTOLD = "requests come through a proxy: set TRUSTED_PROXIES, or all who do count as one client"


class Busy(Exception):
    """Not now; says after how many seconds."""

    def __init__(self, status: int, words: str, seconds: float) -> None:
        self.status, self.seconds = status, max(1, math.ceil(seconds))
        super().__init__(f"{words}. Try again in {self.seconds} s.")


@dataclass(eq=False)
class Place:
    """Where somebody waits, until it is their turn; or lost to a client that owes less."""

    who: str
    called: bool = False
    lost: bool = False


class Budget:
    """What clients owe, who waits and how many work now; safe for threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, at_once: int = AT_ONCE) -> None:
        self.clock, self.lock, self.at_once = clock, threading.Lock(), at_once
        self.debts: OrderedDict[str, tuple[float, float]] = OrderedDict()  # seconds, and when; oldest first
        self.waiting: list[Place] = []
        self.working: list[str] = []
        self.change = threading.Condition(self.lock)

    def owed(self, who: str) -> float:
        debt, when = self.debts.get(who, (0.0, 0.0))
        return max(0.0, debt - REFILL * (self.clock() - when))

    def charge(self, who: str, seconds: float) -> None:
        with self.lock:
            self.debts[who] = self.owed(who) + seconds, self.clock()
            self.debts.move_to_end(who)
            while len(self.debts) > CLIENTS:
                self.debts.popitem(last=False)

    @contextmanager
    def turn(self, who: str, price: float = 0.0) -> Iterator[None]:
        """A turn to work, which is charged for, and `price`. Raises Busy."""
        self._wait(self._enter(who))
        try:
            start = time.thread_time()
            try:
                yield
            finally:
                self.charge(who, price + time.thread_time() - start)
        finally:
            with self.lock:
                self.working.remove(who)
                self._call()

    def check(self, who: str) -> float:
        """What a client owes. Raises Busy for one that has no budget left."""
        owed = self.owed(who)
        if owed >= BURST:
            raise Busy(429, "This address has asked for a lot", (owed - BURST) / REFILL)
        return owed

    def _enter(self, who: str) -> Place:
        with self.lock:
            owed = self.check(who)
            if len(self.waiting) + len(self.working) >= (PLACES if owed < BURST / 2 else FEW):
                self._make_room(who)
            place = Place(who)
            self.waiting.append(place)
            return place

    def _share(self, who: str) -> float:
        """What one owes, and what its places may cost."""
        return self.owed(who) + EACH * [*self.working, *(place.who for place in self.waiting)].count(who)

    def _make_room(self, who: str) -> None:
        most = max(self.waiting, key=lambda place: self._share(place.who), default=None)
        if most is None or self._share(most.who) <= self._share(who) + EACH:
            raise Busy(503, CROWD, 1)
        most.lost = True
        self.waiting.remove(most)
        self.change.notify_all()

    def _call(self) -> None:
        """Whose turn it is, decided once: what two clients owe changes from one look at it to the next."""
        while self.waiting and len(self.working) < self.at_once:
            first = min(self.waiting, key=lambda each: self._share(each.who))
            self.waiting.remove(first)
            self.working.append(first.who)
            first.called = True
        self.change.notify_all()

    def _wait(self, place: Place) -> None:
        with self.lock:
            self._call()
            while not place.called:
                if place.lost:
                    raise Busy(503, CROWD, 1)
                self.change.wait()


def guard(server: Flask, *, proxies: int) -> None:
    """A budget for an application, and what a client is told that has none left."""
    keep(server)
    refuse(server)
    if not proxies:
        warn_once(server)


def keep(server: Flask) -> None:
    """What its clients owe."""
    server.extensions["budget"] = Budget()


def refuse(routes: Flask | Blueprint) -> None:
    """Tell a client that has none left."""
    routes.register_error_handler(Busy, refused)


@contextmanager
def work(price: float = 0.0) -> Iterator[None]:
    """Work for the client of this request. Raises Busy."""
    owed, who = current_app.extensions["budget"], client(request)
    with owed.turn(who, price):
        try:
            yield
        except UnknownKey:
            owed.charge(who, GUESS)
            raise


def guessed() -> None:
    """Charge the client of this request for a ticket that nobody has. Raises Busy, and never waits."""
    owed, who = current_app.extensions["budget"], client(request)
    with owed.lock:
        owed.check(who)
    owed.charge(who, GUESS)


def refused(busy: Busy) -> Response:
    answer = jsonify(error=str(busy))
    if request.accept_mimetypes.best_match(["application/json", "text/html"]) == "text/html":
        answer = Response(str(busy), content_type="text/plain; charset=utf-8")
    answer.status_code = busy.status
    answer.headers["Retry-After"] = str(busy.seconds)
    answer.headers["Cache-Control"] = "no-store"
    return answer


def warn_once(server: Flask) -> None:
    """A line in the log if nobody has said that there is a proxy."""
    said = threading.Event()

    @server.before_request
    def warn() -> None:
        if "X-Forwarded-For" in request.headers and not said.is_set():
            said.set()
            logging.getLogger(__name__).warning(UNTOLD)
