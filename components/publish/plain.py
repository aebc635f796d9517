"""Documents without Dash: a figure as a page, linked to the assets beside it or with everything inside."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from components import theme
from components.drawing import still
from components.language.link import State, key, write
from components.language.scene import Scene
from components.web.server import contents, library_code

ASSETS = Path(__file__).parents[2] / "assets"
STYLES = ("page/style.css", "page/embed.css")
ICON = quote(
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'>"
    "<circle cx='16' cy='16' r='11' fill='none' stroke='#7a53c8' stroke-width='3'/>"
    "<path d='M3 22L29 10' stroke='#0f8a7e' stroke-width='3'/>"
    "<circle cx='25' cy='9' r='4' fill='#2c63d6'/></svg>"
)
LEAD = (
    "Normalisation is usually shown as statistics. Here it is geometry: points fall onto a plane, fly out to"
    " a sphere, stretch into an ellipsoid. Take any scene and move it with your hand; each state has a link."
)
MODULE = re.compile(r'"(\.\.?/[\w/-]+)\.mjs"')


def page(title: str, head: str, body: str, *, asked: str | None = "auto", kind: str = "embed") -> str:
    """An HTML document. asked: the theme, None where it is the reader's. kind: classes for styles."""
    theirs = "" if asked is None else f' data-theme="{asked}"'
    return f"""<!DOCTYPE html>
<html lang="en" class="{kind}"{theirs} data-mantine-color-scheme="light">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<link rel="icon" href="data:image/svg+xml,{ICON}">
{head}
</head>
<body>
{body}
</body>
</html>
"""


def linked(root: str) -> str:
    """The head of a page beside the assets: the theme before the first paint, the styles."""
    sheets = [f"{root}theme.css", *(f"{root}assets/{name}" for name in STYLES)]
    links = "".join(f'<link rel="stylesheet" href="{sheet}">' for sheet in sheets)
    return f'<script src="{root}assets/page/theme.js"></script>{links}'


def attributes(scene: Scene, **data: str | None) -> str:
    """The data that a player finds at its scene; None is left out."""
    usual = json.dumps({c.name: c.default for c in scene.choices})
    every = {"slug": scene.slug, "choices": usual, **data}
    return "".join(f' data-{name}="{escape(text)}"' for name, text in every.items() if text is not None)


def body(scene: Scene, state: State, data: str, *, start: str = "", end: str = "") -> str:
    """The scene's element with the parts that the player fills, and its picture from the first.

    start, end: what stands in it first and last.
    """
    shown = lambda names: state.controls is None or not set(state.controls).isdisjoint(names)  # noqa: E731
    parts = {
        "choices": shown(c.name for c in scene.choices),
        "parameters": shown(p.name for p in state.recipe.parameters),
    }
    asked = "".join(f'<div class="{part}"></div>' for part, is_shown in parts.items() if is_shown)
    scrubber = '<div class="scrubber" hidden></div>' if shown(["progress"]) else ""
    controls_part = f'<div class="controls">{asked}</div>' if asked else ""
    poster = still.inline(state.recipe, state, title=scene.title)
    return f"""<main class="scene{"" if asked or scrubber else " bare"}"{data}>
<div class="notice" role="alert" hidden></div>{start}
<h1 class="unseen">{escape(scene.title)}</h1>
<div class="stage"><div class="formula"></div>
<div class="views" aria-busy="true">{poster}</div>{scrubber}</div>
{controls_part}{end}
</main>"""


def data_block(recipes: Mapping[str, Any]) -> str:
    """Recipes, or their files, by `key`, as a block of data in the page."""
    data = inside(json.dumps(recipes, separators=(",", ":")))
    return f'<script type="application/json" class="recipes">{data}</script>'


def inside(code: str) -> str:
    """Code or JSON that can stand in a script element: nothing in it ends the element."""
    return re.sub(r"<(?=/script|!--)", r"\\u003c", code, flags=re.IGNORECASE)


def single_file(
    scene: Scene,
    state: State,
    *,
    autoplay: bool = False,
    kind: str = "embed",
    recipes: Mapping[str, Any] | None = None,
) -> str:
    """One HTML document with everything inside: it needs no server, and no network.

    recipes: by `key`, of the choices that can be made in it; without them none can.
    """
    styles = "".join(f"<style>{sheet}</style>" for sheet in (theme.css(), *map(_asset, STYLES)))
    head = f"<script>{_asset('page/theme.js')}</script>{styles}"
    scripts = f"<script>{inside(library_code())}</script><script>{inside(player())}</script>"
    inner = _alone(scene, state, autoplay, recipes) + scripts
    return page(scene.title, head, inner, asked=state.theme or "auto", kind=kind)


def beside(scene: Scene, state: State, folder: str, recipes: Mapping[str, Any] | None = None) -> str:
    """The same, with what figures have in common (`common`) in a folder, given as a relative link."""
    links = "".join(
        f'<link rel="stylesheet" href="{folder}/{Path(name).name}">' for name in ("theme.css", *STYLES)
    )
    head = f'<script src="{folder}/theme.js"></script>{links}'
    scripts = f'<script src="{folder}/player.js"></script>'
    alone = _alone(scene, state, False, recipes, plotly=f"{folder}/plotly.js")
    return page(scene.title, head, alone + scripts, asked=state.theme or "auto")


def common() -> dict[str, str]:
    """File name → text of what `beside` shares."""
    own = {Path(name).name: _asset(name) for name in ("page/theme.js", *STYLES)}
    return own | {"theme.css": theme.css(), "player.js": player(), "plotly.js": library_code()}


def _alone(
    scene: Scene, state: State, autoplay: bool, recipes: Mapping[str, Any] | None, plotly: str | None = None
) -> str:
    """The scene with its recipes in it: of its state alone, where there are no others."""
    if recipes is None:
        recipes = {key(scene, state.choices): contents(scene, state.choices) | {"choices": [], "text": None}}
    data = attributes(scene, **figure(state), autoplay="1" if autoplay else None, plotly=plotly)
    sign = f'<p class="sign"><span>{escape(scene.title)}</span></p>'
    return body(scene, state, data, end=data_block(recipes) + sign)


def figure(state: State) -> dict[str, str | None]:
    """The data of a figure by itself: its state; apart, the controls: its link to the scene has all."""
    names = None if state.controls is None else ",".join(state.controls)
    return {"query": write(replace(state, controls=None)), "controls": names}


def player() -> str:
    """All modules of the player as one classic script, for a page from a disk (assets/page/boot.js)."""
    texts = json.dumps(
        {f"normscape/{name}": _named(name, code) for name, code in modules("page/embed").items()}
    )
    return _asset("page/boot.js").replace("{ /* modules */ }", texts)


@cache
def ahead(entry: str) -> tuple[str, ...]:
    """The modules of an entry as links to them: those in assets/ that it would come to only step by step."""
    return tuple(f"assets/{name}.mjs" for name in modules(entry))


def modules(entry: str) -> dict[str, str]:
    """Name → text of a module of assets/ and of all that it imports."""
    found: dict[str, str] = {}
    wanted = [entry]
    while wanted:
        name = wanted.pop()
        if name not in found:
            found[name] = _asset(f"{name}.mjs")
            wanted += [_beside(name, other) for other in MODULE.findall(found[name])]
    return found


def _named(name: str, code: str) -> str:
    return MODULE.sub(lambda found: f'"normscape/{_beside(name, found[1])}"', code)


def _beside(name: str, other: str) -> str:
    """What a module calls `./other` or `../room/other`, by its place in assets/."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), other))


def _asset(name: str) -> str:
    return (ASSETS / name).read_text("utf-8")
