"""The story: one long text, beside which figures change as the reader scrolls.

`texts/story.md` begins with a title, a lead and the text before the first figure. Each `## part` begins with
a line `@ slug name=value …`, which names the scene of its figure and the figure's first state. A later line
`@ name=value …` changes this state for the paragraphs below it; values that the line does not name stay.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from components.language.text import markdown, parts

STORY_FILE = Path(__file__).parents[1] / "texts/story.md"
STATE_LINE = re.compile(r"^@ ?(.*)$", re.M)


@dataclass(frozen=True)
class StoryBlock:
    """Consecutive paragraphs of the story as HTML, and the state of the figure while a reader is at them."""

    state: dict[str, str]
    html: str


@dataclass(frozen=True)
class Part:
    title: str
    slug: str
    blocks: tuple[StoryBlock, ...]


@dataclass(frozen=True)
class Story:
    """The story. title, lead: plain text. before: the text before the first part, as HTML."""

    title: str
    lead: str
    before: str
    parts: tuple[Part, ...]


@cache
def story() -> Story:
    return read(STORY_FILE.read_text("utf-8"))


def read(text: str) -> Story:
    """Parse the story. Raises ValueError if a part does not begin with a line that names its figure."""
    first, sections = parts(text, "##")
    title, lead, before = first.strip().split("\n\n", 2)
    return Story(title.removeprefix("# "), lead, markdown(before), tuple(_part(*each) for each in sections))


def _part(title: str, body: str) -> Part:
    before, *pieces = STATE_LINE.split(body)
    slug, _, first = pieces[0].partition(" ") if pieces else ("", "", "")
    if before.strip() or not slug or "=" in slug:
        raise ValueError(f"the part {title!r} must begin with a line '@ slug name=value …'")
    state: dict[str, str] = {}
    blocks = []
    for line, paragraphs in zip([first, *pieces[2::2]], pieces[1::2], strict=True):
        state = state | dict(item.split("=", 1) for item in line.split())
        blocks.append(StoryBlock(state, markdown(paragraphs)))
    return Part(title, slug, tuple(blocks))
