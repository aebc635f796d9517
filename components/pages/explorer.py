"""The explorer: a Dash application that serves complete HTML documents.

A page is a tree of components. The server sends it as HTML, so its text and picture are visible before any
script runs. In the browser, Dash renders only one part: the panel with buttons on scenes where readers can
train networks (panel.py).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any
from urllib.parse import quote, urlencode

from dash import Dash
from flask import Response, abort, after_this_request, current_app, request
from markupsafe import Markup

from components.language.front import HOME_STATE, front_pages
from components.language.link import key
from components.language.scene import Scene, WrongValue, scenes
from components.pages import guides, home, page, recordings, search, shell, story, words
from components.pages.markup import element, written
from components.pages.panel import add_training
from components.pages.shell import LEAD, NAMES, Place, document, header, module, preloads, script, typeface
from components.training.recipes import state_of
from components.training.store import StoreUnavailable
from components.web.budget import Busy, cached_or_computed
from components.web.routes import Access, DeclaredView, route
from components.web.server import bundle, request_query, revalidated

# Dash adds facts about its server to each page, which only its developers need.
INTERNAL = ("python_version", "plotly_version", "ddk_version", "dash_version_url", "plotly_cloud_installed")
# The scripts of the panel: React, the components of `dash.html`, and the renderer. Nothing else of Dash is
# loaded. Dash's polyfill would slow parseInt, which Plotly's WebGL calls thousands of times a frame.
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
    """A Dash application whose pages are sent as complete HTML, not filled by scripts in the browser."""

    def _config(self) -> dict[str, Any]:
        return {name: value for name, value in super()._config().items() if name not in INTERNAL}

    def add_pages(self) -> None:
        """Register the routes of the search and of training, and declare who may receive Dash's responses.

        The route of Dash's callbacks gets a view that answers 404, because all callbacks run in the browser.
        """
        views = self.server.view_functions
        views["/_dash-update-component"] = lambda: abort(404)
        for endpoint, access in DASH_ROUTES.items():
            views[endpoint] = DeclaredView(views[endpoint], access)
        place = Place(self.config.requests_pathname_prefix)

        def search_index() -> Response:
            entries = cached_or_computed(("search", place.root), lambda: search.index(place))
            return revalidated(entries, "application/json")

        route(self.server, "/search.json", "search", search_index, Access.SHARED)
        self.training = add_training(self)

    def index(self, *_: Any, path: str = "", **__: Any) -> Response:
        """The response with the page at `path`, relative to the site's root.

        The status is 404 for a path without a page, and 400 if the query of a scene's page has an invalid
        value.
        """
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
        dash_scripts = self._dash_scripts() if self.training.trainable(scene) else []
        discovery_tags = discovery(scene, shown=status == 200)
        head = [discovery_tags, scene_head(scene, place, trained=self.training.trainable(scene))]
        title = f"{scene.title} · Normscape"
        return answer(status, title, head, [main, dash_scripts], place, lead=scene.lead, slug=slug)

    def _home(self, place: Place) -> Markup:
        """The content of the home page.

        If the server is too busy, or the client has used up its budget, the figure's still picture is omitted
        (see `drawn`).
        """
        scene = home.hero()
        data = facts(scene, place) | page.apart(HOME_STATE, "progress")
        return drawn(
            ("home", place.root),
            lambda: home.home(place, state_of(scene, HOME_STATE), data),
            lambda: home.home(place, None, data),
        )

    def _story(self, place: Place) -> Markup:
        """The content of the story.

        If the server is too busy, or the client has used up its budget, the figures have no still pictures
        (see `drawn`).
        """
        data = partial(facts, place=place)
        return drawn(
            ("story", place.root),
            lambda: story.page(place, state_of, data),
            lambda: story.page(place, lambda scene, query: None, data),
        )

    def _main(self, scene: Scene, place: Place) -> tuple[int, Markup]:
        """The HTTP status of a scene's page, and its content.

        With an invalid query the status is 400, and the content shows the default state. If the server cannot
        draw the still picture now, this picture is omitted (see `drawn`).
        """
        panel, data = self.training.tree(scene) or recordings.tree(scene, place), facts(scene, place)

        def text(query: dict[str, str]) -> Markup:
            return drawn(
                None if scene.private(query) else ("page", place.root, scene.slug, *sorted(query.items())),
                lambda: page.scene_page(scene, state_of(scene, query), data, place, below=panel),
                lambda: page.scene_page(scene, None, data, place, below=panel),
            )

        try:
            return 200, text(request_query())
        except WrongValue:
            return 400, text({})

    def _dash_scripts(self) -> list[Any]:
        """Elements with Dash's configuration, and the addresses of its scripts as JSON.

        assets/page/load_dash.mjs loads these scripts later, when a reader needs them.
        """
        scripts = json.dumps(NEEDED.findall(self._generate_scripts_html()))
        kind = {"type": "application/json", "id": "dash-scripts"}
        return [Markup(self._generate_config_html()), element("script", kind, Markup(scripts))]


def answer(
    status: int, title: str, head: Any, main: Any, place: Place, *, lead: str = "", slug: str = ""
) -> Response:
    """The HTTP response that contains a page.

    head, main: the elements of this page for its head and its body. lead: the page's description. slug: the
    slug of the scene on the page, for links in the header to the scenes before and after it in the course; ""
    for other pages. The theme is taken from the query, otherwise from the reader's cookie; if neither has a
    valid theme, it is "auto".
    """
    asked = request.args.get("theme")
    theme = next((t for t in (asked, request.cookies.get("theme")) if t in NAMES), "auto")
    scripts = [script(place.asset("page/theme.js")), module(place.asset("page/reader.mjs"))]
    first = [*place.styles("page/style.css"), *scripts, head, typeface(place)]
    foot = shell.footer(current_app.config["LINKS"])
    body = [header(place, theme, slug), main, foot, element("noscript", {}, UNMOVED)]
    return Response(document(title, first, body, lead=lead, scheme=theme), status, mimetype="text/html")


def drawn(key: Hashable, page: Callable[[], Any], without: Callable[[], Any]) -> Markup:
    """The HTML of the tree that `page` returns, cached by `key`; with the key None it is not cached.

    If the server is too busy to draw pictures, the client has used up its budget, or the run or recording to
    be drawn is not available, the result is the HTML of the tree that `without` returns, which has no
    pictures. Then the response gets a header that forbids all caches to store it.
    """

    def unkept(answer: Response) -> Response:
        answer.headers["Cache-Control"] = "no-store"
        return answer

    try:
        return Markup(cached_or_computed(key, lambda: written(page())).decode())
    except (Busy, StoreUnavailable):
        after_this_request(unkept)
        return Markup(written(without()))


def facts(scene: Scene, place: Place) -> dict[str, str]:
    """Data attributes that tell the player (the JavaScript of a figure) where to load a scene's data."""
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
    """Elements for the head of a scene's page: scripts, and preloads of the files that they will request.

    trained: whether the page has a training panel.
    """
    entries = ["page/attend", *(["player/training", "page/load_dash"] if trained else [])]
    entries += ["page/recordings"] if scene.slug == recordings.SCENE.slug else []
    scripts = [module(place.asset(f"{entry}.mjs")) for entry in entries]
    recipe = {"rel": "preload", "as": "fetch", "crossorigin": "anonymous", "href": first_recipe(scene, place)}
    early = preloads(place, entries, f"{place.root}lib/{bundle()[0]}")
    return [script(place.asset("page/watch.js")), scripts, element("link", recipe), early]


def first_recipe(scene: Scene, place: Place) -> str:
    """The address of the first recipe that the player on a scene's page requests.

    This is the recipe for the choices in the page's query, or for the defaults if any of these choices is
    invalid. assets/player/source.mjs must compute the same address, or the preload is in vain.
    """
    names = {c.name for c in scene.choices}
    try:
        chosen = scene.choose({name: text for name, text in request.args.items() if name in names})
    except WrongValue:
        chosen = scene.choose({})
    return f"{place.root}recipe/{scene.slug}?{key(scene, chosen)}"


def front_preview(name: str, path: str, lead: str) -> list[Any]:
    """The link preview of a page that is not a scene, as elements for its head.

    name: the key of the page in `front_pages`. path: its address, relative to the site's root. lead: its
    description.
    """
    image = f"{request.url_root}preview/{name}.png"
    return shell.preview(front_pages()[name].title, lead, url=f"{request.url_root}{path}", image=image)


def discovery(scene: Scene, *, shown: bool) -> list[Any]:
    """Elements for the head of a scene's page: its link preview, and a link to its oEmbed description.

    Both are for the address of the current request, with its query. shown: whether the page shows the state
    in its query. If not, because the query is invalid, the preview's picture shows the default state.
    """
    query = request.query_string.decode("latin-1")
    here = f"{request.url_root}{scene.slug}" + (f"?{query}" if query else "")
    state = {name: text for name, text in request.args.items() if name not in ("controls", "tour")}
    own = f"?{urlencode(state)}" if state and shown else ""
    found = f"{request.url_root}oembed?format=json&url={quote(here, safe='')}"
    link = {"rel": "alternate", "type": "application/json+oembed", "href": found, "title": scene.title}
    image = f"{request.url_root}preview/{scene.slug}.png{own}"
    return [*shell.preview(scene.title, scene.lead, url=here, image=image), element("link", link)]
