"""A teacher's link: its page accepts it, and so do its picture and its embed."""

import re
from html import unescape
from urllib.parse import quote

import pytest

from app import create_app
from components.language.scene import scenes
from components.training.recipes import recipe_of
from components.training.worker import ChildWorker


@pytest.fixture(scope="module")
def client():
    return create_app().server.test_client()


LINK = "/layernorm?n=60&controls=gamma1,progress&tour=2"


def test_a_teachers_link_is_followed(client):
    page = client.get(LINK)
    assert page.status_code == 200
    picture = unescape(re.search('og:image" content="http://localhost([^"]+)', page.text).group(1))
    assert picture == "/preview/layernorm.png?n=60" and client.get(picture).status_code == 200


def test_its_embed_has_the_same_controls_and_no_tour(client):
    told = client.get(f"/oembed?url={quote(f'http://localhost{LINK}', safe='')}")
    assert told.status_code == 200
    source = unescape(re.search('src="http://localhost([^"]+)', told.json["html"]).group(1))
    assert "tour" not in source
    assert 'data-controls="gamma1,progress"' in client.get(source).text
    assert client.get("/embed/layernorm?tour=2").status_code == 400


@pytest.mark.parametrize(
    "wrong", ["controls=nothing", "controls=gamma1,x", "controls=", "tour=0", "tour=99", "tour=a", "tour=²"]
)
def test_what_the_scene_does_not_have_is_refused(client, wrong):
    assert client.get(f"/layernorm?{wrong}").status_code == 400


@pytest.mark.parametrize("link", ["layernorm?tour=99", "layernorm?autoplay=1", "embed/layernorm?tour=2"])
def test_a_link_that_its_page_refuses_has_no_figure(client, link):
    assert client.get(f"/{link}").status_code == 400
    assert client.get(f"/oembed?url={quote(f'http://localhost/{link}', safe='')}").status_code == 400


def test_a_picture_takes_any_link(client):
    whole, same = client.get(f"/still{LINK.replace('?', '.svg?')}"), client.get("/still/layernorm.svg?n=60")
    assert whole.status_code == 200 and whole.text == same.text


def test_a_page_is_no_embed(client):
    assert client.get("/layernorm?autoplay=1").status_code == 400


def test_a_text_of_letters_and_a_seed_to_pick_stand_in_the_first_paint(client):
    """The list of characters, and the control of the seed, are in a page's HTML before the player starts.

    So nothing moves when it starts. A scene with a single shipped seed has no control of the seed.
    """
    page, recipe = client.get("/language").text, recipe_of(scenes()["language"])
    letters = next(c.labels for c in recipe.clouds if c.name == "keys")
    assert page.count('role="option"') == len(letters) and 'class="key">no query can choose:' in page
    picked = 'class="choice picked"'
    assert picked in client.get("/majority").text and picked not in client.get("/labels").text


def test_a_worker_starts_when_the_panel_of_a_training_is_opened(client, monkeypatch):
    """Opening the panel starts a worker; loading the page does not, because a worker imports torch."""
    started = []
    monkeypatch.setattr(ChildWorker, "ready", lambda worker: started.append(worker))
    assert client.get("/spiral").status_code == 200 and not started
    assert client.get("/_dash-layout").status_code == 200 and len(started) == 1
