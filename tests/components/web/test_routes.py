"""Facts of routes: each is declared, and what they say is done."""

import re

import pytest
from flask import Blueprint, Flask

import app
from components.publish import component
from components.web.budget import guard, work
from components.web.routes import RouteFacts, UndeclaredRoute, check, current_facts, route
from tools.nginx import CONFIGURATION

PLAIN = RouteFacts(cacheable=False, cross_origin=False, secret="", costly=False)
OPEN = RouteFacts(cacheable=True, cross_origin=True, secret="", costly=False)
KEY = "0123456789abcdef"


@pytest.fixture
def server():
    return app.create_app().server


def test_a_route_without_facts_is_an_error(server):
    check(server)
    server.add_url_rule("/new", "new", lambda: "text")
    with pytest.raises(UndeclaredRoute, match="/new"):
        check(server)
    server.testing = True
    with pytest.raises(UndeclaredRoute, match="/new"):
        server.test_client().get("/new")
    with pytest.raises(TypeError):
        RouteFacts(cacheable=False, cross_origin=False, secret="")


@pytest.mark.parametrize("facts", [PLAIN, OPEN])
def test_a_new_route_needs_one_call(server, facts):
    """Its facts are all that has to be said of it."""
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
    route(
        server, "/", "view", view, RouteFacts(cacheable=False, cross_origin=False, secret="", costly=costly)
    )
    if costly:
        assert server.test_client().get("/").text == "done"
    else:
        with pytest.raises(RuntimeError, match="declared costly"):
            server.test_client().get("/")


def test_nginx_knows_what_routes_declare(server):
    """It looks at addresses: its patterns are of the same routes."""
    text = CONFIGURATION.read_text()
    (cached,) = re.findall(r"location ~ (\S+) \{", text)
    (keyed,) = re.findall(r'"~(\S+)" \$before-\$after', text)
    keyed = keyed.replace("(?<", "(?P<")
    ours = (rule for rule in server.url_map.iter_rules() if not rule.rule.startswith(f"/{component.PATH}"))
    for rule in ours:
        facts = server.extensions["route_facts"][rule.endpoint]
        path = re.sub("<[^>]*>", KEY, re.sub("<any[^>]*>", "csv", rule.rule))
        if "GET" in rule.methods:
            assert bool(re.search(cached, path)) == facts.cacheable, rule.rule
        if facts.secret == "path":
            assert KEY not in re.sub(keyed, r"\g<before>-\g<after>", path), rule.rule
