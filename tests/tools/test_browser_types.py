"""The browser's types of a recipe match the dataclasses, and the JSON that is sent."""

import re
from dataclasses import make_dataclass
from functools import cache

import pytest

from components.language.cloud import Array, Row
from components.language.marks import MARKS
from components.language.packing import packed
from components.language.readouts import READOUTS
from tests.components.recipes import recipe
from tools import browser_types


def test_the_types_for_the_browser_are_up_to_date():
    written = browser_types.FILE.read_text("utf-8")
    assert written == browser_types.text(), "run `python -m tools.browser_types`"


def test_no_field_is_of_any_type():
    text = browser_types.text()
    assert not re.search(r"\bany\b|\[field", re.sub(r"/\*\*.*?\*/", "", text))


@cache
def declared(name):
    [(base, body)] = re.findall(
        rf"interface {name}(?: extends (\w+))? {{\n(.*?)\n?}}", browser_types.FILE.read_text("utf-8"), re.S
    )
    own = {line.split(":")[0].strip() for line in body.splitlines()}
    return own | declared(base) if base else own


@pytest.mark.parametrize("d", [2, 3])
def test_what_is_sent_has_the_declared_fields(d):
    sent = packed(recipe(d))
    assert set(sent) == declared("Recipe") and set(sent["table"]) == declared("Table")
    assert set(sent["parameters"][0]) == declared("Parameter")
    for view in sent["views"]:
        assert set(view) == declared("View")
    for mark in (mark for view in sent["views"] for mark in view["layers"]):
        assert set(mark) == declared(f"{mark['mark']}Mark"), mark["mark"]
    for readout in sent["readouts"]:
        [name] = [kind.__name__ for kind in READOUTS if kind.__name__.lower() == readout["kind"]]
        assert set(readout) == declared(f"{name}Readout"), name


@pytest.mark.parametrize(("union", "kinds"), [("Mark", MARKS), ("Readout", READOUTS)])
def test_marks_and_readouts_are_discriminated_unions(union, kinds):
    [names] = re.findall(rf"export type {union} =([^;]*);", browser_types.text())
    assert names.split() == [part for kind in kinds for part in ("|", kind.__name__ + union)]


def test_a_new_field_has_the_type_of_what_it_packs_to():
    own = [("numbers", Array), ("pairs", tuple[tuple[float, str], ...]), ("row", Row | None)]
    want = {"numbers": "Packed", "pairs": "[number, string][]", "row": "Row | null"}
    assert browser_types.members(make_dataclass("Kind", own)) == want
