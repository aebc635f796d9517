"""Export of a scene to a file: an interactive page, a picture, or a video."""

from __future__ import annotations

import asyncio
import importlib.util
import io
import itertools
import math
import os
import tempfile
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from components.drawing import still
from components.language.link import State, key, within
from components.language.scene import Result, Scene, WrongValue
from components.publish import bar, gif
from components.publish.plain import PROGRAM, common, sharing_files, single_file
from components.publish.site import TOGETHER, offered, values
from components.publish.studio import Look, Missing, Sheet, showing
from components.publish.subcommand import CommandFailed, check_output
from components.training.recipes import state_of
from components.web.server import contents, find
from learning.file_write import write_whole

PICTURES, FILMS = (".png", ".pdf"), (".gif", ".mp4")
EXPORT_SUFFIXES = (".html", ".svg", *PICTURES, *FILMS)
NEEDED = ("choreographer", "PIL", "imageio_ffmpeg")
MOVING = 0.7  # share of the time from stage to stage in which points move; then there is a pause
FASTEST_GIF = 50  # frames a second; browsers slow faster GIFs down to 10


def export(
    slug: str,
    out: Path,
    query: Mapping[str, str],
    look: Look,
    *,
    assets: Path | None = None,
    changeable: Sequence[str] = (),
) -> None:
    """Write a scene to a file: as a page, picture or video, depending on the suffix of `out`.

    query: the state of the scene. look: the size of a video or picture (not of an SVG), and how a video
    moves. assets: for pages, a folder for files that several exported pages share; None to put these files
    into the page. changeable: for pages, the names of the choices that readers can still change. Raises
    WrongValue, CommandFailed, OSError.
    """
    scene = find(slug)
    if out.suffix not in EXPORT_SUFFIXES:
        wrong = f"the name {out.name!r} does not end in one of {', '.join(EXPORT_SUFFIXES)}"
        raise WrongValue("out", wrong, list(EXPORT_SUFFIXES))
    state = state_of(scene, query, tour=False)
    if out.suffix == ".gif" and look.fps > FASTEST_GIF:
        words = f"fps={look.fps}: a .gif has at most {FASTEST_GIF} frames a second, a .mp4 more"
        raise WrongValue("fps", words, {"max": FASTEST_GIF})
    if look.turn and out.suffix not in FILMS:
        raise WrongValue("turn", f"only a video can turn a slider, not {out.name}", list(FILMS))
    settable = {"width", "height", "scale"} if out.suffix in PICTURES else set()
    if out.suffix not in FILMS and (useless := sorted(look.set_by_caller - settable)):
        name = useless[0]
        raise WrongValue(name, f"{name}={getattr(look, name)}: {out.name} has no {name} to set", [])
    moments = frames(state, look) if out.suffix in FILMS else []
    if assets and out.suffix != ".html":
        raise WrongValue("assets", f"only .html files can share a folder, not {out.name}", [".html"])
    if changeable and out.suffix != ".html":
        raise WrongValue("choice", f"only an .html file can offer choices, not {out.name}", [".html"])
    check_output(out)  # before anything is written, and before a video is drawn
    if out.suffix == ".html":
        write_whole(out, html(scene, state, out, assets, changeable))
    elif out.suffix == ".svg":
        write_whole(out, still.svg(state.recipe, state))
    else:
        _check_packages()
        asyncio.run(_drawn(scene, state, out, look, moments))


def html(scene: Scene, state: State, out: Path, assets: Path | None, changeable: Sequence[str]) -> str:
    """The HTML of an exported page, which will be written to `out`.

    If `assets` is None, the page is self-contained. Otherwise this function writes the files of `common` into
    the folder `assets`, and the page loads them from there. changeable: the names of the choices that readers
    can still change. Raises WrongValue, CommandFailed, OSError.
    """
    recipes = inlined(scene, state, changeable) if changeable else None
    if assets is None:
        return single_file(scene, state, recipes=recipes)
    files = common()
    _check_assets(assets, files)
    assets.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        write_whole(assets / name, text)
    return sharing_files(scene, state, quote(Path(os.path.relpath(assets, out.parent)).as_posix()), recipes)


def _check_assets(folder: Path, files: Collection[str]) -> None:
    """Raise CommandFailed if `folder` is a file, or has one of `files` (names) that no export has written.

    If the folder contains the file PROGRAM, an earlier export has written these files, so they may be
    overwritten.
    """
    if folder.exists() and not folder.is_dir():
        raise CommandFailed(f"--assets: {folder} is a file: name a folder")
    others = [] if (folder / PROGRAM).exists() else [name for name in files if (folder / name).exists()]
    if others:
        raise CommandFailed(f"--assets: {folder} contains another file {others[0]}: name another folder")


def inlined(scene: Scene, state: State, changeable: Sequence[str]) -> dict[str, Any]:
    """The recipes that an exported page needs, by `link.key`: one for each combination of its choices.

    changeable: the names of the choices that readers can change. The first recipe is that of `state`. Invalid
    combinations are left out. Raises WrongValue if there are more than TOGETHER combinations, or if readers
    cannot change one of the named choices (see `_values`).
    """
    wanted = [_values(scene, state, name) for name in changeable]
    if (count := math.prod(map(len, wanted))) > TOGETHER:
        raise WrongValue("choice", f"the page would need {count} recipes, more than {TOGETHER}", TOGETHER)
    made = []
    for combination in itertools.product(*wanted):
        chosen = {**state.choices, **dict(zip(changeable, combination, strict=True))}
        with suppress(WrongValue):  # an invalid combination
            made.append((chosen, contents(scene, chosen)))
    choices = [each for each in offered(scene, [chosen for chosen, _ in made]) if each["name"] in changeable]
    return {key(scene, chosen): recipe | {"choices": choices, "text": None} for chosen, recipe in made}


def _values(scene: Scene, state: State, name: str) -> list[Any]:
    """The values of the choice `name` that a reader of an exported page can select.

    The first is the value in `state`. Raises WrongValue if there is no such choice with a list of values, or
    if the state contains a trained network that fixes the value of the choice.
    """
    known = {c.name: c for c in scene.choices}
    fixed = {n for c in scene.choices if isinstance(c, Result) and state.choices[c.name] for n in c.of}
    free = [n for n, choice in known.items() if len(values(choice)) > 1 and n not in fixed]
    if name not in free:
        raise WrongValue("choice", f"{name!r} is not a choice of {scene.slug} with a list of values", free)
    return list(dict.fromkeys([state.choices[name], *values(known[name])]))


def frames(state: State, look: Look) -> list[tuple[dict[str, float], float]]:
    """For each frame of a video: the changed parameters by name, and the position between stages.

    Raises WrongValue if `look.turn` names no parameter, or leaves the parameter's range.
    """
    count = max(2, round(look.seconds * look.fps))
    times = [k / (count - 1) for k in range(count)]
    if look.turn is None:
        last = len(state.recipe.stages) - 1
        return [({}, run(t, last)) for t in times]
    name, low, high = look.turn
    for value in (low, high):
        _within(state, name, value)
    return [({name: low + (high - low) * t}, state.progress) for t in times]


def run(t: float, last: int) -> float:
    """The position between stages, from 0 to `last`, at time `t` of a video, from 0 to 1.

    Each move to the next stage begins and ends slowly, and is followed by a pause.
    """
    leg = min(int(t * last), last - 1) if last else 0
    part = min(1.0, (t * last - leg) / MOVING) if last else 0.0
    eased = 4 * part**3 if part < 0.5 else 1 - (2 - 2 * part) ** 3 / 2
    return leg + eased if last else 0.0


def _within(state: State, name: str, value: float) -> None:
    known = {p.name: p for p in state.recipe.parameters}
    if name not in known:
        raise WrongValue("turn", f"there is no parameter {name!r} to turn", sorted(known))
    p = known[name]
    if not within(p, value):
        allowed = {"min": p.min, "max": p.max}
        raise WrongValue("turn", f"{name}={value:g} is not a number from {p.min:g} to {p.max:g}", allowed)


async def _drawn(
    scene: Scene, state: State, out: Path, look: Look, moments: Sequence[tuple[dict[str, float], float]]
) -> None:
    async with plate(scene, state, look, film=out.suffix in FILMS) as sheet:
        if out.suffix in PICTURES:
            write_whole(out, await (sheet.png() if out.suffix == ".png" else sheet.pdf()))
            return
        with tempfile.TemporaryDirectory() as folder:
            write, film = gif.write if out.suffix == ".gif" else _mp4, Path(folder) / out.name
            await write(film, _pictures(sheet, moments), look)
            write_whole(out, film.read_bytes())


@asynccontextmanager
async def plate(scene: Scene, state: State, look: Look, *, film: bool = False) -> AsyncIterator[Sheet]:
    """Open the exported page of a figure in a browser, and yield it as a `Sheet`, to take pictures of it.

    The figure has its formula and legends, and no controls. look: the size of the pictures. film: whether the
    pictures are frames of a film; then the titles of marks stay visible while the marks move, and legends
    have room for more rows. Raises NoBrowser.
    """
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "figure.html"
        kind = "embed plate film" if film else "embed plate"
        page.write_text(single_file(scene, replace(state, controls=()), kind=kind), "utf-8")
        async with showing(page, look.width, look.height, look.scale) as sheet:
            yield sheet


async def _pictures(sheet: Sheet, moments: Sequence[tuple[dict[str, float], float]]) -> AsyncIterator[bytes]:
    await sheet.place_names(moments)
    for moved, progress in bar.over(moments, "frames"):
        await sheet.moment(moved, progress)
        yield await sheet.png()


async def _mp4(out: Path, pictures: AsyncIterator[bytes], look: Look) -> None:
    """Write an MP4 file from PNG pictures, in a form of H.264 that every player can decode.

    Such a video needs even side lengths; an odd picture loses its last row or column of pixels.
    """
    import imageio_ffmpeg

    first = _opened(await anext(pictures))
    size = first.width - first.width % 2, first.height - first.height % 2
    whole = imageio_ffmpeg.write_frames(str(out), size, fps=look.fps, quality=8, macro_block_size=2)
    with closing(whole) as film:
        film.send(None)
        film.send(first.crop((0, 0, *size)).tobytes())
        async for png in pictures:
            film.send(_opened(png).crop((0, 0, *size)).tobytes())


def _opened(png: bytes):
    from PIL import Image

    return Image.open(io.BytesIO(png)).convert("RGB")


def _check_packages() -> None:
    """Raise Missing unless the packages that draw pictures and videos are installed."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise Missing('images and videos need the group "export": pip install kaleido imageio-ffmpeg pillow')
