"""The commands `export`, `site` and `story`; `add` also adds those of `recordings` and `conversions`.

Modules that write pages are imported only when a command runs, because importing Dash takes as long as
everything else together.
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
from components.publish import conversions, gif, recordings
from components.publish.studio import MAX_SIDE_PX, MIN_SIDE_PX, Look
from components.publish.subcommand import CommandFailed, command
from components.training.store import StoreUnavailable
from learning.file_error import FileError

FAILURES = (WrongValue, CommandFailed, FileError, StoreUnavailable, OSError)
MAX_FILM_SECONDS = 120.0
MAX_FRAME_RATE = 60  # frames a second
MAX_PIXEL_RATIO = 4.0  # pixels for each CSS pixel


def add(commands: Any, serve: Callable[..., None]) -> None:
    """Add the subcommands to a command-line parser. Each sets `run`, the function to call with its arguments.

    commands: what `add_subparsers` of the parser returns. serve: a function that starts the explorer.
    """
    _add_export(
        command(
            commands,
            "export",
            "write a scene as a page, a picture or a video",
            "normscape export fold --set t=1.5 --out fold.html",
            "normscape export layernorm --choice d --out layernorm.html",
            "normscape export layernorm --progress 3 --theme dark --out sphere.png",
            "normscape export fold --turn t=0:2 --seconds 4 --out fold.gif",
        )
    )
    one = command(
        commands,
        "site",
        "write the explorer as static files, about 80 MB",
        "normscape site public --url https://uni.example/normscape",
    )
    one.add_argument("folder", type=Path, metavar="DIR", help="the folder to write to")
    one.add_argument(
        "--url", type=_url, help="the address that the folder will have, for previews of its links"
    )
    one.set_defaults(run=_site)
    one = command(commands, "story", "write only the story, as static files", "normscape story public")
    one.add_argument("folder", type=Path, metavar="DIR", help="the folder to write to")
    one.set_defaults(run=_story)
    recordings.add(commands, serve)
    conversions.add(commands)


def _add_export(one: argparse.ArgumentParser) -> None:
    one.add_argument("slug", metavar="SCENE", help="the name of a scene, as “normscape list” prints it")
    kinds = "the file to write; its ending decides what is written: .html .svg .png .pdf .gif .mp4"
    one.add_argument("--out", type=Path, required=True, metavar="FILE", help=kinds)
    pair = "a slider or choice of the scene and its value, as in the address of its page; may be repeated"
    one.add_argument(
        "--set", type=_pair, nargs="+", action="extend", default=[], metavar="NAME=VALUE", help=pair
    )
    stage = "the stage that is shown: 0 is the input, 1 is after the first step; fractions lie between"
    one.add_argument("--progress", metavar="STAGE", help=stage)
    colours = "the colours; auto follows the page around the figure (default: auto)"
    one.add_argument("--theme", choices=["auto", "light", "dark"], help=colours)
    side, look, film = _number(int, MIN_SIDE_PX, MAX_SIDE_PX), Look(), gif.LOOK
    width = f"width of a picture or video in pixels (default: {look.width}, of a .gif {film.width})"
    one.add_argument("--width", type=side, help=width)
    height = f"height of a picture or video in pixels (default: {look.height}, of a .gif {film.height})"
    one.add_argument("--height", type=side, help=height)
    scale = (
        f"pixels of the file for each pixel of --width (default: {look.scale:g}, of a .gif {film.scale:g})"
    )
    one.add_argument("--scale", type=_number(float, 0.1, MAX_PIXEL_RATIO), help=scale)
    length = f"length of a video (default: {look.seconds:g})"
    one.add_argument("--seconds", type=_number(float, 0.1, MAX_FILM_SECONDS), help=length)
    rate = f"frames a second of a video (default: {look.fps}, of a .gif {film.fps})"
    one.add_argument("--fps", type=_number(int, 1, MAX_FRAME_RATE), help=rate)
    turn = "make a video in which a slider moves; without it the points move through all stages"
    one.add_argument("--turn", type=_turn, metavar="NAME=FROM:TO", help=turn)
    shared = "a folder for the program, which several .html figures can share; relative to the current folder"
    one.add_argument("--assets", type=Path, metavar="DIR", help=shared)
    choice = "a choice that readers of an .html figure can make; the file grows with each of its values"
    one.add_argument("--choice", nargs="+", action="extend", default=[], metavar="NAME", help=choice)
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
    """Return `text` unchanged, if it is the http(s) address of a folder. Raises ArgumentTypeError if not."""
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
