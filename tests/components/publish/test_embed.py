"""Embeds and oEmbed over HTTP, with Flask's test client."""

import re
from html import unescape
from urllib.parse import quote

import pytest

import app
from components.language.scene import scenes

EVERY = pytest.mark.parametrize("slug", scenes())


@pytest.fixture(scope="module")
def client():
    return app.create_app().server.test_client()


@EVERY
def test_an_embed_is_without_dash(client, slug):
    page = client.get(f"/embed/{slug}").text
    assert 'class="poster"' in page and "<path" in page
    assert "dash" not in page.lower().replace("stroke-dasharray", "") and "react" not in page.lower()


def test_the_picture_is_of_the_links_state(client):
    def poster(query):
        return client.get(f"/embed/layernorm{query}").text.partition("<svg")[2].partition("</svg>")[0]

    pictures = [poster(q) for q in ("", "?progress=2", "?d=2", "?gamma1=1.9&progress=4", "?camera=2,0,0.5")]
    assert len(set(pictures)) == len(pictures)


WRONG = [
    ("d=9", "d"),
    ("gamma1=99", "gamma1"),
    ("controls=gamma9", "controls"),
    ("controls=", "controls"),
    ("autoplay=yes", "autoplay"),
    ("theme=blue", "theme"),
    ("d=2&d=3", "d"),
    ("d=2&controls=gamma3", "controls"),
    ("%3Cscript%3E=1", "<script>"),
]


@pytest.mark.parametrize(("query", "parameter"), WRONG)
def test_a_wrong_value_is_a_page_for_people_and_json_for_programs(client, query, parameter):
    page = client.get(f"/embed/layernorm?{query}", headers={"Accept": "text/html,*/*;q=0.8"})
    assert page.status_code == 400 and page.mimetype == "text/html" and "<script>=" not in page.text
    data = client.get(f"/embed/layernorm?{query}", headers={"Accept": "application/json"})
    assert data.status_code == 400 and data.json["parameter"] == parameter and data.json["allowed"]
    assert data.json["error"] in unescape(page.text)


def test_an_unknown_embed_is_404(client):
    page = client.get("/embed/nothing")
    assert page.status_code == 404 and page.mimetype == "text/html"
    assert client.get("/embed/nothing", headers={"Accept": "application/json"}).json["parameter"] == "slug"


def test_what_an_embed_passes_on_is_the_shortest_link(client):
    long = "theme=dark&controls=gamma1&n=060&gamma1=1.0&progress=2.50"
    page = unescape(client.get(f"/embed/layernorm?{long}").text)
    assert 'data-query="?n=60&progress=2.5&theme=dark"' in page and 'data-controls="gamma1"' in page
    assert 'href="../layernorm?n=60&progress=2.5&theme=dark"' in page


@pytest.mark.parametrize(
    ("controls", "parts"),
    [
        ("1", {"choices", "parameters", "scrubber"}),
        ("0", set()),
        ("progress", {"scrubber"}),
        ("gamma1,d", {"choices", "parameters"}),
        ("eps", {"parameters"}),
    ],
)
def test_controls_are_those_named(client, controls, parts):
    page = client.get(f"/embed/layernorm?controls={controls}").text
    assert {p for p in ("choices", "parameters", "scrubber") if f'class="{p}"' in page} == parts


@pytest.mark.parametrize(("controls", "row"), [("s1,s2", True), ("s2", False)])
def test_the_sliders_of_a_vector_are_a_row_unless_only_one_is_shown(client, controls, row):
    """A row shows only the vector's name, so a single slider stands in a column, with its own label."""
    page = client.get(f"/embed/strands?controls=progress,{controls}").text
    assert ('class="group vector"' in page) is row and 'class="group' in page


# --- oEmbed

HERE = "http://localhost/layernorm?d=2&progress=1.5"


def ask(client, url=HERE, **more):
    return client.get("/oembed", query_string={"url": url, **more})


def test_oembed_gives_the_figure_of_the_link(client):
    got = ask(client).json
    assert got["type"] == "rich" and got["version"] == "1.0" and got["title"] == scenes()["layernorm"].title
    source = unescape(re.search(r'src="([^"]+)"', got["html"]).group(1))
    assert source == "http://localhost/embed/layernorm?d=2&progress=1.5"
    assert (got["thumbnail_width"], got["thumbnail_height"]) == (1200, 630)
    for address, kind in ((source, "text/html"), (got["thumbnail_url"], "image/png")):
        answer = client.get(address.removeprefix("http://localhost"))
        assert answer.status_code == 200 and answer.mimetype == kind


def test_oembed_takes_the_embed_itself_with_its_controls(client):
    got = ask(client, "http://localhost/embed/layernorm?controls=0&theme=dark").json
    assert "?theme=dark&amp;controls=0" in got["html"] and "controls" not in got["thumbnail_url"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("heads?picture=test&layer=2", "shuffle?layer=2"),
        ("embed/cone?what=layers&s2=0&autoplay=1", "strands?s2=0&autoplay=1"),
        ("heads?picture=cut&heads=4", "heads?heads=4"),
        ("cone?tour=8", "strands"),
    ],
)
def test_oembed_of_an_old_link_is_the_figure_that_shows_this_now(client, old, new):
    got = ask(client, f"http://localhost/{old}").json
    assert unescape(re.search(r'src="([^"]+)"', got["html"]).group(1)) == f"http://localhost/embed/{new}"
    assert got["title"] == scenes()[new.partition("?")[0]].title


def test_oembed_fits_what_the_host_has_room_for(client):
    got = ask(client, maxwidth=300, maxheight=200).json
    assert (got["width"], got["height"]) == (300, 200) and 'width="300" height="200"' in got["html"]
    assert "thumbnail_url" not in got, "it must be within the same bounds"
    large = ask(client, maxwidth=99999).json
    assert large["width"] < 2000 and "thumbnail_url" in large


@EVERY
def test_oembed_knows_the_height_of_each_scene(client, slug):
    narrow, wide = (ask(client, f"http://localhost/{slug}", maxwidth=w).json["height"] for w in (320, 720))
    assert 300 < narrow < 1000 and 400 < wide < 800


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/layernorm",
        "http://localhost.example.org/layernorm",
        "http://localhost/nothing",
        "http://localhost/",
        "ftp://localhost/layernorm",
        "//localhost/layernorm",
        "layernorm",
        "http://[broken/layernorm",
        "",
    ],
)
def test_oembed_of_a_foreign_link_is_404(client, url):
    assert ask(client, url).status_code == 404


@pytest.mark.parametrize(
    ("more", "parameter"),
    [
        ({"maxwidth": "0"}, "maxwidth"),
        ({"maxheight": "wide"}, "maxheight"),
        ({"maxheight": "-3"}, "maxheight"),
        ({"maxwidth": "9" * 5000}, "maxwidth"),
        ({"url": "http://localhost/layernorm?d=9"}, "d"),
        ({"url": "http://localhost/layernorm?d=2&d=3"}, "d"),
    ],
)
def test_oembed_of_a_wrong_value_is_400(client, more, parameter):
    answer = ask(client, **more)
    assert answer.status_code == 400 and answer.json["parameter"] == parameter


def test_oembed_without_a_link_is_400_and_as_xml_501(client):
    assert client.get("/oembed").status_code == 400
    assert ask(client, format="xml").status_code == 501


@EVERY
def test_a_page_says_where_its_oembed_is(client, slug):
    page = client.get(f"/{slug}?theme=dark").text
    found = unescape(re.search(r'application/json\+oembed" href="http://localhost([^"]+)"', page).group(1))
    assert quote(f"http://localhost/{slug}?theme=dark", safe="") in found
    assert "theme=dark" in client.get(found).json["html"]


def test_links_are_right_behind_a_proxy(monkeypatch):
    monkeypatch.setenv("NORMSCAPE_PREFIX", "/shows/normscape/")
    monkeypatch.setenv("TRUSTED_PROXIES", "1")
    client = app.create_app().server.test_client()
    proxied = {"X-Forwarded-Host": "uni.example", "X-Forwarded-Proto": "https"}
    page = client.get("/shows/normscape/layernorm", headers=proxied).text
    link = unescape(re.search(r'json\+oembed" href="([^"]+)"', page).group(1))
    assert link.startswith("https://uni.example/shows/normscape/oembed?")
    got = client.get(link.removeprefix("https://uni.example"), headers=proxied).json
    assert 'src="https://uni.example/shows/normscape/embed/layernorm"' in got["html"]
