"""The widget in Python: its traits, what it makes and refuses, and its picture.

Tests of the widget in a browser are in tests/browser.
"""

import copy
import gzip
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import traitlets
from dash import Dash, html

import normscape
from components.language.link import key
from components.language.scene import scenes
from components.pages.modules import IMPORT, import_path, ordered
from components.publish.component import PATH
from normscape import Figure, figure
from tests.learning.recording.norms import recording
from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[2]


def opened(packed):
    return json.loads(gzip.decompress(packed))


@pytest.fixture
def fig():
    return Figure("layernorm", gamma1=2, n=60, progress=1)


@pytest.mark.parametrize("slug", scenes())
def test_every_scene_is_a_figure(slug):
    fig = Figure(slug)
    made = opened(fig._made)
    assert made["key"] == "" and made["recipe"]["slug"] == slug and made["recipe"]["text"] is None
    element = opened(fig._element)
    assert f'data-slug="{slug}"' in element and "data-recipe" not in element
    assert '<div class="controls">' in element, "sliders are what a notebook is for: they are open"
    names = {p["name"] for p in made["recipe"]["parameters"]}
    assert fig.params.keys() == names and fig.choices == made["recipe"]["chosen"]


def test_its_traits_have_the_whole_state(fig):
    assert fig.params["gamma1"] == 2 and fig.params["gamma2"] == 1 and fig.choices["n"] == 60
    assert (fig.progress, fig.follow, fig.slug) == (1, 0, "layernorm") and len(fig.camera) in (3, 6)
    assert Figure("fold").camera is None, "nothing in it can be turned"
    assert eval(repr(fig)).state.params == fig.state.params


def test_what_is_set_need_not_be_whole(fig):
    fig.params = {"eps": 0.5}
    assert fig.params["gamma1"] == 2 and fig.params["eps"] == 0.5
    fig.choices = {"n": 30}
    assert fig.choices["d"] == "3" and fig.choices["n"] == 30
    fig.camera = (1, 2, 3)
    assert fig.camera == [1, 2, 3]


def test_a_dict_that_is_read_cannot_be_changed(fig):
    for values in (fig.params, fig.choices):
        for change in (
            lambda: values.__setitem__("gamma1", 99),  # noqa: B023
            lambda: values.update(gamma1=99),  # noqa: B023
            lambda: values.pop("n", None),  # noqa: B023
            values.clear,
        ):
            with pytest.raises(TypeError, match="read-only: set the trait"):
                change()
    fig.params = fig.params | {"gamma1": 1.5}
    assert fig.params["gamma1"] == 1.5 and type(copy.deepcopy(fig.params)) is dict
    fig.set_state({"params": {"gamma1": 1}})
    with pytest.raises(TypeError):
        fig.params["gamma1"] = 2
    assert json.loads(json.dumps(fig.get_state()["params"])) == fig.params


def test_new_choices_are_built_at_once_and_keep_what_can_be_kept(fig):
    fig.params = {"gamma1": 2, "gamma3": 1.5}
    fig.follow, fig.progress = 59, 5
    fig.choices = {"d": "2", "n": 30}
    made = opened(fig._made)
    assert made["key"] == key(fig.scene, fig.choices) and made["recipe"]["chosen"] == fig.choices
    assert "gamma3" not in fig.params and fig.params["gamma1"] == 2
    assert fig.follow == 0 and fig.progress == 5


def test_a_page_gets_the_recipe_also_if_the_kernel_holds_it_already(fig, monkeypatch):
    sent = []
    monkeypatch.setattr(fig, "_send", lambda news, **_: sent.append([*news["state"], *news["buffer_paths"]]))
    for _ in range(2):
        fig._asked(fig, {"make": "n=7"}, [])
    assert sent == [[["_made"]]] * 2


def test_a_page_asks_for_a_recipe_and_gets_it_or_why_not(fig, monkeypatch):
    said = []
    monkeypatch.setattr(fig, "send", lambda *news: said.append(news))
    fig._asked(fig, {"make": "n=7"}, [])
    assert opened(fig._made)["key"] == "n=7" and opened(fig._made)["recipe"]["chosen"]["n"] == 7
    assert fig.choices["n"] == 60, "the page says what it shows"
    fig._asked(fig, {"make": "n=0"}, [])
    assert said == [({"key": "n=0", "refused": "n=0 is outside 1 … 10000"},)]
    fig._asked(fig, {"code": True}, [])
    assert said[-1] == ({"code": True}, [figure.library().code])


WRONG = [
    ("choices", {"n": 0}, "n=0 is outside"),
    ("choices", {"d": 5}, "d='5' is not one of its values; there are only 2, 3, 4"),
    ("choices", {"colour": 1}, "no choice 'colour'"),
    ("params", {"eps": 99}, "eps=99 is not 0 or a number from"),
    ("params", {"n": 3}, "there is no parameter 'n'"),
    ("params", {"eps": True}, "eps=True is not 0 or a number"),
    ("choices", {"n": 1e9}, "n=1000000000 is outside 1 … 10000"),
    ("progress", 9, "progress=9 is not"),
    ("follow", 60, "follow=60 is not a whole number"),
    ("camera", [0, 0, 0], r"camera=\S+ is not .* at least 0\.001 from what it looks at"),
    ("controls", ["speed"], "no control 'speed'"),
    ("theme", "blue", "theme"),
]


@pytest.mark.parametrize(("name", "value", "words"), WRONG, ids=str)
def test_what_the_scene_does_not_have_is_refused_and_changes_nothing(fig, name, value, words):
    before = fig.state
    with pytest.raises(traitlets.TraitError, match=words):
        setattr(fig, name, value)
    assert fig.state == before
    with pytest.raises(ValueError, match="no scene"):
        Figure("knot")
    with pytest.raises(ValueError, match="no 'speed'; there are only camera, controls, eps, "):
        Figure("fold", speed=2)
    with pytest.raises(ValueError, match="controls='eps' is not a list"):
        Figure("fold", controls="eps")


@pytest.mark.parametrize("slug", [None, 3, ["fold"], {"a": 1}])
def test_a_name_that_is_no_text_is_refused_in_one_line(slug):
    with pytest.raises(ValueError, match="the name of a scene is a text, such as 'layernorm': got"):
        Figure(slug)


@pytest.mark.parametrize("controls", [3, [None], [["eps"]], b"eps", {"eps": 1}])
def test_controls_that_are_no_names_are_refused_in_one_line(controls):
    with pytest.raises(ValueError, match=r"is not a list of names, such as \['progress'\]$"):
        Figure("fold", controls=controls)


def test_a_very_long_value_is_not_repeated_whole():
    with pytest.raises(ValueError, match=r"theme=aaaa.*there are only auto, light, dark$") as wrong:
        Figure("fold", theme="a" * 100_000)
    assert len(str(wrong.value)) < 500
    with pytest.raises(ValueError, match=r"^eps=1 2 is not") as wrong:
        Figure("layernorm", eps="1\n2")


@pytest.mark.parametrize("odd", [None, 3.0, b"file", [], {"a": 1}, torch.nn.Linear(2, 2), int])
def test_wrong_types_are_named_in_one_line(odd):
    with pytest.raises(TypeError, match=r"^own takes a recording or the path of its file: got "):
        normscape.own(odd)
    with pytest.raises(TypeError, match=r"^register takes an application, "):
        normscape.register(odd)
    if odd is None or callable(odd):
        return
    with pytest.raises(TypeError, match=r"^`tell` is a function of a text: got "):
        normscape.record(torch.nn.LayerNorm(3), tell=odd)


def test_what_record_yields_can_be_shown_and_kept():
    with normscape.record(norm := torch.nn.LayerNorm(3), tell=lambda line: None) as seen:
        norm(torch.eye(3))
    (key,) = normscape.own(seen).values()
    assert Figure("model", own=key).choices["own"] == key


def test_what_a_page_tells_comes_in_at_once(fig):
    """A message from the page that has choices, parameters and progress changes all these traits.

    The test calls `set_state`, as ipywidgets does when such a message arrives.
    """
    heard = []
    fig.observe(lambda change: heard.append(change.name))
    state = {"choices": {**fig.choices, "d": "2"}, "params": {"mean": 0.3, "eps": 0.1}, "progress": 2.5}
    fig.set_state(state)
    assert (fig.choices["d"], fig.params["mean"], fig.progress) == ("2", 0.3, 2.5)
    assert {"choices", "params", "progress"} <= set(heard)


def test_the_code_is_there_once_for_all_figures_of_a_kernel(fig):
    other = Figure("fold")
    assert other._library == fig._library == figure.library().model_id
    assert len(fig._made) < 60_000 and len(figure.code()) < 1_700_000
    modules = dict(opened(figure.code())["modules"])
    for n, (name, text) in enumerate(modules.items()):
        needed = {import_path(name, found) for found in IMPORT.findall(ordered("guest/kernel")[name])}
        assert needed <= set(list(modules)[:n]), f"{name} comes before what it needs"
        assert not re.search(r'"\.\.?/(?![\w./]+\.d\.ts")', text), "types in comments load nothing"


def shown(fig, monkeypatch):
    """The outputs of a notebook cell that ends with the figure: a list of {MIME type: content}."""
    said = []
    monkeypatch.setattr(figure, "display", lambda data, raw: said.append(data))
    fig._ipython_display_()
    return said


def test_a_saved_notebook_has_the_picture_of_what_was_shown_beside_the_widget(fig, monkeypatch):
    widget, first = shown(fig, monkeypatch)
    assert widget.pop("text/html") == "", "what shows no widgets shows the picture alone"
    assert widget.keys() == {figure.VIEW} and widget[figure.VIEW]["model_id"] == fig.model_id
    assert first["text/plain"] == repr(fig)
    assert re.fullmatch(
        f'<img src="data:image/svg.xml;base64,[^"]*" .*class="{fig._picture}".*>', first["text/html"]
    )
    fig.progress = 4
    assert shown(fig, monkeypatch)[1]["text/html"] != first["text/html"]
    assert Figure("fold")._picture != fig._picture


def test_a_recording_shows_the_norms_of_a_model():
    model = torch.nn.Sequential(torch.nn.LayerNorm(6), torch.nn.Linear(6, 6), torch.nn.RMSNorm(6))
    with normscape.record(model, tell=lambda line: None) as seen, torch.no_grad():
        model(torch.randn(50, 6, generator=torch.Generator().manual_seed(0)))
    fig = seen.show(norm=2)
    assert fig.slug == "model" and fig.choices["norm"] == 2
    assert len(seen.recording.norms) == 2 and opened(fig._made)["recipe"]["chosen"] == fig.choices


def test_the_file_of_a_recording_is_shown_anywhere(tmp_path):
    recording().save(tmp_path / "mine.safetensors")
    choices = normscape.own(tmp_path / "mine.safetensors")
    assert choices != normscape.own(recording()), "each is known to its own link alone"
    assert opened(Figure("model", **choices)._made)["recipe"]["views"][0]["title"] == "Norm 1 of 2: h.0.ln_1"
    app = Dash(__name__)
    app.layout = html.Div(normscape.Scene("model", choices=choices))
    client = app.server.test_client()
    assert client.get(f"/{PATH}/figure/model", query_string=choices).status_code == 200
    recipe = client.get(f"/{PATH}/recipe/model", query_string=choices).json
    assert recipe["views"][0]["title"] == "Norm 1 of 2: h.0.ln_1"
    (tmp_path / "other.safetensors").write_bytes(bytes(100))
    with pytest.raises(ValueError, match="header"):
        normscape.own(tmp_path / "other.safetensors")


def test_without_its_widgets_it_says_what_to_install_and_records_all_the_same():
    code = (
        "import sys; sys.modules['anywidget'] = None\nfrom normscape import record\n"
        "print(sorted({'dash', 'flask', 'torch'} & set(sys.modules)))\nfrom normscape import Figure"
    )
    got = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE
    )
    assert got.stdout == "[]\n"
    assert got.stderr.splitlines()[-1].endswith("normscape.Figure needs anywidget: pip install anywidget")


def test_two_recordings_of_a_reader_are_compared(tmp_path):
    replace(recording(), name="step 0").save(tmp_path / "mine.safetensors")
    second = normscape.own(replace(recording(), name="step 1000"))["own"]
    fig = Figure("model", **normscape.own(tmp_path / "mine.safetensors"), other=second)
    assert fig.state.recipe.facts.columns == ["", "step 0", "step 1000"]
