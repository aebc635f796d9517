"""Words are explained once, and linked where a text first uses them; sources are cited in full."""

import re

import pytest

from components.language.scene import scenes
from components.language.sources import sources
from components.language.text import line
from components.language.words import linked, sections
from tests.scenes.rules import keep

EVERY = pytest.mark.parametrize("scene", scenes().values(), ids=scenes())
LINK = re.compile(r'<a (?:aria-label="[^"]+" )?class="word" href="W#(\w+)">(.*?)</a>', re.S)
WORDS = [word for some in sections().values() for word in some]


def test_each_word_has_a_place_and_a_meaning_of_its_own():
    ids, fragments = [word.id for word in WORDS], [each for word in WORDS for each in word.found]
    assert len(ids) == len(set(ids)) and len(fragments) == len(set(fragments))
    assert all(word.name and len(word.meaning) > 30 for word in WORDS)
    assert {word.scene for word in WORDS} <= {"", *scenes()}


def test_no_link_stands_where_a_phrase_means_something_else():
    """A word is not linked in the scenes that its field `not_in` names.

    For at least one word and scene this matters: without the field, the word would be linked.
    """
    exceptions = [(word, slug) for word in WORDS for slug in word.not_in]
    assert any(f'W#{word.id}"' in linked(scenes()[slug].text.html, "W") for word, slug in exceptions)
    for word, slug in exceptions:
        assert f'W#{word.id}"' not in linked(scenes()[slug].text.html, "W", slug)


@EVERY
def test_a_text_links_a_word_where_it_uses_it_first(scene):
    text = scene.text.html
    html = linked(text, "W", scene.slug)
    found = LINK.findall(html)
    assert len(found) == len({each for each, _ in found})
    keep("words", scene.slug, len(found) >= 3, f"{len(found)}: {', '.join(each for each, _ in found)}")
    assert LINK.sub(lambda link: link[2], html) == text, "nothing but links is added"
    for heading in re.findall(r"<(?:h2|summary)>.*?</", html):
        assert "<a" not in heading
    told = [word for word in WORDS if scene.slug not in word.not_in]
    met = {word.id for word in told for each in word.found if each.startswith("<") and each in text}
    assert met - {each for each, _ in found} <= tabled(text), "symbols that are whole formulas"


def tabled(text):
    """The ids of the words that an HTML text contains only in tables, or not at all."""
    outside = re.sub(r"<table>.*?</table>", "", text, flags=re.S)
    return {word.id for word in WORDS if not any(each in outside for each in word.found)}


def test_a_word_is_whole_and_no_link_stands_in_a_link():
    html = linked("<p>softmaxes, softmax and softmax; <a href='x'>entropy</a> entropy</p>", "W")
    assert html.startswith('<p>softmaxes, <a class="word" href="W#softmax">softmax</a> and softmax;')
    assert html.count("#entropy") == 1 and html.index("#entropy") > html.index("</a> ")


def test_a_symbol_is_linked_as_a_formula():
    html = linked(line(r"$a$ and $\varepsilon$ and $\varepsilon$"), "W")
    assert html.count("#epsilon") == 1 and '#epsilon"><span class="math' in html
    assert 'aria-label="ε, epsilon"' in html
    assert 'aria-label="t"' in linked(line("$t$"), "W")


@EVERY
def test_every_scene_cites_its_sources(scene):
    unknown = set(scene.text.sources) - set(sources())
    keep(
        "sources", scene.slug, bool(scene.text.sources) and not unknown, ", ".join(sorted(unknown)) or "none"
    )


def test_sources_have_authors_a_title_a_year_and_an_address():
    for key, text in sources().items():
        assert re.search(r"<em>.+</em>", text) and re.search(r"\b(19|20)\d\d\b", text), key
        assert re.search(r'<a href="https://', text) or "no lasting address" in text, key
        assert text.index("<em>") > 5 and key[-4:] in text, key
