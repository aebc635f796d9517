"""The page of a scene: its figure with controls, its text with a tour and questions, and its sources."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any
from urllib.parse import urlencode

from dash import html
from markupsafe import Markup

from components.drawing import still
from components.language import course
from components.language.link import State
from components.language.marks import Choose
from components.language.recipe import Letters, Parameter, Recipe
from components.language.scene import Scene, closest_scene, scenes
from components.language.sources import sources
from components.language.text import Stop
from components.language.text import formula as written
from components.language.words import linked
from components.pages.markup import attributes
from components.pages.search import HEADING, LEAD, anchor
from components.pages.shell import Place, to


def unknown(slug: str, place: Place) -> html.Main:
    close = closest_scene(slug)
    hint = html.P(["Did you mean ", to(place, scenes()[close]), "?"]) if close else None
    words = [html.H1("There is no such page"), html.P(f"There is no page /{slug}."), hint]
    return html.Main([*words, html.A("All scenes", href=place.home)], className="gallery")


def scene_page(
    scene: Scene,
    state: State | None,
    data: Mapping[str, Any],
    place: Place,
    *,
    choices: Sequence[Mapping[str, Any]] | None = None,
    below: Any = None,
    end: Any = None,
) -> html.Main:
    """The content of a scene's page: its text, and elements that the player (JavaScript) fills.

    state    the state that the figure's still picture shows; None for no picture
    place    where the page is in the site, which its links need
    data     the data attributes that tell the player what to load (see `facts`)
    choices  the choices that readers can change, as JSON data; None for all choices of the scene
    below    further content below the controls
    end      further content at the end of the scene's element
    """
    choices = scene.json()["choices"] if choices is None else choices
    first, others = sections(prose(scene, place))
    spread = [  # side by side: the figure stays visible while the text scrolls
        notice(),
        _head(scene),
        stage(scene, state),
        html.Div([overview(state), *controls(state, choices), below], className="controls"),
        html.Div(Markup(first), className="explained prose"),
    ]
    return html.Main(
        [
            html.Div(spread, className="spread"),
            html.Div(id="numbers", className="numbers"),
            text(scene, others, place),
            end,
        ],
        className="scene whole",
        **data,
    )


def facts(scene: Scene, **others: str | None) -> dict[str, Any]:
    """Data attributes that tell the player of a scene what to load.

    others: values of further attributes, by name without `data-`; an attribute with the value None is left
    out.
    """
    usual = json.dumps({c.name: c.default for c in scene.choices})
    named = {f"data_{name}": value for name, value in others.items()}
    return attributes(data_slug=scene.slug, data_choices=usual, **named)


def apart(query: Mapping[str, str], controls: str = "") -> dict[str, Any]:
    """Data attributes with a figure's state, for a figure that does not take it from its page's address.

    query: the state, as in a link. controls: the names of the visible controls, separated by commas; "" for
    none.
    """
    return attributes(data_query=f"?{urlencode(query)}", data_controls=controls)


def waiting(data: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """A copy of the data attributes of a figure, with `data-slug` renamed to `data-{kind}`.

    The player only starts in elements with `data-slug`. So the figure remains a still picture until a script
    of the page sets `data-slug`.
    """
    return {f"data-{kind}" if name == "data-slug" else name: value for name, value in data.items()}


def notice() -> html.Div:
    return html.Div(className="notice", role="alert", hidden=True)


def _head(scene: Scene) -> html.Div:
    by = attributes(data_by=scene.tour_choice or None)
    start = html.A("Take the tour", href="?tour=1", className="on", **by) if scene.text.tour else None
    return html.Div([html.H1(scene.title), html.P(Markup(scene.lead_html)), start], className="head")


def stage(scene: Scene, state: State | None, *, scrubber: bool = True) -> html.Div:
    """The element of a figure: its formula, its views, its `Letters`, and a container for its scrubber.

    state: what the still picture in place of the views shows; None for no picture, formula and letters.
    scrubber: whether there is a container for the scrubber.
    """
    views, formula, poster = "views", None, None
    if state:
        views = f"views views-{len(state.recipe.views)}{' wide' * state.recipe.views[0].wide}"
        formula = state.recipe.formula and Markup(written(state.recipe.formula))
        poster = Markup(still.inline(state.recipe, state, title=scene.title))
    parts = [
        html.Div(formula, className="formula"),
        html.Div(poster, className=views, **attributes(aria_busy="true")),
        *(_letters(state.recipe) if state else ()),
        _scrubber(state.recipe if state else None) if scrubber else None,
    ]
    return html.Div(parts, className="stage")


def _letters(recipe: Recipe) -> list[html.Div]:
    """HTML elements with the letters of a recipe's readouts `Letters`, one element for each such readout.

    They are shown until the player (JavaScript) replaces them.
    """
    lists = []
    for readout in (letters for letters in recipe.readouts if isinstance(letters, Letters)):
        labels = next(cloud.labels for cloud in recipe.clouds if cloud.name == readout.cloud) or ()
        kinds = [None if label.strip() else "blank" for label in labels]
        letters = [
            html.Span(label, role="option", className=kind, **attributes(aria_label=kind))
            for label, kind in zip(labels, kinds, strict=True)
        ]
        text = html.Div(letters, className="text-of", role="listbox", **attributes(aria_label=readout.label))
        lists.append(html.Div([text, html.Span(f"{readout.label}:", className="key")], className="letters"))
    return lists


def _scrubber(recipe: Recipe | None) -> html.Div:
    still_one = recipe is not None and len(recipe.stages) == 1
    clock = html.Div(className="clock") if recipe and recipe.clock else None
    return html.Div(clock, className="scrubber still" if still_one else "scrubber", hidden=True)


def controls(state: State | None, choices: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Three elements for the controls of a figure: one for choices, one for sliders, one for "More settings".

    They contain only labels of controls; the player adds buttons, fields and sliders. If `state` is None,
    there are no labels. "More settings" has the controls that are folded away at first; it is absent if the
    state names the visible controls (`State.controls`). choices: the scene's choices, as JSON data.
    """
    if state is None:
        return [*_controls([], []), _more([], [])]
    recipe, chosen = state.recipe, {name: str(value) for name, value in state.choices.items()}
    shown = [
        each
        for each in choices
        if each["kind"] != "result" and (each["kind"] != "picked" or _clicked(recipe, each["name"]))
        if offers(state, each["name"])
        if not each["when"] or chosen[each["when"][0]] in each["when"][1]
    ]
    sliders = (p for p in recipe.parameters if p.name != recipe.clock and not p.quiet)
    moved = [p for p in sliders if offers(state, p.name)]
    if state.controls is not None:
        return _controls(shown, moved)
    first = [c for c in shown if not c["folded"]], [p for p in moved if not p.folded]
    rest = [c for c in shown if c["folded"]], [p for p in moved if p.folded]
    return [*_controls(*first), _more(*rest)]


def _controls(choices: Sequence[Mapping[str, Any]], sliders: Sequence[Parameter]) -> list[Any]:
    shown = [html.Div(html.Span(c["label"]), className=f"choice {c['kind']}") for c in choices]
    groups = []
    for (name, vector), some in groupby(sliders, lambda p: (p.group, p.vector)):
        members = [*map(_slider, some)]
        row = vector and len(members) > 1  # as in assets/player/controls.mjs
        head = html.Legend(name) if name else None
        groups.append(html.Fieldset([head, *members], className="group vector" if row else "group"))
    return [html.Div(shown, className="choices"), html.Div(groups, className="parameters")]


def _more(choices: Sequence[Mapping[str, Any]], sliders: Sequence[Parameter]) -> html.Details:
    """The part "More settings" of the controls, folded at first; the whole part is hidden if it is empty."""
    parts = [html.Summary("More settings"), *_controls(choices, sliders)]
    return html.Details(parts, className="more", hidden=not choices and not sliders)


def offers(state: State, name: str) -> bool:
    """Whether the figure shows the control with this name, which is a choice or parameter of the scene."""
    return state.controls is None or name in state.controls


def _clicked(recipe: Recipe, name: str) -> bool:
    """Whether a click in a view of this recipe can set the choice `name` to a number above 0.

    If not, the page has no control for a choice of the class `Picked`.
    """
    hands = [getattr(mark, "hand", None) for view in recipe.views for mark in view.layers]
    return any(isinstance(hand, Choose) and hand.choice == name and hand.numbers.max() > 0 for hand in hands)


def _slider(parameter: Parameter) -> html.Div:
    return html.Div(html.Span(Markup(parameter.label)), className="slider")


def overview(state: State | None) -> html.Div | None:
    """The texts of a recipe's overviews, to be shown beside its figure.

    None if the recipe has no overview, or if there is no state.
    """
    if state is None or not state.recipe.overviews:
        return None
    return html.Div(
        [html.P(line) for each in state.recipe.overviews for line in each.lines], className="overview"
    )


def text(scene: Scene, prose_html: str, place: Place) -> html.Article:
    """The text of a scene below its figure: tour, prose, questions, sources, and links to other scenes.

    prose_html: the prose as HTML.
    """
    found = scene.text
    stops = [html.Li(_stop(k, stop)) for k, stop in enumerate(found.tour, start=1)]
    asked = [
        html.Details([html.Summary(Markup(question)), html.Div(Markup(answer), id=anchor(question))])
        for question, answer in found.questions
    ]
    return html.Article(
        [
            html.Section([html.H2("A tour"), html.Ol(stops)], className="tour"),
            html.Div(Markup(prose_html), className="prose"),
            html.Section([html.H2("Questions"), *asked] if asked else None, className="questions"),
            cited(scene),
            onwards(scene, place),
        ],
        className="text",
    )


def prose(scene: Scene, place: Place) -> str:
    """The HTML of a scene's text, with the `id`s that `anchored` adds, and with links to the glossary."""
    return linked(anchored(scene.text.html), place.page("words"), scene.slug)


def anchored(html: str) -> str:
    """The HTML of a scene's or guide's text, with an `id` added to each <h2>, so that links can lead to it.

    After the first section (see `sections`), paragraphs that begin in bold get an `id` too. It is made of
    the words of the heading, or of the bold words.
    """
    first, others = sections(HEADING.sub(lambda found: f'<h2 id="{anchor(found[1])}">{found[1]}</h2>', html))
    return first + LEAD.sub(lambda found: f'<p id="{anchor(found[1])}"><strong>{found[1]}</strong>', others)


def _stop(number: int, stop: Stop) -> list[Any]:
    """The content of the list item for stop number `number` of the tour: a link to the stop, then its words.

    The words (question, answers, text) are shown in print and if no scripts run; otherwise the player shows
    stops beside the figure.
    """
    asked = [html.P(Markup(stop.question)), html.Ul([html.Li(Markup(each)) for each in stop.answers])]
    parts = [*(asked if stop.question else []), html.Div(Markup(stop.html))]
    words = html.Div(parts, className="words-of-stop")
    return [html.A(Markup(stop.title), href=f"?tour={number}"), words]


def sections(text: str) -> tuple[str, str]:
    """Split the HTML of a text before its second <h2>, and return the two parts.

    The first part ends with the first section; a scene's page shows it beside the figure. The second part is
    "" if there is no second <h2>.
    """
    before, *parts = re.split(r"(?=<h2)", text)
    return before + "".join(parts[:1]), "".join(parts[1:])


def cited(scene: Scene) -> html.Section | None:
    """The list of a scene's sources, in full; None if it has none."""
    found = [html.Li(Markup(sources()[key])) for key in scene.text.sources]
    return html.Section([html.H2("Sources"), html.Ol(found)], className="sources") if found else None


def onwards(scene: Scene, place: Place) -> html.Nav:
    """The links at the end of a page: to the next scene of the course, and to the previous scene.

    The sentence of the course that leads to the next scene is above its link. If there is no next scene, as
    for a scene outside the course, a link to all scenes takes its place.
    """
    before, after = course.previous_and_next(scene.slug)
    parts: list[Any] = [html.A("All scenes", href=place.home, className="next")]
    if after:
        on = to(place, after.scene, ["Next: ", after.scene.title], className="next")
        parts = [html.P(Markup(after.bridge), className="bridge"), on]
    if before:
        stops = attributes(data_stops=len(before.scene.text.tour))
        parts.append(html.P(["Previous: ", to(place, before.scene, **stops)], className="before"))
    return html.Nav(parts, className="onwards", **attributes(aria_label="Previous and next scene"))
