"""The pages: the gallery and the scenes, and which one stands at a path."""

from __future__ import annotations

import json

import dash_mantine_components as dmc
from dash import Dash, Input, Output, dcc, html
from flask import Response, request

from components.scene import Scene, WrongValue, scenes
from components.server import bundle, once
from components.shell import LEAD, Explorer, attributes, frame
from components.state import parse

__all__ = ["Explorer", "add_pages"]
ADDRESS, CONTENT = "address", "content"


def add_pages(app: Dash) -> None:
    """The layout, the callback that puts a page at its path, and the status of a path that is none."""
    app.layout = frame(html.Div([dcc.Location(id=ADDRESS, refresh=False), html.Main(id=CONTENT)]))
    prefix = app.config.requests_pathname_prefix

    @app.callback(Output(CONTENT, "children"), Input(ADDRESS, "pathname"))
    def show(pathname: str | None) -> object:
        slug = (pathname or "").removeprefix(prefix).strip("/")
        if not slug:
            return gallery()
        return scene_page(scenes()[slug], prefix) if slug in scenes() else unknown(slug)

    @app.server.after_request
    def status(answer: Response) -> Response:
        """404 for a page that is not there, 400 for a link with a wrong value; the page says which."""
        if (
            request.url_rule
            and request.url_rule.endpoint == f"{prefix}<path:path>"
            and answer.status_code == 200
        ):
            answer.status_code = page_status(request.path.removeprefix(prefix).strip("/"))
        return answer


def page_status(slug: str) -> int:
    if slug not in scenes():
        return 404
    try:
        parse(scenes()[slug], once(request.args))
    except WrongValue:
        return 400
    return 200


def gallery() -> html.Div:
    """A picture and a sentence for each scene."""
    cards = [
        dmc.Anchor(
            [
                html.Span(
                    [
                        html.Img(
                            src=f"/still/{scene.slug}.svg?theme={theme}", alt="", className=f"only-{theme}"
                        )
                        for theme in ("light", "dark")
                    ],
                    className="picture",
                ),
                html.H2(scene.title),
                html.P(scene.lead),
            ],
            href=f"/{scene.slug}",
            className="card",
            underline="never",
        )
        for scene in scenes().values()
    ]
    intro = html.Div([html.H1("See what normalisation does to space"), html.P(LEAD)], className="intro")
    return html.Div([intro, html.Div(cards, className="cards")], className="gallery")


def unknown(slug: str) -> html.Div:
    return html.Div(
        [
            html.H1("There is no such scene"),
            html.P(f"Nothing stands at /{slug}."),
            dcc.Link("All scenes", href="/"),
        ],
        className="gallery",
    )


def scene_page(scene: Scene, prefix: str) -> html.Div:
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
        [html.Div(className="choices"), html.Div(className="parameters")], className="controls"
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
            data_still=f"{prefix}still/{scene.slug}.svg",
            data_plotly=f"{prefix}lib/{bundle()[0]}",
        ),
    )
