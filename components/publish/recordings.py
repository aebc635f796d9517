"""The command line's `record`, `report` and `model`: what the norms of a reader's own model do."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from learning.recording.analysis import Row, measured
from learning.recording.digest import Digest, digest, opened
from learning.recording.recording import VECTORS, Recording
from learning.recording.report import text, to_csv, to_json

NEEDED = "to record a model PyTorch and transformers are needed: pip install torch transformers"
MAX_TEXT_BYTES = 64 * 2**20  # bytes of a text


class NotRecorded(RuntimeError):
    """A recording that could not be made; says why in one line."""


def add(commands: Any, serve: Callable[..., None]) -> None:
    """The subcommands; `asked.run(asked)` does what was asked. serve: what runs the explorer."""
    one = commands.add_parser("record", help="what the norms of a model see while it reads a text")
    one.add_argument("model", metavar="MODEL", help="a name of Hugging Face's, or a folder")
    one.add_argument("--text", type=Path, required=True, metavar="FILE")
    one.add_argument("--out", type=Path, required=True, metavar="FILE.safetensors")
    one.add_argument("--vectors", type=int, default=VECTORS, help=f"kept of each norm, at most {VECTORS:,}")
    one.add_argument("--seed", type=int, default=0, help="of the lot that draws them")
    one.set_defaults(run=_record)
    one = commands.add_parser("report", help="what a recording says: a table and a verdict")
    one.add_argument("file", type=Path, metavar="FILE.safetensors")
    how = one.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="all numbers with their definitions")
    how.add_argument("--csv", action="store_true", help="a line a norm")
    one.set_defaults(run=_report)
    one = commands.add_parser("model", help="the explorer with a recording of one's own")
    one.add_argument("file", type=Path, metavar="FILE.safetensors")
    one.set_defaults(run=lambda asked: _model(asked, serve))


def _record(asked: argparse.Namespace) -> None:
    try:
        from learning.recording.pretrained import recorded
    except ImportError:
        raise NotRecorded(NEEDED) from None
    if asked.text.stat().st_size > MAX_TEXT_BYTES:
        raise NotRecorded(
            f"{asked.text} has more than {MAX_TEXT_BYTES >> 20} MB: cut it, only its beginning is read"
        )
    words = asked.text.read_text(encoding="utf-8", errors="replace")
    try:
        found = recorded(asked.model, words, vectors=asked.vectors, seed=asked.seed, tell=_told)
    except ValueError as problem:
        raise NotRecorded(str(problem)) from None
    found.save(asked.out)
    print(
        f"\n{asked.out}: {len(found.norms)} norms, {asked.out.stat().st_size / 1e6:.1f} MB", file=sys.stderr
    )


def _told(line: str) -> None:
    """One line stays; those after it write over one another, where somebody sees them."""
    bar = line.startswith("recorded")
    if not bar or sys.stderr.isatty():
        print(f"\r{line}", end="" if bar else "\n", file=sys.stderr, flush=True)


def _report(asked: argparse.Namespace) -> None:
    recording = opened(asked.file)
    rows = recording.rows if isinstance(recording, Digest) else _rows(recording)
    if asked.json:
        print(to_json(recording.name, rows, recording.skipped), end="")
    elif asked.csv:
        print(to_csv(rows), end="")
    else:
        print(text(recording.name, rows, recording.skipped))


def _model(asked: argparse.Namespace, serve: Callable[..., None]) -> None:
    from components.pages import recordings

    found = opened(asked.file)
    if not isinstance(found, Digest):
        found = digest(found, _counting(len(found.norms)))
    key = recordings.kept(found, client="")
    serve(asked.host, asked.port, recordings.page_of(key))


def _rows(found: Recording) -> list[Row]:
    return measured(found, _counting(len(found.norms)))


def _counting(count: int) -> Callable[[int], None]:
    return lambda done: _told(f"recorded norms: {done} of {count}" + "\n" * (done == count))
