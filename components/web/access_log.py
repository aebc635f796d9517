"""A line for each request: who, what, how it ended. Not its query, which has what somebody typed."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from ipaddress import ip_address
from typing import Any
from urllib.parse import quote

from components.web.proxy import Wsgi
from components.web.security import HEALTH

KEYED = ("/run/", "/recording/", "/training/")
SECRET = re.compile(r"[\w%-]{16,}(?=[/.]|$)")  # what follows these: a run's key, a recording's, a ticket
TRAINING = re.compile(r"/training/[^/]+$")  # where a page asks how its training goes


def logged(inner: Wsgi, say: Callable[[str], Any]) -> Wsgi:
    """An application that says each of its answers in one line."""

    def outer(environment: dict[str, Any], start: Any) -> Iterator[bytes]:
        began, status, size = time.perf_counter(), "-", 0

        def noting(code: str, *rest: Any) -> Any:
            nonlocal status
            status = code
            return start(code, *rest)

        method, path = environment["REQUEST_METHOD"], environment["PATH_INFO"]  # as they came
        answer = inner(environment, noting)
        try:
            for piece in answer:
                size += len(piece)
                yield piece
        finally:
            getattr(answer, "close", lambda: None)()
            if not poll(environment, status):
                who, how = environment["REMOTE_ADDR"], environment["SERVER_PROTOCOL"]
                say(line(who, method, path, how, status, size, time.perf_counter() - began))

    return outer


def line(who: str, method: str, path: str, how: str, status: str, size: int, seconds: float) -> str:
    asked = f"{quote(method, safe='')} {shown(path)} {how}"
    return f'{address(who)} "{asked}" {status[:3]} {size} bytes {1000 * seconds:.0f} ms'


def address(who: str) -> str:
    """An IP address without its zone; "-" for anything else that stood in X-Forwarded-For."""
    try:
        return str(ip_address(who.partition("%")[0]))
    except ValueError:
        return "-"


def shown(path: str) -> str:
    """A path as it was sent, without keys and tickets."""
    sent = quote(path.encode("latin-1"), safe="/:@!$&'()*+,;=~")
    before, kind, after = next((p for p in map(sent.partition, KEYED) if p[1]), (sent, "", ""))
    return before + kind + SECRET.sub("-", after)


def poll(environment: dict[str, Any], status: str) -> bool:
    """What is asked again and again, and was answered: how a training goes, whether the server is there."""
    path: str = environment["PATH_INFO"]
    return status[:3] in ("200", "204") and (path.endswith(HEALTH) or bool(TRAINING.search(path)))
