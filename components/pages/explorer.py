"""The explorer: a Dash application that serves complete HTML documents.

A page is a tree of components that is sent as HTML, so that its text and picture are visible before any
script runs. Dash renders only the panel with callbacks, on scenes that can be trained (panel.py).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any
from urllib.parse import quote, urlencode

from dash import Dash
from flask import Response, after_this_request, current_app, request
from markupsafe import Markup

from components.language.front import HOME_STATE, front_pages
from components.language.link import key
from components.language.scene import Scene, WrongValue, scenes
from components.pages import guides, home, page, recordings, search, shell, story, words
from components.pages.markup import element, written
from components.pages.panel import add_training
from components.pages.shell import LEAD, NAMES, Place, document, header, module, preloads, script, typeface
from components.training.recipes import state_of
from components.web.budget import Busy, made
from components.web.routes import Access, DeclaredView, route
from components.web.server import bundle, fresh, once

# Dash adds facts about its server to each page, which only its developers need.
INTERNAL = ("python_version", "plotly_version", "ddk_version", "dash_version_url", "plotly_cloud_installed")
# The scripts of the panel: React, the components of `dash.html`, and the renderer. Nothing else of Dash is
# loaded. Its polyfill would slow parseInt, which Plotly's WebGL calls some thousand times a frame.
NEEDED = re.compile(
    r'<script src="([^"]*/(?:deps/(?:react|react-dom|prop-types)@|dash/html/|dash-renderer/)[^"]*)"'
)
# The routes that Dash registers itself, by endpoint.
DASH_ROUTES = {
    "/": Access.SHARED,
    "/<path:path>": Access.SHARED,
    "/_dash-update-component": Access.PRIVATE,
    "_dash_assets.static": Access.OPEN,
    "static": Access.SHARED,
    "/_dash-component-suites/<string:package_name>/<path:fingerprinted_path>": Access.SHARED,
    "/_dash-layout": Access.SHARED,
    "/_dash-dependencies": Access.SHARED,
    "/_reload-hash": Access.SHARED,
    "/_favicon.ico": Access.SHARED,
}
UNMOVED = "Normscape moves points in the browser, and needs JavaScript for it."


class Explorer(Dash):
    """A Dash application that serves complete HTML documents, instead of a page that scripts fill."""

    def _config(self) -> dict[str, Any]:
        return {name: value for name, value in super()._config().items() if name not in INTERNAL}

    def add_pages(self) -> None:
        """Register the routes and callbacks of the pages."""
        views = self.server.view_functions
        for endpoint, access in DASH_ROUTES.items():
            views[endpoint] = DeclaredView(views[endpoint], access)
        place = Place(self.config.requests_pathname_prefix)
        found = lambda: fresh(made(("search", place.root), lambda: search.index(place)), "application/json")  # noqa: E731
        route(self.server, "/search.json", "search", found, Access.SHARED)
        self.training = add_training(self)

    def index(self, *_: Any, path: str = "", **__: Any) -> Response:
        """The response with the page at a path: status 404 for an unknown path, 400 for a wrong value."""
        place, slug = Place(self.config.requests_pathname_prefix), path.strip("/")
        if not slug:
            head = [front_preview("home", "", LEAD), module(place.asset("page/home.mjs"))]
            return answer(200, "Normscape", head, self._home(place), place, lead=LEAD)
        if slug == "story":
            long = story.story()
            head = [front_preview("story", "story", long.lead), module(place.asset("page/story.mjs"))]
            return answer(200, f"{long.title} · Normscape", head, self._story(place), place, lead=long.lead)
        if slug in guides.guides():
            guide = guides.guides()[slug]
            head = shell.preview(guide.title, guide.lead, url=f"{request.url_root}{slug}")
            tree = guides.page(guide, place)
            return answer(200, f"{guide.title} · Normscape", head, tree, place, lead=guide.lead)
        if slug in shell.PAGES:
            cached = current_app.extensions["answers"]
            main = cached(("words", place.root), lambda: written(words.page(place)).encode()).decode()
            head = front_preview("words", slug, words.LEAD)
            return answer(200, f"{words.WORDS_TITLE} · Normscape", head, Markup(main), place, lead=words.LEAD)
        if slug not in scenes():
            return answer(404, "Normscape", [], page.unknown(slug, place), place)
        scene = scenes()[slug]
        status, main = self._main(scene, place)
        callbacks = self._callbacks() if self.training.trainable(scene) else []
        told = discovery(scene, shown=status == 200)
        head = [told, scene_head(scene, place, trained=self.training.trainable(scene))]
        title = f"{scene.title} · Normscape"
        return answer(status, title, head, [main, callbacks], place, lead=scene.lead, slug=slug)

    def _home(self, place: Place) -> Markup:
        """The home page's content; if the server is too busy, without the still picture of its figure."""
        scene = home.hero()
        data = facts(scene, place) | page.apart(HOME_STATE, "progress")
        return drawn(
            ("home", place.root),
            lambda: home.home(place, state_of(scene, HOME_STATE), data),
            lambda: home.home(place, None, data),
        )

    def _story(self, place: Place) -> Markup:
        """The story's content; if the server is too busy, without the still pictures of its figures."""
        data = partial(facts, place=place)
        return drawn(
            ("story", place.root),
            lambda: story.page(place, state_of, data),
            lambda: story.page(place, lambda scene, query: None, data),
        )

    def _main(self, scene: Scene, place: Place) -> tuple[int, Markup]:
        """The HTTP status and content of a scene's page; without its picture if the server is too busy."""
        panel, data = self.training.tree(scene) or recordings.tree(scene), facts(scene, place)

        def text(query: dict[str, str]) -> Markup:
            return drawn(
                None if scene.private(query) else ("page", place.root, scene.slug, *sorted(query.items())),
                lambda: page.scene_page(scene, state_of(scene, query), data, place, below=panel),
                lambda: page.scene_page(scene, None, data, place, below=panel),
            )

        try:
            return 200, text(once(request.args))
        except WrongValue:
            return 400, text({})

    def _callbacks(self) -> list[Any]:
        """Dash's configuration, and the list of its scripts, which assets/page/callbacks.mjs loads later."""
        scripts = json.dumps(NEEDED.findall(self._generate_scripts_html()))
        kind = {"type": "application/json", "id": "dash-scripts"}
        return [Markup(self._generate_config_html()), element("script", kind, Markup(scripts))]


def answer(
    status: int, title: str, head: Any, main: Any, place: Place, *, lead: str = "", slug: str = ""
) -> Response:
    """The response with a page, in the theme that the link names, or else the reader's cookie.

    head, main: elements of this page for its head and its body. lead: the page's description. slug: the slug
    of the page's scene, whose neighbours the header links; "" for other pages.
    """
    asked = request.args.get("theme")
    theme = next((t for t in (asked, request.cookies.get("theme")) if t in NAMES), "auto")
    scripts = [script(place.asset("page/theme.js")), module(place.asset("page/reader.mjs"))]
    first = [*place.styles("page/style.css"), *scripts, head, typeface(place)]
    body = [header(place, theme, slug), main, element("noscript", {}, UNMOVED)]
    return Response(document(title, first, body, lead=lead, scheme=theme), status, mimetype="text/html")


def drawn(key: Hashable, page: Callable[[], Any], without: Callable[[], Any]) -> Markup:
    """The HTML of the tree that `page` returns, cached by `key`.

    If the server is too busy, the HTML of the tree that `without` returns, a page without pictures. Then the
    response tells all caches not to store it.
    """

    def unkept(answer: Response) -> Response:
        answer.headers["Cache-Control"] = "no-store"
        return answer

    try:
        return Markup(made(key, lambda: written(page())).decode())
    except Busy:
        after_this_request(unkept)
        return Markup(written(without()))


def facts(scene: Scene, place: Place) -> dict[str, str]:
    """The data attributes with the addresses from which a scene's player (its JavaScript) loads."""
    root = place.root
    return page.facts(
        scene,
        recipe=f"{root}recipe/{scene.slug}",
        embed=f"{root}embed/{scene.slug}",
        still=f"{root}still/{scene.slug}.svg",
        run=f"{root}run",
        page=place.scene("{slug}"),
        plotly=f"{root}lib/{bundle()[0]}",
    )


def scene_head(scene: Scene, place: Place, *, trained: bool) -> list[Any]:
    """Elements for the head of a scene page: scripts, and preloads of the files that these request first.

    trained: whether the page has a training panel.
    """
    entries = ["page/attend", *(["player/training", "page/callbacks"] if trained else [])]
    entries += ["page/recordings"] if recordings.tree(scene) else []
    scripts = [module(place.asset(f"{entry}.mjs")) for entry in entries]
    recipe = {"rel": "preload", "as": "fetch", "crossorigin": "anonymous", "href": first_recipe(scene, place)}
    early = preloads(place, entries, f"{place.root}lib/{bundle()[0]}")
    return [script(place.asset("page/watch.js")), scripts, element("link", recipe), early]


def first_recipe(scene: Scene, place: Place) -> str:
    """The address of the recipe that the player of a scene's page requests first.

    The recipe is for the choices in the page's query, or for the defaults if any of these is wrong.
    assets/player/source.mjs must request the same address.
    """
    names = {c.name for c in scene.choices}
    try:
        chosen = scene.choose({name: text for name, text in request.args.items() if name in names})
    except WrongValue:
        chosen = scene.choose({})
    return f"{place.root}recipe/{scene.slug}?{key(scene, chosen)}"


def front_preview(name: str, path: str, lead: str) -> list[Any]:
    """The link preview of a page that is not a scene. name: its key in `front_pages`; path: its address."""
    image = f"{request.url_root}preview/{name}.png"
    return shell.preview(front_pages()[name].title, lead, url=f"{request.url_root}{path}", image=image)


def discovery(scene: Scene, *, shown: bool) -> list[Any]:
    """The link to a scene's oEmbed description, and its link preview, for the head of its page.

    shown: whether the page shows the state of its link; otherwise the preview shows the scene's default
    state.
    """
    query = request.query_string.decode("latin-1")
    here = f"{request.url_root}{scene.slug}" + (f"?{query}" if query else "")
    state = {name: text for name, text in request.args.items() if name not in ("controls", "tour")}
    own = f"?{urlencode(state)}" if state and shown else ""
    found = f"{request.url_root}oembed?format=json&url={quote(here, safe='')}"
    link = {"rel": "alternate", "type": "application/json+oembed", "href": found, "title": scene.title}
    image = f"{request.url_root}preview/{scene.slug}.png{own}"
    return [*shell.preview(scene.title, scene.lead, url=here, image=image), element("link", link)]
