"""The search index: chapters, words, guides, and scenes with the parts of their texts and their tables.

It is one JSON file, in which the browser searches without the server (assets/page/search.mjs). Its entries
link to places in pages by their `id`, and to stops of tours by `?tour=`. page.py writes the `id`s of
headings, paragraphs and questions with HEADING, LEAD and `anchor` of this module.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from components.language import course
from components.language.asked import asked
from components.language.guides import guides
from components.language.scene import Scene, scenes
from components.language.text import plain
from components.language.words import sections
from components.pages.shell import Place
from components.training.recipes import draft

HEADING = re.compile(r"<h2>(.*?)</h2>")
LEAD = re.compile(r"<p><strong>(.*?)</strong>")  # the bold beginning of a paragraph, which names its subject
ROW = re.compile(r"<tr>(.*?)</tr>", re.S)
CELL = re.compile(r"<t[hd][^>]*>(.*?)</t[hd]>", re.S)
CODE = re.compile(r"<pre>.*?</pre>", re.S)
LINE_END = "<tr>"  # in the HTML of an entry, marks the end of a line
TABLE = re.compile(r"<table>.*?</table>", re.S)


def index(place: Place) -> str:
    """The search index as JSON: a list of entries. Each entry has these fields:

    kind   what it is, such as "scene", "stop" or "word"
    title  its title
    of     what it belongs to. For a part of a page, this is the page's title; for a whole page, "Scene" or
           "Guide"; for the third chapter, "Chapter 3"; for a word, its section of the glossary
    text   its text, in which the rows of tables are lines of their own
    url    its address
    also   (optional) other names under which readers look for it
    """
    entries = [*_chapters(place), *_words(place), *_scenes(place), *_guides(place)]
    return json.dumps(entries, ensure_ascii=False)


def anchor(heading: str) -> str:
    """The `id` of a heading or question, made of its words, such as "the-second-moment"."""
    return re.sub(r"\W+", "-", plain(heading).lower()).strip("-")


def _entry(kind: str, title: str, of: str, text: str, url: str, also: str | None = None) -> dict[str, str]:
    lines = [plain(line) for line in TABLE.sub(_rows, text).split(LINE_END)]
    entry = {
        "kind": kind,
        "title": plain(title),
        "of": of,
        "text": "\n".join(filter(None, lines)),
        "url": url,
    }
    return entry | {"also": also} if also else entry


def _rows(table: re.Match[str]) -> str:
    """The rows of a table as lines with the titles of the columns. LINE_END is before and after each line.

    table: a match of the table's HTML.
    """
    columns, *rows = [CELL.findall(row) for row in ROW.findall(table[0])]
    return LINE_END + LINE_END.join(row_text(columns, row) for row in rows) + LINE_END


def row_text(columns: Sequence[str], row: Sequence[str]) -> str:
    """A row of a table as a line, such as "points 8 · 1: 23 of 32; 2: 31 of 32". Empty cells are left out.

    columns: the headings, here "points", "1" and "2". row: the cells, here "8", "23 of 32" and "31 of 32".
    """
    named = zip(columns[1:], row[1:], strict=True)
    cells = [f"{column}: {cell}" if column else cell for column, cell in named if cell]
    return f"{columns[0]} {row[0]} · {'; '.join(cells)}"


def _chapters(place: Place) -> Iterator[dict[str, str]]:
    for chapter in course.chapters():
        url = f"{place.home}#chapter-{chapter.number}"
        yield _entry("chapter", chapter.title, f"Chapter {chapter.number}", chapter.about, url)


def _words(place: Place) -> Iterator[dict[str, str]]:
    for title, some in sections().items():
        for word in some:
            url = f"{place.page('words')}#{word.id}"
            also = ", ".join(filter(None, (word.id, asked().get(f"#{word.id}"))))
            yield _entry("word", word.name, title, word.meaning, url, also)


def _scenes(place: Place) -> Iterator[dict[str, str]]:
    for scene in scenes().values():
        url = place.scene(scene.slug)
        for kind, title, text, where in [("scene", scene.title, scene.lead, ""), *_parts(scene)]:
            of = "Scene" if kind == "scene" else scene.title
            yield _entry(kind, title, of, text, url + where, asked().get(scene.slug + where))


def _guides(place: Place) -> Iterator[dict[str, str]]:
    for slug, guide in guides().items():
        url = place.page(slug)
        yield _entry("guide", guide.title, "Guide", guide.lead, url, asked().get(slug))
        for title, text, where in _sections(CODE.sub("", guide.html)):
            yield _entry("guide", title, guide.title, text, url + where, asked().get(slug + where))


def _parts(scene: Scene) -> Iterator[tuple[str, str, str, str]]:
    """The parts of a scene that readers can find: each as (kind, title, text, end of the link).

    The end of the link is what has to be appended to the address of the scene's page.
    """
    text = scene.text
    for title, words, where in _sections(text.html):
        yield "text", title, words, where
    if facts := draft(scene, scene.choose({})).facts:
        rows = (row_text(facts.columns, row) for row in facts.rows)
        yield "table", facts.title, LINE_END.join(rows), "#numbers"
    for k, stop in enumerate(text.tour, start=1):
        yield "stop", stop.title, f"{stop.question} {stop.html}", f"?tour={k}"
    for question, answer in text.questions:
        yield "question", question, answer, f"#{anchor(question)}"


def _sections(html: str) -> Iterator[tuple[str, str, str]]:
    """The parts of a text that readers can find: each as (title, HTML, fragment of the link).

    Each section is a part. After the first section, each paragraph that begins in bold starts another part,
    whose title is the bold words.
    """
    _, *named = HEADING.split(html)
    for k, (title, body) in enumerate(zip(named[::2], named[1::2], strict=True)):
        before, *leads = LEAD.split(body) if k else (body,)  # the first section stays whole
        if before.strip():
            yield title, before, f"#{anchor(title)}"
        for lead, words in zip(leads[::2], leads[1::2], strict=True):
            yield lead.rstrip("."), lead + words, f"#{anchor(lead)}"
