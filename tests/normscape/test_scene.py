"""The Dash component in Python: its properties, what it refuses, and the routes it adds to an application."""

import json
import re
from pathlib import Path
from unittest.mock import Mock

import pytest
from dash import Dash, Input, Output, html
from flask import Flask

import normscape
from components.language.scene import WrongValue, scenes
from components.publish.component import PATH, register, shadowed, styles
from components.training import runs
from components.training.store import StoreUnavailable
from normscape import Figure, Scene


@pytest.fixture
def client():
    app = Dash(__name__)
    app.layout = html.Div(Scene("fold", id="scene"))
    return app.server.test_client()


def test_it_travels_as_any_component_of_dash():
    sent = json.loads(json.dumps(Scene("fold", id={"kind": "scene"}, params={"t": 1.5}).to_plotly_json()))
    assert sent == {
        "namespace": "normscape",
        "type": "Scene",
        "props": {"slug": "fold", "id": {"kind": "scene"}, "choices": {}, "params": {"t": 1.5}},
    }
    props = Scene("fold", params=None).to_plotly_json()["props"]
    assert props == {"slug": "fold", "choices": {}, "params": {}}, "a Patch needs a dict to change"


def test_its_properties_can_be_used_in_callbacks():
    app = Dash(__name__)
    app.layout = html.Div([Scene("fold", id="scene"), html.P(id="words")])

    @app.callback(Output("words", "children"), Input("scene", "params"), Input("scene", "follow"))
    def say(params, follow):
        return f"{params} {follow}"

    server = app.server.test_client()
    assert f"/{PATH}" not in server.get("/").text  # its script finds the routes beside itself
    assert "_dash-component-suites/normscape/scene" in server.get("/").text
    assert [each["output"] for each in server.get("/_dash-dependencies").json] == ["words.children"]


@pytest.mark.parametrize("name", ["dash_app.py", "dash_link.py"])
def test_the_docs_show_the_application_that_is_tested(name):
    docs = Path(__file__).parents[2] / "docs"
    example = (docs / name).read_text()
    assert f"```python\n{example}```" in (docs / "dash.md").read_text()
    assert len(list(filter(str.strip, example.splitlines()))) <= 22


WRONG = [
    ({}, "slug=None is not one of"),
    ({"slug": "knot"}, "slug='knot' is not one of"),
    ({"slug": "fold", "choices": {"colour": "red"}}, "no choice 'colour'"),
    ({"slug": "fold", "choices": ["n", 3]}, "is not a dict"),
    ({"slug": "layernorm", "camera": 3}, "camera=3 is not a list"),
    ({"slug": "layernorm", "controls": 5}, "controls=5 is not a list"),
    ({"slug": "layernorm", "controls": [5]}, "controls"),
    ({"slug": "layernorm", "choices": {"n": 0}}, "n=0 is outside"),
    ({"slug": "layernorm", "choices": {"n": 1e9}}, "n=1000000000 is outside"),
    ({"slug": "layernorm", "choices": {"n": 60.5}}, "n='60.5' is not a whole number"),
    ({"slug": "fold", "params": {"t": 99}}, "t=99 is not a number from"),
    ({"slug": {"a": 1}}, "slug={'a': 1} is not one of"),
    ({"slug": "fold", "controls": "progress"}, "controls='progress' is not a list"),
    ({"slug": "fold", "params": {"t": True}}, "t=True is not a number"),
    ({"slug": "fold", "params": {"t": float("nan")}}, "t=nan is not a number"),
    ({"slug": "fold", "params": {"u": 1}}, "no 'u'"),
    ({"slug": "fold", "params": {"progress": 1}}, "no parameter 'progress'"),
    ({"slug": "layernorm", "params": {"n": 60}}, "no parameter 'n'"),
    ({"slug": "fold", "progress": -1}, "progress=-1"),
    ({"slug": "fold", "follow": 1.5}, "follow=1.5 is not a whole number"),
    ({"slug": "layernorm", "camera": [1, 2]}, "camera=1,2 is not three numbers"),
    ({"slug": "fold", "controls": ["speed"]}, "no control 'speed'"),
    ({"slug": "fold", "controls": ["t", ""]}, "no control"),
    ({"slug": "fold", "theme": "blue"}, "theme=blue is not a theme; there are only auto, light, dark"),
]


@pytest.mark.parametrize(("wrong", "words"), WRONG, ids=str)
def test_what_a_scene_does_not_have_is_refused_in_one_line(wrong, words):
    with pytest.raises(ValueError, match=words) as refused:
        Scene(**wrong)
    assert str(refused.value).startswith("Scene") and "\n" not in str(refused.value)


def test_while_stored_runs_are_not_available_each_way_to_a_figure_says_so(client, monkeypatch):
    gone, run = Mock(get=Mock(side_effect=StoreUnavailable("gone"))), "0" * 16
    monkeypatch.setattr(runs, "LIST", gone)
    with pytest.raises(ValueError, match="gone"):
        Scene("spiral", choices={"run": run})
    with pytest.raises(StoreUnavailable):
        Figure("spiral", run=run)
    shown, said = Figure("spiral"), Mock()
    monkeypatch.setattr(shown, "send", said)
    shown._asked(shown, {"make": f"run={run}"}, [])
    said.assert_called_once_with({"key": f"run={run}", "refused": "gone"})
    for kind in ("figure", "recipe", "still"):
        answer = client.get(f"/{PATH}/{kind}/spiral{'.svg' * (kind == 'still')}?run={run}")
        assert answer.status_code == 503 and answer.headers["Retry-After"] == "60"


def test_what_is_no_property_is_a_type_error_as_anywhere_in_dash():
    with pytest.raises(TypeError, match="unexpected keyword argument: `speed`"):
        Scene("fold", speed=2)


@pytest.mark.parametrize("slug", scenes())
def test_every_scene_is_one_with_nothing_but_its_name(slug, client):
    Scene(slug)
    figure = client.get(f"/{PATH}/figure/{slug}")
    assert figure.status_code == 200
    assert f'data-recipe="recipe/{slug}"' in figure.text and "<svg" in figure.text
    assert "<main" not in figure.text, "the page around has its own"


def test_the_routes_stand_beside_those_of_the_application(client):
    assert client.get(f"/{PATH}/recipe/fold").json["slug"] == "fold"
    assert client.get(f"/{PATH}/still/fold.svg").mimetype == "image/svg+xml"
    assert client.get(f"/{PATH}/component.css").mimetype == "text/css"
    wrong = client.get(f"/{PATH}/figure/fold?t=99")
    assert wrong.status_code == 400 and "t=99" in wrong.json["error"]
    assert client.get(f"/{PATH}/figure/knot").status_code == 404
    assert client.get("/healthz").mimetype == "text/html", "Dash's own page: nothing else is taken"


def test_errors_of_the_application_stay_its_own():
    app = Dash(__name__)
    app.layout = html.Div()
    app.server.testing = True

    @app.server.route("/mine")
    def mine():
        raise WrongValue("mine", "mine", None)

    with pytest.raises(WrongValue, match="mine"):
        app.server.test_client().get("/mine")


def test_an_application_at_a_prefix_has_its_routes_below_it():
    app = Dash(__name__, routes_pathname_prefix="/lab/", requests_pathname_prefix="/lab/")
    app.layout = html.Div()
    client = app.server.test_client()
    assert client.get(f"/lab/{PATH}/recipe/fold").status_code == 200
    assert "/lab/_dash-component-suites/normscape/scene" in client.get("/lab/").text


def test_two_applications_may_share_a_server():
    server = Flask(__name__)
    for prefix in ("/a/", "/b/"):
        app = Dash(__name__, server=server, routes_pathname_prefix=prefix, requests_pathname_prefix=prefix)
        app.layout = html.Div()
    client = server.test_client()
    assert [client.get(f"{p}{PATH}/recipe/fold").status_code for p in ("/a/", "/b/")] == [200, 200]


def test_an_application_that_is_given_its_server_later_registers_then():
    app = Dash(__name__, server=False)
    app.layout = html.Div()
    app.init_app(Flask(__name__))
    register(app)
    register(app)  # once is enough, twice does no harm
    assert app.server.test_client().get(f"/{PATH}/recipe/fold").status_code == 200


def test_too_late_is_said():
    app = Dash(__name__, server=False)
    app.layout = html.Div()
    app.init_app(Flask(__name__))
    app.server.test_client().get("/")
    with pytest.raises(RuntimeError, match="before the first request"):
        normscape.register(app)


def test_a_shadow_tree_has_no_root_no_body_and_no_letters_of_the_page():
    sheet = styles()
    assert not re.search(r":root|\d(rem|vw)\b|(?<![\w-])body(?![\w-])", sheet)
    assert shadowed(':root[data-theme="dark"] { --gap: .5rem; }') == (
        ':host([data-theme="dark"]) { --gap: calc(.5 * var(--rem)); }'
    )
    assert shadowed("@media (max-width: 40rem) { .embed body { width: 85vw } }") == (
        "@container (max-width: 640px) { .embed .page { width: 85cqw } }"
    )
