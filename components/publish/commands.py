"""The command line: `export`, `site`, `story`, recordings: arguments, and what goes wrong, as one line.

What writes pages is loaded by those who ask for it: with Dash, it takes as long as all else together.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from components.language.scene import WrongValue
from components.publish import gif, recordings
from components.publish.studio import MAX_SIDE_PX, MIN_SIDE_PX, Look, Missing, NoBrowser
from components.training.store import StoreUnavailable
from learning.safetensors import FileError

WRONG = (WrongValue, Missing, NoBrowser, FileError, recordings.NotRecorded, StoreUnavailable, OSError)
MAX_FILM_SECONDS, MAX_FRAME_RATE, MAX_PIXEL_RATIO = (
    120.0,
    60,
    4.0,
)  # seconds, frames a second, pixels for one of CSS


def add(commands: Any, serve: Callable[..., None]) -> None:
    """All as subcommands; `asked.run(asked)` does what was asked. serve: what runs the explorer."""
    _add_export(commands.add_parser("export", help="a scene as a file"))
    one = commands.add_parser("site", help="the whole explorer as static files")
    one.add_argument("folder", type=Path, metavar="DIR")
    one.add_argument("--url", type=_url, help="where the folder will stand: https://…")
    one.set_defaults(run=_site)
    one = commands.add_parser("story", help="the story as files, for anyone's site")
    one.add_argument("folder", type=Path, metavar="DIR")
    one.set_defaults(run=_story)
    recordings.add(commands, serve)


def _add_export(one: argparse.ArgumentParser) -> None:
    one.add_argument("slug", metavar="SLUG")
    one.add_argument("--out", type=Path, required=True, help="FILE.html, .svg, .png, .pdf, .gif or .mp4")
    one.add_argument("--set", type=_pair, nargs="+", action="extend", default=[], metavar="name=value")
    one.add_argument("--progress")
    one.add_argument("--theme", choices=["auto", "light", "dark"])
    one.add_argument("--width", type=_number(int, MIN_SIDE_PX, MAX_SIDE_PX))
    one.add_argument("--height", type=_number(int, MIN_SIDE_PX, MAX_SIDE_PX))
    one.add_argument("--scale", type=_number(float, 0.1, MAX_PIXEL_RATIO))
    one.add_argument("--seconds", type=_number(float, 0.1, MAX_FILM_SECONDS))
    one.add_argument("--fps", type=_number(int, 1, MAX_FRAME_RATE))
    one.add_argument("--turn", type=_turn, metavar="name=from:to", help="a film of a parameter")
    one.add_argument("--assets", type=Path, metavar="DIR", help="what .html figures share, one copy of it")
    one.add_argument(
        "--choice",
        nargs="+",
        action="extend",
        default=[],
        metavar="name",
        help="choices that can be made in a .html figure; it grows by a recipe for each value",
    )
    one.set_defaults(run=_export)


def _site(asked: argparse.Namespace) -> None:
    from components.publish.site import write

    print(write(asked.folder, asked.url or ""))


def _story(asked: argparse.Namespace) -> None:
    from components.publish.site import write_story

    print(write_story(asked.folder))


def _export(asked: argparse.Namespace) -> None:
    from components.publish.export import export

    values = dict(asked.set)
    values |= {
        name: getattr(asked, name) for name in ("progress", "theme") if getattr(asked, name) is not None
    }
    export(
        asked.slug,
        asked.out,
        values,
        _look(asked),
        assets=asked.assets,
        alive=list(dict.fromkeys(asked.choice)),
    )


def _look(asked: argparse.Namespace) -> Look:
    names = ("width", "height", "scale", "seconds", "fps", "turn")
    given = {name: getattr(asked, name) for name in names if getattr(asked, name) is not None}
    usual = gif.LOOK if asked.out.suffix == ".gif" else Look()
    return replace(usual, **given, fixed=frozenset(given))


def _url(text: str) -> str:
    there = urlsplit(text)
    if there.scheme not in ("http", "https") or not there.netloc or there.query or there.fragment:
        raise argparse.ArgumentTypeError(f"{text!r} is not the https://… of a folder")
    return text


def _pair(text: str) -> tuple[str, str]:
    name, is_pair, value = text.partition("=")
    if not (is_pair and name):
        raise argparse.ArgumentTypeError(f"{text!r} is not name=value")
    return name, value


def _turn(text: str) -> tuple[str, float, float]:
    name, value = _pair(text)
    low, _, high = value.partition(":")
    try:
        ends = float(low), float(high)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not name=from:to") from None
    if not all(map(math.isfinite, ends)):
        raise argparse.ArgumentTypeError(f"{text!r} is not name=from:to")
    return name, *ends


def _number(kind: Callable[[str], Any], low: float, high: float) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        try:
            number = kind(text)
        except ValueError:
            number = math.nan
        if not low <= number <= high:
            raise argparse.ArgumentTypeError(f"{text} is not a number from {low:g} to {high:g}")
        return number

    return read
