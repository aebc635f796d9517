"""Orders for trainings, and the cookie by which the server tells browsers apart."""

import re

import pytest

import app
from components.pages.follow import BROWSER_COOKIE
from components.settings import Settings
from components.training import queue
from components.training.queue import REPLACED

pytestmark = pytest.mark.usefixtures("idle")
ORDER = {"slug": "spiral", "choices": {"n": "40"}, "steps": 100, "lr": 0.01, "seeds": 2, "seed": 0}
SET = re.compile(rf"{BROWSER_COOKIE}=[0-9a-f]{{32}}; .*")


@pytest.fixture(autouse=True)
def own_store(tmp_path, monkeypatch):
    monkeypatch.setenv("CACHE_DIR", str(tmp_path))


def press_train(client, order=ORDER, prefix="/", **request):
    """Send the order that a page sends when a reader clicks "Train"; returns the response.

    prefix: the path of the application. request: further arguments of `client.post`.
    """
    return client.post(f"{prefix}training", json=order, **request)


def train(client, order=ORDER):
    """Order a training as a page does, and return its ticket."""
    return press_train(client, order).json["ticket"]


def test_wrong_numbers_are_told_by_name_and_nothing_is_queued():
    answer = press_train(app.create_app().server.test_client(), ORDER | {"steps": 99, "lr": None})
    assert answer.status_code == 200 and answer.json.keys() == {"wrong", "refused"}
    assert answer.json["wrong"].keys() == {"steps", "lr"} and not queue.active()


def test_an_order_that_cannot_be_taken_is_refused_in_words():
    server = app.create_app().server
    answer = press_train(server.test_client(), ORDER | {"slug": "layernorm"})
    assert answer.status_code == 400 and "nothing can be trained" in answer.json["error"]
    for _ in range(Settings.client_trainings):
        assert train(server.test_client())
    answer = press_train(server.test_client())
    assert answer.status_code == 503 and answer.headers["Retry-After"] == "60"
    assert "of this address are under way. Try again in 60 s." in answer.json["error"]


@pytest.mark.parametrize("kind", ["application/octet-stream", "text/plain", "multipart/form-data", ""])
def test_no_form_of_another_site_orders_a_training(kind):
    answer = app.create_app().server.test_client().post("/training", data="{}", content_type=kind)
    assert answer.status_code == 415 and not queue.active()


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
    """The cookie is for the explorer's path only, is hidden from scripts, and ends with the browser session.

    Browsers do not send it with requests from other sites. Over HTTPS it is also `Secure`. No shared cache
    keeps the response that sets it.
    """
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
    assert first.json["ticket"] and "Set-Cookie" not in press_train(client).headers
