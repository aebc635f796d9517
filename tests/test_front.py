"""Who sends or reads slowly, at gunicorn as it is configured here: others are served all the same."""

import contextlib
import http.client
import json
import re
import resource
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from types import SimpleNamespace
from urllib.parse import urlsplit

import psutil
import pytest
from waitress import wasyncore
from waitress.buffers import TempfileBasedBuffer

from benchmarks.load import workers_of
from components.web import front
from learning.parts import MAX_UPLOAD_BYTES
from tests.learning.test_parts import BOMBS
from tests.test_deployment import ROOT, environment, fetch, gunicorn
from tests.waiting import until

pytestmark = pytest.mark.servers

SLOW = 200  # of each kind
SOON = 1.0  # seconds for /healthz
HEARD = 30  # seconds at most until the server has heard them all, and is left with those that wait
OCTETS = {"Content-Type": "application/octet-stream"}
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
    """Base URL of a server, the path of the largest file of a page, its one process; sockets on this side."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 8 * SLOW)), hard))
    with gunicorn(tmp_path_factory.mktemp("front")) as (base, process, *_):
        (worker,) = workers_of(psutil.Process(process.pid))
        yield base, re.search(rb'href="(/lib/[^"]+)"', fetch(f"{base}/layernorm")[1])[1], worker


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


def client(size=0, *, requests=(), age=0.0):
    """A connection as the bounds see it: what it was answered and has not read, what it asks, since when."""
    return SimpleNamespace(
        total_outbufs_len=size,
        requests=requests,
        request=None,
        rest=b"",
        creation_time=-age,
        last_activity=time.time() - age,
        will_close=False,
    )


def test_who_holds_the_most_goes_first():
    small, body, large = client(3), client(requests=[SimpleNamespace(body_rcv=b"12345")]), client(9)
    for most, gone in ((17, []), (16, [large]), (7, [large, body]), (2, [large, body, small])):
        for each in (small, body, large):
            each.will_close = False
        front.shed([small, body, large], most)
        assert [each for each in (large, body, small) if each.will_close] == gone


def test_where_it_is_full_the_oldest_go_that_wait():
    served, old, young = client(requests=[None], age=9), client(age=5), client(age=1)
    front.thin([served, young, old], 3)
    assert not old.will_close
    front.thin([served, young, old], 2)
    assert (served.will_close, old.will_close, young.will_close) == (False, True, False)


def test_where_it_is_full_those_go_too_that_read_slowly():
    served, reader, young = client(requests=[None], age=9), client(7, requests=[None], age=5), client(age=1)
    front.thin([served, young, reader], 2)
    assert (served.will_close, reader.will_close, young.will_close) == (False, True, False)


def test_who_reads_nothing_goes_after_a_while_whatever_else_it_asks():
    late, reader, asks = client(1, requests=[None], age=40), client(1, age=5), client(requests=[None], age=40)
    front.stalled([late, reader, asks])
    assert (late.will_close, reader.will_close, asks.will_close) == (True, False, False)


def test_who_holds_too_much_and_never_reads_is_gone_at_once(monkeypatch):
    """The socket of one that reads nothing is never ready to be written to, and so was never closed."""
    monkeypatch.setattr(front, "HELD", 2**20)
    size = 2**24

    def large(_, start):
        start("200 OK", [("Content-Length", str(size))])
        return [bytes(size)]

    served = front.Front(large, host="127.0.0.1", port=0)
    port = next(each.effective_port for each in served.map.values() if hasattr(each, "effective_port"))
    with contextlib.ExitStack() as stack:
        stack.callback(served.stop, 0)
        for _ in range(3):
            slow(stack, f"http://127.0.0.1:{port}", 2 * b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
        until(lambda: (served.turn(), served.channels())[1])
        until(lambda: (served.turn(), not served.channels())[1], HEARD)


def test_who_asks_for_one_thing_waits_for_nobody_who_asks_for_twenty():
    asked, clients, many = [], 20, 20

    def slowly(environment, start):
        asked.append(environment["PATH_INFO"])
        time.sleep(0.01)
        start("200 OK", [("Content-Length", "0")])
        return []

    served = front.Front(slowly, threads=1, host="127.0.0.1", port=0)
    port = next(each.effective_port for each in served.map.values() if hasattr(each, "effective_port"))
    with contextlib.ExitStack() as stack:
        stack.callback(served.stop, 0)
        lines = many * b"GET /many HTTP/1.1\r\nHost: here\r\n\r\n"
        for _ in range(clients):
            slow(stack, f"http://127.0.0.1:{port}", lines)
        until(lambda: (served.turn(), len(served.threads.queue) > clients - 2)[1])
        before = len(asked)
        slow(stack, f"http://127.0.0.1:{port}", b"GET /one HTTP/1.1\r\nHost: here\r\n\r\n")
        until(lambda: (served.turn(), "/one" in asked)[1])
        assert asked.index("/one") - before < clients / 2
        until(lambda: (served.turn(), asked.count("/many") == clients * many)[1])


@contextlib.contextmanager
def alone(application):
    """A front without processes, whose turns are the test's, and a way to say something to it."""
    served = front.Front(application, threads=1, host="127.0.0.1", port=0)
    port = next(each.effective_port for each in served.map.values() if hasattr(each, "effective_port"))
    with contextlib.ExitStack() as stack:
        stack.callback(wasyncore.close_all, served.map, ignore_all=True)
        stack.callback(served.stop, 0)
        yield served, lambda said: slow(stack, f"http://127.0.0.1:{port}", said)


def echoed(environment, start):
    start("200 OK", [("Content-Length", "2")])
    return [b"ok"]


def heard(served, line):
    """All that is answered until the line closes, or nothing more comes."""
    line.setblocking(False)
    parts = []

    def more():
        served.turn()
        with contextlib.suppress(BlockingIOError):
            parts.append(line.recv(2**16))
        return parts and not parts[-1]

    with contextlib.suppress(AssertionError, ConnectionResetError):
        until(more, 3)
    return b"".join(parts)


def test_of_many_that_are_asked_at_once_one_is_read_at_a_time():
    """Thousands fit into a packet: to read them all kept everybody else waiting for minutes."""
    asked, many = [], 300

    def counted(environment, start):
        asked.append(environment["PATH_INFO"])
        return echoed(environment, start)

    with alone(counted) as (served, say):
        say(b"".join(b"GET /%d HTTP/1.1\r\nHost: h\r\n\r\n" % k for k in range(many)))

        def turned():
            served.turn()
            assert all(len(each.requests) < 2 and len(each.rest) < 2**14 for each in served.channels())
            return len(asked) == many

        until(turned)
    assert asked == [f"/{k}" for k in range(many)]


def test_who_goes_in_the_midst_of_many_takes_nobody_along():
    """What is ready was written to a socket that was gone, and the process ended."""
    rude = struct.pack("ii", 1, 0)  # closes at once, whatever is still to be read
    with alone(echoed) as (served, say):
        for _ in range(3):
            line = say(50 * b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            until(lambda: (served.turn(), [each for each in served.channels() if each.rest])[1])
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, rude)
            line.close()
            until(lambda: (served.turn(), not served.channels())[1])


def test_whoever_asks_how_the_server_is_waits_for_no_work_of_others():
    """All threads may wait for one picture that takes long."""
    asked, done = [], threading.Event()

    def long(environment, start):
        asked.append(environment["PATH_INFO"])
        assert environment["PATH_INFO"] == "/healthz" or done.wait(HEARD)
        return echoed(environment, start)

    with alone(long) as (served, say):
        for _ in range(3):
            say(b"GET /picture HTTP/1.1\r\nHost: h\r\n\r\n")
        until(lambda: (served.turn(), len(served.channels()) == 3 and asked)[1])
        line = say(b"GET /healthz HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        assert heard(served, line).endswith(b"ok") and asked == ["/picture", "/healthz"]
        done.set()


def test_no_thread_keeps_the_loop_waiting_for_long(monkeypatch):
    """It needs Python's lock after each socket: at 5 ms, Python's own, hundreds make seconds."""
    before = sys.getswitchinterval()
    monkeypatch.setattr(front, "Front", lambda *_, **__: SimpleNamespace(stop=lambda _: None))
    configured = SimpleNamespace(threads=1, graceful_timeout=1)
    process = SimpleNamespace(wsgi=echoed, cfg=configured, sockets=[], alive=False)
    try:
        front.Process.run(process)
        assert sys.getswitchinterval() <= 0.001
    finally:
        sys.setswitchinterval(before)


def test_what_cannot_be_read_on_ends_one_connection(monkeypatch, caplog):
    def broken(*_):
        raise RuntimeError("a fault of ours")

    with alone(echoed) as (served, say):
        line = say(2 * b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        until(lambda: (served.turn(), [each for each in served.channels() if each.rest])[1])
        monkeypatch.setattr(front.Channel, "received", broken)
        until(lambda: (served.turn(), not served.channels())[1])
        line.close()
    assert "a fault of ours" in caplog.text


def test_blank_lines_are_no_requests(monkeypatch):
    made = []

    class Asked(front.Asked):
        def __init__(self, bounds):
            made.append(self)
            super().__init__(bounds)

    monkeypatch.setattr(front, "Asked", Asked)
    with alone(echoed) as (served, say):
        said = heard(served, say(9999 * b"\r\n" + b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"))
    assert said.startswith(b"HTTP/1.1 200 ") and len(made) == 1


PIECES = b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
SHORT = {
    "a byte each": 2700 * b"1\r\nx\r\n",
    "a size without end": 12_000 * b"0",
    "an extension without end": b"5" + 6000 * b";a",
    "a trailer without end": b"0\r\n" + 2000 * b"a: b\r\n",
}


@pytest.mark.parametrize("pieces", SHORT.values(), ids=SHORT)
def test_a_body_is_refused_that_is_mostly_something_else(pieces):
    """A megabyte of single bytes took the loop for seconds."""
    with alone(echoed) as (served, say):
        said = heard(served, say(PIECES + pieces))
    assert said.startswith(b"HTTP/1.1 400 ") and b"pieces" in said


def test_a_body_in_pieces_of_a_line_is_taken():
    line = b"40\r\n%b\r\n" % (64 * b"x")
    with alone(echoed) as (served, say):
        assert heard(served, say(PIECES + 999 * line + b"0\r\n\r\n")).startswith(b"HTTP/1.1 200 ")


UNCLEAR = {
    "two hosts": b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    "no host": b"GET / HTTP/1.1\r\n\r\n",
    "two lengths": b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "a length and pieces": PIECES.replace(b"Host: h", b"Host: h\r\nContent-Length: 4") + b"0\r\n\r\n",
    "pieces of old": PIECES.replace(b"/1.1", b"/1.0\r\nConnection: keep-alive") + b"0\r\n\r\n",
    "a length of a book": b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: " + 5000 * b"9" + b"\r\n\r\n",
}


@pytest.mark.parametrize("asked", UNCLEAR.values(), ids=UNCLEAR)
def test_what_two_servers_could_read_in_two_ways_is_refused(asked):
    """What stands behind it is no request of its own."""
    with alone(echoed) as (served, say):
        said = heard(served, say(asked + b"GET / HTTP/1.1\r\nHost: smuggled\r\n\r\n"))
    assert said.startswith((b"HTTP/1.1 400 ", b"HTTP/1.0 400 ")) and said.count(b"HTTP/1.") == 1


REFUSED = {
    "a letter that is none of ASCII": (b"/\xe9", b"", 400),
    "a name without its colon": (b"/", b"Host\r\n", 400),
    "a header without an end": (b"/", b"X: " + 40_000 * b"a" + b"\r\n", 431),
    "an encoding that nobody knows": (b"/", b"Transfer-Encoding: gzip\r\n", 501),
}


@pytest.mark.parametrize(("path", "head", "status"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_request_is_told_so(path, head, status, caplog):
    """It is refused before its path is known, and is no fault of the server's."""
    with alone(echoed) as (served, say):
        said = heard(served, say(b"GET %b HTTP/1.1\r\nHost: h\r\n%b\r\n" % (path, head)))
    assert re.match(rb"HTTP/1\.[01] %d " % status, said) and not caplog.records


def test_what_has_no_body_is_answered_though_it_says_that_one_comes():
    with alone(echoed) as (served, say):
        said = heard(served, say(2 * b"GET / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n\r\n"))
    assert said.count(b"HTTP/1.1 200 ") == 2 and b" 100 " not in said


def test_a_body_without_a_length_is_bounded_too(served):
    """In chunks, it would come to the application cut off."""
    line = http.client.HTTPConnection(urlsplit(served[0]).netloc, timeout=60)
    chunks = (bytes(2**20) for _ in range(MAX_UPLOAD_BYTES // 2**20 + 1))
    line.request("POST", "/run/spiral", chunks, {"Content-Type": "application/octet-stream"})
    answer = line.getresponse()
    assert answer.status == 413 and json.loads(answer.read())["parameter"] == "body"
    line.close()


def test_memory_comes_back_after_files_that_are_refused(served):
    bombs, more = [bomb() for bomb in BOMBS.values()], 60 * 2**20  # bytes
    base, _, worker = served

    def refused(data):
        with pytest.raises(urllib.error.HTTPError) as answer:
            urllib.request.urlopen(urllib.request.Request(f"{base}/run/spiral", data, OCTETS), timeout=120)
        answer.value.close()
        return answer.value.code

    fetch(f"{base}/recipe/spiral")
    before = worker.memory_info().rss
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(refused, 2 * bombs)) == {400}
    until(lambda: worker.memory_info().rss < before + more, 10)


def test_memory_between_what_is_kept_goes_back():
    """As after a crowd that reads slowly: glibc kept 300 MB for good."""
    pieces = [bytes(10_000) for _ in range(10_000)]
    kept = pieces[::100]
    del pieces
    before = psutil.Process().memory_info().rss
    front.give_back()
    assert before - psutil.Process().memory_info().rss > 50 * 2**20 and len(kept) == 100


def test_a_file_that_is_asked_for_twice_is_whole_each_time():
    """Waitress sends it from where it is, so it was kept for the next visitor without its body."""

    def filed(environment, start):
        start("200 OK", [("Content-Length", "4")])
        return environment["wsgi.file_wrapper"](BytesIO(b"file"))

    with alone(filed) as (served, say):
        line = say(2 * b"GET /assets/small.mjs HTTP/1.1\r\nHost: h\r\n\r\n")
        assert heard(served, line).count(b"\r\n\r\nfile") == 2


@pytest.mark.parametrize("kind", ["half a body", "half a chunk", "half a header"])
def test_what_is_half_sent_holds_no_stop(kind):
    """Gunicorn's worker notices the signal within a second; an upload that stalls held it for seven more."""
    with alone(echoed) as (served, say):
        say(KINDS[kind])
        until(lambda: (served.turn(), any(each.request for each in served.channels()))[1])
        start = time.monotonic()
        served.stop(7)
        assert time.monotonic() - start < 1


def test_a_stop_waits_for_what_is_asked_whole():
    def slowly(environment, start):
        time.sleep(1.2)
        return echoed(environment, start)

    with alone(slowly) as (served, say):
        line = say(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
        until(lambda: (served.turn(), any(each.requests for each in served.channels()))[1])
        served.stop(7)
        assert line.recv(1000).endswith(b"ok")


LONG = 3 * 2**20
BODIES = {
    "with a length": b"Content-Length: %d\r\n\r\n" % LONG + bytes(LONG),
    "in pieces": b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % LONG + bytes(LONG) + b"\r\n0\r\n\r\n",
}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # /dev/full, when it closes
@pytest.mark.parametrize("full", ["/dev/full", "/nowhere/file"])
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_full_temporary_folder_is_told(monkeypatch, body, full):
    """The connection was reset, as soon as the body came to the disk."""
    monkeypatch.setattr(TempfileBasedBuffer, "newfile", lambda _: open(full, "r+b"))  # noqa: SIM115
    with alone(echoed) as (served, say), ThreadPoolExecutor(1) as pool:
        line = pool.submit(say, b"POST / HTTP/1.1\r\n" + HEAD + body)
        end, begun, comes = time.monotonic() + HEARD, False, False
        while comes or not begun:
            assert time.monotonic() < end
            served.turn()
            comes = any(each.request for each in served.channels())
            begun = begun or comes
        answer = heard(served, line.result())
    assert answer.startswith(b"HTTP/1.1 507 Insufficient Storage\r\n") and b"no room" in answer


BOTH_TIMES = """
import runpy, time
runpy.run_path("gunicorn.conf.py")
import numpy as np
x = np.ones((1500, 1500)); x @ x
own, all_ = time.thread_time(), time.process_time()
for _ in range(4): x @ x
print((time.process_time() - all_) / (time.thread_time() - own))
"""


def test_all_processor_time_of_a_request_is_its_threads():
    """So that all of it is charged to its client: a product of matrices took other threads too."""
    own = {name: text for name, text in environment().items() if not name.endswith("_NUM_THREADS")}
    run = [sys.executable, "-c", BOTH_TIMES]
    assert float(subprocess.check_output(run, cwd=ROOT, env=own, text=True)) < 1.3


def test_no_answer_names_the_server(served):
    for path in ("/healthz", "/nothing", f"/{'x' * 40_000}"):
        line = http.client.HTTPConnection(urlsplit(served[0]).netloc, timeout=60)
        line.request("GET", path)
        answer = line.getresponse()
        assert answer.headers["Server"] is None and "aitress" not in answer.read().decode()
        line.close()


@pytest.mark.parametrize("kinds", [[kind] for kind in KINDS] + [[*KINDS]], ids=[*KINDS, "all"])
def test_slow_clients_keep_nobody_waiting(served, kinds):
    base, large, _ = served
    with contextlib.ExitStack() as stack:
        for kind in kinds:
            lines = [slow(stack, base, KINDS[kind].replace(b"%b", large)) for _ in range(SLOW)]
            if "reader" in kind:
                assert all(line.recv(1) for line in lines)  # and not a byte more
        until(lambda: seconds(base) < SOON, HEARD)
