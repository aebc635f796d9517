"""Messages of a recording: its progress, and the reasons why modules are not recorded."""

from __future__ import annotations

import sys
from collections.abc import Mapping

LEFT_OUT = "Left out: "  # begins a line on a norm that was not, or not wholly, recorded
PROGRESS_BAR_CHARACTERS = 30
CUT = " …"  # ends a text that was cut


def print_line(line: str) -> None:
    """Print a line of a recording to stderr.

    In a terminal, a line on progress is overwritten by the next line. If stderr is not a terminal, only lines
    on norms that were left out are printed.
    """
    if sys.stderr.isatty():
        end = "" if line.startswith("recorded") else "\n"
        print(f"\r{line:<{PROGRESS_BAR_CHARACTERS + 50}}", end=end, file=sys.stderr, flush=True)
    elif line.startswith(LEFT_OUT):
        print(line, file=sys.stderr, flush=True)


def bar(share: float) -> str:
    """A progress bar of text characters. `share` is the finished share of the work, from 0 to 1."""
    full = round(PROGRESS_BAR_CHARACTERS * share)
    return f"[{'█' * full}{'·' * (PROGRESS_BAR_CHARACTERS - full)}]"


def grouped(reasons: Mapping[str, str]) -> list[str]:
    """The reasons why norms are not recorded, by path, as texts; a reason of several norms is given once.

    For example: "7 norms: it has no parameters, for example blocks.0.ln1".
    """
    paths: dict[str, list[str]] = {}
    for path, reason in reasons.items():
        paths.setdefault(reason, []).append(path)
    return [
        f"{first}: {reason}" if not others else f"{1 + len(others)} norms: {reason}, for example {first}"
        for reason, (first, *others) in paths.items()
    ]


def clipped(text: str, longest: int) -> str:
    """The text, if it has at most `longest` characters; otherwise its first words, followed by "…"."""
    if len(text) <= longest:
        return text
    whole, space, _ = text[: longest - len(CUT) + 1].rpartition(" ")
    return (whole if space else text[: longest - len(CUT)]) + CUT
