"""The static site: which choices it has, and previews; tests/browser/test_site.py writes a whole site."""

import gzip
import itertools
import json
import re
from dataclasses import replace

import pytest
from PIL import Image

from components.language.guides import GUIDES
from components.language.link import key
from components.language.scene import Choice, Several, scenes
from components.language.story import story
from components.pages.home import hero
from components.publish import site
from components.scenes.activation.build import FUNCTIONS
from components.scenes.model.build import SHIPPED
from components.scenes.model.strips import SETS
from components.web.server import contents
from normscape import app


@pytest.mark.parametrize("command", ["site", "story"])
def test_a_folder_with_other_files_stays_as_it_is(tmp_path, capsys, command):
    (tmp_path / "index.html").write_text("hi")
    for folder, reason in ((tmp_path, "contains other files"), (tmp_path / "index.html", "is a file")):
        with pytest.raises(SystemExit):
            app.main([command, str(folder)])
        assert reason in capsys.readouterr().err
    assert [path.read_text() for path in tmp_path.iterdir()] == ["hi"]


@pytest.mark.parametrize("command", ["site", "story"])
def test_a_site_that_was_interrupted_can_be_written_again(tmp_path, capsys, monkeypatch, command):
    def stop(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(site, "asset", stop)
    for _ in range(2):
        with pytest.raises(SystemExit):
            app.main([command, str(tmp_path)])
        assert capsys.readouterr().err.endswith(": stopped\n") and any(tmp_path.iterdir())


@pytest.mark.parametrize("scene", scenes().values(), ids=scenes())
def test_the_first_choices_are_there_in_all_combinations(scene):
    """A static site has a recipe for each pair of values of a scene's first two lists.

    A list is a `Choice` or a `Several`; other choices have their defaults. Pairs for which the page would
    show a text field may be missing. If there are more pairs than `site.TOGETHER`, none is tested. The first
    recipe of a site is that of the defaults.
    """
    made = list(site.variants(scene))
    keys = [key(scene, chosen) for chosen in made]
    usual = {c.name: c.default for c in scene.choices}
    assert made[0] == usual and len(set(keys)) == len(keys)
    listed = [c for c in scene.choices if isinstance(c, Choice | Several)][:2]
    pairs = list(itertools.product(*map(site.values, listed)))
    for pair in pairs if len(pairs) <= site.TOGETHER else []:
        chosen = usual | dict(zip((c.name for c in listed), pair, strict=True))
        assert key(scene, chosen) in keys or site.needs_text_field(scene, chosen), chosen


@pytest.mark.parametrize("scene", scenes().values(), ids=scenes())
def test_every_stop_of_a_tour_is_there(scene):
    keys = {key(scene, chosen) for chosen in site.variants(scene)}
    for stop in scene.text.tour:
        chosen = {c.name: c.parse(stop.state.get(c.name, str(c.default))) for c in scene.choices}
        assert key(scene, chosen) in keys, stop.title


@pytest.mark.parametrize("scene", scenes().values(), ids=scenes())
def test_one_change_of_any_choice_is_there(scene):
    made = list(site.variants(scene))
    keys, usual = {key(scene, chosen) for chosen in made}, {c.name: str(c.default) for c in scene.choices}
    offered = site.offered(scene, made)
    for choice in offered:
        if choice["kind"] == "one" and not choice["when"]:
            for value in choice["options"]:
                query = "" if value == usual[choice["name"]] else f"{choice['name']}={value}"
                assert query.replace(",", "%2C") in keys, (choice["name"], value)
    assert not [c for c in offered if c["kind"] in ("typed", "whole", "result")]


@pytest.mark.parametrize("scene", scenes().values(), ids=scenes())
def test_no_question_needs_an_option_that_the_site_lacks(scene):
    there = {each["name"]: each["options"] for each in site.offered(scene, list(site.variants(scene)))}
    lists = [c for c in scene.choices if isinstance(c, Choice | Several)]
    lacking = {
        label for c in lists for value, label in c.options.items() if value not in there.get(c.name, ())
    }
    asked = " ".join(question for question, _ in scene.text.questions)
    assert [label for label in lacking if f"“{label}”" in asked or f"<strong>{label}<" in asked] == []


def test_the_site_holds_every_recorded_model_and_each_of_its_strips():
    scene = scenes()["model"]
    keys = {key(scene, chosen) for chosen in site.variants(scene)}
    assert {"", *(f"recording={name}" for name in list(SHIPPED)[1:])} <= keys
    assert {f"strips={name}" for name in list(SETS)[1:]} <= keys and "massive=out" in keys
    for name, count in {"smollm2": 61, "minilm": 13, "antiberty": 17, "rxnmapper": 25, "trained": 9}.items():
        chosen = ({"recording": name, "norm": k} for k in range(1, count + 1))
        usual = {c.name: c.default for c in scene.choices}
        assert {key(scene, usual | each) for each in chosen} <= keys, (
            f"a click on any norm of {name} opens it"
        )


@pytest.mark.parametrize(
    "words, url", [([], ""), (["--url", "https://uni.example/n"], "https://uni.example/n")]
)
def test_the_command_writes_with_or_without_an_address(monkeypatch, tmp_path, capsys, words, url):
    monkeypatch.setattr(site, "write", lambda folder, at, links: f"{folder} {at}")
    app.main(["site", str(tmp_path), *words])
    assert capsys.readouterr().out == f"{tmp_path} {url}\n"


@pytest.mark.parametrize("slug", ["layernorm", "fold", "majority"])
def test_recipe_files_are_gzip_and_the_same_each_time(tmp_path, slug):
    text = json.dumps(contents(scenes()[slug], scenes()[slug].choose({})), separators=(",", ":"))
    name = site._recipe(tmp_path, slug, text)
    data = (tmp_path / name).read_bytes()
    assert name.endswith(".json.gz") and gzip.decompress(data).decode() == text
    assert len(data) < len(text) * 0.6
    assert site._recipe(tmp_path / "again", slug, text) == name
    assert (tmp_path / "again" / name).read_bytes() == data


URL = "https://uni.example/normscape"
FOOT = '<footer class="foot"><a href="https://a.example/?x=1&amp;y">Imprint</a></footer>'


def test_a_site_with_an_address_has_previews_and_a_foot(tmp_path, monkeypatch):
    """With `--url`, pages name their previews by absolute addresses, as social networks need them.

    Guides name their own address, but have no preview. Each page links the imprint at its foot. Recipes and
    cards, which take a minute, are not made here.
    """
    few = {part.slug for part in story().parts} | {hero().slug}
    monkeypatch.setattr(site, "scenes", lambda: {slug: scenes()[slug] for slug in few})
    monkeypatch.setattr(site, "variants", lambda scene: [{c.name: c.default for c in scene.choices}])
    monkeypatch.setattr(site, "contents", lambda *_: {})
    monkeypatch.setattr(site, "draw", lambda *_: b"")
    monkeypatch.setenv("IMPRINT_URL", "https://a.example/?x=1&y")
    app.main(["site", str(tmp_path), "--url", f"{URL}/"])
    texts = [path.read_text("utf-8") for path in tmp_path.rglob("*.html")]
    assert len(texts) > len(few) + len(GUIDES) and all(text.count(FOOT) == 1 for text in texts)
    pages = {"": "home", "story/": "story", "words/": "words"} | {f"{slug}/": slug for slug in few}
    for slug in GUIDES:
        told = tags((tmp_path / slug / "index.html").read_text("utf-8"))
        assert told["og:url"] == f"{URL}/{slug}/" and "og:image" not in told
    for path, name in pages.items():
        told = tags((tmp_path / path / "index.html").read_text("utf-8"))
        assert told["og:url"] == f"{URL}/{path}" and told["og:image"] == f"{URL}/preview/{name}.png"
        with Image.open(tmp_path / f"preview/{name}.png") as picture:
            assert (picture.format, picture.size) == ("PNG", (1200, 630))


def test_a_site_without_an_address_names_no_picture():
    told = tags(site.front("recipes/one.json", site.Site("", ())))
    assert told["og:title"] and not {"og:url", "og:image"} & set(told)


def test_the_story_links_the_imprint_and_the_privacy_notice(tmp_path, monkeypatch):
    monkeypatch.setattr(site, "contents", lambda *_: {})
    monkeypatch.setenv("IMPRINT_URL", "https://a.example/?x=1&y")
    monkeypatch.setenv("PRIVACY_URL", "http://b.example")
    app.main(["story", str(tmp_path)])
    foot = FOOT.replace("</footer>", '<a href="http://b.example">Privacy notice</a></footer>')
    assert foot in (tmp_path / "index.html").read_text("utf-8")


@pytest.mark.parametrize("command", ["site", "story"])
def test_a_wrong_address_of_the_imprint_is_named(tmp_path, monkeypatch, capsys, command):
    monkeypatch.setenv("IMPRINT_URL", "imprint.html")
    with pytest.raises(SystemExit):
        app.main([command, str(tmp_path / "site")])
    assert "IMPRINT_URL=imprint.html is not an address like" in capsys.readouterr().err
    assert not any(tmp_path.iterdir())


NEEDS = {
    "block": "type 4 to 8 characters of your own",
    "language": "choose “My own sentence” (sentence)",
    "spiral": "choose “my own points” (data) and train your own network",
    "model": "open a recording of your own model",
    "fold": None,
}


@pytest.mark.parametrize(("slug", "needs"), NEEDS.items())
def test_a_page_names_what_needs_a_server(slug, needs):
    scene = scenes()[slug]
    choices = site.offered(scene, list(site.variants(scene)))
    said = site.scene_page(scene, {"": "recipes/one.json"}, choices, site.Site("", ()))
    line = f"This site has no Normscape server. With one, you can also {needs}."
    assert (line in said) == (needs is not None) and said.count("no Normscape server") == (needs is not None)


@pytest.mark.parametrize("count", [site.SUBSETS, site.SUBSETS + 1])
def test_a_choice_with_too_many_options_is_not_offered(count):
    options = {**FUNCTIONS, **{f"more {k}": "" for k in range(count - len(FUNCTIONS))}}
    scene = replace(scenes()["activation"], choices=(Several("others", "functions", "tanh", options),))
    choices = site.offered(scene, list(site.variants(scene)))
    said = site.scene_page(scene, {"": "recipes/one.json"}, choices, site.Site("", ()))
    assert [c["name"] for c in choices] == ["others"] * (count <= site.SUBSETS)
    assert ("With one, you can also change “functions”." in said) == (count > site.SUBSETS)


WRONG_URLS = ["uni.example", "/normscape", "ftp://uni.example", f"{URL}?a=1", f"{URL}#a", f"{URL}/a b"]
WRONG_URLS += ["http://", "http://[::1", "https://a b", "https:///normscape"]


@pytest.mark.parametrize("url", WRONG_URLS)
def test_an_address_that_is_not_of_a_folder_is_refused(tmp_path, capsys, url):
    with pytest.raises(SystemExit):
        app.main(["site", str(tmp_path), "--url", url])
    assert "is not the https://" in capsys.readouterr().err


def tags(page):
    return dict(re.findall(r'<meta property="(og:[a-z:_]+)" content="([^"]*)"', page))
