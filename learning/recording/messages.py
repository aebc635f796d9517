"""Messages of a recording: its progress, and the reasons why modules are not recorded."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from shutil import get_terminal_size
from typing import Any

LEFT_OUT = "Left out: "  # begins a line on a norm that was not, or not wholly, recorded
ROOT_PATH = "model"  # the path of a norm that is the whole model
PROGRESS_BAR_CHARACTERS = 20
MAX_LEFT_OUT_LINES = 10
NONE_FOUND = "it has no LayerNorm, RMSNorm or GroupNorm among its modules; "
NO_FUNCTIONS = (
    "a function, such as F.layer_norm, is not seen: use a module of its own for it, such as nn.LayerNorm"
)
CUT = " …"  # ends a text that was cut


def print_line(line: str) -> None:
    """Print a message of a recording in progress to stderr.

    In a terminal, a message on progress is cut to the width of the terminal, and the next message overwrites
    it. If stderr is not a terminal, only messages on norms that were left out are printed.
    """
    if sys.stderr.isatty():
        width = get_terminal_size().columns - 1
        progress = line.startswith("recorded")
        print(
            f"\r{line[:width] if progress else line:<{width}}",
            end="" if progress else "\n",
            file=sys.stderr,
            flush=True,
        )
    elif line.startswith(LEFT_OUT):
        print(line, file=sys.stderr, flush=True)


def bar(share: float) -> str:
    """A progress bar of text characters. `share` is the finished share of the work, from 0 to 1."""
    full = round(PROGRESS_BAR_CHARACTERS * share)
    return f"[{'█' * full}{'·' * (PROGRESS_BAR_CHARACTERS - full)}]"


def with_noun(number: int, noun: str) -> str:
    """A number with its noun, such as "1 call" or "2,000 calls"."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def multiple(ratio: float, digits: int = 3) -> str:
    """A factor in words, such as "13.1 times"; "about" if it is 1 when it is rounded.

    For example, "13.1 times as long as the median", and "about as long as the median".
    """
    text = f"{ratio:.{digits}g}"
    return "about" if text == "1" else f"{text} times"


def grouped(reasons: Mapping[str, str]) -> list[str]:
    """Texts that say why norms are not recorded; norms with the same reason share one text.

    For example: "7 norms: it has no parameters, for example blocks.0.ln1". reasons: the reason for each norm,
    by the norm's path.
    """
    paths: dict[str, list[str]] = {}
    for path, reason in reasons.items():
        paths.setdefault(reason, []).append(path)
    return [
        f"{first}: {reason}" if not others else f"{1 + len(others)} norms: {reason}, for example {first}"
        for reason, (first, *others) in paths.items()
    ]


def none_found(others: Mapping[str, str]) -> str:
    """The reason why nothing can be recorded of a model without a LayerNorm, RMSNorm or GroupNorm.

    others: its batch norms and instance norms, as `other_norms` returns them.
    """
    return NONE_FOUND + "".join(f"{each}; " for each in grouped(others)) + NO_FUNCTIONS


def other_norms(modules: Mapping[str, Any], known: Collection[str]) -> dict[str, str]:
    """For each batch norm and instance norm among `modules`, by path, the reason why it is not recorded.

    Left out are the paths in `known`, which are recorded, and modules that contain another such norm.
    """
    kinds = {
        path: kind
        for path, module in modules.items()
        for kind in ("batch", "instance")
        if path not in known and f"{kind}norm" in type(module).__name__.lower()
    }
    return {
        path or ROOT_PATH: f"{kind} norms are not recorded"
        for path, kind in kinds.items()
        if not any(inner != path and inner.startswith(path and f"{path}.") for inner in kinds)
    }


def listed(lines: Sequence[str]) -> list[str]:
    """Put LEFT_OUT before each of the lines, which say what was left out.

    Only the first MAX_LEFT_OUT_LINES are returned. If there are more, a last line says how many are missing.
    """
    more = len(lines) - MAX_LEFT_OUT_LINES
    rest = [f"{more} more, which `report` lists"] if more > 0 else []
    return [LEFT_OUT + line for line in (*lines[:MAX_LEFT_OUT_LINES], *rest)]


def clipped(text: str, longest: int) -> str:
    """The text, if it has at most `longest` characters; otherwise its first words, followed by "…"."""
    if len(text) <= longest:
        return text
    kept = text[: longest - len(CUT)]
    words = text[: len(kept) + 1].rpartition(" ")[0]
    return (words if len(words) >= len(kept) / 2 else kept) + CUT  # a long word is cut inside
