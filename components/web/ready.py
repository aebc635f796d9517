"""What a hall asks for at once: made once, and for some seconds given to all who ask for the same.

The home page, the files of pages, the gallery's pictures, recipes: the same bytes, head and body, for all who
send the same headers, what they have already (If-None-Match) among them. The loop that reads requests gives
them itself: neither a thread nor the application is asked. All else is the application's.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import NamedTuple

from waitress.parser import HTTPRequestParser

HOME, FILES = "/", ("/assets/", "/card/", "/lib/", "/recipe/", "/theme.css")
LASTS = 5.0  # seconds: a hall that comes at once; whoever changes a file sees it soon
MOST = 8 * 2**20  # bytes of a process; one answer may have an eighth
BESIDE = 500  # bytes that an answer takes besides
ASKED = ("HOST", "COOKIE", "ACCEPT_ENCODING", "IF_NONE_MATCH", "X_FORWARDED_PROTO", "X_FORWARDED_HOST")
OTHERS = {
    "CONTENT_LENGTH",
    "EXPECT",
    "IF_MATCH",
    "IF_MODIFIED_SINCE",
    "IF_RANGE",
    "IF_UNMODIFIED_SINCE",
    "RANGE",
}
Key = tuple[str | None, ...]


class Answer(NamedTuple):
    until: float
    status: str
    head: bytes
    body: bytes


class Ready:
    """Answers by what was asked, the oldest first; safe for threads. prefix: where the application stands."""

    def __init__(self, prefix: str = "/", clock: Callable[[], float] = time.monotonic) -> None:
        self.mount, self.clock, self.lock = prefix.rstrip("/"), clock, threading.Lock()
        self.known: OrderedDict[Key, Answer] = OrderedDict()
        self.size = 0

    def question(self, request: HTTPRequestParser) -> Key | None:
        """What an answer depends on; None where it is not for everybody."""
        said = request.headers
        if request.error or request.command != "GET" or request.version != "1.1" or request.connection_close:
            return None
        path = request.path.removeprefix(self.mount) or HOME
        if (path != HOME and not path.startswith(FILES)) or request.body_rcv or not OTHERS.isdisjoint(said):
            return None
        return (request.request_uri, *map(said.get, ASKED))

    def get(self, key: Key | None) -> Answer | None:
        answer = self.known.get(key) if key else None
        return answer if answer and answer.until >= self.clock() else None

    def keep(self, key: Key, status: str, head: bytes, body: bytes) -> None:
        answer = Answer(self.clock() + LASTS, status, head, body)
        if size(key, answer) > MOST // 8:
            return
        with self.lock:
            self._drop(key)
            self.known[key] = answer
            self.size += size(key, answer)
            while self.size > MOST or next(iter(self.known.values())).until < self.clock():
                self._drop(next(iter(self.known)))

    def _drop(self, key: Key) -> None:
        if key in self.known:
            self.size -= size(key, self.known.pop(key))


def shared(status: str, headers: Sequence[tuple[str, str]]) -> bool:
    """Whether an answer is for everybody: a cookie that is set is one reader's; what says `no-store` is not
    what the next one would get.
    """
    names = {name.lower() for name, _ in headers}
    fleeting = any("no-store" in value for name, value in headers if name.lower() == "cache-control")
    return status.startswith(("200", "304")) and "set-cookie" not in names and not fleeting


def size(key: Key, answer: Answer) -> int:
    """Bytes of an answer, and of what was asked, which may be long."""
    return BESIDE + len(answer.head) + len(answer.body) + sum(len(part or "") for part in key)
