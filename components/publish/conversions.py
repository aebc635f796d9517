"""The commands `convert` and `certify`, which need PyTorch.

`convert` folds the normalisation layers of a model into neighbouring layers. `certify` checks whether two
models compute the same.
"""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path
from typing import Any

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

PURPOSE = "to convert a model"

MAX_TEXT_CHARACTERS = 200_000  # only so much of a text file is read: far more than a certificate needs


def add(commands: Any) -> None:
    """Add the subcommands to a command-line parser. Each sets `run`, the function to call with its arguments.

    commands: what `add_subparsers` of the parser returns.
    """
    one = command(
        commands,
        "convert",
        "fold the normalisation layers of a model into neighbouring layers, with a certificate",
        "normscape convert gpt2 --out gpt2-folded",
        "normscape convert gpt2 --out gpt2-rms --strict",
    )
    one.add_argument("model", type=name_argument, metavar="MODEL", help=MODEL_HELP)
    one.add_argument(
        "--out",
        type=path_argument,
        required=True,
        metavar="DIR",
        help="the folder to write; it must not exist",
    )
    _add_samples(one)
    one.add_argument(
        "--strict", action="store_true", help="replace LayerNorm by torch.nn.RMSNorm; load.py loads it"
    )
    one.add_argument(
        "--partly", action="store_true", help="write the folder even if few of the layers can be folded"
    )
    one.add_argument(
        "--norms",
        nargs="+",
        default=[],
        metavar="PATTERN",
        help="measure the cost of dropping the centring for these layers only, such as '*.h.1.*'",
    )
    one.set_defaults(run=_convert)
    one = command(
        commands,
        "certify",
        "check whether two checkpoints are the same model, up to rounding",
        "normscape certify gpt2 gpt2-folded --text book.txt",
    )
    one.add_argument("original", type=name_argument, metavar="A", help=MODEL_HELP)
    one.add_argument("converted", type=name_argument, metavar="B", help="the checkpoint to compare with A")
    _add_samples(one)
    one.add_argument("--json", action="store_true", help="print the certificate as JSON")
    one.set_defaults(run=_certify)


def _add_samples(parser: argparse.ArgumentParser) -> None:
    """Add the options --text and --inputs to a parser: inputs on which two models are compared."""
    words = "the text that both models read (default: a short one that comes with Normscape)"
    parser.add_argument("--text", type=path_argument, metavar="FILE", help=words)
    words = (
        "images or sound that both models read, by argument name, such as pixel_values (default: random ones)"
    )
    parser.add_argument("--inputs", type=path_argument, metavar="FILE.safetensors", help=words)


def _convert(asked: argparse.Namespace) -> None:
    if asked.out.exists():
        raise CommandFailed(f"{asked.out} exists: name a folder that does not")
    check_output(asked.out)
    text = _text(asked.text)
    conversion = needing_torch("learning.convert.conversion", PURPOSE)
    certificate_text = needing_torch("learning.convert.certificate_text", PURPOSE)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # stops like Ctrl+C, so that it cleans up
    try:
        made = conversion.convert(
            asked.model,
            asked.out,
            text=text,
            inputs=asked.inputs,
            strict=asked.strict,
            partly=asked.partly,
            norms=asked.norms,
        )
    except conversion.Refused as refused:
        print(certificate_text.text(refused.certificate))
        sys.exit(str(refused))  # with 1, as `certify`
    except KeyboardInterrupt:
        raise KeyboardInterrupt("stopped; nothing was written") from None
    except ValueError as problem:
        raise CommandFailed(str(problem)) from None
    print(certificate_text.text(made))


def _certify(asked: argparse.Namespace) -> None:
    text = _text(asked.text)
    conversion = needing_torch("learning.convert.conversion", PURPOSE)
    certificate_text = needing_torch("learning.convert.certificate_text", PURPOSE)
    try:
        made = conversion.certify(asked.original, asked.converted, text=text, inputs=asked.inputs)
    except ValueError as problem:
        raise CommandFailed(str(problem)) from None
    print(certificate_text.to_json(made) if asked.json else certificate_text.text(made))
    if not made.passed:
        sys.exit(1)


def _text(path: Path | None) -> str | None:
    if path is None:
        return None
    with readable(path).open(encoding="utf-8", errors="replace") as file:
        return file.read(MAX_TEXT_CHARACTERS)
