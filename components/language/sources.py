"""The bibliography. `texts/sources.md` has an entry for each source below its key, as `### brody2023`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from components.language.text import line, parts

SOURCES_FILE = Path(__file__).parents[1] / "texts/sources.md"


@cache
def sources() -> dict[str, str]:
    """All sources by key; each is HTML with the authors, title, venue, year and address."""
    return {key: line(body) for key, body in parts(SOURCES_FILE.read_text("utf-8"), "###")[1]}
