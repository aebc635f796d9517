"""The course: all chapters in order. A chapter is a question, and the scenes that answer it.

In `texts/course.md` a chapter is `## its question`, a text about it, and a line `- slug: bridge` for each
scene, where the bridge is the sentence that leads from the previous scene to this one.
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
class CourseScene:
    """A scene of the course: number `number` of chapter number `chapter`.

    bridge: the sentence that leads from the previous scene to this one, as HTML.
    """

    scene: Scene
    chapter: int
    number: int
    bridge: str

    @property
    def label(self) -> str:
        return f"{self.chapter}.{self.number}"


@dataclass(frozen=True)
class Chapter:
    """A chapter of the course. title: its question. about: the text below the question, as HTML."""

    number: int
    title: str
    about: str
    scenes: tuple[CourseScene, ...]


@cache
def chapters() -> tuple[Chapter, ...]:
    """The chapters of `texts/course.md`.

    Raises ValueError if a chapter has no scenes, if a scene does not exist or is named twice, or if a line
    begins with "-" but does not have the form `- slug: bridge`.
    """
    return read(COURSE_FILE.read_text("utf-8"), scenes())


def read(text: str, known: dict[str, Scene]) -> tuple[Chapter, ...]:
    drafts = [
        (title, COURSE_LINE.sub("", body).strip(), COURSE_LINE.findall(body))
        for title, body in parts(text, "##")[1]
    ]
    for title, about, lines in drafts:
        if not lines:
            raise ValueError(f"the chapter {title!r} has no scenes")
        if re.search("^-", about, re.M):
            raise ValueError(f"the chapter {title!r} has a line '- …' that is not '- slug: sentence'")
    named = [slug for _, _, lines in drafts for slug, _ in lines]
    for slug in named:
        if slug not in known or named.count(slug) > 1:
            raise ValueError(
                f"the course names {slug!r}, which is {'there twice' if slug in known else 'no scene'}"
            )
    return tuple(
        Chapter(
            number,
            title,
            about,
            tuple(
                CourseScene(known[slug], number, k, line(bridge))
                for k, (slug, bridge) in enumerate(lines, start=1)
            ),
        )
        for number, (title, about, lines) in enumerate(drafts, start=1)
    )


def in_course(slug: str) -> CourseScene | None:
    """A scene with its place in the course; None if no chapter contains the scene."""
    return next((each for each in _in_order() if each.scene.slug == slug), None)


def previous_and_next(slug: str) -> tuple[CourseScene | None, CourseScene | None]:
    """The scenes before and after a scene in the course.

    The first scene has None before it, and the last has None after it. For a scene outside the course, both
    are None.
    """
    slugs = [each.scene.slug for each in _in_order()]
    if slug not in slugs:
        return None, None
    k, every = slugs.index(slug), (None, *_in_order(), None)
    return every[k], every[k + 2]


def _in_order() -> tuple[CourseScene, ...]:
    return tuple(each for chapter in chapters() for each in chapter.scenes)
