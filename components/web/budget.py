"""Rate limit of each client by CPU time, a fair queue for the CPU, and a cache of computed responses.

A client may use `burst` seconds of CPU time at once, and `rate` more each second (a token bucket). It *owes*
the CPU seconds that it has used; `rate` of them are cancelled each second. A client that owes `burst` or more
gets the status 429. The client that owes least has the next turn. If the queue is full, the latest waiting
request of the client that owes most gets the status 503, so that threads remain for `/healthz` and cached
responses. Each process has its own limits. The defaults suffice for a class of 100 that count as one client,
because they share an address. All can open different links at once: that takes 0.15 s of CPU time each. Then
each can make a choice every 28 s: that takes 0.07 s.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, nullcontext
from ipaddress import IPv6Address, ip_address, ip_network

from cachetools import LRUCache, cached
from flask import Flask, Request, Response, current_app, request

from components.settings import Settings
from components.training.runs import UnknownKey
from components.training.store import StoreUnavailable
from components.web.routes import failure

QUEUE_LENGTH, WORKERS = 6, 2  # threads that wait or work; threads that work
PLACE_PRICE = 0.5  # CPU seconds that a request counts as owed while it waits or is computed
GUESS_PRICE = 0.1  # CPU seconds charged for an unknown key: 200 guesses at once, then 2.5 a second
TRAINING_PRICE = 0.5  # CPU seconds charged for the order of a training, which a worker computes
MAX_CLIENTS = 10_000  # number of clients whose debts are remembered
MAX_CACHE_BYTES = 64 * 2**20  # total size of the responses that a process caches
UNKNOWN_PROXIES = (
    "TRUSTED_PROXIES is {}, but the header X-Forwarded-For of a request names {} addresses: if that many"
    " proxies are in front of this server, set TRUSTED_PROXIES={}, else all readers count as one client"
)


class Busy(Exception):
    """Raised to refuse a request for now; has an HTTP status, a reason, and the seconds until a retry."""

    def __init__(self, status: int, words: str, seconds: float) -> None:
        self.status, self.reason, self.seconds = status, words, max(1, math.ceil(seconds))
        super().__init__(f"{words}. Try again in {self.seconds} s.")


class Budget:
    """The seconds of CPU time that each client owes, and the queue for the CPU. Thread-safe."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        burst: float = Settings.cpu_burst,
        rate: float = Settings.cpu_rate,
    ) -> None:
        self.clock, self.change = clock, threading.Condition()
        self.burst, self.rate = burst, rate  # CPU seconds; CPU seconds per second
        # for each client: the CPU seconds that it owed when it was last charged, and the time of this
        self.debts: LRUCache[str, tuple[float, float]] = LRUCache(MAX_CLIENTS)
        self.waiting: dict[object, str] = {}  # place in the queue → client, in the order of arrival
        self.working: dict[object, str] = {}

    def owed(self, client: str) -> float:
        with self.change:
            debt, since = self.debts.get(client, (0.0, 0.0))
            return max(0.0, debt - self.rate * (self.clock() - since))

    def charge(self, client: str, seconds: float) -> None:
        with self.change:
            self.debts[client] = self.owed(client) + seconds, self.clock()

    @contextmanager
    def turn(self, client: str, price: float = 0.0) -> Iterator[None]:
        """Wait for the client's turn, run the block, then charge its CPU time plus `price` to the client.

        price: CPU seconds. Raises Busy with the status 429 for a client over its budget, and with 503 for a
        request that has lost its place in a full queue.
        """
        place = object()
        with self.change:
            if (owed := self.owed(client)) >= self.burst:
                seconds = (owed - self.burst) / self.rate
                raise Busy(429, "This address has made too many requests", seconds)
            self.waiting[place] = client
            if len(self.waiting) + len(self.working) > QUEUE_LENGTH:
                dues = self._dues()
                newest_first = reversed(self.waiting)
                del self.waiting[max(newest_first, key=lambda place: dues[self.waiting[place]])]
            self._start_next()
            self.change.wait_for(lambda: place not in self.waiting)
            if place not in self.working:
                raise Busy(503, "The server is busy at the moment", 1)
        start = time.thread_time()
        try:
            yield
        finally:
            with self.change:
                self.charge(client, price + time.thread_time() - start)
                del self.working[place]
                self._start_next()

    def _dues(self) -> dict[str, float]:
        """The debt in CPU seconds of each client in the queue, plus PLACE_PRICE for each of its requests.

        Requests that are being computed count too. The client with the smallest sum has the next turn.
        """
        clients = [*self.waiting.values(), *self.working.values()]
        return {client: self.owed(client) + PLACE_PRICE * clients.count(client) for client in set(clients)}

    def _start_next(self) -> None:
        while self.waiting and len(self.working) < WORKERS:
            dues = self._dues()  # once for all places, because debts fall with time
            place = min(self.waiting, key=lambda place: dues[self.waiting[place]])
            self.working[place] = self.waiting.pop(place)
        self.change.notify_all()


def add_budget(server: Flask, setting: Settings) -> None:
    """Add a budget to a server.

    Warns once if a request seems to come through more proxies than the trusted ones: then all clients would
    count as one, because they would have a proxy's address.
    """
    budget = Budget(burst=setting.cpu_burst, rate=setting.cpu_rate)
    server.extensions["budget"], proxies, warned = budget, setting.proxies, False

    @server.before_request
    def warn() -> None:
        nonlocal warned
        addresses = request.headers.get("X-Forwarded-For", "")
        named = addresses.count(",") + bool(addresses)
        if named > proxies and not warned:
            warned = True
            logging.getLogger(__name__).warning(UNKNOWN_PROXIES.format(proxies, named, named))


@contextmanager
def work(price: float = 0.0) -> Iterator[None]:
    """Run the block when it is the client's turn, and charge the block's CPU time plus `price` to the client.

    The client is that of the current request. price: CPU seconds. If the block raises UnknownKey, the client
    is also charged GUESS_PRICE. Raises Busy.
    """
    with current_app.extensions["budget"].turn(client(request), price):
        try:
            yield
        except UnknownKey:
            current_app.extensions["budget"].charge(client(request), GUESS_PRICE)
            raise


def answer_cache(max_bytes: int = MAX_CACHE_BYTES):
    """Create a function (key, compute) that memoises the bytes that `compute()` returns, in an LRU cache.

    Simultaneous calls for a key share one computation, which the client that came first pays for.
    """
    memoised = cached(LRUCache(max_bytes, len), key=lambda key, compute: key, condition=threading.Condition())
    return memoised(lambda key, compute: compute())


def cached_or_computed(key: Hashable, make: Callable[[], str | bytes], *, free: bool = False) -> bytes:
    """The response body for a key: cached, or computed by `make` within the client's budget, then cached.

    To compute it, the request waits for the client's turn, and the client is charged the CPU time. Raises
    Busy. With the key None, the body is computed anew each time. free: whether the body is computed without
    waiting for a turn and without charging the client.
    """

    def computed() -> bytes:
        with nullcontext() if free else work():
            answer = make()
        return answer.encode() if isinstance(answer, str) else answer

    return computed() if key is None else current_app.extensions["answers"](key, computed)


def client(request: Request) -> str:
    """The client of a request: an IPv4 address, or the /64 network of an IPv6 address; "" if unknown."""
    try:
        address = ip_address(request.remote_addr or "")
    except ValueError:
        return ""
    if isinstance(address, IPv6Address):  # a household may choose the last 64 bits freely
        return str(address.ipv4_mapped or ip_network((int(address), 64), strict=False))
    return str(address)


def without_store(problem: StoreUnavailable) -> Response:
    """The response, 503, to a request that needs the store while the store is full or does not answer."""
    return refused(Busy(503, "Trainings, runs and recordings are not available at the moment", 60))


def refused(busy: Busy) -> Response:
    """The response to a refused request, with the header Retry-After: text for a browser, else JSON."""
    answer = failure(busy.status, str(busy), {"error": str(busy), "reason": busy.reason})
    answer.headers.update({"Retry-After": str(busy.seconds), "Cache-Control": "no-store"})
    return answer
