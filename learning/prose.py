"""The prose of the site, for a model to learn from: what is left of its Markdown without formulas and
tables."""

import re
from collections.abc import Sequence

HELD = 0.1  # of each text, its end: what the model has not learned from


def prose(markdown: str) -> str:
    """A paragraph, heading or item a line; a sentence with a formula is left out, and so are links and
    tables."""
    lines = []
    for line in re.sub(r"\$\$.*?\$\$", "", markdown, flags=re.S).split("\n"):
        if line.startswith(("@", "|")):
            continue
        words = re.sub(r"^(#+|\d+\.|[-*?]( \*)?) +", "", line).replace("**", "").replace("`", "")
        sentences = (each for each in re.split(r"(?<=[.:?!]) ", words) if "$" not in each)
        if text := " ".join(sentences).strip():
            lines.append(text)
    return "\n".join(lines)


def split(texts: Sequence[str]) -> tuple[str, str]:
    """What to learn from, and what not: all but the end of each text, in one; and the ends, in one.

    A line whose characters are not all among the first is left out of the second.
    """
    learned, held = [], []
    for text in texts:
        lines = text.split("\n")
        start = len(lines) - round(HELD * len(lines))
        learned.append("\n".join(lines[:start]))
        held += lines[start:]
    first = "\n".join(learned)
    return first, "\n".join(line for line in held if set(line) <= set(first))
