"""How an answer may travel, said once for all that compress: what a browser takes of what we have.

Libraries read `gzip;q=0`, which forbids it, as a wish for it. What they read from here on has no weights.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from werkzeug.datastructures import Accept
from werkzeug.http import parse_accept_header

from components.web.proxy import Wsgi

OURS = ("zstd", "br", "gzip")  # the best first; deflate has twice the bytes of gzip
HEADER = "HTTP_ACCEPT_ENCODING"


def taken(said: str) -> str:
    """Those of ours that a header takes. Source: RFC 9110, 12.5.3."""
    known = parse_accept_header(said.lower(), Accept)
    return ", ".join(name for name in OURS if known.quality(name) > 0)


def plain(inner: Wsgi) -> Wsgi:
    """An application that is asked in these words alone."""

    def outer(environment: dict[str, Any], start: Any) -> Iterable[bytes]:
        if HEADER in environment:
            environment = environment | {HEADER: taken(environment[HEADER])}
        return inner(environment, start)

    return outer
