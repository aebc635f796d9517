"""The cookie by which the training panel tells apart browsers."""

import re

import pytest

import app
from components.pages.panel import ASKED, BROWSER_COOKIE, PANEL, TOLD
from components.training import queue
from components.training.queue import REPLACED

pytestmark = pytest.mark.usefixtures("idle")
ORDER = {"slug": "spiral", "choices": {"n": "40"}, "steps": 100, "lr": 0.01, "seeds": 2, "seed": 0}
SET = re.compile(rf"{BROWSER_COOKIE}=[0-9a-f]{{32}}; .*")


@pytest.fixture(autouse=True)
def own_store(tmp_path, monkeypatch):
    monkeypatch.setenv("CACHE_DIR", str(tmp_path))


def press_train(client, order=ORDER, prefix="/", **request):
    """The response to a click on "Train" in a page that `client` shows."""
    body = {
        "output": f"{PANEL}.{TOLD}",
        "outputs": {"id": PANEL, "property": TOLD},
        "inputs": [{"id": PANEL, "property": ASKED, "value": order}],
        "changedPropIds": [f"{PANEL}.{ASKED}"],
    }
    return client.post(f"{prefix}_dash-update-component", json=body, **request)


def train(client, order=ORDER):
    """The ticket of a training that a page starts."""
    return press_train(client, order).json["response"][PANEL][TOLD]["ticket"]


def test_a_browser_has_one_training_and_another_browser_its_own():
    server = app.create_app().server
    mine, other = server.test_client(), server.test_client()
    first, others = train(mine), train(other)
    second = train(mine)
    assert first and queue.active().keys() == {others, second}
    assert mine.get_cookie(BROWSER_COOKIE).value != other.get_cookie(BROWSER_COOKIE).value


def test_replicas_of_the_web_server_know_a_browser_without_a_common_secret():
    one, two = (app.create_app().server.test_client() for _ in range(2))
    first = train(one)
    two.set_cookie(BROWSER_COOKIE, one.get_cookie(BROWSER_COOKIE).value)
    second = train(two)
    assert queue.active().keys() == {second} and one.post(f"/training/{first}", json={}).json == {
        "end": REPLACED
    }


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("path", ["/sub/", "/"], ids=["prefix kept", "prefix stripped"])
def test_the_cookie_is_of_this_explorer_alone_and_goes_with_the_browser(monkeypatch, scheme, path):
    """The cookie is for this path, invisible to scripts and to requests of other sites, and not permanent."""
    monkeypatch.setenv("NORMSCAPE_PREFIX", "/sub/")
    client = app.create_app().server.test_client()
    answer = press_train(client, prefix=path, base_url=f"{scheme}://here")
    (got,) = answer.headers.getlist("Set-Cookie")
    said = {"HttpOnly", "Path=/sub/", "SameSite=Strict"} | ({"Secure"} if scheme == "https" else set())
    assert SET.fullmatch(got) and set(got.split("; ")[1:]) == said
    assert answer.headers["Cache-Control"].startswith("private") and "X-Accel-Expires" not in answer.headers


def test_a_cookie_is_set_once():
    client = app.create_app().server.test_client()
    assert ["Set-Cookie" in press_train(client).headers for _ in range(2)] == [True, False]


def test_only_a_training_sets_it():
    client = app.create_app().server.test_client()
    for path in ("/", "/spiral", "/recipe/spiral", "/_dash-layout", "/healthz"):
        assert "Set-Cookie" not in client.get(path).headers, path
    assert "Set-Cookie" not in press_train(client, ORDER | {"steps": -1}).headers


SIGNED = "eyJ3aG8iOiI0YTQxOTYyYTQ1YjA0YmFlIn0.aScXeA.8cRAqXGjcg5zHk2SgVq9W2hQ6tM"  # of earlier versions
MALFORMED = [SIGNED, "0", "", "f" * 31, "f" * 33, "F" * 32, "g" * 32, " " + "f" * 31, "٣" * 32, "f" * 4000]


@pytest.mark.parametrize("value", MALFORMED, ids=range(len(MALFORMED)))
def test_a_malformed_cookie_is_replaced(value):
    client = app.create_app().server.test_client()
    client.set_cookie(BROWSER_COOKIE, value)
    first = press_train(client)
    assert SET.fullmatch(first.headers["Set-Cookie"])
    assert first.json["response"][PANEL][TOLD]["ticket"] and "Set-Cookie" not in press_train(client).headers
