"""All text is in the typefaces that come with the app, and these come with every page."""

import base64
import html
import json
import re
import subprocess
import unicodedata
from pathlib import Path

import pytest

from components import fonts
from components.language import text
from components.language.guides import GUIDES
from components.language.scene import scenes
from components.publish import component, plain
from components.training.recipes import built, state_of
from components.web.server import style_sheet
from normscape.app import create_app

HERE = Path(__file__).parent
# Characters that no text font has: symbols on buttons and keys, a visible space, small letters
STRANGE = set("◐☀☾⌘␣■━ₖₒᵢ")
SPANS = [span.strip().removeprefix("U+").split("-") for span in fonts.SIGNS.split(",")]
TAKEN = {chr(sign) for span in SPANS for sign in range(int(span[0], 16), int(span[-1], 16) + 1)}
MATH = re.compile(r"<math.*?</math>", re.S)
OWN = re.compile(r"<mi>([^<]+)</mi>")
MINUTE = re.compile(r"[\s\u200b]")
TEXTS = ("", "story", "words", *GUIDES)


@pytest.fixture(scope="module")
def client():
    return create_app().server.test_client()


@pytest.fixture(scope="module")
def faces():
    """A dict: for each typeface, the set of its characters, and whether it has a MATH table."""
    done = subprocess.run(["node", HERE / "fonts.mjs"], capture_output=True, text=True, check=True)
    return {name: (set(each["signs"]), each["mathematics"]) for name, each in json.loads(done.stdout).items()}


@pytest.fixture(scope="module")
def pages(client):
    paths = [*TEXTS, *scenes()]
    return {path: client.get(f"/{path}").text for path in paths}


def slanted(sign):
    """The italic character by which MathML shows an ASCII or Greek letter; other characters are unchanged."""
    name = unicodedata.name(sign, "")
    found = re.fullmatch(r"(LATIN|GREEK) (SMALL|CAPITAL) LETTER (FINAL )?(\w+)", name)
    if not found or not (sign.isascii() or "\u0391" <= sign <= "\u03c9"):
        return sign
    letter = "LAMDA" if found[4] == "LAMDA" else (found[3] or "") + found[4]
    return (
        "ℎ"
        if sign == "h"
        else unicodedata.lookup(f"MATHEMATICAL ITALIC {found[2]} {letter}".replace("LATIN ", ""))
    )


def test_letters_of_formulas_are_slanted():
    assert [slanted(sign) for sign in "xhγΠ1+𝟏"] == ["𝑥", "ℎ", "𝛾", "𝛱", "1", "+", "𝟏"]


def test_there_are_four_and_none_in_two_places(faces):
    """There are four fonts, in four files; those of signs and of mathematics have a MATH table.

    If two fonts shared a file, Chromium would know the characters of only one of them.
    """
    assert faces.keys() == {"text", "italic", "signs", "mathematics"}
    assert sorted(faces) == sorted(file for _, file, _ in fonts.FACES)
    assert {name for name, (_, mathematics) in faces.items() if mathematics} == {"signs", "mathematics"}


def test_the_signs_are_those_that_the_style_sheet_takes_and_the_text_lacks(faces):
    assert faces["signs"][0] >= TAKEN and not TAKEN & faces["text"][0]


@pytest.mark.all_scenes
def test_formulas_are_written_in_the_typeface_of_mathematics(faces, pages):
    signs, _ = faces["mathematics"]
    formulas = [
        text.mathml(formula)
        for scene in scenes().values()
        if (formula := built(scene, scene.choose({})).formula)
    ]
    formulas += [found for page in pages.values() for found in MATH.findall(page)]
    assert len(formulas) > 500
    told = [html.unescape(re.sub(r"<[^>]+>", "", each)) for each in formulas]
    letters = [html.unescape(letter) for each in formulas for letter in OWN.findall(each)]
    needed = set(MINUTE.sub("", "".join(told))) | {slanted(each) for each in letters if len(each) == 1}
    assert len(needed) > 100 and needed <= signs


@pytest.mark.all_scenes
def test_words_are_written_in_the_typeface_of_text(faces, pages):
    signs = faces["text"][0] | TAKEN
    for path, page in pages.items():
        words = re.sub(r"<(script|style)\b.*?</\1>", "", MATH.sub("", page), flags=re.S)
        words = html.unescape(re.sub(r"<[^>]+>", " ", words))
        assert set(MINUTE.sub("", words)) - signs <= STRANGE, path


def test_the_style_sheet_names_files_that_are_there(client):
    named = re.findall(r'url\("([^"]+)"\)', client.get("/theme.css").text)
    assert len(named) == len(fonts.FACES) and set(named) == {f"lib/{name}" for name in fonts.files()}
    for name in named:
        answer = client.get(f"/{name}")
        assert answer.mimetype == "font/woff2" and answer.data[:4] == b"wOF2"
        assert "immutable" in answer.headers["Cache-Control"]
    assert client.get("/lib/text-000000000000.woff2").status_code == 404


def test_a_file_that_stands_alone_has_them_inside():
    scene = scenes()["fold"]
    page = plain.single_file(scene, state_of(scene, {}))
    held = re.findall(r'url\("data:font/woff2;base64,([^"]+)"\)', page)
    assert {base64.b64decode(each) for each in held} == set(fonts.files().values())
    assert not re.search(r'url\((?!"data:)', page.partition("</style>")[0])


def test_guests_get_them_too():
    assert "lib/text-" in component.styles() and "font/woff2" in component.styles(fonts.inside)


def test_without_npm_the_systems_typefaces_stand_in(monkeypatch, tmp_path):
    monkeypatch.setattr(fonts, "FOLDER", tmp_path)
    fonts.files.cache_clear()
    try:
        assert "@font-face" not in style_sheet() and "--letters: Normscape, Arial" in style_sheet()
    finally:
        fonts.files.cache_clear()


def test_their_licence_is_told():
    assert "SIL Open Font License" in style_sheet()
    for face in ("text", "mathematics"):
        assert "SIL OPEN FONT LICENSE" in (fonts.FOLDER / f"LICENSE-{face}.md").read_text("utf-8")
    for path in ("README.md", "docs/design.md"):
        told = " ".join((HERE.parents[1] / path).read_text("utf-8").split())
        assert "Source Sans 3" in told and "STIX Two Math" in told and "Open Font License" in told


def test_norms_bars_are_of_one_height():
    made = text.mathml(r"\sqrt{\lVert x \rVert^2}")
    assert made.count('<mo stretchy="false" lspace="0" rspace="0">&#x02016;</mo>') == 2
