"""The web server: Waitress, alone or in gunicorn's processes. A slow client holds a socket, never a thread.

One loop reads requests to their end, gives what is `ready`, and sends what others are answered; a thread is
taken only while the application computes. Gunicorn starts the processes, watches and stops them.
"""

from __future__ import annotations

import logging
import os
import resource
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from io import BytesIO
from typing import Any

from gunicorn.workers.base import Worker
from waitress import create_server, wasyncore
from waitress.buffers import OverflowableBuffer, ReadOnlyFileBasedBuffer
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.receiver import ChunkedReceiver
from waitress.server import BaseWSGIServer
from waitress.task import ThreadedTaskDispatcher, WSGITask
from waitress.utilities import BadRequest, Error

from components.settings import read
from components.web.access_log import line, logged
from components.web.memory import give_back, one_heap
from components.web.proxy import believed
from components.web.ready import Answer, Ready, shared
from components.web.security import HEALTH, LARGEST_BODY
from learning.parts import MAX_UPLOAD_BYTES

THREADS = 8
CONNECTIONS, FILES = 2_000, 3  # of a process; files that one may hold: its socket, a body, an answer
SPARE = 0.1  # of the connections, kept for who comes: beyond, the oldest that wait go
HELD = 512 * 2**20  # bytes that all clients of a process may leave unfinished or unread
LARGE = 2**16  # bytes of an answer that is sent from where it is
BESIDE = 2**13  # bytes of a body in pieces that are none of it, and a tenth of it
TRIM = 30  # seconds between two times that free memory is given back
SHARE = 0.0005  # seconds that a thread may go on while the loop waits for it; Python's own 0.005
HALF_SENT = 0.5  # seconds at the end for the rest of a request: slow clients would hold the stop
STOPPING = 0.1  # seconds between two looks whether all is answered
TURN = 1  # second between two looks at what is held, and two signs of life, at most
BOUNDS: dict[str, Any] = {
    "channel_timeout": 30,  # seconds without a byte
    "cleanup_interval": 5,
    "max_request_header_size": 32 * 2**10,
    "max_request_body_size": MAX_UPLOAD_BYTES
    + 4 * LARGEST_BODY,  # up to here the application says what is too much
    "outbuf_high_watermark": MAX_UPLOAD_BYTES + 4 * LARGEST_BODY,  # larger than any answer
    "asyncore_use_poll": True,
    "clear_untrusted_proxy_headers": False,  # the application decides whom to believe: TRUSTED_PROXIES
    "ident": None,
}


class NoRoom(Error):
    code = 507
    reason = "Insufficient Storage"


class Body(OverflowableBuffer):
    """A body as it comes, in memory and then in a temporary file. Where the disk is full it is read to its
    end all the same, and only counted: a client that is still sending would not hear why it was cut off."""

    dropped = 0  # bytes, of a body that no disk could take

    def __len__(self) -> int:
        return self.dropped or int(super().__len__())

    def append(self, data: bytes) -> None:
        if not self.dropped:
            before = len(self)
            try:
                return super().append(data)
            except OSError:
                self.dropped = before
                with suppress(OSError):
                    self.close()
        self.dropped += len(data)


class Chunks(ChunkedReceiver):
    """A body in pieces. What is none of it, such as the size of each, may have a tenth of its bytes."""

    taken = 0

    def received(self, data: bytes) -> int:
        used: int = super().received(data)
        self.taken += used
        if self.taken > len(self) + len(self) // 10 + BESIDE:
            self.error = BadRequest("The pieces of this body are too small")
        return used


class Asked(HTTPRequestParser):
    """A request as it comes. What a proxy before us could read in another way than we is refused."""

    expect_continue: bool
    body_rcv: Any
    error: Any
    path = ""  # of what is refused before it is known

    def parse_header(self, text: bytes) -> None:
        try:
            super().parse_header(text)
        except ValueError:
            raise ParsingError("Content-Length is too long") from None
        if "TRANSFER_ENCODING" in self.headers or (self.chunked and "CONTENT_LENGTH" in self.headers):
            raise ParsingError("Transfer-Encoding is not for old clients, nor beside a Content-Length")
        host = self.headers.get("HOST", "" if self.version == "1.1" else "any")
        if not host or "," in host:
            raise ParsingError("One Host is needed")
        if self.body_rcv is None:
            self.expect_continue = False  # what has no body would wait for it for ever
            return
        body = Body(self.adj.inbuf_overflow)
        if self.chunked:
            self.body_rcv = Chunks(body)
        else:
            self.body_rcv.buf = body

    def received(self, data: bytes) -> int:
        used: int = super().received(data)
        if self.completed and not self.error and self.body_rcv is not None and self.body_rcv.buf.dropped:
            self.error = NoRoom("The server has no room for this at the moment. Try again later.")
        return used


class Task(WSGITask):
    """A request in a thread. What is for everybody is kept as it is sent."""

    key = None
    head = b""

    def execute(self) -> None:
        """Ask the application, unless others that waited for a thread have asked the same meanwhile."""
        self.body: list[bytes] = []
        self.key = self.channel.ready.question(self.request)
        if answer := self.channel.ready.get(self.key):
            self.key, self.wrote_header = None, True
            self.channel.give(answer, self.request)
        else:
            super().execute()

    def build_response_header(self) -> bytes:
        self.head = super().build_response_header()
        return self.head

    def write(self, data: bytes) -> None:
        super().write(data)
        if self.key:
            self.body.append(data)

    def finish(self) -> None:
        super().finish()
        body = b"".join(self.body)
        known = self.content_length in (None, len(body))  # a file is sent from where it is, past us
        whole = known and not self.close_on_finish and not self.chunked_response
        if self.key and whole and shared(self.status, self.response_headers):
            self.channel.ready.keep(self.key, self.status, self.head, body)

    def set_close_on_finish(self) -> None:
        """Waitress closes after all that has no length: also after 204 and 304, which have no body."""
        if self.has_body or self.version == "1.0" or self.request.connection_close:
            super().set_close_on_finish()


class Channel(HTTPChannel):
    """A connection. One request of it is read at a time: what comes with it waits, as bytes, for its answer.

    So thousands in one packet, or of nothing but blank lines, keep the loop for no longer than one.
    """

    rest = b""
    request: Asked | None
    sent_continue: bool
    task_class = Task

    def __init__(self, front: Front, *where: Any, **options: Any) -> None:
        self.front, self.ready = front, front.ready
        super().__init__(*where, **options)

    def readable(self) -> bool:
        return not self.rest and bool(super().readable())

    def received(self, data: bytes) -> bool:
        with self.requests_lock:
            if self.will_close or self.close_when_flushed:
                return False
            while data and not self.requests:
                data = self._read(data)
            self.rest = data
            if not self.requests:
                return True
            if answer := self.ready.get(self.ready.question(self.requests[0])):
                self.give(answer, self.requests.pop())
                self.front.later(self)
            else:
                self.server.add_task(self)
        return True

    def write_soon(self, data: Any) -> int:
        """Send these bytes; what is large from where it is, for Waitress would copy it for each client."""
        if len(data) > LARGE and not isinstance(data, ReadOnlyFileBasedBuffer):
            data = ReadOnlyFileBasedBuffer(BytesIO(data))
            data.prepare()
        sent: int = super().write_soon(data)
        return sent

    def give(self, answer: Answer, request: Asked) -> None:
        """Send an answer that is ready."""
        self.write_soon(answer.head + answer.body)
        self.front.said(self.addr[0], request, answer)

    def _read(self, data: bytes) -> bytes:
        """Take what belongs to this request, or to a new one; what is left."""
        if self.request is None:
            data = data.lstrip()  # blank lines may stand before a request
            self.request = Asked(self.adj) if data else None
        if self.request is None:
            return b""
        data = data[self.request.received(data) :]
        if self.request.expect_continue and not self.sent_continue:
            self.send_continue()
        if self.request.completed:
            self.sent_continue = False
            self.requests.append(self.request)
            self.request = None
        return data

    def resume(self) -> None:
        """Go on with what has come, once the answer before is read. A fault ends this connection alone."""
        if self.rest and self.connected and super().readable():
            try:
                self.received(self.rest)
            except Exception:  # as wasyncore does around what it calls itself
                self.handle_error()


class Line(deque[Channel]):
    """Who waits for a thread: those who ask for one thing, then those who ask for many at once."""

    def __init__(self) -> None:
        super().__init__()
        self.many: deque[Channel] = deque()

    def append(self, channel: Channel) -> None:
        if channel.rest:
            self.many.append(channel)
        else:
            super().append(channel)

    def popleft(self) -> Channel:
        return super().popleft() if super().__len__() else self.many.popleft()

    def __len__(self) -> int:
        return super().__len__() + len(self.many)


class Threads(ThreadedTaskDispatcher):
    """Some for all that is asked, and one for who asks how the server is, who waits for no work of others."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.queue = Line()
        self.aside = ThreadedTaskDispatcher()
        self.aside.set_thread_count(1)
        self.behind: set[Channel] = set()  # those of which more has come than is read
        self.set_thread_count(number)
        self.queue_logger.setLevel(logging.ERROR)  # a queue is no mishap

    def add_task(self, task: Channel) -> None:
        if task.rest:
            self.behind.add(task)
        if task.requests[0].path.endswith(HEALTH):
            self.aside.add_task(task)
        else:
            super().add_task(task)

    def resume(self) -> None:
        for each in [*self.behind]:
            each.resume()
            if not (each.rest and each.connected):
                self.behind.discard(each)


class Front:
    """A WSGI application at some sockets, or at a host and port.

    prefix, proxies: as the settings have them. say: what takes a line for each answer.
    """

    def __init__(
        self,
        application: Any,
        *,
        prefix: str = "/",
        proxies: int = 0,
        threads: int = THREADS,
        say: Callable[[str], Any] | None = None,
        **place: Any,
    ) -> None:
        one_heap()
        self.ready, self.proxies, self.say = Ready(prefix), proxies, say
        if say:
            application = logged(application, say)
        self.map: dict[int, Any] = {}
        self.threads = Threads(threads)
        self.next_look = self.next_trim = 0.0
        self.most = room()
        bounds = BOUNDS | {"connection_limit": self.most}
        create_server(application, map=self.map, _dispatcher=self.threads, **bounds, **place)
        for each in self.map.values():
            each.channel_class = partial(Channel, self)

    def channels(self) -> list[Channel]:
        return [each for each in list(self.map.values()) if isinstance(each, Channel)]

    def turn(self, seconds: float = TURN) -> None:
        """Read and send what can be, after some seconds at the latest."""
        wasyncore.loop(timeout=seconds, use_poll=True, map=self.map, count=1)
        self.threads.resume()
        if time.monotonic() > self.next_look or len(self.map) > (1 - SPARE) * self.most:
            self.next_look = time.monotonic() + TURN
            self.tidy()
        if time.monotonic() > self.next_trim:
            self.next_trim = time.monotonic() + TRIM
            give_back()

    def later(self, channel: Channel) -> None:
        """Read on, in the next turn, where more has come."""
        if channel.rest:
            self.threads.behind.add(channel)
            channel.server.pull_trigger()

    def said(self, peer: str, request: Asked, answer: Answer) -> None:
        """A line of the log for what no application has seen."""
        if self.say:
            who = believed(peer, request.headers.get("X_FORWARDED_FOR", ""), self.proxies)
            self.say(line(who, "GET", request.path, "HTTP/1.1", answer.status, len(answer.body), 0.0))

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
        """Answer what has been asked, for some seconds, and nobody new; what is half sent, for HALF_SENT."""
        for each in list(self.map.values()):
            if isinstance(each, BaseWSGIServer):
                wasyncore.dispatcher.close(each)
        start = time.monotonic()
        while (passed := time.monotonic() - start) < seconds:
            waits = half_sent if passed < HALF_SENT else answering
            if not any(waits(each) or answering(each) for each in self.channels()):
                return
            self.turn(STOPPING)


def room() -> int:
    """How many connections there is room for, with as many open files as this process may have."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES * CONNECTIONS
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    return allowed // FILES


def answering(channel: Channel) -> bool:
    """Whether a whole request is not answered yet, or its answer not sent."""
    return bool(channel.requests or channel.total_outbufs_len)


def half_sent(channel: Channel) -> bool:
    return bool(channel.request or channel.rest)


def held(channel: Channel) -> int:
    """Bytes of requests that are not answered, and of answers that are not read."""
    bodies = (request.body_rcv for request in (*channel.requests, channel.request) if request)
    sizes = [len(body) for body in bodies if body is not None]
    return channel.total_outbufs_len + len(channel.rest) + sum(sizes)


def stalled(channels: Iterable[Channel]) -> None:
    """Let go of those that have read nothing of their answers for a while, whatever else they ask."""
    latest = time.time() - BOUNDS["channel_timeout"]
    for channel in channels:
        if channel.total_outbufs_len and channel.last_activity < latest:
            channel.will_close = True


def shed(channels: Iterable[Channel], most: int) -> None:
    """Let go of those that hold the most, until the rest holds no more than that."""
    sizes = sorted(((held(channel), channel) for channel in channels), key=lambda pair: pair[0])
    total = sum(size for size, _ in sizes)
    while total > most:
        size, channel = sizes.pop()
        channel.will_close = True
        total -= size


def thin(channels: list[Channel], most: int) -> None:
    """Let go of the oldest that ask nothing, or do not read, until there are no more than that."""
    waiting = [each for each in channels if not each.requests or each.total_outbufs_len]
    waiting.sort(key=lambda channel: channel.creation_time)
    for channel in waiting[: max(0, len(channels) - most)]:
        channel.will_close = True


class Process(Worker):
    """One process of gunicorn."""

    def run(self) -> None:
        setting = read(os.environ)
        sys.setswitchinterval(SHARE)  # the loop waits for it after each of hundreds of sockets
        front = Front(
            self.wsgi,
            prefix=setting.prefix,
            proxies=setting.proxies,
            threads=self.cfg.threads,
            say=logging.getLogger("gunicorn.access").info,
            sockets=[each.sock for each in self.sockets],
        )
        while self.alive and self.ppid == os.getppid():
            self.notify()
            front.turn()
        front.stop(self.cfg.graceful_timeout - TURN)
