"""Who may read and cache a response (`Access`): each route declares it, and the headers agree."""

import re

import pytest
from flask import Blueprint

import app
from components.web.routes import Access, check, route
from tools.nginx import CONFIGURATION

KEY = "0123456789abcdef"


@pytest.fixture
def server():
    return app.create_app().server


def test_a_route_without_its_access_is_an_error(server):
    check(server)
    server.add_url_rule("/new", "new", lambda: "text")
    with pytest.raises(RuntimeError, match="/new"):
        check(server)


@pytest.mark.parametrize("access", Access)
def test_a_new_route_needs_one_call(server, access):
    """A new route needs only the call of `route`, which declares the access to its responses."""
    route(server, "/new/<name>", "new", lambda name: f"text of {name}", access)
    check(server)
    answer = server.test_client().get("/new/one")
    assert answer.text == "text of one"
    assert (answer.headers.get("Access-Control-Allow-Origin") == "*") == (access is Access.OPEN)


def test_a_route_of_a_blueprint_has_its_access(server):
    own = Blueprint("own", "here")
    route(own, "/new", "new", lambda: "text", Access.OPEN)
    server.register_blueprint(own, url_prefix="/there")
    assert server.test_client().get("/there/new").headers["Access-Control-Allow-Origin"] == "*"


def test_nginx_keeps_what_is_for_everybody_for_some_seconds(server):
    """Shared and open responses have X-Accel-Expires, which tells nginx for how long to cache them.

    Errors, responses to addresses with a key, and those with Cache-Control: no-store do not have it.
    """
    route(server, "/shared", "shared", lambda: "text", Access.SHARED)
    route(server, "/open", "open", lambda: "text", Access.OPEN)
    route(server, "/own", "own", lambda: "text", Access.PRIVATE)
    route(server, "/broken", "broken", lambda: ("text", 400), Access.SHARED)
    route(server, "/unkept", "unkept", lambda: ("text", {"Cache-Control": "no-store"}), Access.SHARED)
    client = server.test_client()
    for path, seconds in [
        ("/shared", "5"),
        ("/open", "5"),
        ("/shared?a=1", "5"),
        (f"/shared?run={KEY}", None),
        ("/own", None),
        ("/broken", None),
        ("/unkept", None),
        ("/nothing", None),
        ("/fold", "5"),
        (f"/spiral?run={KEY}", None),
        ("/healthz", None),
    ]:
        assert client.get(path).headers.get("X-Accel-Expires") == seconds, path


def test_no_log_of_nginx_shows_a_key(server):
    """nginx masks keys in its log, for every route that has one in its path."""
    (mask,) = re.findall(r'"~(\S+)" \$before-\$after', CONFIGURATION.read_text())
    for rule in server.url_map.iter_rules():
        path = re.sub("<[^>]*>", KEY, rule.rule, count=1)
        assert KEY not in re.sub(mask.replace("(?<", "(?P<"), r"\g<before>-\g<after>", path), rule.rule
