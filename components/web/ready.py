"""What a hall asks for at once: made once, and for some seconds given to all who ask for the same.

The home page, the files of pages, the gallery's pictures: the same for all who send the same headers.
A question with a condition, or for a part, is the application's, as is all else.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from components.web.proxy import Wsgi

HOME, FILES = "/", ("/assets/", "/card/", "/lib/", "/theme.css")
LASTS = 5.0  # seconds: a hall that comes at once; whoever changes a file sees it soon
MOST = 8 * 2**20  # bytes of a process
ASKED = ("SCRIPT_NAME", "PATH_INFO", "QUERY_STRING", "wsgi.url_scheme", "HTTP_HOST", "HTTP_COOKIE")
CONDITIONS = ("HTTP_IF_NONE_MATCH", "HTTP_IF_MODIFIED_SINCE", "HTTP_IF_RANGE", "HTTP_RANGE")


class Answer(NamedTuple):
    until: float
    status: str
    headers: list[tuple[str, str]]
    body: bytes


class Ready:
    """A WSGI application in front of another; safe for threads.

    A cookie that is set is one reader's; what says `no-store` is not what the next one would get.
    """

    def __init__(self, inner: Wsgi, clock: Callable[[], float] = time.monotonic) -> None:
        self.inner, self.clock, self.lock = inner, clock, threading.Lock()
        self.known: dict[tuple[Any, ...], Answer] = {}

    def __call__(self, environment: dict[str, Any], start: Any) -> Iterable[bytes]:
        key = question(environment)
        if key is None:
            return self.inner(environment, start)
        answer = self.known.get(key)
        if answer is None or answer.until < self.clock():
            answer = self.made(environment)
            if shared(answer):
                self.keep(key, answer)
        start(answer.status, list(answer.headers))
        return [answer.body]

    def made(self, environment: dict[str, Any]) -> Answer:
        said: list[Any] = []
        pieces = self.inner(environment, lambda status, headers, *_: said.extend((status, headers)))
        try:
            body = b"".join(pieces)
        finally:
            getattr(pieces, "close", lambda: None)()
        status, headers = said
        return Answer(self.clock() + LASTS, status, headers, body)

    def keep(self, key: tuple[Any, ...], answer: Answer) -> None:
        with self.lock:
            now = self.clock()
            self.known = {key: each for key, each in self.known.items() if each.until > now}
            self.known[key] = answer
            if sum(map(size, self.known, self.known.values())) > MOST:
                del self.known[key]


def shared(answer: Answer) -> bool:
    """Whether it is for everybody."""
    said = dict(answer.headers)
    fleeting = "no-store" in said.get("Cache-Control", "")
    return answer.status.startswith("200") and "Set-Cookie" not in said and not fleeting


def size(key: tuple[Any, ...], answer: Answer) -> int:
    """Bytes of an answer, and of what was asked, which may be long."""
    return len(answer.body) + sum(len(part or "") for part in key)


def question(environment: dict[str, Any]) -> tuple[Any, ...] | None:
    """What an answer depends on; None where it is not for everybody."""
    path = environment["PATH_INFO"]
    if environment["REQUEST_METHOD"] != "GET" or any(name in environment for name in CONDITIONS):
        return None
    if path != HOME and not path.startswith(FILES):
        return None
    return (*(environment.get(name) for name in ASKED), environment.get("HTTP_ACCEPT_ENCODING"))
