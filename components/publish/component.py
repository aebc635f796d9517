"""Routes for `normscape.Scene` in another Dash application: recipes, the HTML of a figure, style sheets.

All of them are below one path and independent of the rest of that application.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from dash import Dash
from dash import html as tags
from flask import Blueprint, Flask, Response, request

from components import fonts
from components.language.scene import Scene
from components.pages.markup import written
from components.pages.modules import asset, served
from components.pages.page import facts
from components.publish import plain
from components.training.recipes import state_of
from components.web import budget, server
from components.web.answer_cache import answer_cache, made
from components.web.routes import RouteFacts, route
from components.web.server import bundle, find, fresh, once

PATH = "_normscape"  # as Dash's own routes begin; normscape/scene.js knows it
STYLES = ("page/component.css", *plain.STYLES)
PIXELS = 16  # of a rem, the browsers' default: the page around may have another


def register(app: Dash) -> None:
    """Register the routes in a Dash application, once. Raises RuntimeError if that is impossible."""
    flask = app.server
    if not isinstance(flask, Flask):
        if flask:  # False: registered later, by init_app
            raise RuntimeError("normscape needs an application whose server is Flask")
        return
    prefix = f"{app.config.routes_pathname_prefix}{PATH}"
    name = prefix.strip("/").replace("/", "_").replace(".", "_")  # several applications may share a server
    if name in flask.blueprints:
        return
    try:
        flask.register_blueprint(routes(name), url_prefix=prefix)
    except AssertionError:
        raise RuntimeError("normscape.register(app) comes too late: before the first request") from None
    flask.extensions["answers"] = answer_cache()
    flask.extensions["budget"] = budget.Budget()


def routes(name: str) -> Blueprint:
    own = Blueprint(name, __name__)
    files = RouteFacts(cacheable=True, cross_origin=False, costly=False)
    route(own, "/assets/<path:name>", "asset", served, files)
    server.add_figures(own)
    own.register_error_handler(budget.Busy, budget.refused)
    facts = RouteFacts(cacheable=True, cross_origin=False, costly=True)
    route(own, "/figure/<slug>", "figure", figure, facts)
    route(own, "/component.css", "styles", lambda: fresh(styles(), "text/css"), files)
    return own


def figure(slug: str) -> Response:
    """The HTML of a figure with its still picture, for the query of an embed."""
    scene, asked = find(slug), once(request.args)
    key = None if scene.private(asked) else ("figure", slug, *sorted(asked.items()))
    return fresh(made(key, lambda: html(scene, asked)), "text/html")


def html(scene: Scene, asked: Mapping[str, str]) -> str:
    """Its addresses are relative to `PATH`."""
    state = state_of(scene, asked, tour=False)
    data = facts(
        scene,
        **plain.figure(state),
        recipe=f"recipe/{scene.slug}",
        still=f"still/{scene.slug}.svg",
        plotly=f"lib/{bundle()[0]}",
    )
    return written(
        plain.body(scene, state, data, told=scene.json()["choices"], tag=tags.Section, folded=False)
    )


def styles(address: Callable[[str], str] = fonts.beside) -> str:
    """address: of a typeface's file, by its name."""
    return shadowed("\n".join((server.sheet(address), *map(asset, STYLES))))


def shadowed(css: str) -> str:
    """A style sheet of a document as one of a shadow tree, in which `.page` is the body.

    The page around has its own size of letters, and the element any width: a rem becomes a property of
    its own, and what depends on the window's width depends on the element's.
    """
    css = re.sub(r":root((?:\[[^\]]*\])+)", r":host(\1)", css).replace(":root", ":host")
    css = re.sub(r"(?<![\w.#-])body(?![\w-])", ".page", css)
    css = re.sub(r"@media (\((?:max|min)-width: [\d.]+\w+\))", lambda m: f"@container {_pixels(m[1])}", css)
    css = re.sub(r"(\d)vw\b", r"\1cqw", css)
    return re.sub(r"(?<![\w.])(\d*\.?\d+)rem\b", r"calc(\1 * var(--rem))", css)


def _pixels(condition: str) -> str:
    """Conditions know no properties."""
    return re.sub(r"([\d.]+)rem", lambda m: f"{PIXELS * float(m[1]):g}px", condition)
