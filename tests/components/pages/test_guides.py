"""Guides: files of `docs/` that are also pages of the site, served and static."""

import re
from html import unescape

import pytest

from components.language.guides import guides
from components.language.scene import scenes
from components.language.sources import sources
from components.language.text import plain
from components.pages import guides as pages
from components.pages.markup import written
from components.pages.shell import PAGES, Place
from normscape.app import create_app

LINK = re.compile(r'href="([^"]*)"')
ID = re.compile(r'id="([^"]*)"')
SCENE = re.compile(r'href="/(\w+)">(.*?)</a>')


@pytest.fixture(scope="module")
def client():
    return create_app().server.test_client()


def test_a_guide_has_a_name_of_its_own():
    assert not guides().keys() & {*scenes(), *PAGES, "home"}


@pytest.mark.parametrize("guide", guides().values(), ids=guides())
def test_a_guide_is_a_page_that_the_menu_links(client, guide):
    answer = client.get(f"/{guide.slug}")
    assert answer.status_code == 200 and f"<h1>{guide.title}</h1>" in answer.text
    assert f'<a href="/{guide.slug}">{guide.title}</a>' in client.get("/").text
    assert guide.lead.endswith(".") and f'content="{guide.lead}"' in unescape(answer.text)


@pytest.mark.parametrize("place", [Place("/"), Place("../", static=True)], ids=["served", "static"])
@pytest.mark.parametrize("guide", guides().values(), ids=guides())
def test_links_of_a_guide_lead_to_pages_and_sections_that_exist(guide, place):
    known = {place.scene(slug): set() for slug in scenes()} | {place.page("words"): set(sources())}
    for slug, other in guides().items():
        known[place.page(slug)] = set(ID.findall(written(pages.page(other, place))))
    for href in LINK.findall(written(pages.page(guide, place))):
        page, _, section = href.partition("#")
        assert page.startswith("https://") or page in known, href
        assert not section or section in known[page], href


def test_a_link_to_a_scene_says_its_title():
    found = SCENE.findall(guides()["papers"].linked(Place("/").page))
    linked = [(slug, plain(title)) for slug, title in found if slug in scenes()]
    assert len(linked) > 20 and all(title == scenes()[slug].title for slug, title in linked)


def test_an_unknown_page_is_no_guide(client):
    assert client.get("/design").status_code == 404
