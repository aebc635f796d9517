"""The course: ordered chapters, each a question with the scenes that answer it.

They are in `texts/course.md`: `## the question`, a sentence about it, and for each scene a line `- slug: the
sentence that leads to it`. A chapter without scenes is planned, and not shown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from components.language.scene import Scene, scenes
from components.language.text import line, parts

COURSE_FILE = Path(__file__).parents[1] / "texts/course.md"
COURSE_LINE = re.compile(r"^- (\w+): (.+)$", re.M)


@dataclass(frozen=True)
class Step:
    """A scene in the course. bridge: the sentence that leads from the previous scene to this one, as HTML."""

    scene: Scene
    chapter: int
    number: int
    bridge: str

    @property
    def label(self) -> str:
        return f"{self.chapter}.{self.number}"


@dataclass(frozen=True)
class Chapter:
    number: int
    title: str
    about: str
    steps: tuple[Step, ...]


@cache
def chapters() -> tuple[Chapter, ...]:
    """The chapters that have scenes. Raises ValueError for an unknown or repeated scene."""
    return read(COURSE_FILE.read_text("utf-8"), scenes())


def read(text: str, known: dict[str, Scene]) -> tuple[Chapter, ...]:
    drafts = [
        (title, COURSE_LINE.sub("", body).strip(), COURSE_LINE.findall(body))
        for title, body in parts(text, "##")[1]
    ]
    named = [slug for _, _, lines in drafts for slug, _ in lines]
    for slug in named:
        if slug not in known or named.count(slug) > 1:
            raise ValueError(
                f"the course names {slug!r}, which is {'there twice' if slug in known else 'no scene'}"
            )
    found = [
        Chapter(
            number,
            title,
            about,
            tuple(
                Step(known[slug], number, k, line(bridge)) for k, (slug, bridge) in enumerate(lines, start=1)
            ),
        )
        for number, (title, about, lines) in enumerate(drafts, start=1)
    ]
    return tuple(chapter for chapter in found if chapter.steps)


def step_of(slug: str) -> Step | None:
    """The step of a scene in the course; None if it has no chapter yet."""
    return next((step for step in _steps_in_order() if step.scene.slug == slug), None)


def previous_and_next(slug: str) -> tuple[Step | None, Step | None]:
    """The steps before and after a scene in the course; None where there is none."""
    slugs = [step.scene.slug for step in _steps_in_order()]
    if slug not in slugs:
        return None, None
    k, every = slugs.index(slug), (None, *_steps_in_order(), None)
    return every[k], every[k + 2]


def _steps_in_order() -> tuple[Step, ...]:
    return tuple(step for chapter in chapters() for step in chapter.steps)
