"""Who sends or reads slowly, at gunicorn as it is configured here: others are served all the same."""

import contextlib
import re
import resource
import socket
import time
from urllib.parse import urlsplit

import pytest

from tests.test_deployment import fetch, gunicorn
from tests.waiting import until

SLOW = 200  # of each kind
SOON = 1.0  # seconds for /healthz
HEARD = 30  # seconds at most until the server has heard them all, and is left with those that wait
HEAD = b"Host: here\r\nContent-Type: application/octet-stream\r\n"


KINDS = {
    "silent": b"",
    "half a header": b"GET /healthz HTTP/1.1\r\nHost: he",
    "half a body": b"POST /run/spiral HTTP/1.1\r\n%sContent-Length: 9000\r\n\r\n{" % HEAD,
    "half a chunk": b"POST /run/spiral HTTP/1.1\r\n%sTransfer-Encoding: chunked\r\n\r\nfff\r\n{" % HEAD,
    "no reader": b"GET %%b HTTP/1.1\r\n%s\r\n" % HEAD,
    "no reader of many": 20 * (b"GET %%b HTTP/1.1\r\n%s\r\n" % HEAD),
}


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """Base URL of one process, and the path of the largest file of a page; sockets enough on this side."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 8 * SLOW)), hard))
    with gunicorn(tmp_path_factory.mktemp("front")) as (base, *_):
        yield base, re.search(rb'href="(/lib/[^"]+)"', fetch(f"{base}/layernorm")[1])[1]


def slow(stack, base, said):
    """A client with hardly any room to receive, who says this."""
    line = stack.enter_context(socket.socket())
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    line.settimeout(20)
    line.connect(("127.0.0.1", urlsplit(base).port))
    line.sendall(said)
    return line


def seconds(base):
    """For how long /healthz takes; the slowest of five."""
    took = []
    for _ in range(5):
        start = time.perf_counter()
        assert fetch(f"{base}/healthz")[0] == 200
        took.append(time.perf_counter() - start)
    return max(took)


@pytest.mark.parametrize("kinds", [[kind] for kind in KINDS] + [[*KINDS]], ids=[*KINDS, "all"])
def test_slow_clients_keep_nobody_waiting(served, kinds):
    base, large = served
    with contextlib.ExitStack() as stack:
        for kind in kinds:
            lines = [slow(stack, base, KINDS[kind].replace(b"%b", large)) for _ in range(SLOW)]
            if "reader" in kind:
                assert all(line.recv(1) for line in lines)  # and not a byte more
        until(lambda: seconds(base) < SOON, HEARD)
