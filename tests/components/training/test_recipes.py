"""The cache of recipes, which links with the same choices share."""

from dataclasses import replace

import pytest
from cachetools import LRUCache

from components.language.scene import WrongValue, scenes
from components.training import recipes
from components.training.recipes import built, state_of

CACHED_RECIPES = 8


def counting(asked):
    """The scene `fold`; each time it is built, it appends the choices to the list `asked`."""
    fold = scenes()["fold"]
    return replace(fold, build=lambda choices: (asked.append(dict(choices)), fold.build(choices))[1])


def test_links_that_differ_in_all_but_choices_build_once_refused_or_not():
    asked = []
    scene = counting(asked)
    for k in range(20):
        state_of(scene, {"t": str(k / 20), "follow": str(k)})
        with pytest.raises(WrongValue):
            state_of(scene, {"t": f"9{k}"})
    assert len(asked) == 1


def test_no_more_are_kept_than_there_is_room_for(monkeypatch):
    monkeypatch.setattr(recipes.cached_recipe, "cache", LRUCache(CACHED_RECIPES))
    scene = replace(
        scenes()["stretch"], build=lambda choices: scenes()["stretch"].build(choices | {"n": "24"})
    )
    for k in range(3 * CACHED_RECIPES):
        built(scene, {"n": str(k)})
    assert len(recipes.cached_recipe.cache) == CACHED_RECIPES
    assert [dict(key[3:])["n"] for key in recipes.cached_recipe.cache] == [
        str(k) for k in range(2 * CACHED_RECIPES, 3 * CACHED_RECIPES)
    ]


def test_what_one_reader_brings_is_not_kept(monkeypatch):
    monkeypatch.setattr(recipes.cached_recipe, "cache", LRUCache(CACHED_RECIPES))
    scene = scenes()["spiral"]
    with pytest.raises(WrongValue):
        built(scene, scene.choose({"run": "0123456789abcdef"}))
    assert not recipes.cached_recipe.cache
