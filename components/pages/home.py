"""The home page: a figure of LayerNorm that readers can move, and the course as cards, one for each scene."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from dash import html
from markupsafe import Markup

from components.language import course
from components.language.course import Chapter, CourseScene
from components.language.front import HOME_TITLE
from components.language.guides import guides
from components.language.link import State
from components.language.scene import Scene, scenes
from components.pages.markup import attributes, element
from components.pages.page import notice, stage, waiting
from components.pages.shell import Place, to
from components.theme import THEMES

SENTENCE = (
    "LayerNorm is usually explained with statistics. Here it is geometry that you move: points fall onto a"
    " plane, go out to a sphere and stretch into an ellipsoid (with three components, as here: a circle and"
    " an ellipse)."
)


SYMBOLS = {
    "x": "x: the vector that comes in",
    "y": "y: the vector that goes out",
    "μ": "μ (mu): the mean of the components of x",
    "𝟏": "𝟏: the vector of ones, (1, 1, …, 1)",
    "d": "d: the number of components of x; here 3",
    "ε": "ε (epsilon): a small constant against division by zero; here 0",
    "γ": "γ (gamma): the gain, a learned factor for each component",
    "β": "β (beta): the shift, a learned vector that is added",
}


def hero() -> Scene:
    """The scene of the figure on the home page. The figure shows it in the state `front.HOME_STATE`."""
    return scenes()["layernorm"]


def home(place: Place, state: State | None, data: Mapping[str, Any], *, end: Any = None) -> html.Main:
    """The content of the home page.

    place  the relative address of the site's root
    state  the state that the figure's still picture shows, until the figure can be moved; None for no picture
    data   the data attributes that tell the figure's player what to load
    end    further content for the element of the figure
    """
    start = to(place, hero(), "Start: three minutes", tour=True, className="start")
    story = html.A("or read it as a story", href=place.page("story"))
    words = html.Div([html.H1(HOME_TITLE), html.P(SENTENCE), start, " ", story], className="intro")
    own = waiting(data, "hero") | attributes(
        aria_label="LayerNorm in motion", data_gloss=json.dumps(SYMBOLS, ensure_ascii=False)
    )
    living = html.Section([notice(), stage(hero(), state), end], className="scene hero", **own)
    forget = html.P(
        ["Visited scenes are marked. Only your browser stores this. ", html.Button("Clear", type="button")],
        className="forget",
        hidden=True,
    )
    claims = html.P(html.A(guides()["papers"].title, href=place.page("papers")), className="after")
    front = html.Div([words, living], className="front")
    chapters = [_chapter(each, place) for each in course.chapters()]
    return html.Main([front, *chapters, claims, forget], className="home")


def _chapter(chapter: Chapter, place: Place) -> html.Section:
    head = [html.H2([html.Span(chapter.number), chapter.title]), html.P(Markup(chapter.about))]
    cards = html.Div([_card(each, place) for each in chapter.scenes], className="cards")
    return html.Section(
        [html.Div(head, className="about"), cards], className="chapter", id=f"chapter-{chapter.number}"
    )


def _card(entry: CourseScene, place: Place) -> html.A:
    scene = entry.scene
    pictures = html.Span([_picture(scene, place, theme) for theme in THEMES], className="picture-of")
    words = [html.H3([html.Span(entry.label), scene.title]), html.P(Markup(scene.lead_html))]
    return to(place, scene, [pictures, *words], className="card")


def _picture(scene: Scene, place: Place, theme: str) -> Any:
    """The picture on the card of a scene, in one of the two themes.

    The card contains a picture for each theme, and shows one of them. Both load lazily, so that browsers do
    not fetch the hidden one.
    """
    sources = {
        "src": place.card(scene.slug, theme),
        "data-moving": place.card(scene.slug, theme, moving=True),
    }
    return element("img", {"loading": "lazy", "alt": "", "class": f"only-{theme}"} | sources)
