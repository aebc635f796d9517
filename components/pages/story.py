"""The page of the story: its text, with figures that start when readers come to them (page/story.mjs)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from dash import html
from markupsafe import Markup

from components.language.link import State
from components.language.scene import Scene, scenes
from components.language.sources import sources
from components.language.story import Part, StoryBlock, story
from components.pages.markup import attributes
from components.pages.page import apart, notice, stage, waiting
from components.pages.shell import Place

Data = Callable[[Scene], Mapping[str, Any]]
End = Callable[[Scene], Any]
Shown = Callable[[Scene, dict[str, str]], State | None]


def page(
    place: Place, shown: Shown, data: Data, *, end: End = lambda scene: None, alone: bool = False
) -> html.Main:
    """The content of the story's page.

    shown  a function that returns the state of a figure's still picture, or None if there is no picture
    data   a function that returns the data attributes that tell a figure's player what to load
    end    a function that returns further content for the element of a figure
    alone  whether the story is the only page, so that it has no links to scenes
    """
    text = story()
    parts = [_part(part, None if alone else place, shown, data, end) for part in text.parts]
    head = [html.H1(text.title), html.P(text.lead, className="lead"), html.Div(Markup(text.before))]
    cited = dict.fromkeys(key for part in text.parts for key in scenes()[part.slug].text.sources)
    course = html.A("All scenes, chapter by chapter", href=place.home)
    onward = [] if alone else [html.P(course, className="open")]
    last = [html.H2("Sources"), html.Ol([html.Li(Markup(sources()[key])) for key in cited])]
    return html.Main(
        [html.Header(head, className="opening"), *parts, *onward, html.Section(last, className="sources")],
        className="story",
    )


def _part(part: Part, place: Place | None, shown: Shown, data: Data, end: End) -> html.Section:
    scene, first = scenes()[part.slug], part.blocks[0].state
    state = shown(scene, first)
    deep = [view for view in state.recipe.views if view.dims == 3] if state else []
    own = waiting({**data(scene), **apart(first)}, "figure") | attributes(
        data_contexts=str(len(deep)), aria_label=f"Figure: {part.title}"
    )
    figure = html.Section(
        [notice(), stage(scene, state, scrubber=False), end(scene)], className="scene companion", **own
    )
    name: Any = scene.title
    if place:
        name = html.A(["The scene: ", name], href=f"{place.scene(scene.slug)}?{urlencode(first)}")
    beside = html.Div([figure, html.P(name, className="open")], className="beside-text")
    words = html.Div([html.H2(part.title), *map(_block, part.blocks)], className="words-of")
    return html.Section([words, beside], className="part")


def _block(block: StoryBlock) -> html.Div:
    return html.Div(
        Markup(block.html), className="passage", **attributes(data_state=f"?{urlencode(block.state)}")
    )
