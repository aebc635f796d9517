"""Guides: files of `docs/` that are also pages of the site."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from components.language.text import markdown, plain
from learning.shipped import folder

GUIDES = ("papers", "record", "convert", "embedding", "lecture", "notebook", "dash", "install", "deployment")
GUIDE_LINK = re.compile(r'href="([\w-]+)\.md(#[^"]*)?"')
SCENE_LINK = re.compile(r'href="\.\./components/scenes/(\w+)/text\.md"')
SOURCE_LINK = re.compile(r'href="\.\./components/texts/sources\.md(#\w+)"')
COMMENT = re.compile(r"<!--.*?-->\n?", re.S)


@dataclass(frozen=True)
class Guide:
    """A guide as HTML.

    slug: its name in an address, and its file name without ".md". lead: its first paragraph, as plain text.
    """

    slug: str
    title: str
    lead: str
    html: str

    def linked(self, page: Callable[[str], str]) -> str:
        """The guide's HTML, where links to other guides, scenes and sources lead to pages of the site.

        page: a function that returns the address of a page from its name, such as the slug of a scene.
        """
        text = SCENE_LINK.sub(lambda found: f'href="{page(found[1])}"', self.html)
        text = SOURCE_LINK.sub(lambda found: f'href="{page("words")}{found[1]}"', text)
        return GUIDE_LINK.sub(lambda found: f'href="{page(found[1])}{found[2] or ""}"', text)


@cache
def guides() -> dict[str, Guide]:
    """All guides by slug, in the order of the menu."""
    return {slug: _guide(slug) for slug in GUIDES}


def _guide(slug: str) -> Guide:
    text = COMMENT.sub("", (folder("docs") / f"{slug}.md").read_text("utf-8"))
    heading, _, body = text.partition("\n")
    html = markdown(body)
    lead = plain(html.partition("</p>")[0])
    return Guide(slug, heading.removeprefix("# ").strip(), lead, html)
