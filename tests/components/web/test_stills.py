"""Served pictures: what is requested twice is drawn once."""

import gzip
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from app import create_app
from components.drawing import card, still
from components.language.scene import scenes
from components.web import stills
from components.web.budget import QUEUE_LENGTH
from learning.weights import weights_text
from tests.waiting import PATIENCE, until

PATH = "/still/fold.svg?theme=dark"
GZIP = {"Accept-Encoding": "gzip"}


@pytest.fixture(autouse=True)
def own_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def client():
    return create_app().server.test_client()


@pytest.fixture
def drawings(monkeypatch):
    """A list of all recipes that are drawn from now on; each drawing is made slow."""
    drawn, draw = [], still.svg

    def slowly(recipe, state):
        drawn.append(recipe)
        time.sleep(0.05)
        return draw(recipe, state)

    monkeypatch.setattr(still, "svg", slowly)
    return drawn


def test_a_picture_is_drawn_once(client, drawings):
    first, again = (client.get(PATH, headers=GZIP) for _ in range(2))
    assert len(drawings) == 1 and first.headers["ETag"] == again.headers["ETag"]
    # the compressed bytes contain the time
    assert {gzip.decompress(each.data) for each in (first, again)} == {client.get(PATH).data}
    assert len(drawings) == 1
    assert client.get("/still/fold.svg?theme=light").data != client.get(PATH).data and len(drawings) == 2


def test_a_class_that_asks_for_one_picture_waits_for_the_first(monkeypatch):
    """Simultaneous requests for one picture wait for the first, and none is refused.

    A browser does not ask again for an image that was refused.
    """
    server, drawn, may, draw = create_app().server, [], threading.Event(), still.svg

    def slowly(*asked):
        drawn.append(1)
        assert may.wait(PATIENCE)
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


def test_two_servers_that_share_a_folder_write_a_picture_to_files_of_their_own(monkeypatch):
    """Two servers that write the same picture into a common folder use different temporary files.

    Process ids cannot tell the servers apart, because in containers they can be equal.
    """
    written = []
    monkeypatch.setattr(Path, "replace", lambda part, path: written.append(part))
    for _ in range(2):
        stills.kept("card", scenes()["fold"])
    assert len(set(written)) == 2


@pytest.mark.parametrize("headers", [{}, GZIP, {"Accept-Encoding": "gzip, br, zstd"}])
def test_who_has_it_is_told_so_also_by_another_process(client, headers):
    name = client.get(PATH, headers=headers).headers["ETag"]
    for known in (name, f"W/{name}", f'"another", {name}'):
        answer = create_app().server.test_client().get(PATH, headers={**headers, "If-None-Match": known})
        assert (answer.status_code, answer.data) == (304, b"") and answer.headers["ETag"] == name
        assert answer.headers["Cache-Control"] == "no-cache"


@pytest.fixture
def cards(monkeypatch):
    """A list that gets the arguments of each card that is drawn from now on; only one scene has cards."""
    monkeypatch.setattr(stills, "scenes", lambda: {"fold": scenes()["fold"]})
    drawings, draw = [], card.card
    monkeypatch.setattr(card, "card", lambda *asked: drawings.append(asked) or draw(*asked))
    return drawings


def process():
    """The card of the scene `fold`, as bytes, from a new application that stands for another process."""
    return create_app().server.test_client().get("/card/fold.svg?theme=dark").data


def test_a_card_is_drawn_once_for_all_processes_and_without_a_folder_by_each(cards, monkeypatch):
    stills.draw_cards()
    assert len(cards) == 1, "for all themes"
    assert process() == process() and len(cards) == 1
    monkeypatch.setenv("CACHE_DIR", "/proc/nowhere")
    assert process() == process() and len(cards) == 3


def test_a_card_that_an_image_has_is_drawn_by_nobody(cards, monkeypatch, tmp_path):
    monkeypatch.setattr(stills, "IMAGE_FOLDER", tmp_path / "cards")
    stills.IMAGE_FOLDER.mkdir()
    stills.draw_cards()
    monkeypatch.setenv("CACHE_DIR", "/proc/nowhere")
    assert process().startswith(b"<svg") and len(cards) == 1


def test_cards_of_another_version_are_drawn_anew(cards, monkeypatch):
    stills.draw_cards()
    monkeypatch.setattr(stills, "version", lambda: "another")
    stills.draw_cards()
    assert len(cards) == 2 and [each.name for each in stills.folder().iterdir()] == ["another"]


def test_a_card_that_could_not_be_written_whole_is_drawn_again(cards, monkeypatch):
    """A card that a full disk has cut off is drawn again. Otherwise browsers would keep the damaged card."""

    def full(path, body):
        with path.open("wb") as file:
            file.write(body[:9])
        raise OSError("no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(stills.Path, "write_bytes", full)
        sound = process()
    assert process() == sound and sound.endswith(b"</svg>")


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
        return gzip.decompress(server.test_client().get(PATH, headers=GZIP).data)

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
    query = {"n": 30, "net": weights_text(network, np.full(network.parameter_count, 0.1))}
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
