"""Facts of routes: each is declared, and has its effect."""

import re

import pytest
from flask import Blueprint, Flask

import app
from components.web.budget import guard, work
from components.web.routes import RouteFacts, UndeclaredRoute, check, current_facts, route
from tools.nginx import CONFIGURATION

PLAIN = RouteFacts(cacheable=False, cross_origin=False, costly=False)
OPEN = RouteFacts(cacheable=True, cross_origin=True, costly=False)
KEY = "0123456789abcdef"


@pytest.fixture
def server():
    return app.create_app().server


def test_a_route_without_facts_is_an_error(server):
    check(server)
    server.add_url_rule("/new", "new", lambda: "text")
    with pytest.raises(UndeclaredRoute, match="/new"):
        check(server)
    with pytest.raises(TypeError):
        RouteFacts(cacheable=False, cross_origin=False)


@pytest.mark.parametrize("facts", [PLAIN, OPEN])
def test_a_new_route_needs_one_call(server, facts):
    """A new route needs only the call of `route`, which declares its facts."""
    route(server, "/new/<name>", "new", lambda name: f"text of {name}", facts)
    check(server)
    answer = server.test_client().get("/new/one")
    assert answer.text == "text of one"
    assert (answer.headers.get("Access-Control-Allow-Origin") == "*") == facts.cross_origin


def test_a_route_of_a_blueprint_has_its_facts():
    server, own = Flask("here"), Blueprint("own", "here")
    route(own, "/new", "new", lambda: str(current_facts() == OPEN), OPEN)
    server.register_blueprint(own, url_prefix="/there")
    assert server.test_client().get("/there/new").text == "True"


@pytest.mark.parametrize("costly", [True, False])
def test_a_route_that_works_is_declared_costly(costly):
    def view():
        with work():
            return "done"

    server = Flask("here")
    server.testing = True
    guard(server, proxies=0)
    route(server, "/", "view", view, RouteFacts(cacheable=False, cross_origin=False, costly=costly))
    if costly:
        assert server.test_client().get("/").text == "done"
    else:
        with pytest.raises(RuntimeError, match="must be costly"):
            server.test_client().get("/")


def test_nginx_keeps_what_is_for_everybody_for_some_seconds(server):
    """Cacheable responses have X-Accel-Expires, the header by which nginx decides."""
    route(server, "/shared", "shared", lambda: "text", OPEN)
    route(server, "/own", "own", lambda: "text", PLAIN)
    route(server, "/broken", "broken", lambda: ("text", 400), OPEN)
    route(server, "/unkept", "unkept", lambda: ("text", {"Cache-Control": "no-store"}), OPEN)
    client = server.test_client()
    for path, seconds in [
        ("/shared", "5"),
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
