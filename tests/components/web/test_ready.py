"""Answers that are given again for some seconds: to whom, for how long, at what size, and by whom."""

import contextlib
import http.client
import threading

import pytest
from werkzeug.wrappers import Request, Response

import app
from components.web import front, ready
from components.web.ready import LASTS
from tests.waiting import until

IMAGE = "/card/fold.svg?theme=dark"


class Inner:
    """An application that counts what it is asked, and says so."""

    def __init__(self, **answer):
        self.asked, self.answer, self.closed = 0, answer, 0

    def __call__(self, environment, start):
        self.asked += 1
        request = Request(environment)
        answer = Response(f"{self.asked} {request.url} {request.headers.get('Cookie')}", **self.answer)
        answer.call_on_close(self.close)
        return answer(environment, start)

    def close(self):
        self.closed += 1


class Standing:
    """An application behind a front, whose clock is ours."""

    def __init__(self, inner, **options):
        self.inner, self.now, self.lines, self.over = inner, 0.0, [], threading.Event()
        self.front = front.Front(inner, threads=2, say=self.lines.append, host="127.0.0.1", port=0, **options)
        self.front.ready.clock = lambda: self.now
        self.door = next(each for each in self.front.map.values() if hasattr(each, "effective_port"))
        self.line = http.client.HTTPConnection("127.0.0.1", self.door.effective_port, timeout=30)
        self.turning = threading.Thread(target=self.turn)
        self.turning.start()

    def turn(self):
        while not self.over.is_set():
            self.front.turn()
        self.front.stop(0)

    def end(self):
        self.line.close()
        self.over.set()
        self.door.pull_trigger()  # else it waits for a second
        self.turning.join()

    def get(self, path, method="GET", body=None, **headers):
        """Status and body, by one line as long as it is open."""
        named = {name.replace("_", "-"): text for name, text in headers.items()}
        self.line.request(method, path, body, named)
        with self.line.getresponse() as answer:
            found = answer.status, answer.read()
        until(lambda: not any(each.requests for each in self.front.channels()))  # it is kept by now
        return found


@pytest.fixture
def standing():
    with contextlib.ExitStack() as stack:

        def stand(inner=None, **options):
            made = Standing(inner or Inner(), **options)
            stack.callback(made.end)
            return made

        yield stand


@pytest.mark.parametrize("path", ["/", "/theme.css", "/assets/a.mjs?m=1", IMAGE, "/lib/x", "/recipe/fold"])
def test_what_all_ask_for_is_made_once_and_anew_after_some_seconds(standing, path):
    inner = Inner()
    server = standing(inner)
    first = server.get(path)
    server.now = LASTS
    assert server.get(path) == first and inner.asked == inner.closed == 1
    server.now += 0.1
    assert server.get(path) != first


@pytest.mark.parametrize("path", ["/layernorm", "/still/fold.svg", "/healthz", "/run/x.npz", "/assetsx"])
def test_other_paths_are_always_asked_for(standing, path):
    server = standing()
    assert server.get(path) != server.get(path)


@pytest.mark.parametrize("mount", ["/normscape", "/a/b"])
def test_it_stands_at_its_prefix_too(standing, mount):
    server = standing(prefix=f"{mount}/")
    for path in (mount, f"{mount}/", f"{mount}/assets/a.mjs", "/", "/assets/a.mjs"):
        assert server.get(path) == server.get(path)
    for path in (f"{mount}assets/a.mjs", f"{mount}/layernorm"):
        assert server.get(path) != server.get(path)


@pytest.mark.parametrize(
    "headers",
    [
        {"If_Modified_Since": "Sun, 22 Nov 2026 10:00:00 GMT"},
        {"Range": "bytes=0-1"},
        {"Expect": "something"},
        {"Connection": "close"},
        {"Content_Length": "0"},
    ],
)
def test_a_condition_or_a_body_is_the_applications(standing, headers):
    server = standing()
    assert server.get("/", **headers) != server.get("/", **headers)


def test_methods_that_are_no_get_are_the_applications(standing):
    server = standing()
    assert server.get("/", "POST", b"x") != server.get("/", "POST", b"x")
    server.get("/", "HEAD")
    assert server.get("/")[1].startswith(b"4")


@pytest.mark.parametrize(
    "name", ["Host", "Accept_Encoding", "Cookie", "If_None_Match", "X_Forwarded_Proto", "X_Forwarded_Host"]
)
def test_whoever_sends_other_headers_has_an_answer_of_their_own(standing, name):
    server = standing()
    plain, other = server.get("/"), server.get("/", **{name: "example.org"})
    assert plain != other
    assert server.get("/") == plain and server.get("/", **{name: "example.org"}) == other


def test_who_has_it_is_told_so_again_by_the_same_line(standing):
    """Waitress closes after an answer without a length: each 304 of a page's forty cost a new connection."""
    inner = Inner(status=304)
    server = standing(inner)
    server.line.connect()
    opened = server.line.sock
    for path in ("/", "/", "/layernorm"):
        assert server.get(path, If_None_Match='"a"') == (304, b"")
    assert inner.asked == 2 and server.line.sock is opened


@pytest.mark.parametrize(
    "answer",
    [
        {"status": 404},
        {"status": 429},
        {"headers": {"Set-Cookie": "a=b"}},
        {"headers": {"Cache-Control": "private, no-store"}},
    ],
)
def test_what_is_not_for_all_is_not_kept(standing, answer):
    server = standing(Inner(**answer))
    assert server.get("/") != server.get("/")


def test_what_is_cut_short_is_not_kept(standing):
    def short(environment, start):
        start("200 OK", [("Content-Length", "1000")])
        return [b"short"]

    server = standing(short)
    for _ in range(2):
        with pytest.raises(http.client.IncompleteRead):
            server.get("/")
        server.line.close()
    assert not server.front.ready.known


def test_what_is_kept_has_a_bound_and_the_oldest_goes(standing, monkeypatch):
    monkeypatch.setattr(ready, "MOST", 10_000)
    server = standing()
    first = [server.get(f"/assets/{k}") for k in range(30)]
    kept = server.front.ready
    assert kept.size == sum(map(ready.size, kept.known, kept.known.values())) <= 10_000
    assert server.get("/assets/29") == first[29] and server.get("/assets/0") != first[0]
    long = "/assets/" + "x" * 2000
    assert server.get(long) != server.get(long), "of one an eighth of it"
    server.now = LASTS + 1
    server.get("/assets/new")
    assert len(kept.known) == 1, "what is over has gone"


def test_many_that_are_asked_at_once_of_what_is_ready_are_answered_in_turn(standing):
    server, many = standing(), 200
    expected = server.get("/theme.css")[1]
    name = f"Host: 127.0.0.1:{server.line.port}\r\nAccept-Encoding: identity\r\n\r\n"
    server.line.sock.sendall(many * f"GET /theme.css HTTP/1.1\r\n{name}".encode())
    parts = []
    until(lambda: parts.append(server.line.sock.recv(2**16)) or b"".join(parts).count(expected) == many)
    assert server.inner.asked == 1


@pytest.mark.parametrize(("proxies", "who"), [(0, "127.0.0.1"), (1, "192.0.2.7")])
def test_the_log_has_a_line_for_each(standing, proxies, who):
    server = standing(proxies=proxies)
    for _ in range(2):
        server.get("/assets/a", X_Forwarded_For="192.0.2.9, 192.0.2.7")
    until(lambda: len(server.lines) == 2)
    made, given = server.lines
    assert given.startswith(f'{who} "GET /assets/a HTTP/1.1" 200 ')
    assert made.partition(" bytes")[0].split()[1:] == given.partition(" bytes")[0].split()[1:]


def test_an_application_that_fails_says_so_each_time(standing):
    def failing(environment, start):
        raise RuntimeError("no")

    server = standing(failing)
    assert [server.get("/")[0] for _ in range(2)] == [500, 500]


def test_the_explorer_answers_the_same_again(standing):
    server = standing(app.create_app().server)
    for path in ("/", "/theme.css", "/card/fold.svg?theme=light", "/recipe/fold"):
        first = server.get(path, Accept_Encoding="gzip")
        assert first[0] == 200 and server.get(path, Accept_Encoding="gzip") == first
    assert len(server.front.ready.known) == 4
    assert all(b"X-Content-Type-Options" in each.head for each in server.front.ready.known.values())
    assert b'data-scheme="dark"' in server.get("/", Cookie="theme=dark")[1]


def test_what_somebody_is_refused_the_next_one_is_given():
    """The home page has no picture for who owes too much; for a while it had none for anybody."""
    server = app.create_app().server
    client, path, greedy = server.test_client(), "/", {"REMOTE_ADDR": "192.0.2.9"}
    server.extensions["budget"].charge("192.0.2.9", 1000)
    without = client.get(path, environ_overrides=greedy)
    with_it = client.get(path, environ_overrides={"REMOTE_ADDR": "192.0.2.1"})
    assert without.headers["Cache-Control"] == "no-store" and b"<svg" not in without.data
    assert b"<svg" in with_it.data and with_it.headers["Cache-Control"] == "private, no-cache"


@pytest.mark.parametrize("path", ["/story", "/fold", "/fold?progress=1"])
def test_a_page_without_its_picture_is_kept_by_nobody(path):
    server = app.create_app().server
    server.extensions["budget"].charge("192.0.2.9", 1000)
    answer = server.test_client().get(path, environ_overrides={"REMOTE_ADDR": "192.0.2.9"})
    assert answer.status_code == 200 and answer.headers["Cache-Control"] == "no-store"
