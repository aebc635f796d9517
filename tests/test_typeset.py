"""Readers never see u_ε with its underscore, because it is typeset everywhere."""

import re

import pytest

import app
from components.drawing.figure import document
from components.language.guides import GUIDES
from components.language.scene import WrongValue, scenes
from components.language.text import plain
from components.training.recipes import built

RAW = re.compile(r"u_")
UNSEEN = {"name", "cloud", "keys", "a", "b", "role", "mark", "kind", "function", "default"}  # keys


@pytest.fixture(scope="module")
def client():
    return app.create_app().server.test_client()


def texts(data):
    """All strings in JSON data, except the values of the keys in UNSEEN, which readers do not see."""
    if isinstance(data, dict):
        for name, value in data.items():
            if name not in UNSEEN:
                yield from texts(value)
    elif isinstance(data, list):
        for value in data:
            yield from texts(value)
    elif isinstance(data, str):
        yield data


def test_what_is_found():
    assert list(texts({"title": "u_ε", "name": "u_ε", "views": [{"axes": ["a"]}]})) == ["u_ε", "a"]


@pytest.mark.parametrize("scene", scenes().values(), ids=scenes())
def test_recipes(scene):
    for each in [{}, *({c.name: o} for c in scene.choices for o in getattr(c, "options", ()))]:
        try:
            recipe = built(scene, scene.choose(each))
        except WrongValue:
            continue  # the option is not valid with the other defaults
        found = document(recipe) | scene.json() | {"formula": ""}
        assert not [text for text in texts(found) if RAW.search(text)]


@pytest.mark.parametrize("page", ["", "story", "words", "search.json", *GUIDES, *scenes()])
def test_pages(client, page):
    body = re.sub(r"<(script|style)\b.*?</\1>", "", client.get(f"/{page}").get_data(as_text=True), flags=re.S)
    said = " ".join(re.findall(r'(?:title|aria-label|content|alt)="([^"]*)"', body))
    assert not RAW.search(plain(body) + said)
