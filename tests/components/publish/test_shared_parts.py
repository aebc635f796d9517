"""A recipe that refers to parts of the default one is restored unchanged in the browser."""

import base64
import gzip
import itertools
import json

import pytest

from components.language.scene import scenes
from components.publish import site
from components.publish.shared_parts import compact, parts, with_references
from components.web.server import contents


def file(text):
    return {"status": 200, "base64": base64.b64encode(gzip.compress(text.encode())).decode()}


@pytest.mark.parametrize("slug, most", [("octants", 0.5), ("fold", 0.5), ("heads", 1.0)])
def test_what_refers_is_smaller_and_is_restored(node, slug, most):
    scene = scenes()[slug]
    usual, *others = (contents(scene, chosen) for chosen in itertools.islice(site.variants(scene), 4))
    known = parts(usual)
    for other in others:
        text = compact(with_references(other, known))
        assert len(text) < most * len(compact(other))
        replies = [file(text), file(compact(usual))]
        got = node.ask("recipe", replies=replies, known={"": "usual.json.gz", "n=1": "other.json.gz"})
        assert got["answer"]["recipe"] == json.loads(compact(other)) and got["asked"] == 2


@pytest.mark.parametrize("replies", [["error"], [file("{}"), "error"], ["error", file("{}")]])
def test_without_both_files_there_is_no_recipe(node, replies):
    got = node.ask("recipe", replies=replies, known={"": "usual.json.gz", "n=1": "other.json.gz"})
    assert not got["answer"].get("recipe")


def test_what_is_long_and_stands_elsewhere_is_found():
    long = list(range(100))
    known = parts({"a": long, "b": {"c": "x" * 200}})
    assert with_references({"z": [long, 1], "b": {"c": "x" * 200}}, known) == {
        "z": [{"$same": ("a",)}, 1],
        "b": {"$same": ("b",)},
    }
