"""The web server: Waitress, alone or in gunicorn's processes. A slow client holds a socket, never a thread.

One loop reads requests to their end and sends what they are answered; a thread is taken only while the
application computes. Gunicorn starts the processes, watches and stops them.
"""

from __future__ import annotations

import ctypes
import logging
import os
import resource
import time
from collections import deque
from collections.abc import Iterable
from typing import Any

from gunicorn.workers.base import Worker
from waitress import create_server, wasyncore
from waitress.channel import HTTPChannel
from waitress.server import BaseWSGIServer
from waitress.task import ThreadedTaskDispatcher

from components.web.access_log import logged
from components.web.security import LARGEST_BODY
from learning.parts import LARGEST_FILE

THREADS = 8
ARENAS = -8  # M_ARENA_MAX of glibc's mallopt
CONNECTIONS, FILES = 2_000, 3  # of a process; files that one may hold: its socket, a body, an answer
SPARE = 0.1  # of the connections, kept for who comes: beyond, the oldest that wait go
HELD = 512 * 2**20  # bytes that all clients of a process may leave unfinished or unread
TURN = 1  # second between two looks at what is held, and two signs of life, at most
BOUNDS: dict[str, Any] = {
    "channel_timeout": 30,  # seconds without a byte
    "cleanup_interval": 5,
    "max_request_header_size": 32 * 2**10,
    "max_request_body_size": LARGEST_FILE
    + 4 * LARGEST_BODY,  # up to here the application says what is too much
    "outbuf_high_watermark": LARGEST_FILE + 4 * LARGEST_BODY,  # no answer is as large: a thread would wait
    "asyncore_use_poll": True,
    "clear_untrusted_proxy_headers": False,  # the application decides whom to believe: TRUSTED_PROXIES
    "ident": None,
}


class Line(deque[HTTPChannel]):
    """Who waits for a thread: those who ask for one thing, then those who ask for many at once."""

    def __init__(self) -> None:
        super().__init__()
        self.many: deque[HTTPChannel] = deque()

    def append(self, channel: HTTPChannel) -> None:
        if len(channel.requests) > 1:
            self.many.append(channel)
        else:
            super().append(channel)

    def popleft(self) -> HTTPChannel:
        return super().popleft() if super().__len__() else self.many.popleft()

    def __len__(self) -> int:
        return super().__len__() + len(self.many)


class Threads(ThreadedTaskDispatcher):
    """Threads for those who have read their answers so far: one may ask for much and read nothing."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.queue = Line()
        self.unread: deque[HTTPChannel] = deque()
        self.set_thread_count(number)
        self.queue_logger.setLevel(logging.ERROR)  # a queue is no mishap

    def add_task(self, task: HTTPChannel) -> None:
        if task.total_outbufs_len:
            self.unread.append(task)
        else:
            super().add_task(task)

    def resume(self) -> None:
        for _ in range(len(self.unread)):
            channel = self.unread.popleft()
            if channel.connected:
                self.add_task(channel)


class Front:
    """A WSGI application at some sockets, or at a host and port."""

    def __init__(self, application: Any, *, threads: int = THREADS, **place: Any) -> None:
        one_heap()
        self.map: dict[int, Any] = {}
        self.threads = Threads(threads)
        self.next_look = 0.0
        self.most = room()
        bounds = BOUNDS | {"connection_limit": self.most}
        create_server(application, map=self.map, _dispatcher=self.threads, **bounds, **place)

    def channels(self) -> list[HTTPChannel]:
        return [each for each in list(self.map.values()) if isinstance(each, HTTPChannel)]

    def turn(self) -> None:
        """Read and send what can be, after a second at the latest."""
        wasyncore.loop(timeout=TURN, use_poll=True, map=self.map, count=1)
        self.threads.resume()
        if time.monotonic() > self.next_look or len(self.map) > (1 - SPARE) * self.most:
            self.next_look = time.monotonic() + TURN
            self.tidy()

    def tidy(self) -> None:
        """Let go of who holds too much, and for too long, at once: Waitress waits until they would read."""
        channels = self.channels()
        stalled(channels)
        shed(channels, HELD)
        thin(channels, int((1 - SPARE) * self.most))
        for each in channels:
            if each.will_close:
                each.handle_close()

    def stop(self, seconds: float) -> None:
        """Answer what has been asked, for some seconds, and nobody new."""
        for each in list(self.map.values()):
            if isinstance(each, BaseWSGIServer):
                wasyncore.dispatcher.close(each)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and any(map(busy, self.channels())):
            self.turn()


def one_heap() -> None:
    """Memory that all threads share, before there are any: what one has freed goes back, or to the next.

    glibc gives each thread a heap of its own, and keeps what each has had at its worst: 200 MB after some
    uploads. Python's threads take turns, so one heap costs no time. Elsewhere there is nothing to do.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt:
        mallopt(ARENAS, 1)


def room() -> int:
    """How many connections there is room for, with as many open files as this process may have."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES * CONNECTIONS
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    return allowed // FILES


def busy(channel: HTTPChannel) -> bool:
    return bool(channel.requests or channel.request or channel.total_outbufs_len)


def held(channel: HTTPChannel) -> int:
    """Bytes of requests that are not answered, and of answers that are not read."""
    bodies = (request.body_rcv for request in (*channel.requests, channel.request) if request)
    return channel.total_outbufs_len + sum(len(body) for body in bodies if body is not None)


def stalled(channels: Iterable[HTTPChannel]) -> None:
    """Let go of those that have read nothing of their answers for a while, whatever else they ask."""
    latest = time.time() - BOUNDS["channel_timeout"]
    for channel in channels:
        if channel.total_outbufs_len and channel.last_activity < latest:
            channel.will_close = True


def shed(channels: Iterable[HTTPChannel], most: int) -> None:
    """Let go of those that hold the most, until the rest holds no more than that."""
    sizes = sorted(((held(channel), channel) for channel in channels), key=lambda pair: pair[0])
    total = sum(size for size, _ in sizes)
    while total > most:
        size, channel = sizes.pop()
        channel.will_close = True
        total -= size


def thin(channels: list[HTTPChannel], most: int) -> None:
    """Let go of the oldest that ask nothing, or do not read, until there are no more than that."""
    waiting = [each for each in channels if not each.requests or each.total_outbufs_len]
    waiting.sort(key=lambda channel: channel.creation_time)
    for channel in waiting[: max(0, len(channels) - most)]:
        channel.will_close = True


class Process(Worker):
    """One process of gunicorn."""

    def run(self) -> None:
        application = logged(self.wsgi, logging.getLogger("gunicorn.access").info)
        front = Front(application, threads=self.cfg.threads, sockets=[each.sock for each in self.sockets])
        while self.alive and self.ppid == os.getppid():
            self.notify()
            front.turn()
        front.stop(self.cfg.graceful_timeout - TURN)
