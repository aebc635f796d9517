"""The glossary: words and symbols, each linked to its entry where a text uses it for the first time.

`texts/words.md` consists of sections with entries. An entry is a heading `### name`, a line `@ id scene
!other: phrases`, and the meaning of the name. scene: (optional) the slug of a scene that shows it. !other:
(optional, several) the slug of a scene in which the phrases mean something else. phrases: (optional) the
words or formulas, separated by commas, that all other texts use for it; they become links to the entry.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from html import escape, unescape
from pathlib import Path

from components.language.text import line, markdown, parts

WORDS_FILE = Path(__file__).parents[1] / "texts/words.md"
HTML_TAG = re.compile(r"<[^>]+>")
ENTRY_HEAD = re.compile(r"@ (\w+)(?: (\w+))?((?: !\w+)*):(.*)")
# Elements in which nothing is linked (headings, summaries, links, formulas, tables); other tags; the rest is
# text.
HTML_PIECES = re.compile(r'(<span class="math.*?</span>|<(h[1-6]|a|table|summary)\b.*?</\2>|<[^>]+>)', re.S)


@dataclass(frozen=True)
class Word:
    """An entry of the glossary.

    id        its name in addresses: the part after "#", such as "mu" in `words#mu`
    name      the word or symbol, as HTML
    meaning   its explanation, as HTML
    scene     the slug of a scene that shows it; "" for none
    found     the phrases, as HTML, that become links to it in other texts
    not_in    the slugs of scenes in which these phrases mean something else, so that they do not become links
    """

    id: str
    name: str
    meaning: str
    scene: str
    found: tuple[str, ...]
    not_in: tuple[str, ...]


@cache
def sections() -> dict[str, tuple[Word, ...]]:
    """For each section of the glossary, by its title, the entries in it.

    Raises ValueError for an entry without a line `@ id …`.
    """
    chapters = parts(WORDS_FILE.read_text("utf-8"), "##")[1]
    return {title: tuple(_word(*each) for each in parts(body, "###")[1]) for title, body in chapters}


def _word(name: str, body: str) -> Word:
    first, _, meaning = body.partition("\n")
    head = ENTRY_HEAD.fullmatch(first)
    if head is None:
        raise ValueError(f"the word {name!r} needs a first line '@ id scene !other: phrases'")
    # commas separate fragments, except inside a formula
    fragments = re.findall(r"\s*(\$[^$]+\$|[^,$]+)(?:,|$)", head[4])
    found, not_in = tuple(line(each) for each in fragments), tuple(re.findall(r"\w+", head[3]))
    return Word(head[1], line(name), markdown(meaning), head[2] or "", found, not_in)


def linked(html: str, page: str, scene: str = "") -> str:
    """A copy of `html` with one link to each glossary entry, where one of the entry's phrases is first used.

    Headings, links, tables and summaries are left alone, and so are phrases with another meaning in `scene`.
    page: the address of the glossary. scene: the slug of the scene to which the text `html` belongs, or "".
    """
    pieces = re.split(HTML_PIECES, html)  # text, element, name of its tag, text, …
    texts, tags = pieces[::3], [*pieces[1::3], ""]
    for word in (word for some in sections().values() for word in some):
        if scene not in word.not_in:
            _link(word, texts, tags, page)
    return "".join(text + tag for text, tag in zip(texts, tags, strict=True))


def _link(word: Word, texts: list[str], tags: list[str], page: str) -> None:
    words = "|".join(re.escape(each) for each in word.found if not each.startswith("<"))
    plain = re.compile(rf"\b(?:{words})\b(?![^<]*</a>)") if words else None
    for k, (text, tag) in enumerate(zip(texts, tags, strict=True)):
        if plain and (found := plain.search(text)):
            texts[k] = text[: found.start()] + _anchor(word, found[0], page) + text[found.end() :]
            return
        if tag in word.found:
            tags[k] = _anchor(word, tag, page)
            return


def _anchor(word: Word, inner: str, page: str) -> str:
    name = ""
    if inner.startswith("<"):  # a formula needs a name for screen readers
        names = dict.fromkeys((unescape(HTML_TAG.sub("", inner)), word.id))  # one name if they are equal
        name = f'aria-label="{escape(", ".join(names))}" '
    return f'<a {name}class="word" href="{escape(page)}#{word.id}">{inner}</a>'
