"""The commands `record`, `report` and `model`, about the normalisation layers of a reader's own model.

A recording is a file with inputs of these layers, taken while the model reads a text.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from components import settings
from components.publish.subcommand import (
    MODEL_HELP,
    CommandFailed,
    check_output,
    command,
    name_argument,
    needing_torch,
    path_argument,
)
from learning.file_error import readable
from learning.recording.analysis import TableRow, measured, with_effects
from learning.recording.checked import opened
from learning.recording.digest import REDUCED, Digest, digest, save
from learning.recording.messages import with_noun
from learning.recording.recording import MAX_VECTORS, Recording
from learning.recording.report import text, to_csv, to_json

LINES = "treat each line of the text as a separate example, such as a protein or a reaction"
RECORD_TOKENS = 16_384  # tokens of text that `record` reads by default
EFFECT_TOKENS = 2048  # the same for `report`, on which it measures the effect of each norm's centring
MAX_TEXT_BYTES = 64 * 2**20  # bytes of a text


def add(commands: Any, serve: Callable[..., None]) -> None:
    """Add the subcommands to a command-line parser. Each sets `run`, the function to call with its arguments.

    commands: what `add_subparsers` of the parser returns. serve: a function that starts the explorer.
    """
    one = command(
        commands,
        "record",
        "record the inputs of a model's normalisation layers while it reads a text",
        "normscape record gpt2 --text book.txt --out gpt2.safetensors",
    )
    one.add_argument("model", type=name_argument, metavar="MODEL", help=MODEL_HELP)
    one.add_argument(
        "--text", type=path_argument, required=True, metavar="FILE", help="the text that the model reads"
    )
    one.add_argument(
        "--out", type=path_argument, required=True, metavar="FILE.safetensors", help="the recording to write"
    )
    vectors = f"vectors kept for each layer, at most {MAX_VECTORS:,} (default: {MAX_VECTORS:,})"
    one.add_argument("--vectors", type=int, default=MAX_VECTORS, help=vectors)
    one.add_argument(
        "--seed", type=int, default=0, help="seed of the random choice of these vectors (default: 0)"
    )
    one.add_argument("--lines", action="store_true", help=LINES)
    tokens = "tokens of the text that are read, at most (default: {:,})"
    one.add_argument(
        "--tokens", type=int, default=RECORD_TOKENS, help=tokens.format(RECORD_TOKENS), metavar="N"
    )
    full = "write all vectors, even if the file is then too large for a page to open"
    one.add_argument("--full", action="store_true", help=full)
    one.add_argument("--name", default="", help="name of the model (default: of its README or folder)")
    one.set_defaults(run=_record)
    one = command(
        commands,
        "report",
        "print a table and a verdict about each normalisation layer of a recording",
        "normscape report gpt2.safetensors --csv > gpt2.csv",
    )
    one.add_argument(
        "file", type=path_argument, metavar="FILE.safetensors", help="a file that “record” wrote"
    )
    how = one.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="print all numbers with their definitions, as JSON")
    how.add_argument("--csv", action="store_true", help="print a line for each layer, as CSV")
    one.add_argument(
        "--model",
        type=name_argument,
        metavar="MODEL",
        help="measure what each layer's centring does to this model's predictions",
    )
    one.add_argument(
        "--text", type=path_argument, metavar="FILE", help="the text that the model of --model reads"
    )
    one.add_argument("--lines", action="store_true", help=LINES)
    one.add_argument(
        "--tokens", type=int, default=EFFECT_TOKENS, help=tokens.format(EFFECT_TOKENS), metavar="N"
    )
    one.set_defaults(run=_report)
    one = command(
        commands,
        "model",
        "serve the explorer and print the address of the page that shows a recording",
        "normscape model gpt2.safetensors --port 8080",
    )
    one.add_argument(
        "file", type=path_argument, metavar="FILE.safetensors", help="a file that “record” wrote"
    )
    one.set_defaults(run=lambda asked: _model(asked, serve))


def _record(asked: argparse.Namespace) -> None:
    check_output(asked.out)
    if asked.out.exists() and asked.text.exists() and asked.out.samefile(asked.text):
        raise CommandFailed(f"--out is the text {asked.text}, which it would overwrite: name another file")
    if asked.seed < 0:
        raise CommandFailed(f"--seed must be at least 0, got {asked.seed}")
    if not 1 <= asked.vectors <= MAX_VECTORS:
        raise CommandFailed(f"--vectors must be from 1 to {MAX_VECTORS:,}, got {asked.vectors:,}")
    words = _words(asked.text)
    recorded = needing_torch("learning.recording.pretrained", "to record a model").recorded
    convert = needing_torch("learning.convert", "to record a model")
    load = needing_torch("learning.convert.load", "to record a model").load
    how = {"verdicts": convert.centring, "contributions": convert.contributions}
    how |= {"vectors": asked.vectors, "seed": asked.seed, "by_line": asked.lines, "title": asked.name}
    how |= {"tokens": _positive(asked.tokens), "strict": load}
    try:
        found = recorded(asked.model, words, tell=_told, **how)
    except ValueError as problem:
        raise CommandFailed(str(problem)) from None
    is_reduced = save(found, asked.out, _counting(len(found.norms)), full=asked.full)
    size = f"{asked.out.stat().st_size / 1e6:.1f} MB"
    more = f"; {REDUCED}. --full keeps all vectors" if is_reduced else ""
    print(f"\n{asked.out}: {with_noun(len(found.norms), 'norm')}, {size}{more}", file=sys.stderr)


def _words(path: Path) -> str:
    """The text of a file in UTF-8. Raises CommandFailed for other data, and for more than MAX_TEXT_BYTES."""
    if readable(path).stat().st_size > MAX_TEXT_BYTES:
        raise CommandFailed(
            f"{path} has more than {MAX_TEXT_BYTES >> 20} MiB: shorten it (only its beginning would be read)"
        )
    try:
        words = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as problem:
        raise CommandFailed(f"{path} is not a text in UTF-8 (byte {problem.start:,})") from None
    if "\0" in words:
        raise CommandFailed(f"{path} is not a text: it contains the character NUL")
    return words


def _positive(tokens: int) -> int:
    if tokens < 1:
        raise CommandFailed(f"--tokens must be at least 1, got {tokens}")
    return tokens


def _told(line: str) -> None:
    """Print a line to stderr.

    A line of a progress bar, which begins with "recorded" or "measured", is printed only in a terminal, where
    the next line overwrites it.
    """
    bar = line.startswith(("recorded", "measured"))
    if not bar or sys.stderr.isatty():
        print(f"\r{line}", end="" if bar else "\n", file=sys.stderr, flush=True)


def _report(asked: argparse.Namespace) -> None:
    if (asked.model is None) != (asked.text is None):
        raise CommandFailed("--model and --text belong together: the model reads the text")
    recording = opened(asked.file)
    rows = recording.rows if isinstance(recording, Digest) else _rows(recording)
    found = _effects(asked, rows)
    rows, together = (with_effects(rows, found), found["all norms"]) if found else (rows, None)
    if asked.json:
        print(to_json(recording.name, rows, recording.skipped, together), end="")
    elif asked.csv:
        print(to_csv(rows), end="")
    else:
        print(text(recording.name, rows, recording.skipped, together))


def _effects(asked: argparse.Namespace, rows: Sequence[TableRow]) -> Mapping[str, Any]:
    """The effect of each normalisation layer's centring on the predictions of the model `asked.model`.

    Returns a dict: the key of a layer's `Effect` is the layer's path; the effect of all layers together has
    the key "all norms". Returns {} if no model is given. rows: the recording's table of statistics, with a
    row for each layer. Raises CommandFailed.
    """
    if asked.model is None:
        return {}
    predictions = needing_torch("learning.convert.predictions", "to run a model").predictions
    how = {"tokens": _positive(asked.tokens), "by_line": asked.lines, "tell": _told}
    try:
        found: Mapping[str, Any] = predictions(asked.model, _words(asked.text), rows, **how)
    except ValueError as problem:
        raise CommandFailed(str(problem)) from None
    print(file=sys.stderr)
    return found


def _model(asked: argparse.Namespace, serve: Callable[..., None]) -> None:
    from components.pages import recordings

    settings.check_storage(os.environ)
    found = opened(asked.file)

    def path() -> str:
        shown = found if isinstance(found, Digest) else digest(found, _counting(len(found.norms)))
        return recordings.page_of(recordings.kept(shown, client=""))

    serve(asked.host, asked.port, path)


def _rows(found: Recording) -> list[TableRow]:
    return measured(found, _counting(len(found.norms)))


def _counting(count: int) -> Callable[[int], None]:
    return lambda done: _told(f"recorded norms: {done} of {count}" + "\n" * (done == count))
