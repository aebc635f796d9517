"""Search aliases: other names under which readers look for a scene, a guide or a glossary entry.

In `texts/asked.md` each line that begins with "- " names a target, then its aliases, as in `- slug: aliases`.
The target is a scene or guide (`slug`), a glossary entry (`#id`), or a part of a page (`slug#heading`,
`slug?tour=2`).
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from components.language.guides import GUIDES
from components.language.scene import scenes
from components.language.words import sections

ASKED_FILE = Path(__file__).parents[1] / "texts/asked.md"
ASKED_LINE = re.compile(r"^- (\S+): (.+)$", re.M)


@cache
def asked() -> dict[str, str]:
    """For each scene, guide, glossary entry or part of a page: its search aliases, separated by commas.

    The keys are written as in `texts/asked.md`, such as "shear" or "#mu". Raises ValueError for a key that
    is no scene, guide or glossary entry, and no part of a scene or guide.
    """
    return read(ASKED_FILE.read_text("utf-8"))


def read(text: str) -> dict[str, str]:
    known = {*scenes(), *GUIDES, *(f"#{word.id}" for some in sections().values() for word in some)}
    found = dict(ASKED_LINE.findall(text))
    if strangers := {name for name in found if (re.match(r"\w+", name) or [name])[0] not in known}:
        raise ValueError(f"texts/asked.md names {sorted(strangers)}, which are no scenes, guides or words")
    return found
