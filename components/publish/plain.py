"""Pages that contain only a figure.

The files that such a page needs are on the server, in the page itself, or in a folder that pages share.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dash import html
from dash.development.base_component import Component
from markupsafe import Markup

from components import fonts
from components.language.link import State, key, write
from components.language.scene import Scene
from components.pages.markup import element
from components.pages.modules import asset, modules, renamed
from components.pages.page import controls, facts, notice, stage
from components.pages.shell import Place, document, script
from components.web.server import contents, library_code, style_sheet

STYLES = ("page/style.css", "page/embed.css")
PROGRAM = "player.js"  # a file in the folder that exported pages share
SHEETS = ("theme.css", *(Path(name).name for name in STYLES))  # style sheets there


def page(title: str, head: Any, body: Any, *, asked: str = "auto", kind: str = "embed") -> str:
    """The HTML document of a page with only a figure. asked: its theme. kind: CSS classes of `<html>`."""
    return document(title, head, body, asked=asked, kind=kind, scheme=asked)


def linked(place: Place) -> list[Any]:
    """Elements for the head of a page: links to the style sheets, and the script that sets the theme."""
    return [*place.styles(*STYLES), script(place.asset("page/theme.js"))]


def body(
    scene: Scene,
    state: State,
    data: Mapping[str, Any],
    *,
    choices: Sequence[Mapping[str, Any]],
    end: Any = None,
    tag: Callable[..., Component] = html.Main,
    folded: bool = True,
) -> Component:
    """The element of a figure: its still picture, and the parts that the player (JavaScript) fills.

    data     the data attributes from which the player starts
    choices  the choices that readers can change, as JSON data
    end      further content at the end of the element
    tag      the class of the element
    folded   whether readers can fold the controls away and unfold them; at first they are folded, except if
             `state.controls` says which controls are visible
    """

    def shown(names: Iterable[str]) -> bool:
        return state.controls is None or not set(state.controls).isdisjoint(names)

    chosen, moved, *more = controls(state, choices)
    parts = [chosen] if shown(c.name for c in scene.choices) else []
    parts += [moved] if shown(p.name for p in state.recipe.parameters) else []
    parts += more
    scrubber = shown(["progress"])
    inner = [
        notice(),
        html.H1(scene.title, className="unseen"),
        stage(scene, state, scrubber=scrubber),
        _controls(parts, folded, state.controls is not None) if parts else None,
        end,
    ]
    return tag(inner, className="scene" if parts or scrubber else "scene bare", **data)


def _controls(parts: list[Any], folded: bool, named: bool) -> Component:
    if not folded:
        return html.Div(parts, className="controls")
    return html.Details([html.Summary("Controls"), *parts], className="controls", open=named)


def data_block(recipes: Mapping[str, Any]) -> Any:
    """A script element that contains recipes as JSON, for the player.

    recipes: the recipes, or the names of their files, by `link.key`.
    """
    data = inside(json.dumps(recipes, separators=(",", ":")))
    return element("script", {"type": "application/json", "class": "recipes"}, Markup(data))


def inside(code: str) -> str:
    """JavaScript or JSON, escaped so that no text in it ends the script element that contains it."""
    return re.sub(r"<(?=/script|!--)", r"\\u003c", code, flags=re.IGNORECASE)


def single_file(
    scene: Scene, state: State, *, kind: str = "embed", recipes: Mapping[str, Any] | None = None
) -> str:
    """The HTML document of a self-contained page with a figure, which needs no server and no network.

    recipes: for choices that readers can change, a mapping from each recipe's `link.key` to the recipe; None
    if they can change none. kind: CSS classes of `<html>`.
    """
    styles = [element("style", {}, Markup(each)) for each in (style_sheet(fonts.inside), *map(asset, STYLES))]
    code = [element("script", {}, Markup(inside(each))) for each in (library_code(), player())]
    head = [element("script", {}, Markup(asset("page/theme.js"))), styles]
    inner = [_alone(scene, state, recipes), code]
    return page(scene.title, head, inner, asked=state.theme or "auto", kind=kind)


def sharing_files(scene: Scene, state: State, folder: str, recipes: Mapping[str, Any] | None = None) -> str:
    """The HTML document of a page with a figure that loads the files of `common`.

    folder: the relative address of the folder with these files. recipes: for choices that readers can change,
    each recipe by its `link.key`; None if they can change none.
    """
    sheets = [element("link", {"rel": "stylesheet", "href": f"{folder}/{name}"}) for name in SHEETS]
    code = element("script", {"src": f"{folder}/{PROGRAM}"})
    alone = _alone(scene, state, recipes, plotly=f"{folder}/plotly.js")
    head = [script(f"{folder}/theme.js"), sheets]
    return page(scene.title, head, [alone, code], asked=state.theme or "auto")


def common() -> dict[str, str]:
    """The files that the pages of `sharing_files` load: their texts by file name.

    The first is PROGRAM, by which an export recognises that it may overwrite a folder. It is written first,
    so that an interrupted export can be repeated.
    """
    own = {Path(name).name: asset(name) for name in ("page/theme.js", *STYLES)}
    program = {PROGRAM: player()}
    return program | own | {"theme.css": style_sheet(fonts.inside), "plotly.js": library_code()}


def _alone(
    scene: Scene, state: State, recipes: Mapping[str, Any] | None, plotly: str | None = None
) -> Component:
    """The element of a figure, with the figure's recipes inside it as JSON.

    recipes: each by its `link.key`; None for only the recipe of `state`. plotly: the address of the drawing
    library; None if the page contains it.
    """
    if recipes is None:
        recipes = {key(scene, state.choices): contents(scene, state.choices) | {"choices": [], "text": None}}
    data = facts(scene, **figure(state), plotly=plotly)
    sign = html.P(html.Span(scene.title), className="sign")
    choices = recipes[key(scene, state.choices)]["choices"]
    return body(scene, state, data, choices=choices, end=[data_block(recipes), sign])


def figure(state: State) -> dict[str, str | None]:
    """The values of two data attributes, `query` and `controls`, from which the player of a figure starts.

    query     the query string of the state, but without `controls`: the figure's link to the page of its
              scene has this query too, and that page shows all controls
    controls  the names of the visible controls, with commas between; None if all are visible
    """
    names = None if state.controls is None else ",".join(state.controls)
    return {"query": write(replace(state, controls=None)), "controls": names}


def player() -> str:
    """The JavaScript of the player as one classic script (assets/page/boot.js) that contains all modules.

    Browsers do not load modules in pages that are opened from a disk.
    """
    texts = json.dumps(
        {f"normscape/{name}": renamed(name, code) for name, code in modules("page/embed").items()}
    )
    return asset("page/boot.js").replace('"MODULES"', texts)
