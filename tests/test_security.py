"""What every answer says to the browser. The tests of tests/browser run under this policy."""

import base64
import hashlib
import re

import pytest

import app
from components.scene import scenes

PAGES = ["/", "/layernorm", "/nothing", "/layernorm?d=9"]
OTHERS = ["/recipe/layernorm", "/recipe/nothing", "/still/layernorm.svg", "/healthz", "/theme.css"]
OTHERS += ["/assets/player.mjs", "/assets/nothing.js", "/_dash-layout", f"/recipe/layernorm?{'x' * 9000}"]


@pytest.fixture(scope="module")
def client():
    return app.create_app().server.test_client()


def policy(answer):
    """The Content-Security-Policy as a mapping."""
    parts = answer.headers["Content-Security-Policy"].split("; ")
    return {name: values for name, *values in map(str.split, parts)}


@pytest.mark.parametrize("path", PAGES + OTHERS)
def test_every_answer_is_guarded(client, path):
    with client.get(path) as answer:
        headers, said = answer.headers, policy(answer)
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["X-Frame-Options"] == "SAMEORIGIN" and said["frame-ancestors"] == ["'self'"]
    assert "camera=()" in headers["Permissions-Policy"]
    assert said["object-src"] == said["base-uri"] == ["'none'"] and said["default-src"] == ["'self'"]


@pytest.mark.parametrize("path", [*PAGES, "/embed/layernorm"])
def test_no_script_is_made_from_text(client, path):
    """Scripts come from this server, or are inline and known by their hash; nothing is evaluated."""
    answer = client.get(path)
    allowed = policy(answer)["script-src"]
    assert allowed[0] == "'self'" and all(word.startswith("'sha256-") for word in allowed[1:])
    inline = re.findall(r"<script((?![^>]*\bsrc=)[^>]*)>(.*?)</script>", answer.text, re.S)
    for attributes, code in inline:
        if "application/json" not in attributes:
            digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
            assert f"'sha256-{digest}'" in allowed, code
    assert not re.search(r"<[^>]+\son\w+=", answer.text), "no handler in the markup"


@pytest.mark.parametrize("path", ["/embed/layernorm", "/embed/layernorm?d=9", "/embed/nothing"])
def test_an_embed_may_stand_in_any_page(client, path):
    answer = client.get(path)
    assert policy(answer)["frame-ancestors"] == ["*"] and "X-Frame-Options" not in answer.headers


@pytest.mark.parametrize(
    "path", ["/assets/embed.mjs", "/lib/any", "/recipe/layernorm", "/recipe/layernorm?d=9", "/still/fold.svg"]
)
def test_a_figure_without_an_origin_may_fetch_what_it_needs(client, path):
    """In a sandboxed frame; never with credentials."""
    with client.get(path, headers={"Origin": "null"}) as answer:
        assert answer.headers["Access-Control-Allow-Origin"] == "*"
        assert "Access-Control-Allow-Credentials" not in answer.headers


CLOSED = [
    ("GET", "/"), ("GET", "/layernorm"), ("GET", "/embed/layernorm"), ("GET", f"/run/{'a' * 20}.npz"),
    ("GET", "/_dash-layout"), ("POST", "/_dash-update-component"), ("POST", "/run/fold"),
    ("POST", "/training/any/close"), ("POST", "/recipe/layernorm"), ("OPTIONS", "/recipe/layernorm"),
]  # fmt: skip


@pytest.mark.parametrize(("method", "path"), CLOSED)
def test_nothing_else_is_for_other_pages(client, method, path):
    """Pages, runs, uploads and training least of all; no question is allowed beforehand."""
    with client.open(path, method=method, headers={"Origin": "null"}) as answer:
        assert not [name for name, _ in answer.headers if name.startswith("Access-Control")]


def test_the_policy_knows_the_scripts_of_its_own_application():
    first, second = (policy(app.create_app().server.test_client().get("/")) for _ in range(2))
    assert first == second and len(first["script-src"]) > 1


def test_no_debugger():
    server = app.create_app().server
    assert not server.debug and not server.testing
    assert server.test_client().get("/console").status_code == 404


@pytest.mark.parametrize("slug", [*scenes()])
def test_what_a_page_is_refused_it_says(client, slug):
    """A link with a wrong value brings none of it into the page as markup."""
    answer = client.get(f"/{slug}?progress=<script>alert(1)</script>")
    assert answer.status_code == 400 and "<script>alert" not in answer.text
