"""The web server alone, without nginx: slow clients, memory, a stop while requests are running."""

import asyncio
import contextlib
import http.client
import json
import re
import resource
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import psutil
import pytest
from waitress import wasyncore

from benchmarks.load import Hall, crowd, files_of, gallery
from components.web import serve
from components.web.budget import QUEUE_LENGTH
from learning.untrusted_npz import MAX_UPLOAD_BYTES
from tests.learning.test_untrusted_npz import BOMBS
from tests.test_deployment import ROOT, environment, fetch, serving
from tests.threads import in_thread
from tests.waiting import PATIENCE, soon, until

pytestmark = pytest.mark.servers

SLOW_CLIENTS = 200  # of each kind
SLOW_CLIENT_SECONDS = 10  # nginx's timeout for slow clients; Waitress's is longer
VIEWERS = 300
OCTETS = {"Content-Type": "application/octet-stream"}
HEAD = b"Host: here\r\nContent-Type: application/octet-stream\r\n"
SLOW = {
    "silent": b"",
    "half a header": b"GET /healthz HTTP/1.1\r\nHost: he",
    "half a body": b"POST /run/spiral HTTP/1.1\r\n%sContent-Length: 9000\r\n\r\n{" % HEAD,
    "half a chunk": b"POST /run/spiral HTTP/1.1\r\n%sTransfer-Encoding: chunked\r\n\r\nfff\r\n{" % HEAD,
    "reads nothing": b"GET %%b HTTP/1.1\r\n%s\r\n" % HEAD,
}


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A server: its base URL and its process. Also raises the limit of open sockets of the tests' process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 8 * SLOW_CLIENTS)), hard))
    with serving(tmp_path_factory.mktemp("front")) as (base, process, *_):
        yield base, psutil.Process(process.pid)


@contextlib.contextmanager
def slow_client(base, said, address="127.0.0.1"):
    """Connect with a tiny receive buffer, and send the bytes `said`; yields the socket.

    address: the local IP address from which it connects.
    """
    with socket.socket() as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.settimeout(PATIENCE)
        line.bind((address, 0))
        line.connect(("127.0.0.1", urlsplit(base).port))
        line.sendall(said)
        yield line


def said_by(line):
    """All bytes that the server sends until it closes or resets a connection. line: the client's socket."""
    parts = []
    with contextlib.suppress(ConnectionResetError):
        while part := line.recv(2**16):
            parts.append(part)
    return b"".join(parts)


def healthz_seconds(base):
    """The time that the slowest of five answers of the health check takes, in seconds."""
    took = []
    for _ in range(5):
        start = time.perf_counter()
        assert fetch(f"{base}/healthz")[0] == 200
        took.append(time.perf_counter() - start)
    return max(took)


@pytest.mark.parametrize("kinds", [[kind] for kind in SLOW] + [[*SLOW]], ids=[*SLOW, "all"])
def test_slow_clients_keep_nobody_waiting(served, kinds):
    base, large = served[0], re.search(rb'href="(/lib/[^"]+)"', fetch(f"{served[0]}/layernorm")[1])[1]

    def seconds():
        with contextlib.ExitStack() as stack:
            for kind in kinds:
                said = SLOW[kind].replace(b"%b", large)
                lines = [stack.enter_context(slow_client(base, said)) for _ in range(SLOW_CLIENTS)]
                if "reads" in kind:
                    assert all(line.recv(1) for line in lines)  # one byte is read, and no more
            return healthz_seconds(base)

    assert soon(seconds, SLOW_CLIENT_SECONDS)


def test_a_gallery_that_a_lecture_hall_opens_at_once_comes_whole(served):
    port = urlsplit(served[0]).port
    hall, files = Hall(port, patience=PATIENCE), files_of(port, "/")
    in_thread(asyncio.run, crowd(gallery, hall, [files, []], viewers=VIEWERS, arriving=0))
    assert not hall.wrong and len(hall.visits) == VIEWERS, hall.wrong[:3]


NO_REQUESTS = {
    "a letter that is none of ASCII": b"/\xe9 HTTP/1.1\r\n",
    "a name without its colon": b"/ HTTP/1.1\r\nHost\r\n",
}


@pytest.mark.parametrize("asked", NO_REQUESTS.values(), ids=NO_REQUESTS)
def test_bytes_that_are_no_request_are_told_so(served, asked):
    with slow_client(served[0], b"GET %bHost: h\r\n\r\n" % asked) as line:
        assert re.match(rb"HTTP/1\.[01] 400 ", said_by(line))


def test_a_body_without_a_length_is_bounded_too(served):
    """A body in chunks, without a length in the header, is refused if it is too long, not truncated."""
    line = http.client.HTTPConnection(urlsplit(served[0]).netloc, timeout=PATIENCE)
    chunks = (bytes(2**20) for _ in range(MAX_UPLOAD_BYTES // 2**20 + 1))
    line.request("POST", "/run/spiral", chunks, OCTETS)
    answer = line.getresponse()
    assert answer.status == 413 and json.loads(answer.read())["parameter"] == "body"
    line.close()


def test_memory_comes_back_after_files_that_are_refused(served):
    bombs, more = [bomb() for bomb in BOMBS.values()], 60 * 2**20  # bytes
    base, process = served

    def refused(data):
        with pytest.raises(urllib.error.HTTPError) as answer:
            urllib.request.urlopen(
                urllib.request.Request(f"{base}/run/spiral", data, OCTETS), timeout=PATIENCE
            )
        answer.value.close()
        return answer.value.code

    fetch(f"{base}/recipe/spiral")
    before = process.memory_info().rss
    with ThreadPoolExecutor(QUEUE_LENGTH) as pool:  # with more threads, a busy machine would answer 503
        assert set(pool.map(refused, 2 * bombs)) == {400}
    until(lambda: process.memory_info().rss < before + more)


def test_memory_between_what_is_kept_goes_back():
    """`malloc_trim` returns freed memory to the system, also from between blocks that are in use.

    Without it, glibc once kept 300 MB after many slow readers.
    """
    pieces = [bytes(10_000) for _ in range(10_000)]
    kept = pieces[::100]
    del pieces
    before = psutil.Process().memory_info().rss
    serve._glibc("malloc_trim", 0)
    assert before - psutil.Process().memory_info().rss > 50 * 2**20 and len(kept) == 100


@contextlib.contextmanager
def alone(application):
    """Serve `application` with an event loop that runs only when the test steps it.

    Yields Waitress's objects for the sockets, by file descriptor; a function that makes one step of the loop;
    and the base URL.
    """
    sockets = serve.listen(application, "127.0.0.1", 0)
    (port,) = [each.effective_port for each in sockets.values() if hasattr(each, "effective_port")]
    try:
        yield (
            sockets,
            lambda: wasyncore.loop(timeout=0.05, use_poll=True, map=sockets, count=1),
            f"http://127.0.0.1:{port}",
        )
    finally:
        wasyncore.close_all(sockets, ignore_all=True)


@pytest.mark.parametrize("kind", ["half a body", "half a chunk", "half a header"])
def test_a_request_that_is_half_sent_holds_no_stop(kind, monkeypatch):
    with alone(lambda environment, start: []) as (sockets, turn, base), slow_client(base, SLOW[kind]):
        until(lambda: (turn(), any(getattr(each, "request", None) for each in sockets.values()))[1])
        monkeypatch.setattr(serve, "STOP_SECONDS", 2 * PATIENCE)
        start = time.monotonic()
        serve._finish(sockets)
        assert time.monotonic() - start < PATIENCE


def test_a_stop_waits_for_a_request_under_way(monkeypatch):
    asked = threading.Event()
    monkeypatch.setattr(serve, "STOP_SECONDS", PATIENCE)

    def slowly(environment, start):
        asked.set()
        time.sleep(1.2)
        start("200 OK", [("Content-Length", "2")])
        return [b"ok"]

    request = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n"
    with alone(slowly) as (sockets, turn, base), slow_client(base, request) as line:
        until(lambda: (turn(), asked.is_set())[1])
        serve._finish(sockets)
        assert line.recv(1000).endswith(b"ok")


BOTH_TIMES = """
import app, time
import numpy as np
x = np.ones((1500, 1500)); x @ x
own, all_ = time.thread_time(), time.process_time()
for _ in range(4): x @ x
print((time.process_time() - all_) / (time.thread_time() - own))
"""


def test_all_processor_time_of_a_request_is_its_threads():
    """After `import app`, matrix products use the CPU in the calling thread only.

    So all CPU time of a request is in its own thread, and is charged to the client.
    """
    own = {name: text for name, text in environment().items() if not name.endswith("_NUM_THREADS")}
    run = [sys.executable, "-c", BOTH_TIMES]
    assert float(subprocess.check_output(run, cwd=ROOT, env=own, text=True)) < 1.3


def test_no_answer_names_the_server(served):
    for path in ("/healthz", "/nothing", f"/{'x' * 40_000}"):
        line = http.client.HTTPConnection(urlsplit(served[0]).netloc, timeout=PATIENCE)
        line.request("GET", path)
        answer = line.getresponse()
        assert answer.headers["Server"] is None and "aitress" not in answer.read().decode()
        line.close()
