"""The health check of the image, at the addresses that BIND can have."""

import os
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path

import pytest

from components import settings
from components.web import health

ROOT = Path(__file__).parents[3]
ADDRESSES = {
    "127.0.0.1:{port}": ("127.0.0.1", socket.AF_INET),
    "0.0.0.0:{port}": ("0.0.0.0", socket.AF_INET),
    "[::1]:{port}": ("::1", socket.AF_INET6),
    "[::]:{port}": ("::", socket.AF_INET6),
    "localhost:{port}": ("127.0.0.1", socket.AF_INET),
}


@contextmanager
def answering(listener, status="200 OK"):
    """A listener that answers one request, and keeps its first line."""
    asked = []

    def answer():
        connection = listener.accept()[0]
        asked.append(connection.recv(1000).partition(b"\r\n")[0])
        connection.sendall(f"HTTP/1.1 {status}\r\n\r\n".encode())
        connection.close()

    listener.listen()
    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    with listener:
        yield asked
        thread.join(timeout=10)


@pytest.mark.parametrize("bind", ADDRESSES)
def test_it_asks_at_the_address_in_bind(bind):
    host, family = ADDRESSES[bind]
    listener = socket.socket(family)
    listener.bind((host, 0))
    with answering(listener) as asked:
        health.check(*settings.bind({"BIND": bind.format(port=listener.getsockname()[1])}))
    assert asked == [b"GET /healthz HTTP/1.1"]


def test_an_answer_other_than_200_is_not_healthy():
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    with answering(listener, "503 Service Unavailable"), pytest.raises(HTTPException, match="503"):
        health.check(*listener.getsockname())


@pytest.mark.parametrize("bind", ["127.0.0.1:1", "127.0.0.1:port"])
def test_nobody_there_is_one_line_and_an_exit_status(bind):
    got = subprocess.run(
        [sys.executable, "-m", "components.web.health"],
        cwd=ROOT,
        env=os.environ | {"BIND": bind},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert got.returncode == 1 and got.stderr.count("\n") == 1
    assert got.stderr.startswith("normscape: not healthy: ")
