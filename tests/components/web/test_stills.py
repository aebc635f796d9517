"""Stills as they are served: what is asked for twice is drawn once."""

import gzip
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from app import create_app
from components.drawing import card, still
from components.language.scene import scenes
from components.training import store
from components.web import stills
from components.web.budget import QUEUE_LENGTH
from learning.weights import weights_text
from tests.waiting import until

PATH = "/still/fold.svg?theme=dark"
GZIP = {"Accept-Encoding": "gzip"}


@pytest.fixture
def client():
    return create_app().server.test_client()


@pytest.fixture
def drawings(monkeypatch):
    """The recipes that are drawn from now on, each slowly."""
    drawn, draw = [], still.svg

    def slowly(recipe, state):
        drawn.append(recipe)
        time.sleep(0.05)
        return draw(recipe, state)

    monkeypatch.setattr(still, "svg", slowly)
    return drawn


def test_a_picture_is_drawn_once(client, drawings):
    first, again = (client.get(PATH, headers=GZIP) for _ in range(2))
    assert len(drawings) == 1 and first.data == again.data and first.headers["ETag"] == again.headers["ETag"]
    assert gzip.decompress(first.data) == client.get(PATH).data and len(drawings) == 1
    assert client.get("/still/fold.svg?theme=light").data != client.get(PATH).data and len(drawings) == 2


def test_a_class_that_asks_for_one_picture_waits_for_the_first(monkeypatch):
    """All but as many as find a place were sent away, and an image does not ask again."""
    server, drawn, may, draw = create_app().server, [], threading.Event(), still.svg

    def slowly(*asked):
        drawn.append(1)
        assert may.wait(60)
        return draw(*asked)

    def ask(_):
        return server.test_client().get("/still/fold.svg?progress=1").status_code

    monkeypatch.setattr(still, "svg", slowly)
    crowd = 3 * QUEUE_LENGTH
    with ThreadPoolExecutor(crowd) as pool:
        answers = [pool.submit(ask, k) for k in range(crowd)]
        until(lambda: drawn)
        may.set()
    assert [each.result() for each in answers] == [200] * crowd and len(drawn) == 1


@pytest.mark.parametrize("headers", [{}, GZIP, {"Accept-Encoding": "gzip, br, zstd"}])
def test_who_has_it_is_told_so_without_a_drawing_also_by_another_process(client, drawings, headers):
    name = client.get(PATH, headers=headers).headers["ETag"]
    drawings.clear()
    other = create_app().server.test_client()
    for known in (name, f"W/{name}", f'"another", {name}'):
        answer = other.get(PATH, headers={**headers, "If-None-Match": known})
        assert (answer.status_code, answer.data, drawings) == (304, b"", [])
        assert answer.headers["ETag"] == name and answer.headers["Cache-Control"] == "no-cache"


def test_a_card_is_drawn_once_for_all_processes_and_without_a_store_by_each(monkeypatch, tmp_path):
    monkeypatch.setenv("CACHE_DIR", str(tmp_path))
    drawings, draw = [], card.card
    monkeypatch.setattr(card, "card", lambda *asked: drawings.append(asked) or draw(*asked))
    monkeypatch.setattr(stills, "scenes", lambda: {"fold": scenes()["fold"]})

    def process():
        stills.undressed.cache_clear()
        return create_app().server.test_client().get("/card/fold.svg?theme=dark", headers=GZIP).data

    stills.undressed.cache_clear()
    stills.gallery()
    assert len(drawings) == 1, "for all themes"
    assert process() == process() and len(drawings) == 1

    def away(*_):
        raise store.StoreUnavailable

    monkeypatch.setattr(store.Store, "_storage", away)
    assert process() == process() and len(drawings) == 3


def test_a_card_that_an_image_has_is_drawn_by_nobody(monkeypatch, tmp_path):
    monkeypatch.setenv("CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(stills, "scenes", lambda: {"fold": scenes()["fold"]})
    monkeypatch.setattr(stills, "front_pages", dict)
    monkeypatch.setattr(stills, "DRAWN_BEFORE", tmp_path / "cards")
    assert stills.missing()
    stills.gallery(stills.DRAWN_BEFORE)
    assert not stills.missing() and not stills.CARDS_KEPT.items()
    drawings, draw = [], card.card
    monkeypatch.setattr(card, "card", lambda *asked: drawings.append(asked) or draw(*asked))
    ask = lambda: create_app().server.test_client().get("/card/fold.svg?theme=dark", headers=GZIP).data  # noqa: E731
    stills.undressed.cache_clear()
    sound = ask()
    assert drawings == [] and gzip.decompress(sound).startswith(b"<svg")
    for each in stills.DRAWN_BEFORE.iterdir():
        each.write_bytes(sound[:-9])
    assert stills.missing() and ask() == sound and len(drawings) == 1
    stills.gallery()
    assert not stills.missing(), "for all processes"
    monkeypatch.setattr(stills, "version", lambda: "another")
    assert stills.missing()


@pytest.mark.parametrize("spoilt", [lambda body: body[:-9], lambda body: b"", lambda body: b"<svg/>" + body])
def test_a_card_that_is_not_whole_is_drawn_again(monkeypatch, tmp_path, spoilt):
    """A disk that was full, or another hand: what is served once stays in every browser."""
    monkeypatch.setenv("CACHE_DIR", str(tmp_path))
    sound = create_app().server.test_client().get("/card/fold.svg?theme=dark").data
    name, kept = stills.named("card", scenes()["fold"], {"theme": "dark"}, True), stills.CARDS_KEPT
    kept.set(name, spoilt(kept.get(name)))
    assert create_app().server.test_client().get("/card/fold.svg?theme=dark").data == sound
    assert stills.whole(kept.get(name)), "and is kept for the others"


def test_another_picture_has_another_name(client):
    paths = [PATH, "/still/fold.svg", "/still/stretch.svg?theme=dark", f"{PATH}&progress=1"]
    names = [client.get(path, headers=headers).headers["ETag"] for path in paths for headers in ({}, GZIP)]
    assert len(set(names)) == len(names)
    for path in paths[1:]:
        assert client.get(path, headers={"If-None-Match": names[0]}).status_code == 200


def test_a_class_that_comes_at_once_has_it_drawn_once(drawings):
    server, start = create_app().server, threading.Barrier(8)

    def visit(_):
        start.wait()
        return server.test_client().get(PATH, headers=GZIP).data

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(visit, range(8)))) == 1
    assert len(drawings) == 1


def test_what_is_wrong_stays_wrong(client):
    for known in ({}, {"If-None-Match": "*"}):
        assert client.get("/still/fold.svg?theme=blue", headers=known).status_code == 400
        assert client.get("/still/nothing.svg", headers=known).status_code == 404


@pytest.mark.parametrize("query, free", [("", True), ("?theme=dark", True), ("?theme=nonsense", False)])
def test_only_the_gallery_s_pictures_cost_no_budget(client, query, free):
    budget = client.application.extensions["budget"]
    budget.clock = lambda: 0.0  # nothing is paid back meanwhile
    client.get(f"/still/norms.svg{query}")
    assert (budget.owed("127.0.0.1") == 0) == free


def test_a_reader_s_own_network_is_not_kept(client, drawings):
    network = scenes()["spiral"].training.task(scenes()["spiral"].choose({"n": "30"}))[0]
    query = {"n": 30, "net": weights_text(network, np.full(network.size, 0.1))}
    for _ in range(2):
        assert client.get("/still/spiral.svg", query_string=query).status_code == 200
    assert len(drawings) == 2


def test_a_new_version_has_new_names(tmp_path, monkeypatch):
    monkeypatch.setattr(stills, "ROOT", tmp_path)
    (tmp_path / "films").mkdir()
    found = []
    for name, text in (("a", "1"), ("a", "2"), ("b", "2")):
        (tmp_path / "films" / name).write_text(text)
        found.append(stills.version.__wrapped__())
    assert len(set(found)) == 3 and found[-1] == stills.version.__wrapped__()
