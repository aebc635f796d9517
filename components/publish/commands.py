"""The commands `export`, `site` and `story`; `add` also adds those of `recordings` and `conversions`.

Modules that write pages are imported only when a command runs, because importing Dash takes as long as
everything else together.
"""

from __future__ import annotations

import argparse
import math
import os
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from components import settings
from components.language.scene import WrongValue
from components.publish import conversions, gif, recordings
from components.publish.studio import MAX_SIDE_PX, MIN_SIDE_PX, Look
from components.publish.subcommand import CommandFailed, command, path_argument
from components.training.store import StoreUnavailable
from learning.file_error import FileError

FAILURES = (WrongValue, CommandFailed, FileError, StoreUnavailable, settings.WrongSetting, OSError)
FOOTER_HELP = "environment variables:\n  IMPRINT_URL, PRIVACY_URL  addresses that each page links at its foot"
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
            "normscape export 'http://localhost:8050/fold?t=1.5&progress=1' --out fold.html",
            "normscape export layernorm --choice d --out layernorm.html",
            "normscape export layernorm --progress 3 --theme dark --out sphere.png",
            "normscape export fold --turn t=0:2 --seconds 4 --out fold.gif",
        )
    )
    site = command(
        commands,
        "site",
        "write the explorer as static files, about 80 MB",
        "normscape site public --url https://uni.example/normscape",
    )
    site.add_argument("folder", type=path_argument, metavar="DIR", help="the folder to write to")
    site.add_argument(
        "--url", type=_url, help="the address that the folder will have, for previews of its links"
    )
    site.set_defaults(run=_site)
    story = command(commands, "story", "write only the story, as static files", "normscape story story-site")
    story.add_argument("folder", type=path_argument, metavar="DIR", help="the folder to write to")
    story.set_defaults(run=_story)
    for parser in (site, story):
        parser.epilog = f"{parser.epilog}\n\n{FOOTER_HELP}"
    recordings.add(commands, serve)
    conversions.add(commands)


def _add_export(parser: argparse.ArgumentParser) -> None:
    scene_help = "the name of a scene, as “normscape list” prints it; or the address of its page, in quotes"
    parser.add_argument("scene", metavar="SCENE", help=scene_help)
    out_help = "the file to write; its ending decides what is written: .html .svg .png .pdf .gif .mp4"
    parser.add_argument("--out", type=path_argument, required=True, metavar="FILE", help=out_help)
    set_help = "a slider or choice of the scene and its value, as in the address of its page; may be repeated"
    parser.add_argument(
        "--set", type=_pair, nargs="+", action="extend", default=[], metavar="NAME=VALUE", help=set_help
    )
    progress_help = (
        "the stage that is shown: 0 is the input, 1 is after the first step; fractions lie between"
    )
    parser.add_argument("--progress", metavar="STAGE", help=progress_help)
    theme_help = "the colours; auto follows the page around the figure (default: auto)"
    parser.add_argument("--theme", choices=["auto", "light", "dark"], help=theme_help)
    side_px, look, gif_look = _number(int, MIN_SIDE_PX, MAX_SIDE_PX), Look(), gif.LOOK
    width_help = f"width of a .png, .pdf or video (default: {look.width} pixels, of a .gif {gif_look.width})"
    parser.add_argument("--width", type=side_px, help=width_help)
    height_help = (
        f"height of a .png, .pdf or video (default: {look.height} pixels, of a .gif {gif_look.height});"
        " an odd side of an .mp4 loses a pixel"
    )
    parser.add_argument("--height", type=side_px, help=height_help)
    scale_help = (
        f"pixels of the file for each pixel of --width (default: {look.scale:g},"
        f" of a .gif {gif_look.scale:g})"
    )
    parser.add_argument("--scale", type=_number(float, 0.1, MAX_PIXEL_RATIO), help=scale_help)
    seconds_help = f"length of a video (default: {look.seconds:g})"
    parser.add_argument("--seconds", type=_number(float, 0.1, MAX_FILM_SECONDS), help=seconds_help)
    fps_help = f"frames a second of a video (default: {look.fps}, of a .gif {gif_look.fps})"
    parser.add_argument("--fps", type=_number(int, 1, MAX_FRAME_RATE), help=fps_help)
    turn_help = "make a video in which a slider moves; without it the points move through all stages"
    parser.add_argument("--turn", type=_turn, metavar="NAME=FROM:TO", help=turn_help)
    assets_help = (
        "a folder for the program, which several .html figures can share; relative to the current folder"
    )
    parser.add_argument("--assets", type=path_argument, metavar="DIR", help=assets_help)
    choice_help = "a choice that readers of an .html figure can make; the file grows with each of its values"
    parser.add_argument("--choice", nargs="+", action="extend", default=[], metavar="NAME", help=choice_help)
    parser.set_defaults(run=_export)


def _site(arguments: argparse.Namespace) -> None:
    from components.publish.site import write

    print(write(arguments.folder, arguments.url or "", settings.links(os.environ)))


def _story(arguments: argparse.Namespace) -> None:
    from components.publish.site import write_story

    print(write_story(arguments.folder, settings.links(os.environ)))


def _export(arguments: argparse.Namespace) -> None:
    from components.publish.export import export

    try:
        address = urlsplit(arguments.scene)
    except ValueError:
        raise CommandFailed(f"{arguments.scene} is no address") from None
    pairs = [*parse_qsl(address.query, keep_blank_values=True), *arguments.set]
    pairs += [(name, value) for name in ("progress", "theme") if (value := getattr(arguments, name))]
    values = dict(pairs)
    if twice := [name for name in values if [each for each, _ in pairs].count(name) > 1]:
        raise CommandFailed(f"{twice[0]} is set twice")
    export(
        address.path.rstrip("/").rpartition("/")[2],
        arguments.out,
        values,
        _look(arguments),
        assets=arguments.assets,
        changeable=list(dict.fromkeys(arguments.choice)),
    )


def _look(arguments: argparse.Namespace) -> Look:
    names = ("width", "height", "scale", "seconds", "fps", "turn")
    given = {name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None}
    usual = gif.LOOK if arguments.out.suffix == ".gif" else Look()
    return replace(usual, **given, set_by_caller=frozenset(given))


def _url(text: str) -> str:
    """Return `text` unchanged if it is an http(s) address without a query; else raise ArgumentTypeError."""
    if not re.fullmatch(r"https?://([\w.-]+|\[[0-9a-fA-F:.]+\])(:[0-9]+)?(/[^\s?#]*)?", text):
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
