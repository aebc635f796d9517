"""Security headers of every answer. The tests in tests/browser run under this policy."""

import platform
import re
import sys

import pytest

import app
from components.language.scene import scenes

pytestmark = pytest.mark.usefixtures("idle")
PAGES = ["/", "/layernorm", "/spiral", "/nothing", "/layernorm?d=9"]
DRAWN = ["/still/layernorm.svg", "/card/fold.svg", "/assets/nothing.js"]
OTHERS = ["/recipe/layernorm", "/recipe/nothing", "/healthz", "/theme.css"]
OTHERS += ["/assets/player/player.mjs", "/_dash-layout", f"/recipe/layernorm?{'x' * 9000}"]


@pytest.fixture(scope="module")
def client():
    return app.create_app().server.test_client()


def policy(answer):
    """The Content-Security-Policy of an answer: directive → list of its values."""
    parts = answer.headers["Content-Security-Policy"].split("; ")
    return {name: values for name, *values in map(str.split, parts)}


@pytest.mark.parametrize("path", PAGES + DRAWN + OTHERS)
def test_every_answer_is_guarded(client, path):
    """Every answer has the header value `nosniff`; only documents have policies for content and framing.

    SVG pictures count as documents, because a browser may open them.
    """
    with client.get(path) as answer:
        headers = answer.headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        if path in OTHERS:
            assert answer.mimetype not in ("text/html", "image/svg+xml")
            assert not {"Content-Security-Policy", "Permissions-Policy", "X-Frame-Options"} & {
                *headers.keys()
            }
            return
        said = policy(answer)
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["X-Frame-Options"] == "SAMEORIGIN" and said["frame-ancestors"] == ["'self'"]
    assert "camera=()" in headers["Permissions-Policy"]
    assert said["object-src"] == said["base-uri"] == ["'none'"] and said["default-src"] == ["'self'"]


@pytest.mark.parametrize("path", [*PAGES, "/oembed?url=http://localhost/layernorm", "/_dash-layout"])
def test_what_names_its_host_is_kept_by_no_shared_cache(client, path):
    assert client.get(path).headers["Cache-Control"] == "private, no-cache"


@pytest.fixture
def named(monkeypatch):
    """A client of an application that knows its public host names and trusts one proxy."""
    monkeypatch.setenv("HOSTS", "teach.example, .school.example")
    monkeypatch.setenv("TRUSTED_PROXIES", "1")
    return app.create_app().server.test_client()


FORGED = [{"Host": "evil.example"}, {"X-Forwarded-Host": "evil.example"}, {"Host": "a@evil"}]


@pytest.mark.parametrize("forged", FORGED)
def test_a_forged_host_comes_into_no_answer(named, forged):
    for path in ("/layernorm", "/oembed?url=http://evil.example/layernorm", "/nothing"):
        answer = named.get(path, headers={"Host": "teach.example"} | forged)
        assert answer.status_code == 400 and "evil" not in answer.text


@pytest.mark.parametrize("path", ["/heads", "/%2Fevil.example/heads", "/heads/%2e%2e//evil.example"])
def test_an_old_link_leads_to_no_other_site(client, path):
    headers = {"Host": "evil.example", "X-Forwarded-Prefix": "//evil.example"}
    query = "picture=test&next=//evil.example&a=%0d%0aLocation:%20//evil.example"
    answer = client.open(path=path, base_url="http://localhost", query_string=query, headers=headers)
    place = answer.headers.get("Location", "/")
    assert place.startswith("/") and not place.startswith(("//", "/\\")) and "\n" not in place
    assert path != "/heads" or place.startswith("/shuffle?next=")


def test_a_forged_host_is_refused_before_an_old_link_leads_on(named):
    assert named.get("/heads?picture=test", headers={"Host": "evil.example"}).status_code == 400
    answer = named.get("/heads?picture=test", headers={"Host": "teach.example"})
    assert answer.headers["Location"] == "/shuffle"


def test_a_browser_is_told_in_words_that_the_host_is_wrong(named):
    forged = {"Host": "10.0.0.7:8050"}
    assert named.get("/layernorm", headers=forged).json["allowed"] == ["teach.example", ".school.example"]
    answer = named.get("/layernorm", headers=forged | {"Accept": "text/html,*/*;q=0.8"})
    assert (answer.status_code, answer.mimetype) == (400, "text/plain")
    names = "teach.example, .school.example"
    assert answer.text == f"this server has only these host names (the setting HOSTS): {names}."


@pytest.mark.parametrize("name", ["teach.example", "TEACH.example", "teach.example:8443", "a.School.example"])
def test_a_known_host_is_served(named, name):
    answer = named.get("/layernorm", headers={"Host": name})
    assert (
        answer.status_code == 200
        and f'property="og:url" content="http://{name.lower()}/layernorm'
        in answer.text.replace(name, name.lower())
    )


def test_who_looks_after_the_server_may_call_it_as_he_likes(named):
    assert named.get("/healthz", headers={"Host": "10.0.0.7:8050"}).status_code == 200


@pytest.mark.parametrize("path", ["/", "/layernorm", "/nothing", "/_dash-layout", "/_dash-dependencies"])
def test_no_page_says_what_it_runs_on(client, path):
    answer = client.get(path)
    said = answer.text + str(answer.headers)
    for internal in (platform.python_version(), sys.prefix, str(app.__file__), "Werkzeug"):
        assert internal not in said


@pytest.mark.parametrize("path", [*PAGES, "/embed/layernorm"])
def test_no_script_is_made_from_text(client, path):
    """Scripts are files from this server.

    Inline scripts contain only JSON, and no element has an event handler.
    """
    answer = client.get(path)
    assert policy(answer)["script-src"] == ["'self'"]
    inline = re.findall(r"<script((?![^>]*\bsrc=)[^>]*)>", answer.text)
    assert all("application/json" in attributes for attributes in inline)
    assert not re.search(r"<[^>]+\son\w+=", answer.text), "no handler in the markup"


@pytest.mark.parametrize("path", ["/embed/layernorm", "/embed/layernorm?d=9", "/embed/nothing"])
def test_an_embed_may_stand_in_any_page(client, path):
    answer = client.get(path)
    assert "frame-ancestors" not in policy(answer) and "X-Frame-Options" not in answer.headers


@pytest.mark.parametrize("path", ["/embed/layernorm", "/embed/layernorm?d=9", "/embed/nothing"])
def test_embed_origins_limits_the_sites_that_may_frame_embeds(monkeypatch, path):
    """Only the listed sites and our own may frame embeds; only our own may frame pages.

    Recipes stay readable for any origin, because sandboxed frames have none.
    """
    monkeypatch.setenv("EMBED_ORIGINS", "https://moodle.teach.example, https://*.School.example:8443")
    client = app.create_app().server.test_client()
    answer, sites = client.get(path), ["https://moodle.teach.example", "https://*.school.example:8443"]
    assert policy(answer)["frame-ancestors"] == ["'self'", *sites]
    assert "X-Frame-Options" not in answer.headers
    assert policy(client.get("/layernorm"))["frame-ancestors"] == ["'self'"]
    recipe = client.get("/recipe/layernorm", headers={"Origin": "null"})
    assert recipe.headers["Access-Control-Allow-Origin"] == "*"


@pytest.mark.parametrize(
    "path",
    ["/assets/page/embed.mjs", "/lib/any", "/recipe/layernorm", "/recipe/layernorm?d=9", "/still/fold.svg"],
)
def test_a_figure_without_an_origin_may_fetch_what_it_needs(client, path):
    """A figure in a sandboxed frame, which has no origin, may fetch its files, without credentials."""
    with client.get(path, headers={"Origin": "null"}) as answer:
        assert answer.headers["Access-Control-Allow-Origin"] == "*"
        assert "Access-Control-Allow-Credentials" not in answer.headers


CLOSED = [
    ("GET", "/"), ("GET", "/layernorm"), ("GET", "/embed/layernorm"), ("GET", f"/run/{'a' * 20}.npz"),
    ("GET", "/_dash-layout"), ("POST", "/training"), ("POST", "/run/fold"),
    ("POST", "/training/any/close"), ("POST", "/recipe/layernorm"), ("OPTIONS", "/recipe/layernorm"),
    ("OPTIONS", "/run/fold"), ("OPTIONS", "/recording"), ("OPTIONS", f"/recording/{'a' * 32}/delete"),
]  # fmt: skip


@pytest.mark.parametrize(("method", "path"), CLOSED)
def test_nothing_else_is_for_other_pages(client, method, path):
    """Pages, runs, uploads and training must not be read by other sites; preflight requests are denied."""
    with client.open(path, method=method, headers={"Origin": "null"}) as answer:
        assert not [name for name, _ in answer.headers if name.startswith("Access-Control")]


def test_no_debugger():
    server = app.create_app().server
    assert not server.debug and not server.testing
    assert server.test_client().get("/console").status_code == 404


@pytest.mark.parametrize("slug", [*scenes()])
def test_what_a_page_is_refused_it_says(client, slug):
    """If a page refuses a link with an invalid value, it contains none of this value as markup."""
    answer = client.get(f"/{slug}?progress=<script>alert(1)</script>")
    assert answer.status_code == 400 and "<script>alert" not in answer.text
