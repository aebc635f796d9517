"""The pages: the gallery and the scenes, and which one stands at a path."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import dash_mantine_components as dmc
from dash import Dash, Input, Output, dcc, html
from flask import Response, request

from components.language.scene import Scene, WrongValue, scenes
from components.pages.panel import add_training
from components.pages.shell import attributes, frame
from components.publish.plain import LEAD
from components.theme import THEMES
from components.training.recipes import state_of
from components.web.budget import Busy, work
from components.web.server import bundle, once

ADDRESS, CONTENT = "address", "content"


def add_pages(app: Dash) -> None:
    """The layout, the callback that puts a page at its path, and the status of a path that is none."""
    prefix = app.config.requests_pathname_prefix
    app.layout = frame(html.Div([dcc.Location(id=ADDRESS, refresh=False), html.Main(id=CONTENT)]), prefix)
    panel = add_training(app)

    @app.callback(Output(CONTENT, "children"), Input(ADDRESS, "pathname"))
    def show(pathname: str | None) -> object:
        slug = str(pathname or "").removeprefix(prefix).strip("/")
        if not slug:
            return gallery(prefix)
        if slug not in scenes():
            return unknown(slug, prefix)
        return scene_page(scenes()[slug], prefix, panel(scenes()[slug]))

    @app.server.after_request
    def status(answer: Response) -> Response:
        """404 for a page that is not there, 400 for a link with a wrong value; the page says which."""
        if (
            request.url_rule
            and request.url_rule.endpoint == f"{app.config.routes_pathname_prefix}<path:path>"
            and answer.status_code == 200
        ):
            answer.status_code = page_status(request.path.strip("/"))
        return answer


def page_status(slug: str) -> int:
    if slug not in scenes():
        return 404
    try:
        follow(slug, tuple(once(request.args).items()))
    except WrongValue:
        return 400
    except Busy:
        return 200  # the page itself will ask, and tell
    return 200


@lru_cache(1024)
def follow(slug: str, query: tuple[tuple[str, str], ...]) -> None:
    """WrongValue where a link cannot be followed; to know it takes the whole recipe, once. Raises Busy."""
    with work():
        state_of(scenes()[slug], dict(query))


def gallery(prefix: str) -> html.Div:
    """A picture and a sentence for each scene."""
    cards = [
        dmc.Anchor(
            [
                html.Span([_picture(scene, prefix, theme) for theme in THEMES], className="picture-of"),
                html.H2(scene.title),
                html.P(scene.lead),
            ],
            href=f"{prefix}{scene.slug}",
            className="card",
            underline="never",
        )
        for scene in scenes().values()
    ]
    intro = html.Div([html.H1("See what normalisation does to space"), html.P(LEAD)], className="intro")
    return html.Div([intro, html.Div(cards, className="cards")], className="gallery")


def _picture(scene: Scene, prefix: str, theme: str) -> dmc.Image:
    """In one theme; lazily, since a browser fetches nothing then of the theme that is not shown."""
    return dmc.Image(
        src=f"{prefix}still/{scene.slug}.svg?theme={theme}",
        alt="",
        className=f"only-{theme}",
        attributes={"root": {"loading": "lazy"}},  # Dash's own Img has no such property
    )


def unknown(slug: str, prefix: str) -> html.Div:
    return html.Div(
        [
            html.H1("There is no such scene"),
            html.P(f"Nothing stands at /{slug}."),
            dcc.Link("All scenes", href=prefix),
        ],
        className="gallery",
    )


def scene_page(scene: Scene, prefix: str, panel: list[Any]) -> html.Div:
    """The parts that the player fills: the views large, controls beside them, then numbers and text."""
    still = html.Img(src=f"{prefix}still/{scene.slug}.svg", alt="", className="poster")
    stage = html.Div(
        [
            html.Div(className="formula"),
            html.Div(still, className="views", **attributes(aria_busy="true")),
            html.Div(className="scrubber", hidden=True),
        ],
        className="stage",
    )
    controls = html.Div(
        [html.Div(className="choices"), html.Div(className="parameters"), *panel], className="controls"
    )
    head = html.Div([html.H1(scene.title), html.P(scene.lead)], className="head")
    return html.Div(
        [
            html.Div(className="notice", role="alert", hidden=True),
            head,
            stage,
            controls,
            html.Div(className="numbers"),
            html.Article(className="text"),
        ],
        className="scene",
        **attributes(
            data_slug=scene.slug,
            data_choices=json.dumps({c.name: c.default for c in scene.choices}),
            data_recipe=f"{prefix}recipe/{scene.slug}",
            data_embed=f"{prefix}embed/{scene.slug}",
            data_still=f"{prefix}still/{scene.slug}.svg",
            data_run=f"{prefix}run",
            data_plotly=f"{prefix}lib/{bundle()[0]}",
        ),
    )
