"""nginx with our nginx.conf: what it caches, refuses, forwards and logs; replicas; slow clients."""

import asyncio
import contextlib
import http.client
import itertools
import json
import re
import resource
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import psutil
import pytest

from benchmarks.load import Hall, crowd, files_of, gallery
from tests.test_department import WITHOUT
from tests.test_deployment import fetch, serving
from tests.test_front import HEAD, SLOW_CLIENT_SECONDS, healthz_seconds, said_by, slow_client
from tests.threads import in_thread
from tests.waiting import PATIENCE, soon, until
from tools.nginx import PROGRAM, nginx

pytestmark = [pytest.mark.servers, pytest.mark.skipif(PROGRAM is None, reason=WITHOUT)]

KEY = "0a9f" * 8
LOCK_SECONDS = 5  # nginx's default time for which it holds back requests for the same response


class Upstream(ThreadingHTTPServer):
    """A web server that answers each request with JSON.

    The JSON has the server's host, the number of requests so far, and this request's body size and headers.
    status: of all answers. padding: the number of spaces after the JSON. headers: headers of the answer, with
    _ in place of - in their names. The attribute `asked` has the paths of all requests; `answered` is the
    number of answers sent.
    """

    daemon_threads = True
    request_queue_size = 512

    def __init__(self, host="127.0.0.1", port=0, status=200, padding=0, **headers):
        super().__init__((host, port), Answering)
        self.asked, self.answered, self.status, self.padding = [], 0, status, padding
        self.headers = {name.replace("_", "-"): text for name, text in headers.items()}
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        size = len(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        self.server.asked.append(self.path)
        body = {"host": self.server.server_address[0], "asked": len(self.server.asked), "size": size}
        data = json.dumps(body | {"headers": dict(self.headers)}).encode() + b" " * self.server.padding
        self.send_response(self.server.status)
        for name, text in {**self.server.headers, "Content-Length": str(len(data))}.items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(data)
        self.server.answered += 1

    do_POST = do_GET  # noqa: N815

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def proxied(folder, **answer):
    """Start an `Upstream`, and nginx as its proxy; yields nginx's base URL, the upstream, and the log file.

    answer: keyword arguments of `Upstream`.
    """
    with Upstream(**answer) as upstream, nginx(folder, f"127.0.0.1:{upstream.server_port}") as (port, _, log):
        yield f"http://127.0.0.1:{port}", upstream, log


# --- what it caches


SHARED = {"X_Accel_Expires": "600"}


@pytest.mark.parametrize("path", ["/", "/sub/path/?d=2", "/assets/a.mjs?m=1"])
def test_an_answer_for_everybody_is_fetched_once_in_some_seconds(tmp_path, path):
    with proxied(tmp_path, Cache_Control="private, no-cache", **SHARED) as (base, upstream, _):
        assert fetch(base + path) == fetch(base + path) and len(upstream.asked) == 1


def test_an_answer_is_fetched_anew_after_some_seconds(tmp_path):
    with proxied(tmp_path, X_Accel_Expires="1") as (base, _, _):
        first = fetch(f"{base}/")
        until(lambda: fetch(f"{base}/") != first)


PRIVATE = [{"Cache_Control": "public, max-age=60"}, {"Set_Cookie": "a=b", **SHARED}]


@pytest.mark.parametrize("answer", PRIVATE, ids=str)
def test_an_answer_that_is_not_for_everybody_is_not_cached(tmp_path, answer):
    with proxied(tmp_path, **answer) as (base, upstream, _):
        fetch(f"{base}/"), fetch(f"{base}/")
        assert len(upstream.asked) == 2


def test_a_class_that_asks_at_once_for_what_is_not_for_everybody_waits_a_second_at_most(tmp_path):
    with proxied(tmp_path) as (base, upstream, _), ThreadPoolExecutor(40) as pool:

        def seconds():
            start, before = time.monotonic(), len(upstream.asked)
            assert {status for status, _ in pool.map(fetch, [f"{base}/"] * 40)} == {200}
            assert len(upstream.asked) - before == 40
            return time.monotonic() - start

        assert soon(seconds, LOCK_SECONDS)


def test_other_headers_have_an_answer_of_their_own(tmp_path):
    with proxied(tmp_path, **SHARED) as (base, upstream, _):
        names = ["Host", "Accept-Encoding", "Cookie", "X-Forwarded-Proto", "X-Forwarded-Host"]
        answers = {fetch(f"{base}/", **{name: "example.org"})[1] for name in names} | {fetch(f"{base}/")[1]}
        assert len(answers) == len(upstream.asked) == len(names) + 1


def test_a_browser_that_has_an_answer_is_told_so(tmp_path):
    with proxied(tmp_path, ETag='"a"', **SHARED) as (base, upstream, _):
        assert [fetch(f"{base}/", **{"If-None-Match": '"a"'})[0] for _ in range(2)] == [304, 304]
        assert len(upstream.asked) == 1


# --- what it passes on


def test_it_adds_what_it_knows_of_a_client_to_what_proxies_before_it_have_said(tmp_path):
    with proxied(tmp_path) as (base, _, _):
        here, own = urlsplit(base).netloc, "X-Forwarded-"
        for before, name, after in (
            ({}, "For", "127.0.0.1"),
            ({}, "Proto", "http"),
            ({}, "Host", here),
            ({f"{own}For": "192.0.2.7"}, "For", "192.0.2.7, 127.0.0.1"),
            ({f"{own}Proto": "https"}, "Proto", "https, http"),
            ({f"{own}Host": "teach.example"}, "Host", f"teach.example, {here}"),
        ):
            assert json.loads(fetch(f"{base}/x", **before)[1])["headers"][own + name] == after


def test_a_body_reaches_the_web_server_whole_and_with_its_length(tmp_path):
    with proxied(tmp_path) as (base, upstream, _):
        with slow_client(base, b"POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n") as line:
            for _ in range(100):
                line.sendall(b"1\r\nx\r\n")
            time.sleep(0.2)
            assert not upstream.asked
            line.sendall(b"0\r\n\r\n")
            reply = http.client.HTTPResponse(line)
            reply.begin()
            answer = json.loads(reply.read())
        assert answer["size"] == 100 and answer["headers"]["Content-Length"] == "100"


def test_an_answer_leaves_the_web_server_at_once_however_slowly_it_is_read(tmp_path):
    asked, readers = 20 * b"GET /x HTTP/1.1\r\nHost: h\r\n\r\n", 20
    with proxied(tmp_path, padding=5 * 2**20) as (base, upstream, _), contextlib.ExitStack() as stack:
        for _ in range(readers):
            stack.enter_context(slow_client(base, asked))
        until(lambda: upstream.answered >= readers)


# --- what it refuses

PIECES = b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
REFUSED = {
    "two hosts": b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    "no host": b"GET / HTTP/1.1\r\n\r\n",
    "two lengths": b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "a length and chunks": PIECES.replace(b"Host: h", b"Host: h\r\nContent-Length: 4") + b"0\r\n\r\n",
    "chunks of HTTP/1.0": PIECES.replace(b"/1.1", b"/1.0\r\nConnection: keep-alive") + b"0\r\n\r\n",
    "a length of a book": b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: " + 5000 * b"9" + b"\r\n\r\n",
    "a length that is no number": b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +1\r\n\r\na",
    "a header without an end": b"GET / HTTP/1.1\r\nHost: h\r\nX: " + 40_000 * b"a" + b"\r\n\r\n",
}


@pytest.mark.parametrize("asked", REFUSED.values(), ids=REFUSED)
def test_a_request_that_two_servers_could_read_in_two_ways_is_refused(tmp_path, asked):
    """An ambiguous or invalid request, such as one with two lengths, is refused.

    The bytes after it are not treated as a second request.
    """
    with proxied(tmp_path) as (base, upstream, _):
        with slow_client(base, asked + b"GET / HTTP/1.1\r\nHost: smuggled\r\n\r\n") as line:
            said = said_by(line)
        assert re.match(rb"HTTP/1\.[01] 4\d\d ", said) and said.count(b"HTTP/1.") == 1
        assert not upstream.asked


FORMS = [("*/*", "application/json"), ("text/html,*/*;q=0.8", "text/plain")]  # Accept, type of the answer


def failure(base, accept, body_bytes=0):
    """Send a POST request to `base` to which nginx itself answers; returns status, message and headers.

    accept: the header Accept, which decides whether the message is in text or JSON. The request announces a
    body of `body_bytes` bytes, which is not sent. The answer must have Cache-Control: no-store.
    """
    line = http.client.HTTPConnection(urlsplit(base).netloc)
    line.putrequest("POST", "/x")
    line.putheader("Accept", accept)
    line.putheader("Content-Length", str(body_bytes))
    line.endheaders()
    answer = line.getresponse()
    told = answer.read().decode()
    line.close()
    assert answer.headers["Cache-Control"] == "no-store"
    is_json = answer.headers.get_content_type() == "application/json"
    return answer.status, json.loads(told)["error"] if is_json else told, answer.headers


@pytest.mark.parametrize(("accept", "kind"), FORMS)
def test_a_body_that_is_too_long_is_refused_like_by_the_application(tmp_path, accept, kind):
    with proxied(tmp_path) as (base, upstream, _):
        status, told, headers = failure(base, accept, 38 * 2**20 + 1)
        assert (status, told) == (413, "The request is too long: its body may have 38 MiB.")
        assert headers.get_content_type() == kind and "Retry-After" not in headers
        assert not upstream.asked


@pytest.mark.parametrize(("accept", "kind"), FORMS)
def test_without_a_web_server_the_client_is_told_to_retry(tmp_path, accept, kind):
    with proxied(tmp_path) as (base, upstream, _):
        upstream.shutdown()
        upstream.server_close()
        status, told, headers = failure(base, accept)
        assert (status, told) == (502, "The web server does not answer. Try again in 1 s.")
        assert (headers.get_content_type(), headers["Retry-After"]) == (kind, "1")


def test_a_web_server_that_accepts_no_connection_is_given_up_after_some_seconds(tmp_path):
    """nginx answers 504 after 5 s if the web server's queue of connections is full."""
    with contextlib.ExitStack() as stack:
        full = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        address = full.getsockname()
        for _ in range(2):  # the kernel queues one more than the backlog; the second waits in vain
            waiting = stack.enter_context(contextlib.closing(socket.socket()))
            waiting.setblocking(False)
            waiting.connect_ex(address)
        port, _, _ = stack.enter_context(nginx(tmp_path, f"127.0.0.1:{address[1]}"))
        status, told, headers = failure(f"http://127.0.0.1:{port}", "*/*")
        assert (status, told) == (504, "The web server does not answer. Try again in 1 s.")
        assert (headers.get_content_type(), headers["Retry-After"]) == ("application/json", "1")


def test_one_address_has_as_many_requests_at_a_time_as_a_lecture_hall(tmp_path):
    """An address that has 500 requests at a time gets 429 for further ones; other addresses are served.

    Requests whose bodies are unfinished count too.
    """
    with proxied(tmp_path) as (base, _, _), contextlib.ExitStack() as stack:
        begun = b"POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n{"
        for _ in range(500):
            stack.enter_context(slow_client(base, begun))
        until(lambda: fetch(f"{base}/x")[0] == 429)
        for accept, kind in FORMS:
            status, told, headers = failure(base, accept)
            assert (status, told) == (429, "This address has made too many requests. Try again in 1 s.")
            assert (headers.get_content_type(), headers["Retry-After"]) == (kind, "1")
        line = http.client.HTTPConnection(urlsplit(base).netloc, source_address=("127.0.0.9", 0))
        line.request("GET", "/x")
        assert line.getresponse().status == 200
        line.close()


def test_a_refusal_by_the_web_server_is_passed_on_as_it_is(tmp_path):
    with proxied(tmp_path, status=429, Retry_After="7") as (base, _, _):
        line = http.client.HTTPConnection(urlsplit(base).netloc)
        line.request("GET", "/x")
        answer = line.getresponse()
        assert (answer.status, answer.headers.get_all("Retry-After")) == (429, ["7"])
        assert json.loads(answer.read())["asked"] == 1
        line.close()


# --- what it logs


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/layernorm?points=1,2,3", "/layernorm"),
        (f"/run/{KEY}.npz", "/run/-.npz"),
        (f"/run/{KEY}/net?seed=3", "/run/-/net"),
        (f"/sub/training/{KEY}/look?seed=1", "/sub/training/-/look"),
        (f"/recording/{KEY}", "/recording/-"),
        (f"/a%0ab/{KEY[:16]}", r"/a\x0Ab/-"),
        ("/run/temperature", "/run/temperature"),
        ("/assets/a%22%0d%0ab", r"/assets/a\x22\x0D\x0Ab"),
    ],
)
def test_a_line_has_no_query_and_no_key(tmp_path, path, shown):
    with proxied(tmp_path) as (base, _, log):
        fetch(base + path)
        until(log.read_text)
    line = r'\S+ 127\.0\.0\.1 "GET (\S+) HTTP/1\.1" 200 \d+ bytes [\d.]+ s\n'
    assert re.fullmatch(line, log.read_text())[1] == shown


def test_a_poll_leaves_no_line_until_it_fails(tmp_path):
    paths = ["/healthz", "/sub/healthz", f"/training/{KEY}"]
    for number, (status, lines) in enumerate([(200, 0), (204, 0), (503, 3)]):
        folder = tmp_path / str(number)
        folder.mkdir()
        with proxied(folder, status=status) as (base, _, log):
            for path in paths:
                fetch(base + path)
            fetch(f"{base}/last")
            until(lambda log=log: "/last" in log.read_text())
        assert log.read_text().count("\n") == lines + 1 and KEY not in log.read_text()


def test_a_failure_quotes_no_query(tmp_path):
    """nginx's error log quotes neither the query nor the key in a path; by default, it would."""
    with proxied(tmp_path) as (base, upstream, log):
        upstream.shutdown()
        upstream.server_close()
        assert fetch(f"{base}/run/{KEY}.npz?points=secret")[0] == 502
        until(lambda: "/run/-.npz" in log.read_text())
    assert KEY not in log.read_text() and "secret" not in log.read_text()


# --- replicas


@contextlib.contextmanager
def name_server(addresses):
    """Run a name server that gives every name these IPv4 addresses, like Docker's; yields its host:port."""

    def answers():
        while True:
            with contextlib.suppress(OSError):
                asked, whom = line.recvfrom(512)
                if asked == b"stop":
                    return
                end = asked.index(b"\0", 12) + 5
                found = addresses if asked[end - 4 : end - 2] == b"\0\1" else []  # A, not AAAA
                records = b"".join(
                    b"\xc0\x0c\0\1\0\1\0\0\0\1\0\4" + socket.inet_aton(address) for address in found
                )
                counts = b"\x81\x80\0\1" + len(found).to_bytes(2) + b"\0\0\0\0"
                line.sendto(asked[:2] + counts + asked[12:end] + records, whom)

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.bind(("127.0.0.1", 0))
        thread = threading.Thread(target=answers)
        thread.start()
        yield f"127.0.0.1:{line.getsockname()[1]}"
        line.sendto(b"stop", line.getsockname())
        thread.join()


def test_replicas_share_the_work_and_one_that_is_gone_is_missed_by_nobody(tmp_path):
    hosts = ["127.0.0.2", "127.0.0.3"]
    with contextlib.ExitStack() as stack:
        first = Upstream(hosts[0])
        second = stack.enter_context(Upstream(hosts[1], first.server_port))
        names = stack.enter_context(name_server(hosts))
        port, *_ = stack.enter_context(nginx(tmp_path, f"web:{first.server_port}", names))
        with first:
            answers = [json.loads(fetch(f"http://127.0.0.1:{port}/x")[1])["host"] for _ in range(20)]
            assert {*answers} == {*hosts}
        assert {fetch(f"http://127.0.0.1:{port}/x")[0] for _ in range(20)} == {200}
        assert len(second.asked) >= 20


# --- the explorer behind it

SLOW = {
    "silent": (2300, b""),
    "half a header": (2300, b"GET /healthz HTTP/1.1\r\nHost: he"),
    "reads nothing of twenty": (300, 20 * (b"GET %%b HTTP/1.1\r\n%s\r\n" % HEAD)),
    "half a body": (
        60,
        b"POST /run/spiral HTTP/1.1\r\n%sContent-Length: 20000000\r\n\r\n" % HEAD + bytes(2**20),
    ),
}
ATTEMPTS = itertools.count(1)
VIEWERS, CROWD_SECONDS = 300, 4.0  # CPU seconds for all viewers together: two seconds on two processors


@pytest.fixture(scope="module")
def explorer(tmp_path_factory):
    """The base URL and processes of the explorer behind nginx. Also raises the tests' limit of sockets."""
    folder = tmp_path_factory.mktemp("explorer")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 20_000)), hard))
    with (
        serving(folder, TRUSTED_PROXIES="1") as (base, web, *_),
        nginx(folder, urlsplit(base).netloc) as (port, proxy, _),
    ):
        proxies = [psutil.Process(proxy.pid), *psutil.Process(proxy.pid).children()]
        yield f"http://127.0.0.1:{port}", [psutil.Process(web.pid), *proxies]


def test_a_gallery_that_a_lecture_hall_opens_at_once_comes_soon(explorer):
    """VIEWERS clients that open the gallery at once all get it, for less than CROWD_SECONDS of CPU time.

    CPU time is measured, and not the time that passes, so other load on the machine does not matter.
    """
    base, processes = explorer
    port = urlsplit(base).port
    files = [files_of(port, path) for path in ("/", "/layernorm")]
    spent = lambda: sum(sum(process.cpu_times()[:2]) for process in processes)  # noqa: E731
    hall, before = Hall(port, patience=PATIENCE), spent()
    in_thread(asyncio.run, crowd(gallery, hall, files, viewers=VIEWERS, arriving=0))
    assert not hall.wrong and len(hall.visits) == VIEWERS, hall.wrong[:3]
    assert spent() - before < CROWD_SECONDS


@pytest.mark.parametrize("kinds", [[kind] for kind in SLOW] + [[*SLOW]], ids=[*SLOW, "all"])
def test_slow_clients_keep_nobody_waiting(explorer, kinds):
    """The health check answers soon in spite of many slow clients.

    Each attempt to measure this uses another IP address, because the last slow clients may still count.
    """
    base, _ = explorer
    large = re.search(rb'href="(/lib/[^"]+)"', fetch(f"{base}/layernorm")[1])[1]

    def seconds():
        address = f"127.0.1.{next(ATTEMPTS)}"
        with contextlib.ExitStack() as stack:
            for kind in kinds:
                number, said = SLOW[kind]
                for _ in range(number):
                    stack.enter_context(slow_client(base, said.replace(b"%b", large), address))
            return healthz_seconds(base)

    assert soon(seconds, SLOW_CLIENT_SECONDS)


def test_no_answer_says_which_nginx_it_is(explorer):
    for path in ("/healthz", "/nothing", f"/{'x' * 40_000}"):
        line = http.client.HTTPConnection(urlsplit(explorer[0]).netloc, timeout=PATIENCE)
        line.request("GET", path)
        answer = line.getresponse()
        assert not re.search(r"\d", answer.headers["Server"]) and b"nginx/" not in answer.read()
        line.close()
