"""The web server Waitress: one process, several threads. On the internet nginx is in front (`nginx.conf`).

Waitress reads whole requests and sends responses at the client's pace in an event loop; a thread is used only
while the application computes.
"""

from __future__ import annotations

import ctypes
import logging
import resource
import signal
import sys
import threading
import time
import traceback
from typing import Any

from waitress import create_server, wasyncore
from waitress.channel import HTTPChannel

from components.web.routes import SECRET
from components.web.security import MAX_BODY_BYTES
from learning.untrusted_npz import MAX_UPLOAD_BYTES

MAX_CONNECTIONS, FILES_PER_CONNECTION = 2_000, 3  # files of a connection: socket, request body, response
STOP_SECONDS, HALF_SENT_SECONDS = 8, 0.5  # for requests under way, and those half received; Docker allows 10
LOOP_SECONDS, TRIM_SECONDS = 1, 30
SWITCH_SECONDS = 0.0005  # with Python's 0.005, computing threads would delay the event loop at each socket
WAITRESS: dict[str, Any] = {
    "threads": 16,  # budget.QUEUE_LENGTH of them may compute or wait; the others are for cheap requests
    "channel_timeout": 30,  # seconds without a byte
    "cleanup_interval": 5,
    "max_request_header_size": 32 * 2**10,
    "max_request_body_size": MAX_UPLOAD_BYTES + 4 * MAX_BODY_BYTES,  # routes have smaller limits of their own
    # unread bytes of a response, beyond which its thread waits for the client
    "outbuf_high_watermark": 256 * 2**20,
    "asyncore_use_poll": True,
    "clear_untrusted_proxy_headers": False,  # components/web/security.py evaluates these headers
    "ident": None,
}
ARENA_MAX = -8  # M_ARENA_MAX of glibc's mallopt
Sockets = dict[int, Any]


def listen(application: Any, host: str, port: int) -> Sockets:
    """Start to listen. Returns Waitress's objects for the server's sockets, by file descriptor.

    Also sets up the process: a single heap in glibc, the time between thread switches, and fewer warnings of
    Waitress. Raises OSError or ValueError if it is impossible to listen on this host and port.
    """
    # One heap for all threads: if each had its own, glibc would keep the peak of each, 200 MB after uploads.
    _glibc("mallopt", ARENA_MAX, 1)
    sys.setswitchinterval(SWITCH_SECONDS)
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # no warning when requests wait
    sockets: Sockets = {}
    limit = _connection_limit()
    create_server(application, map=sockets, host=host, port=port, connection_limit=limit, **WAITRESS)
    return sockets


def run(sockets: Sockets) -> None:
    """Serve until SIGTERM or Ctrl+C; then finish the requests under way, within STOP_SECONDS.

    Must run in the main thread, because it installs signal handlers.
    """
    stopping, next_trim = threading.Event(), 0.0
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopping.set())
    while not stopping.is_set():
        wasyncore.loop(timeout=LOOP_SECONDS, use_poll=True, map=sockets, count=1)
        if time.monotonic() > next_trim:
            next_trim = time.monotonic() + TRIM_SECONDS
            _glibc("malloc_trim", 0)  # return all free memory; by itself glibc returns only the heap's end
    _finish(sockets)


def _finish(sockets: Sockets) -> None:
    """Accept no new connections; finish the requests under way, within STOP_SECONDS.

    Requests that have not arrived as a whole are given up after HALF_SENT_SECONDS.
    """
    for listener in [each for each in sockets.values() if each.accepting]:
        wasyncore.dispatcher.close(listener)
    start = time.monotonic()
    while (passed := time.monotonic() - start) < STOP_SECONDS:
        clients = [each for each in sockets.values() if isinstance(each, HTTPChannel)]
        half_sent = passed < HALF_SENT_SECONDS and any(each.request for each in clients)
        if not half_sent and not any(each.requests or each.total_outbufs_len for each in clients):
            return
        wasyncore.loop(timeout=0.1, use_poll=True, map=sockets, count=1)


def _connection_limit() -> int:
    """Set this process's limit of open files, and return how many connections fit into it.

    The limit suffices for MAX_CONNECTIONS, unless the system's hard limit of open files is lower.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_CONNECTIONS * FILES_PER_CONNECTION
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    return allowed // FILES_PER_CONNECTION


def _glibc(name: str, *numbers: int) -> None:
    function = getattr(ctypes.CDLL(None), name, None)
    if function:  # other C libraries do not need it
        function(*numbers)


class Masked(logging.Formatter):
    """A log formatter that masks secret keys and tickets, which may occur in addresses and error messages."""

    def format(self, record: logging.LogRecord) -> str:
        return SECRET.sub("-", super().format(record))


class OneLine(Masked):
    """A log formatter that writes one line: the message, the exception, and the calls that led to it."""

    def formatException(self, ei: Any) -> str:
        kind, error, way = ei
        calls = " > ".join(f"{f.filename.rpartition('/')[2]}:{f.lineno}" for f in traceback.extract_tb(way))
        return f"{kind.__name__}: {error} ({calls})"

    def format(self, record: logging.LogRecord) -> str:
        return super().format(record).replace("\n", " ")


def log_errors(level: str) -> None:
    """Log warnings and errors to standard error, one line each; with `level` "debug", whole tracebacks."""
    kind = Masked if level == "debug" else OneLine
    handler = logging.StreamHandler()
    handler.setFormatter(kind("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
