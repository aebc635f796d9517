"""Embeds: pages that contain only a figure, to be shown in an iframe of another page; and oEmbed.

The route `/embed/<slug>` accepts the query of a scene's link, except `tour`. It also accepts `autoplay`,
which is 0 or 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from html import escape
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from dash import html as tags
from flask import Flask, Response, jsonify, request

from components.drawing import preview
from components.language import link
from components.language.link import State, write
from components.language.moved import forwarded
from components.language.scene import Scene, WrongValue, scenes
from components.pages.markup import element
from components.pages.modules import names
from components.pages.page import facts
from components.pages.shell import Place, module, script
from components.publish import heights
from components.publish.plain import body, figure, linked, page
from components.training.recipes import state_of
from components.web import budget
from components.web.budget import cached_or_computed
from components.web.routes import Access, route
from components.web.security import EMBED
from components.web.server import bundle, find, request_query, revalidated

WIDTH = 720  # width of an iframe in pixels, if the host allows it
SWITCH = ("0", "1")
ABOVE = Place("../")  # the location of an embed: the site's root is one level above it


@dataclass(frozen=True)
class Shown:
    """The content of an embed: a figure in a state. autoplay: whether its stages play without a click."""

    state: State
    autoplay: bool = False

    @property
    def query(self) -> str:
        """The query string for `/embed/<slug>`, with its "?"; "" if all values are the defaults."""
        query = write(self.state)
        return f"{query}{'&' if query else '?'}autoplay=1" if self.autoplay else query


def add_routes(server: Flask) -> None:
    route(server, "/embed/<slug>", EMBED, embed, Access.SHARED)
    route(server, "/oembed", "oembed", oembed, Access.SHARED)


def read(scene: Scene, query: Mapping[str, str]) -> Shown:
    """Parse the query of an embed. Raises WrongValue for an invalid name or value; StoreUnavailable."""
    rest = dict(query)
    autoplay = rest.pop("autoplay", "0")
    state = state_of(scene, rest, tour=False)
    if autoplay not in SWITCH:
        raise WrongValue("autoplay", f"autoplay={autoplay} is not 0 or 1", list(SWITCH))
    return Shown(state, autoplay == "1")


def embed(slug: str) -> Response:
    """The response with an embed: a page with one figure, to be shown in an iframe of another page.

    For an unknown scene or an invalid query, the response is an error page. But clients that prefer JSON to
    HTML get the error as JSON. Raises Busy, StoreUnavailable.
    """
    try:
        scene, asked = find(slug), request_query()
        key = None if scene.private(asked) else ("embed", slug, *sorted(asked.items()))
        return revalidated(cached_or_computed(key, lambda: html(read(scene, asked))), "text/html")
    except WrongValue as wrong:
        if request.accept_mimetypes.best_match(["text/html", "application/json"]) == "application/json":
            raise
        return Response(wrong_page(wrong), wrong.status, mimetype="text/html")


def html(shown: Shown) -> str:
    """The HTML document of an embed. All its links are relative, so the site can be below any path."""
    state, scene, own = shown.state, shown.state.scene, figure(shown.state)
    recipe = f"../recipe/{scene.slug}?{link.key(scene, state.choices)}"
    data = facts(
        scene,
        **own,
        autoplay="1" if shown.autoplay else None,
        recipe=f"../recipe/{scene.slug}",
        still=f"../still/{scene.slug}.svg",
        page=ABOVE.scene("{slug}"),
        plotly=f"../lib/{bundle()[0]}",
        ahead=" ".join([recipe, *(ABOVE.asset(f"{name}.mjs") for name in names("page/attend"))]),
    )
    back = {"class": "back", "href": f"../{scene.slug}{own['query']}", "target": "_blank", "rel": "noopener"}
    sign = tags.P([tags.Span(scene.title), " ", element("a", back, "Normscape ↗")], className="sign")
    inner = body(scene, state, data, choices=scene.json()["choices"], end=sign)
    scripts = [script(ABOVE.asset("page/watch.js")), module(ABOVE.asset("page/embed.mjs"))]
    return page(scene.title, [linked(ABOVE), scripts], inner, asked=state.theme or "auto")


def wrong_page(wrong: WrongValue) -> str:
    words = [tags.H1("This figure cannot be shown"), tags.P(wrong.sentence)]
    return page("Normscape", linked(ABOVE), tags.Main(words, className="wrong"))


def oembed() -> Response:
    """The oEmbed response for the URL in the query: the HTML of an iframe, with its size.

    With it, WordPress and other hosts replace a link by the figure. Raises WrongValue for an invalid query,
    or a URL that is not a scene of this server. Raises Busy, StoreUnavailable.
    """
    asked = request_query()
    if asked.get("format", "json") != "json":
        raise WrongValue("format", "this format is not available", ["json"], status=501)
    url = asked.get("url")
    if url is None:
        raise WrongValue("url", "url is missing", f"{request.url_root}<slug>")
    shown = _shown(url)
    if shown is None:
        words = "this is not a link to a scene of this server"
        raise WrongValue("url", words, list(scenes()), status=404)
    scene, most = shown.state.scene, (_most(asked, "maxwidth"), _most(asked, "maxheight"))
    width = min(WIDTH, most[0])
    height = min(heights.height(shown.state, width), most[1])
    return jsonify(
        type="rich",
        version="1.0",
        title=scene.title,
        provider_name="Normscape",
        provider_url=request.url_root,
        width=width,
        height=height,
        html=snippet(scene, f"{request.url_root}embed/{scene.slug}{shown.query}", width, height),
        **_thumbnail(most, f"{request.url_root}preview/{scene.slug}.png{figure(shown.state)['query']}"),
    )


def _shown(url: str) -> Shown | None:
    """The figure at this URL, which can lead to an embed or to a scene's page of this server.

    None for any other URL. Raises Busy, StoreUnavailable, and WrongValue if the URL has an invalid query.
    """
    here = urlsplit(request.url_root)
    try:
        there = urlsplit(url)
    except ValueError:  # such as half an IPv6 address
        return None
    path = there.path.removeprefix(here.path)
    slug = path.removeprefix("embed/").strip("/")
    foreign = there.scheme not in ("http", "https") or there.netloc != here.netloc
    if foreign or not there.path.startswith(here.path) or slug not in scenes():
        return None
    slug, text = forwarded(scenes()[slug], there.query) or (slug, there.query)
    scene, query = scenes()[slug], link.once(parse_qsl(text, keep_blank_values=True))
    with budget.work():
        if path.startswith("embed/"):
            return read(scene, query)
        return Shown(replace(state_of(scene, query), tour=0))


def _most(asked: Mapping[str, str], name: str) -> int:
    """The largest width or height in pixels that an oEmbed host allows, from the query `asked`.

    name: the parameter of the query that states this number. Without this parameter the result is 99,999,999.
    Raises WrongValue if the parameter is not a whole number from 1 to 99,999,999.
    """
    text = asked.get(name, "99999999")
    if not (text.isascii() and text.isdecimal() and len(text) < 9 and int(text) > 0):
        raise WrongValue(name, f"{name}={text} is not a whole number above 0", {"min": 1, "whole": True})
    return int(text)


def _thumbnail(most: tuple[int, int], url: str) -> dict[str, Any]:
    """The fields of an oEmbed response that describe a preview picture.

    Returns {} if the picture is larger than the host allows. most: the largest width and height in pixels.
    url: the address of the picture.
    """
    if most[0] < preview.WIDTH or most[1] < preview.HEIGHT:
        return {}
    return {"thumbnail_url": url, "thumbnail_width": preview.WIDTH, "thumbnail_height": preview.HEIGHT}


def snippet(scene: Scene, source: str, width: int, height: int) -> str:
    """The HTML of an iframe to paste into a page. width, height: its size in pixels.

    source: the URL of the embed.
    """
    return (
        f'<iframe src="{escape(source)}" title="{escape(scene.title)}" width="{width}" height="{height}"'
        ' loading="lazy" allow="fullscreen" style="border: 0; max-width: 100%"></iframe>'
    )
