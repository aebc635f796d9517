"""The page of a guide: its text, and links to the other guides."""

from __future__ import annotations

from dash import html
from markupsafe import Markup

from components.language.guides import Guide, guides
from components.pages.markup import attributes
from components.pages.page import anchored
from components.pages.shell import Place


def page(guide: Guide, place: Place) -> html.Main:
    """The content of a guide's page, which ends with links to all other guides."""
    others = [
        html.Li(html.A(other.title, href=place.page(slug)))
        for slug, other in guides().items()
        if slug != guide.slug
    ]
    text = html.Div(Markup(anchored(guide.linked(place.page))), className="prose")
    more = html.Nav([html.H2("Other guides"), html.Ul(others)], **attributes(aria_label="Other guides"))
    return html.Main([html.H1(guide.title), text, more], className="manual")
