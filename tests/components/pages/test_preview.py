"""Link previews in social networks: meta tags and pictures, by the rules of their crawlers."""

import struct
from html.parser import HTMLParser
from io import BytesIO
from urllib.parse import urlsplit
from urllib.robotparser import RobotFileParser

import numpy as np
import pytest
from PIL import Image

import app
from components.drawing import preview
from components.language.front import front_pages
from components.language.scene import scenes
from components.training.recipes import state_of
from components.web import stills

PAGES = ["", "story", "words", *scenes()]
HEAD = 32 * 1024  # bytes of a page that the most frugal crawler reads
SMALLEST_BOUND = 600_000  # bytes, WhatsApp's; X takes 5 MB, Facebook 8 MB
CRAWLERS = ("facebookexternalhit", "Twitterbot", "LinkedInBot", "Slackbot", "WhatsApp", "Discordbot")
WANTED = {"og:title", "og:description", "og:url", "og:type", "og:image", "og:image:type", "og:image:alt"}
WANTED |= {"og:image:width", "og:image:height", "twitter:card"}


class Tags(HTMLParser):
    """The meta elements in the first HEAD bytes of a page, as the dict `found`, {name: content}.

    It fails if a name occurs twice.
    """

    def __init__(self, page):
        super().__init__()
        self.found = {}
        self.feed(page.encode()[:HEAD].decode("utf-8", "ignore"))

    def handle_starttag(self, tag, attrs):
        told = dict(attrs)
        name = told.get("property") or told.get("name")
        if tag == "meta" and name:
            assert name not in self.found, f"{name} is there twice"
            self.found[name] = told["content"]


@pytest.fixture(scope="module")
def server():
    return app.create_app().server


def crawl(server, path, **headers):
    """The answer to a request like a crawler's: without cookies and without compression."""
    return server.test_client(use_cookies=False).get(path, headers=headers)


def fetched(server, address, **headers):
    there = urlsplit(address)
    assert there.scheme in ("http", "https") and there.netloc
    return crawl(server, f"{there.path}?{there.query}", **headers)


def size(png):
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", png[16:24])


@pytest.mark.parametrize("path", PAGES)
def test_a_page_has_a_preview_that_every_network_shows(server, path):
    page = crawl(server, f"/{path}")
    told = Tags(page.text).found
    assert told.keys() >= WANTED and all(told.values())
    assert told["twitter:card"] == "summary_large_image"
    assert told["og:url"] == f"http://localhost/{path}"
    picture = fetched(server, told["og:image"])
    assert picture.status_code == 200 and picture.mimetype == told["og:image:type"] == "image/png"
    assert "Content-Encoding" not in picture.headers and "Set-Cookie" not in picture.headers
    assert size(picture.data) == (int(told["og:image:width"]), int(told["og:image:height"])) == (1200, 630)
    assert len(picture.data) < SMALLEST_BOUND


def test_robots_may_read_them(server):
    answer = crawl(server, "/robots.txt")
    rules = RobotFileParser()
    rules.parse(answer.text.splitlines() if answer.status_code == 200 else [])  # no file: all is allowed
    for crawler in CRAWLERS:
        assert all(rules.can_fetch(crawler, f"/{path}") for path in ("", "fold", "preview/fold.png"))
    for path in ("/", "/fold", "/preview/fold.png"):
        assert "X-Robots-Tag" not in crawl(server, path).headers


def test_a_link_with_a_state_has_that_in_its_picture(server):
    address = Tags(crawl(server, "/fold?t=1.5&theme=dark&controls=0").text).found["og:image"]
    assert address == "http://localhost/preview/fold.png?t=1.5&theme=dark"
    pictures = [fetched(server, f"{address.partition('?')[0]}{query}").data for query in ("", "?t=1.5")]
    pictures.append(fetched(server, address).data)
    assert len(set(pictures)) == 3
    dark = np.asarray(Image.open(BytesIO(pictures[2])).convert("L"))
    assert np.median(dark) < 60


def test_a_link_with_a_wrong_value_has_the_picture_of_its_scene(server):
    page = crawl(server, "/fold?t=99")
    assert page.status_code == 400
    assert Tags(page.text).found["og:image"] == "http://localhost/preview/fold.png"
    assert crawl(server, "/preview/fold.png?t=99").status_code == 400
    assert crawl(server, "/preview/nothing.png").status_code == 404
    assert crawl(server, "/preview/home.png?theme=dark").status_code == 400


def test_addresses_are_those_of_the_proxy(monkeypatch):
    monkeypatch.setenv("NORMSCAPE_PREFIX", "/shows/normscape/")
    monkeypatch.setenv("TRUSTED_PROXIES", "1")
    monkeypatch.setenv("HOSTS", "uni.example")
    server = app.create_app().server
    said = {"X-Forwarded-Host": "uni.example", "X-Forwarded-Proto": "https"}
    for path, name in (("", "home"), ("story", "story"), ("fold", "fold")):
        told = Tags(crawl(server, f"/shows/normscape/{path}", **said).text).found
        assert told["og:url"] == f"https://uni.example/shows/normscape/{path}"
        assert told["og:image"] == f"https://uni.example/shows/normscape/preview/{name}.png"
        assert fetched(server, told["og:image"], **said).status_code == 200


def test_a_picture_is_drawn_once_a_version(server, monkeypatch):
    first = crawl(server, "/preview/fold.png")
    monkeypatch.setattr(preview, "png", None)  # drawing again would fail
    assert crawl(server, "/preview/fold.png").data == first.data
    known = crawl(server, "/preview/fold.png", **{"If-None-Match": first.headers["ETag"]})
    assert known.status_code == 304 and not known.data


def test_an_image_has_them_from_the_start(tmp_path, monkeypatch):
    some = dict(list(scenes().items())[:1])
    monkeypatch.setattr(stills, "scenes", lambda: some | {"layernorm": scenes()["layernorm"]})
    monkeypatch.setattr(stills, "IMAGE_FOLDER", tmp_path)
    stills.draw_image()
    monkeypatch.setattr(preview, "png", None)
    server = app.create_app().server
    for name in (*some, *front_pages()):
        assert crawl(server, f"/preview/{name}.png").status_code == 200


# --- the picture

TITLES = [page.title for page in front_pages().values()] + [scene.title for scene in scenes().values()]


@pytest.fixture
def words(monkeypatch):
    """A function that takes a title, and returns a Boolean array (height, width) of the pixels of a preview.

    The preview shows only this title. The array is true where a pixel differs from the background.
    """
    state = state_of(scenes()["fold"], {}, tour=False)
    monkeypatch.setattr(preview, "first_view", lambda *_: ((0, 0, 1, 1), ""))

    def drawn(title):
        picture = Image.open(BytesIO(preview.png(state.recipe, state, title)))
        pixels = np.asarray(picture.convert("L")).astype(int)
        return abs(pixels - pixels[0, 0]) > 20

    return drawn


@pytest.mark.parametrize("title", TITLES)
def test_a_title_stands_in_its_column_and_can_be_read_at_half_the_size(words, title):
    ys, xs = np.nonzero(words(title))
    assert xs.min() >= preview.LEFT and xs.max() <= preview.LEFT + preview.COLUMN
    assert (ys > 100).any() and ys.max() < preview.HEIGHT - 40
    size, lines = preview._typeset(title)
    assert size / 2 >= 24 and " ".join(lines) == title


def test_letters_are_drawn_where_the_system_has_no_typefaces(words, monkeypatch):
    """Previews use only the app's own fonts, so their letters do not depend on the fonts of the system."""
    assert words("Words")[200:].any() and words("𝟏")[200:].any()
    monkeypatch.setattr(preview, "FONT_FAMILY", "Arial")
    assert not words("Words").any()


def test_every_colour_is_put_in():
    state = state_of(scenes()["fold"], {"theme": "dark"}, tour=False)
    assert "var(" not in preview.svg(state.recipe, state, "Words")
