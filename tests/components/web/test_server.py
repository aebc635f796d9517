"""The HTTP contract, with Flask's test client."""

import gzip
import json
import re

import numpy as np
import pytest

import app
from components.language.scene import scenes
from components.pages import modules
from learning.weights import weights_text


@pytest.fixture(scope="module")
def client():
    return app.create_app().server.test_client()


def test_health(client):
    answer = client.get("/healthz")
    assert answer.status_code == 200 and answer.json == {"status": "ok", "degraded": []}


@pytest.mark.parametrize("name", ["page/style.css", "player/player.mjs"])
def test_the_files_of_pages_are_there(client, name):
    with client.get(f"/assets/{name}") as answer:
        assert answer.status_code == 200


def test_a_version_of_them_is_kept_for_good(client):
    """A file of `assets/` whose address has the present version is immutable, so browsers keep it for good.

    For an address with any other version, the server sends the present file, which browsers must revalidate.
    """
    for known, lasting in ((modules.version(), True), ("0123456789ab", False)):
        with client.get(f"/assets/{known}/player/player.mjs") as answer:
            assert answer.text == modules.asset("player/player.mjs")
            assert ("immutable" in answer.headers["Cache-Control"]) is lasting
            assert ("no-cache" in answer.headers["Cache-Control"]) is not lasting
        assert client.get(f"/assets/{known}/player/nothing.mjs").status_code == 404


def test_the_version_changes_with_any_file(tmp_path, monkeypatch):
    monkeypatch.setattr(modules, "folders", lambda: (tmp_path,))
    version = modules.version.__wrapped__
    found = [version()]
    for name, text in (("a.mjs", ""), ("a.mjs", "1"), ("b.css", "")):
        (tmp_path / name).write_text(text)
        found.append(version())
    (tmp_path / "b.css").rename(tmp_path / "c.css")
    assert len({*found, version()}) == 5 and version() == version()


# --- recipes


def test_a_recipe_is_the_scene_as_data(client):
    data = json.loads(client.get("/recipe/layernorm?d=2&n=7").data, parse_constant=pytest.fail)
    assert data["slug"] == "layernorm" and data["chosen"]["d"] == "2" and data["chosen"]["n"] == 7
    assert data["clouds"][0]["points"]["shape"] == [7, 2]
    assert data["views"][0]["figure"]["data"] and data["text"]["tour"] and "<math" in data["formula"]


def test_the_browser_asks_again_by_etag(client):
    first = client.get("/recipe/layernorm")
    again = client.get("/recipe/layernorm", headers={"If-None-Match": first.headers["ETag"]})
    assert again.status_code == 304 and not again.data
    other = client.get("/recipe/layernorm?d=2", headers={"If-None-Match": first.headers["ETag"]})
    assert other.status_code == 200 and other.headers["ETag"] != first.headers["ETag"]


def test_only_recipes_that_many_ask_for_are_kept(client):
    network = scenes()["spiral"].training.task(scenes()["spiral"].choose({"n": "30"}))[0]
    known = client.application.extensions["answers"].cache
    before = len(known)
    for net in (weights_text(network, np.full(network.parameter_count, k)) for k in range(2)):
        assert client.get("/recipe/spiral", query_string={"n": 30, "net": net}).status_code == 200
    assert len(known) == before
    assert client.get("/recipe/spiral?n=30").status_code == 200
    assert len(known) == before + 1


def test_gzip_when_asked(client):
    plain = client.get("/recipe/layernorm")
    packed = client.get("/recipe/layernorm", headers={"Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in plain.headers and packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.data) == plain.data and len(packed.data) < len(plain.data) / 2
    assert "Accept-Encoding" in packed.headers["Vary"]
    headers = {"Accept-Encoding": "gzip", "If-None-Match": packed.headers["ETag"]}
    assert client.get("/recipe/layernorm", headers=headers).status_code == 304


WRONG = [
    ("/recipe/layernorm?d=9", "d"),
    ("/recipe/layernorm?n=0", "n"),
    ("/recipe/layernorm?n=1e3", "n"),
    ("/recipe/layernorm?colour=red", "colour"),
    ("/recipe/layernorm?gamma1=1", "gamma1"),
    ("/recipe/layernorm?d=2&d=3", "d"),
    ("/recipe/layernorm?points=own&vectors=1%202", "vectors"),
    ("/still/layernorm.svg?gamma1=99", "gamma1"),
    ("/still/layernorm.svg?progress=nan", "progress"),
    ("/still/layernorm.svg?camera=1,1,1,1,1,1", "camera"),
    ("/recipe/language?sentence=own&own=a%ED%A0%80", "query"),
    ("/still/language.svg?sentence=own&own=%FF", "query"),
    ("/still/layernorm.svg?theme=blue", "theme"),
    ("/still/layernorm.svg?theme=dark&theme=light", "theme"),
]


@pytest.mark.parametrize(("path", "parameter"), WRONG)
def test_a_wrong_value_is_400_and_says_what_would_do(client, path, parameter):
    answer = client.get(path)
    assert answer.status_code == 400 and answer.json.keys() == {"error", "parameter", "allowed"}
    assert answer.json["parameter"] == parameter and answer.json["error"] and answer.json["allowed"]


@pytest.mark.parametrize("path", ["/recipe/nothing", "/still/nothing.svg", "/recipe/..%2Fapp"])
def test_an_unknown_slug_is_404(client, path):
    assert client.get(path).status_code == 404


def test_an_unknown_slug_says_which_there_are(client):
    got = client.get("/recipe/nothing").json
    assert got["parameter"] == "slug" and got["allowed"] == list(scenes())


def test_nothing_changes_by_another_method(client):
    for path in ("/recipe/layernorm", "/still/layernorm.svg", "/healthz", "/theme.css"):
        assert client.post(path).status_code == client.delete(path).status_code == 405


# --- old links

MOVED = [
    ("/heads?progress=0&picture=test&layer=2", "/shuffle?progress=0&layer=2"),
    ("/heads/?picture=test", "/shuffle"),
    ("/heads?picture=cut&overlap=1", "/heads?overlap=1"),
    ("/embed/heads?picture=test&autoplay=1", "/embed/shuffle?autoplay=1"),
    ("/recipe/cone?what=layers", "/recipe/strands"),
    ("/still/cone.svg?s2=0&what=layers&camera=1%2C0,0", "/still/strands.svg?s2=0&camera=1%2C0,0"),
    ("/card/cone.svg?what=layers", "/card/strands.svg"),
    ("/preview/heads.png?picture=test&layer=2", "/preview/shuffle.png?layer=2"),
    ("/heads?picture=test&utm_source=%C3%A4", "/shuffle?utm_source=%C3%A4"),
]


@pytest.mark.parametrize(("old", "new"), MOVED)
def test_an_old_link_leads_to_the_scene_that_shows_this_now(client, old, new):
    for ask in (client.get, client.head):
        answer = ask(old)
        assert (answer.status_code, answer.headers["Location"]) == (308, new)
    # as with every other response, scripts of other sites may read it only if the route is open
    opened = answer.headers.get("Access-Control-Allow-Origin") == "*"
    assert opened == old.startswith(("/recipe/", "/still/"))
    assert answer.headers["Cache-Control"] == "private, no-cache"
    assert "X-Accel-Expires" not in answer.headers


@pytest.mark.parametrize("old", ["/heads?picture=test&layer=2", "/cone?what=layers&s2=0&progress=4"])
def test_the_new_page_of_an_old_link_is_whole(client, old):
    page = client.get(old, follow_redirects=True)
    assert page.status_code == 200 and len(page.history) == 1 and "This link" not in page.text


@pytest.mark.parametrize("path", ["/heads?picture=other", "/shuffle?picture=test", "/embed/cone?what=other"])
def test_other_wrong_values_are_refused_as_ever(client, path):
    assert client.get(path).status_code == 400
    assert client.post("/recipe/heads?picture=test").status_code == 405


def test_an_old_link_leads_on_below_a_prefix(monkeypatch):
    monkeypatch.setenv("NORMSCAPE_PREFIX", "/shows/normscape/")
    client = app.create_app().server.test_client()
    for old, new in MOVED:
        for path in (f"/shows/normscape{old}", old):  # a proxy may strip the prefix
            assert client.get(path).headers["Location"] == f"/shows/normscape{new}"


# --- pages


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/", 200),
        ("/layernorm", 200),
        ("/layernorm/", 200),
        ("/layernorm?d=2&gamma1=1.5&progress=2&theme=dark", 200),
        ("/layernorm?d=9", 400),
        ("/layernorm?gamma1=99", 400),
        ("/layernorm?nothing=1", 400),
        ("/layernorm?d=2&d=3", 400),
        ("/nothing", 404),
        ("/nothing/more", 404),
    ],
)
def test_a_page_is_html_whatever_its_status(client, path, status):
    answer = client.get(path)
    assert answer.status_code == status and answer.mimetype == "text/html"
    assert b"<!DOCTYPE html>" in answer.data and b"<h1>" in answer.data


def test_a_page_asks_no_other_host(client):
    """Pages load nothing from other hosts; citations are links, which only readers follow."""
    text = re.sub(r'<a href="(https://[^"]+)">\1</a>', "", client.get("/layernorm").text)
    text = text.replace("http://www.w3.org", "").replace("http://localhost/", "")
    assert "https://" not in text and "http://" not in text


@pytest.mark.parametrize("scene", scenes().values(), ids=scenes())
def test_the_title_is_the_scenes(client, scene):
    assert (
        f"<title>{scene.title.replace('&', '&amp;')} · Normscape</title>" in client.get(f"/{scene.slug}").text
    )


# --- files and headers


def test_kinds_of_files(client):
    for path, kind in (("/theme.css", "text/css"), ("/still/layernorm.svg", "image/svg+xml")):
        answer = client.get(path)
        assert answer.status_code == 200 and answer.mimetype == kind and answer.headers["ETag"]


def test_the_drawing_library_is_kept_forever(client):
    text = client.get("/layernorm").text
    path = "/lib/" + text.partition("/lib/")[2].partition('"')[0]
    packed = client.get(path, headers={"Accept-Encoding": "gzip"})
    assert "immutable" in packed.headers["Cache-Control"] and packed.mimetype == "text/javascript"
    assert gzip.decompress(packed.data) == client.get(path).data
    assert client.get("/lib/plotly-000000000000.js").status_code == 404


def test_files_of_the_server_stay_there(client):
    own = f"/assets/{modules.version()}"
    for path in (
        "/assets/../app.py",
        "/assets/%2e%2e/app.py",
        f"{own}/../../app.py",
        f"{own}/%2e%2e/app.py",
        "/lib/../app.py",
        "/app.py",
    ):
        assert b"create_app" not in client.get(path).data


# --- the application


def test_two_applications_in_one_process():
    for client in [app.create_app().server.test_client() for _ in range(2)]:
        assert client.get("/").status_code == client.get("/recipe/rmsnorm").status_code == 200
        assert client.get("/nothing").status_code == 404


@pytest.mark.parametrize("fetched", [False, True])
def test_the_start_says_that_the_full_bundle_is_used(monkeypatch, tmp_path, capsys, fetched):
    light = tmp_path / "plotly.js"
    if fetched:
        light.touch()
    monkeypatch.setattr("components.web.server.LIGHT", light)
    for step in ("listen", "run", "log_errors"):
        monkeypatch.setattr(f"components.web.serve.{step}", lambda *_: None)
    monkeypatch.setattr("components.web.stills.draw_cards", lambda: None)
    monkeypatch.setattr(app, "wsgi", lambda: None)
    app.main(["serve"])
    said, notice = capsys.readouterr()
    assert said.startswith("Normscape is on")
    assert len(notice.splitlines()) == (0 if fetched else 1)
    assert fetched or ("full Plotly bundle" in notice and "npm run pack" in notice)


def test_list_names_the_scenes(capsys):
    app.main(["list"])
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(scenes())


@pytest.mark.parametrize("arguments", [["nothing"], ["--port", "x"], ["--port", "99999"], ["--colour"]])
def test_a_bad_argument_is_one_line(capsys, arguments):
    with pytest.raises(SystemExit) as end:
        app.main(arguments)
    said, complaint = capsys.readouterr()
    assert end.value.code == 2 and not said
    assert len(complaint.strip().splitlines()) == 1 and arguments[-1] in complaint


# --- compression

FORBIDDEN = ["*;q=0", "identity", "nothing", ""]
PACKED = ["/", "/theme.css", "/card/fold.svg", "/still/fold.svg", "/lib", "/recipe/fold"]


def packed_path(client, path):
    return re.search(r'href="(/lib/[^"]+.js)"', client.get("/fold").text)[1] if path == "/lib" else path


@pytest.mark.parametrize("path", [*PACKED, "/assets/page/style.css"])
def test_whoever_forbids_it_gets_no_compressed_answer(client, path):
    path = packed_path(client, path)
    with client.get(path) as answer:  # until then the file is open
        plain = answer.data
    for said in FORBIDDEN:
        with client.get(path, headers={"Accept-Encoding": said}) as answer:
            assert "Content-Encoding" not in answer.headers and answer.data == plain, said
            assert "Accept-Encoding" in answer.headers["Vary"]


@pytest.mark.parametrize("path", PACKED)
def test_whoever_takes_it_gets_a_compressed_answer(client, path):
    headers = {"Accept-Encoding": "GZIP;q=0.1"}
    answer = client.get(packed_path(client, path), headers=headers)
    assert answer.headers["Content-Encoding"] == "gzip"
    assert len(gzip.decompress(answer.data)) > len(answer.data)


# --- shared caches


def test_what_somebody_is_refused_the_next_one_is_given():
    """A client over its CPU budget gets the home page without a picture.

    Neither the server nor a browser keeps this page, so the next client gets the home page with its picture.
    """
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
