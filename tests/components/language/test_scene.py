import json
from dataclasses import replace
from pathlib import Path

import pytest

import components.scenes
from components.language.moved import forwarded
from components.language.packing import packed
from components.language.recipe import Recipe
from components.language.scene import (
    Choice,
    Picked,
    Result,
    Scene,
    Sentence,
    Several,
    Typed,
    Whole,
    WrongValue,
    scenes,
)
from components.training import recipes
from components.training.recipes import recipe_of
from tests.components.recipes import recipe
from tests.scenes.rules import keep

SCENE = Scene(
    "tests.stretch",  # its slug is `stretch`, so it has the title and the lead of that scene
    lambda choices: recipe(int(choices["d"])),
    choices=(
        Choice("d", "Dimension", "3", {"2": "two", "3": "three"}),
        Whole("n", "How many", 5, min=1, max=10),
        Typed("text", "Yours", "1 2", longest=5),
        Sentence("line", "A line", "a key", longest=6),
        Several("heads", "Heads", "a", {"a": "A", "b": "B"}),
        Result("made", "Made", of=("d",), longest=3),
        Picked("pick", "Picked", 0, 0, 3, of=("d",)),
    ),
)
RESERVED = {"progress", "camera", "follow", "theme", "controls", "tour", "autoplay"}
NO_WHOLE = ("0", "11", "-1", "2.5", "", "x", "1e1", "nan", "1_0", " 5", "5\n", "+3", "٣", "9" * 5000)
DEFAULTS = {"d": "3", "n": 5, "text": "1 2", "line": "a key", "heads": "a", "made": "", "pick": 0}


def test_defaults_stand_where_nothing_is_asked():
    assert SCENE.choose({}) == DEFAULTS
    asked = {"d": "2", "n": "10", "text": "", "heads": "a,b"}
    assert SCENE.choose(asked) == DEFAULTS | {"d": "2", "n": 10, "text": "", "heads": "a,b"}


@pytest.mark.parametrize(
    ("name", "text", "allowed"),
    [
        ("d", "4", ["2", "3"]),
        ("d", "", ["2", "3"]),
        ("d", "3 ", ["2", "3"]),
        *[("n", text, {"min": 1, "max": 10, "whole": True}) for text in NO_WHOLE],
        ("pick", "1_0", {"min": 0, "max": 3, "whole": True}),
        ("made", "1234", {"longest": 3}),
        ("text", "123456", {"longest": 5}),
        *[("line", text, {"longest": 6}) for text in ("1234567", "x" * 100_000, "", " ", "\n")],
        *[(name, "a\ud800", "Unicode text") for name in ("line", "text")],
        *[("heads", text, ["a", "b"]) for text in ("a,c", "a,,b", ",a", "a,", "a,a", ",")],
        ("colour", "1", ["d", "n", "text", "line", "heads", "made", "pick"]),
    ],
)
def test_a_wrong_choice_says_which_and_what_would_do(name, text, allowed):
    with pytest.raises(WrongValue) as wrong:
        SCENE.choose({name: text})
    got = json.loads(json.dumps(wrong.value.json()))
    assert got["parameter"] == name and got["allowed"] == allowed and name in got["error"]


def test_a_number_whose_range_depends_on_data_is_bounded_by_the_scene():
    norm = Whole("norm", "norm", 1, 1, 9, narrowed=True)
    assert norm.parse("10") == 10
    with pytest.raises(WrongValue) as wrong:
        norm.parse("abc")
    assert wrong.value.allowed == {"min": 1, "max": 9, "whole": True}


def test_recipe_takes_choices_by_name():
    assert recipe_of(SCENE, d=2).views[0].dims == 2 and recipe_of(SCENE).views[0].dims == 3
    with pytest.raises(WrongValue):
        recipe_of(SCENE, d=5)


def test_a_sentence_is_counted_in_characters():
    """An emoji counts as one character, whatever its encoding."""
    assert SCENE.choose({"line": "😀" * 6})["line"] == "😀" * 6


def test_json_says_what_a_page_must_offer():
    data = json.loads(json.dumps(SCENE.json()))
    assert (data["slug"], data["title"]) == ("stretch", "Stretch, then normalise")
    assert "gathers the points" in data["lead"]
    assert [(c["kind"], c["name"], c["default"]) for c in data["choices"]] == [
        ("one", "d", "3"),
        ("whole", "n", 5),
        ("typed", "text", "1 2"),
        ("sentence", "line", "a key"),
        ("several", "heads", "a"),
        ("result", "made", ""),
        ("picked", "pick", 0),
    ]


@pytest.mark.all_scenes
def test_every_folder_is_a_scene():
    found = scenes()
    assert {"layernorm", "rmsnorm"} <= found.keys()
    folder = Path(components.scenes.__file__).parent
    assert found.keys() == {path.parent.name for path in folder.glob("*/text.md")}


@pytest.mark.all_scenes
def test_scenes_come_in_their_order():
    orders = [(s.order, s.slug) for s in scenes().values()]
    assert orders == sorted(orders) and all(slug == s.slug for slug, s in scenes().items())


EVERY = pytest.mark.parametrize("scene", scenes().values(), ids=scenes())


@EVERY
def test_the_lead_of_a_scene_is_a_sentence(scene):
    assert scene.title
    whole = scene.lead.endswith((".", "?", "!")) and "\n" not in scene.lead
    keep("lead", scene.slug, whole, repr(scene.lead))


@EVERY
def test_a_name_in_a_link_means_one_thing(scene):
    names = [c.name for c in scene.choices] + [p.name for p in recipe_of(scene).parameters]
    wrong = {name for name in names if names.count(name) > 1 or name in RESERVED}
    keep("names", scene.slug, not wrong, ", ".join(sorted(wrong)))


@EVERY
def test_choices_take_their_own_defaults(scene):
    assert json.loads(json.dumps(scene.json()))["slug"] == scene.slug
    for choice in scene.choices:
        assert choice.parse(str(choice.default)) == choice.default
        if choice.when:
            other = next(c for c in scene.choices if c.name == choice.when[0])
            assert set(choice.when[1]) <= set(other.options)


@EVERY
def test_an_old_link_leads_to_a_scene(scene):
    """Each entry {(name, value): slug} of `Scene.moved` leads old links to a scene that exists.

    If an entry leads to another scene, its value is no longer an option of the old scene. An entry for a stop
    ("tour") always leads to another scene, and its value is larger than the old scene's number of stops.
    """
    for (name, value), slug in scene.moved.items():
        assert slug in scenes()
        if name == "tour":
            assert int(value) > len(scene.text.tour) and slug != scene.slug
            continue
        values = {choice.name: getattr(choice, "options", {}) for choice in scene.choices}
        assert value not in values.get(name, {}) or slug == scene.slug


OLD = [
    ("heads", "picture=test", ("shuffle", "")),
    ("heads", "picture=cut", ("heads", "")),
    ("heads", "picture=cut&heads=4&layer=2", ("heads", "heads=4")),
    ("heads", "progress=0&picture=test&layer=2&theme=dark", ("shuffle", "progress=0&layer=2&theme=dark")),
    ("heads", "heads=4&window=box&picture=test", ("shuffle", "")),
    ("heads", "picture=test&tour=7", ("shuffle", "")),
    ("heads", "tour=8", ("shuffle", "")),
    ("heads", "controls=picture,overlap&picture=cut", ("heads", "controls=overlap")),
    ("heads", "controls=picture&picture=test", ("shuffle", "controls=0")),
    ("cone", "what=layers&s2=0&camera=1%2C0,0", ("strands", "s2=0&camera=1%2C0,0")),
    ("cone", "%77hat=l%61yers", ("strands", "")),
    ("cone", "tour=7", ("strands", "")),
    *(("heads", query, None) for query in ("", "heads=4", "tour=5", "picture=other", "picture=")),
    *(("cone", query, None) for query in ("what=line", "what=cut", "tour=6", "picture=test")),
    ("fold", "picture=test", None),
]


@pytest.mark.parametrize(("slug", "query", "leads_to"), OLD)
def test_the_rest_of_an_old_link_is_kept_in_its_order(slug, query, leads_to):
    assert forwarded(scenes()[slug], query) == leads_to
    if leads_to:
        assert forwarded(scenes()[leads_to[0]], leads_to[1]) is None


def test_building_is_pure():
    """Each scene, built twice with its default choices, gives the same recipe.

    Links and the cache of recipes rely on this.
    """
    first = {slug: json.dumps(packed(recipe_of(scene))) for slug, scene in scenes().items()}
    recipes.cached_recipe.cache_clear()
    for slug, scene in scenes().items():
        assert json.dumps(packed(recipe_of(scene))) == first[slug], slug


def test_a_scene_is_frozen():
    assert isinstance(recipe_of(replace(SCENE, order=3)), Recipe)
    with pytest.raises(AttributeError):
        SCENE.order = 3
