"""`python -m components.web.health`: ask /healthz at the address in BIND: the image's health check."""

from __future__ import annotations

import os
import socket
import sys

from gunicorn.util import parse_address

TIMEOUT_SECONDS = 4
LOOPBACK = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # all interfaces: ask on this one
REQUEST = b"GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n"


def check(bind: str) -> None:
    """Raises OSError or RuntimeError if no server at this address, as gunicorn reads it, answers with 200."""
    with _connect(parse_address(bind)) as connection:
        connection.sendall(REQUEST)
        status = connection.makefile("rb").readline().decode("latin-1").strip()
    if status.split()[1:2] != ["200"]:
        raise RuntimeError(f"/healthz answered {status!r}")


def _connect(address: str | tuple[str, int] | int) -> socket.socket:
    """A path is that of a Unix socket."""
    if isinstance(address, tuple):
        host, port = address
        return socket.create_connection((LOOPBACK.get(host, host), port), TIMEOUT_SECONDS)
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(TIMEOUT_SECONDS)
    connection.connect(str(address))
    return connection


if __name__ == "__main__":
    try:
        check(os.environ.get("BIND") or "0.0.0.0:8050")
    except (OSError, RuntimeError) as problem:
        sys.exit(f"normscape: not healthy: {problem}")
