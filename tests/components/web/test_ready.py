"""Answers that are given again for some seconds: to whom, for how long, and at what size."""

import pytest
from werkzeug.test import Client
from werkzeug.wrappers import Request, Response

import app
from components.web import ready
from components.web.ready import LASTS, Ready


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


@pytest.fixture
def now():
    return [0.0]


def standing(now, inner):
    return Client(Ready(inner, lambda: now[0]))


@pytest.mark.parametrize(
    "path", ["/", "/theme.css", "/assets/a.mjs?m=1", "/card/fold.svg?theme=dark", "/lib/x"]
)
def test_what_all_ask_for_is_made_once_and_anew_after_some_seconds(now, path):
    inner = Inner()
    client = standing(now, inner)
    first = client.get(path)
    now[0] = LASTS
    again = client.get(path)
    assert (again.data, again.status, list(again.headers)) == (first.data, first.status, list(first.headers))
    assert inner.asked == inner.closed == 1
    now[0] += 0.1
    assert client.get(path).data != first.data


@pytest.mark.parametrize("path", ["/layernorm", "/recipe/fold", "/still/fold.svg", "/healthz", "/run/x.npz"])
def test_other_paths_are_always_asked_for(now, path):
    inner = Inner()
    client = standing(now, inner)
    assert client.get(path).data != client.get(path).data


@pytest.mark.parametrize(
    "headers",
    [
        {"If-None-Match": '"a"'},
        {"If-Modified-Since": "Sun, 22 Nov 2026 10:00:00 GMT"},
        {"Range": "bytes=0-1"},
    ],
)
def test_a_condition_is_the_applications(now, headers):
    client = standing(now, Inner())
    assert client.get("/", headers=headers).data != client.get("/", headers=headers).data


def test_methods_that_are_no_get_are_the_applications(now):
    client = standing(now, Inner())
    assert client.post("/").data != client.post("/").data
    client.head("/")
    assert client.get("/").data.startswith(b"4")


@pytest.mark.parametrize("headers", [{"Host": "example.org"}, {"Accept-Encoding": "gzip"}])
def test_whoever_sends_other_headers_has_an_answer_of_their_own(now, headers):
    client = standing(now, Inner())
    plain, other = client.get("/").data, client.get("/", headers=headers).data
    assert plain != other
    assert client.get("/").data == plain and client.get("/", headers=headers).data == other


def test_a_cookie_is_one_readers(now):
    client = standing(now, Inner())
    plain = client.get("/").data
    client.set_cookie("theme", "dark")
    assert client.get("/").data not in (plain, b"")


@pytest.mark.parametrize("answer", [{"status": 404}, {"status": 429}, {"headers": {"Set-Cookie": "a=b"}}])
def test_what_is_not_for_all_is_not_kept(now, answer):
    client = standing(now, Inner(**answer))
    assert client.get("/").data != client.get("/").data


def test_what_is_kept_has_a_bound(now, monkeypatch):
    monkeypatch.setattr(ready, "MOST", 200)
    inner = Inner()
    client = standing(now, inner)
    kept = [f"/assets/{k}" for k in range(9)]
    first = [client.get(path).data for path in kept]
    assert sum(client.get(path).data == data for path, data in zip(kept, first, strict=True)) == 100 // len(
        first[0]
    )
    now[0] = LASTS + 1
    assert client.get("/assets/new").data == client.get("/assets/new").data, "room was made"


def test_an_application_that_fails_gives_its_error():
    def failing(environment, start):
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        Client(Ready(failing)).get("/")


def test_the_explorer_answers_the_same_again():
    client = app.create_app().server.test_client()
    for path in ("/", "/theme.css", "/card/fold.svg?theme=light"):
        first, again = client.get(path), client.get(path)
        assert first.data == again.data and dict(first.headers) == dict(again.headers)
        assert "Content-Security-Policy" in again.headers
    client.set_cookie("theme", "dark")
    assert 'data-scheme="dark"' in client.get("/").text


def test_what_somebody_is_refused_the_next_one_is_given(monkeypatch):
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
