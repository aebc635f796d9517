"""What the search looks through: chapters, scenes, the parts of their texts, stops, questions, words.

It is one file, which the browser searches by itself (assets/page/search.mjs): no server is asked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from components.language import course
from components.language.asked import asked
from components.language.scene import Scene, scenes
from components.language.text import plain
from components.language.words import sections
from components.pages.shell import Place

HEADING = re.compile(r"<h2>(.*?)</h2>")
LEAD = re.compile(r"<p><strong>(.*?)</strong>")  # what a paragraph is about


def index(place: Place) -> str:
    """JSON: an entry has a `kind`, a `title`, what it is `of`, its `text`, and where it stands, `url`;
    some are `also` asked for by other names.
    """
    return json.dumps([*_chapters(place), *_words(place), *_scenes(place)], ensure_ascii=False)


def anchor(heading: str) -> str:
    """What a heading, or a question, is called in a link."""
    return re.sub(r"\W+", "-", plain(heading).lower()).strip("-")


def _entry(kind: str, title: str, of: str, text: str, url: str, also: str | None = None) -> dict[str, str]:
    told = {"kind": kind, "title": plain(title), "of": of, "text": plain(text), "url": url}
    return told | {"also": also} if also else told


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


def _parts(scene: Scene) -> Iterator[tuple[str, str, str, str]]:
    """What a scene has to be found: its kind, title, text, and where in the page it stands."""
    text = scene.text
    _, *named = HEADING.split(text.html)
    for k, (title, body) in enumerate(zip(named[::2], named[1::2], strict=True)):
        before, *leads = LEAD.split(body) if k else (body,)  # the first is seen at once
        if before.strip():
            yield "text", title, before, f"#{anchor(title)}"
        for lead, words in zip(leads[::2], leads[1::2], strict=True):
            yield "text", lead.rstrip("."), lead + words, f"#{anchor(lead)}"
    for k, stop in enumerate(text.tour, start=1):
        yield "stop", stop.title, f"{stop.question} {stop.html}", f"?tour={k}"
    for question, answer in text.questions:
        yield "question", question, answer, f"#{anchor(question)}"
