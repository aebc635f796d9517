"""`python -m components.web.health`: ask /healthz at the address in BIND: the image's health check."""

from __future__ import annotations

import os
import sys
from http.client import HTTPConnection, HTTPException

from components.settings import WrongSetting, bind

TIMEOUT_SECONDS = 4
LOOPBACK = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # all interfaces: ask on this one


def check(host: str, port: int) -> None:
    """Raises OSError or HTTPException if no server at this address answers with 200."""
    connection = HTTPConnection(LOOPBACK.get(host, host), port, timeout=TIMEOUT_SECONDS)
    connection.request("GET", "/healthz")
    status = connection.getresponse().status
    connection.close()
    if status != 200:
        raise HTTPException(f"/healthz answered {status}")


if __name__ == "__main__":
    try:
        check(*bind(os.environ))
    except (OSError, HTTPException, WrongSetting) as problem:
        sys.exit(f"normscape: not healthy: {problem}")
