"""The glossary page: all words and symbols with their meanings, then the sources of all scenes."""

from __future__ import annotations

from dash import html
from markupsafe import Markup

from components.language.front import WORDS_TITLE
from components.language.guides import guides
from components.language.scene import scenes
from components.language.sources import sources
from components.language.words import Word, sections
from components.pages.shell import Place, to

LEAD = "The meaning of each word and symbol of these pages, and a scene that shows it."


def page(place: Place) -> html.Main:
    parts = [
        html.Section([html.H2(title), html.Dl([_row(word, place) for word in some])])
        for title, some in sections().items()
    ]
    cited = [html.Li([Markup(text), *_users(key, place)], id=key) for key, text in sources().items()]
    claims = html.P(html.A(guides()["papers"].title, href=place.page("papers")))
    last = html.Section([html.H2("Sources"), claims, html.Ol(cited)], className="sources")
    return html.Main([html.H1(WORDS_TITLE), html.P(LEAD), *parts, last], className="glossary")


def _row(word: Word, place: Place) -> html.Div:
    shown = scenes().get(word.scene)
    seen = html.P(["See it: ", to(place, shown)]) if shown else None
    return html.Div([html.Dt(Markup(word.name)), html.Dd([Markup(word.meaning), seen])], id=word.id)


def _users(key: str, place: Place) -> list[html.Span]:
    """Links to the scenes that cite a source. key: the key of this source in the bibliography."""
    users = [scene for scene in scenes().values() if key in scene.text.sources]
    return [html.Span(to(place, scene), className="user") for scene in users]
