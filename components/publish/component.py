"""The routes that `normscape.Scene` needs in another Dash application: recipes, figures and style sheets.

They are all below the path PATH, and independent of the rest of that application.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from dash import Dash
from dash import html as tags
from flask import Blueprint, Flask, Response

from components import fonts
from components.language.scene import Scene
from components.pages.markup import written
from components.pages.modules import asset, served
from components.pages.page import facts
from components.publish import plain
from components.training.recipes import state_of
from components.web import budget, server
from components.web.budget import answer_cache, cached_or_computed
from components.web.routes import Access, route
from components.web.server import bundle, find, request_query, revalidated

PATH = "_normscape"  # with an underscore like Dash's own routes; normscape/scene.js has the same name
STYLES = ("page/component.css", *plain.STYLES)
PIXELS = 16  # of the CSS unit rem: the page's font size, 16 by default in browsers


def register(app: Dash) -> None:
    """Register the routes in a Dash application, unless they are registered already.

    If the application was made with `server=False`, call this function after `init_app`; an earlier call has
    no effect. Raises TypeError if `app` is not a Dash application. Raises RuntimeError if its server is not
    Flask, or has already answered a request.
    """
    if not isinstance(app, Dash):
        raise TypeError(f"register takes an application, dash.Dash(…): got {type(app).__name__}")
    flask = app.server
    if not isinstance(flask, Flask):
        if flask:  # False: the application gets its server later, in init_app
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
    """The routes that figures need, as a Flask blueprint. name: the name of the blueprint."""
    own = Blueprint(name, __name__)
    route(own, "/assets/<path:name>", "asset", served, Access.SHARED)
    server.add_figures(own)
    route(own, "/figure/<slug>", "figure", figure, Access.SHARED)
    route(own, "/component.css", "styles", lambda: revalidated(styles(), "text/css"), Access.SHARED)
    return own


def figure(slug: str) -> Response:
    """The response with the HTML of a figure, including a still picture, in the state of the query.

    Raises WrongValue for an unknown scene or an invalid query; Busy, StoreUnavailable.
    """
    scene, asked = find(slug), request_query()
    key = None if scene.private(asked) else ("figure", slug, *sorted(asked.items()))
    return revalidated(cached_or_computed(key, lambda: html(scene, asked)), "text/html")


def html(scene: Scene, asked: Mapping[str, str]) -> str:
    """The HTML of a figure. Its addresses are relative to the path PATH.

    asked: the state of the figure, as the query of a link without `tour`.
    """
    state = state_of(scene, asked, tour=False)
    data = facts(
        scene,
        **plain.figure(state),
        recipe=f"recipe/{scene.slug}",
        still=f"still/{scene.slug}.svg",
        plotly=f"lib/{bundle()[0]}",
    )
    return written(
        plain.body(scene, state, data, choices=scene.json()["choices"], tag=tags.Section, folded=False)
    )


def styles(address: Callable[[str], str] = fonts.beside) -> str:
    """The style sheet of a figure inside a shadow tree, which separates it from the styles of its page.

    address: a function that returns the address of a font file from its name.
    """
    return shadowed("\n".join((server.style_sheet(address), *map(asset, STYLES))))


def shadowed(css: str) -> str:
    """Convert the style sheet of a document for use in a shadow tree.

    The class `.page` takes the place of the body. The font size of the surrounding page is unknown, so `rem`
    becomes a custom property. The element can be narrower than the window, so queries of the window's width
    become queries of the element's width (container queries).
    """
    css = re.sub(r":root((?:\[[^\]]*\])+)", r":host(\1)", css).replace(":root", ":host")
    css = re.sub(r"(?<![\w.#-])body(?![\w-])", ".page", css)
    css = re.sub(r"@media (\((?:max|min)-width: [\d.]+\w+\))", lambda m: f"@container {_pixels(m[1])}", css)
    css = re.sub(r"(\d)vw\b", r"\1cqw", css)
    return re.sub(r"(?<![\w.])(\d*\.?\d+)rem\b", r"calc(\1 * var(--rem))", css)


def _pixels(condition: str) -> str:
    """The condition of a media query, with each length in rem converted to px.

    A media query cannot use the custom property `--rem`, which replaces rem elsewhere in the style sheet.
    """
    return re.sub(r"([\d.]+)rem", lambda m: f"{PIXELS * float(m[1]):g}px", condition)
