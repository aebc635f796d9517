"""The frame of all pages: the HTML document, its head, and the header with the menu."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from dash import html

from components import fonts
from components.drawing.preview import HEIGHT as PREVIEW_HEIGHT
from components.drawing.preview import WIDTH as PREVIEW_WIDTH
from components.language import course
from components.language.front import front_pages
from components.language.guides import guides
from components.language.scene import Scene
from components.pages.markup import attributes, element, written
from components.pages.modules import names, version
from components.theme import ROLES, THEMES

LEAD = (
    "Normalisation is usually explained with statistics. Here it is geometry: points fall onto a plane, go"
    " out to a sphere and stretch into an ellipsoid. Move any scene with your hand; each state has a link."
)
ICON = quote(
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'>"
    f"<circle cx='16' cy='16' r='11' fill='none' stroke='{ROLES['sphere'][0]}' stroke-width='3'/>"
    f"<path d='M3 22L29 10' stroke='{ROLES['hyperplane'][0]}' stroke-width='3'/>"
    f"<circle cx='25' cy='9' r='4' fill='{ROLES['input'][0]}'/></svg>"
)
PAGES = ("story", "words")  # all pages except home, scenes and guides
NAMES = {"auto": "◐ System", "light": "☀ Light", "dark": "☾ Dark"}  # as in assets/page/theme.js


@dataclass(frozen=True)
class Place:
    """The place of a page in the site, so that links to other pages can be relative.

    root    the relative address of the site's root, such as "../"
    static  whether the site is a folder of files, without a Normscape server
    """

    root: str
    static: bool = False

    @property
    def home(self) -> str:
        return self.root or "./"

    def scene(self, slug: str) -> str:
        return f"{self.root}{slug}/" if self.static else f"{self.root}{slug}"

    def page(self, name: str) -> str:
        """The relative address of a page that is not a scene. name: such as "story"."""
        return f"{self.root}{name}/" if self.static else f"{self.root}{name}"

    def card(self, slug: str, theme: str, *, moving: bool = False) -> str:
        name = f"{self.root}card/{slug}"
        if self.static:
            return f"{name}-{theme}{'-moving' if moving else ''}.svg"
        return f"{name}.svg?theme={theme}{'&moving=1' if moving else ''}"

    def asset(self, name: str) -> str:
        """The address of a file of assets/.

        On a server it contains the version of assets/, because browsers keep these files forever. In a static
        site a module's name ends in ".js", because not all web servers know ".mjs".
        """
        if self.static:
            return f"{self.root}assets/{name.replace('.mjs', '.js')}"
        return f"{self.root}assets/{version()}/{name}"

    def styles(self, *names: str) -> list[Any]:
        """Link elements for style sheets: first the theme's colours, then the files `names` of assets/."""
        sheets = [f"{self.root}theme.css", *map(self.asset, names)]
        return [element("link", {"rel": "stylesheet", "href": sheet}) for sheet in sheets]


def document(
    title: str,
    head: Any,
    body: Any,
    *,
    lead: str = "",
    kind: str | None = None,
    asked: str | None = None,
    scheme: str = "",
) -> str:
    """The text of an HTML document.

    lead    the description of the page
    kind    CSS classes of `<html>`
    asked   for an embedded figure, its theme; None to use the reader's theme
    scheme  the theme, if the server knows it: "light" or "dark". With any other text, the system's theme
            applies until a script sets the theme
    """
    known = scheme if scheme in THEMES else None
    about = [element("meta", {"name": "description", "content": lead})] if lead else []
    first = [
        element("meta", {"charset": "utf-8"}),
        element("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}),
        html.Title(title),
        *about,
        element("link", {"rel": "icon", "href": f"data:image/svg+xml,{ICON}"}),
    ]
    own = {"lang": "en", "class": kind} | attributes(data_theme=asked, data_scheme=known)
    tree = element("html", own, [element("head", {}, [first, head]), element("body", {}, body)])
    return f"<!DOCTYPE html>\n{written(tree)}\n"


def preview(title: str, lead: str, *, url: str = "", image: str = "") -> list[Any]:
    """The meta elements from which social networks make the preview of a link to a page.

    lead: the description of the page. url: its absolute address. image: the absolute address of its picture,
    a PNG made in components/drawing/preview.py. Both addresses are "" if they are not known.
    """
    properties = {
        "og:title": title,
        "og:description": lead,
        "og:type": "website",
        "og:site_name": "Normscape",
    }
    properties |= {"og:url": url} if url else {}
    if image:
        properties |= {
            "og:image": image,
            "og:image:type": "image/png",
            "og:image:width": str(PREVIEW_WIDTH),
            "og:image:height": str(PREVIEW_HEIGHT),
            "og:image:alt": f"“{title}”, beside a picture of points in space",
        }
    named = {"twitter:card": "summary_large_image" if image else "summary"}
    return [
        *(element("meta", {"property": name, "content": text}) for name, text in properties.items()),
        *(element("meta", {"name": name, "content": text}) for name, text in named.items()),
    ]


def script(source: str, **others: Any) -> Any:
    """A script element that runs after the page is parsed, so it does not delay the first paint.

    others: further attributes.
    """
    return element("script", {"src": source, "defer": True} | others)


def module(source: str) -> Any:
    return element("script", {"type": "module", "src": source})


def preloads(place: Place, entries: Sequence[str], library: str) -> list[Any]:
    """Preload elements for the drawing library and all modules that the modules `entries` need.

    So browsers load these files in parallel, not one after the other. entries: names of modules, without
    ".mjs"; only the modules that they import are preloaded. library: the address of the drawing library.
    """
    needed = dict.fromkeys(name for entry in entries for name in names(entry) if name not in entries)
    found = [element("link", {"rel": "modulepreload", "href": place.asset(f"{name}.mjs")}) for name in needed]
    return [element("link", {"rel": "preload", "as": "script", "href": library}), *found]


def typeface(place: Place) -> Any:
    """A preload element for the font of texts, so that browsers request it before they read the style sheet.

    None if npm has not fetched the font.
    """
    name = fonts.named("text")
    how = {"as": "font", "type": "font/woff2", "crossorigin": "anonymous"}
    return name and element("link", {"rel": "preload", "href": f"{place.root}lib/{name}"} | how)


def header(place: Place, theme: str = "auto", slug: str = "") -> html.Header:
    """The header of a page: a link to the home page, the course, the search, the menu and the theme switch.

    slug: the scene on the page, whose place in the course is shown; "" for none.
    """
    menu = {"type": "button", "class": "theme", "popovertarget": "scenes"}
    about = "Theme: light, dark, or that of the system"
    index = attributes(data_index=f"{place.root}search.json")
    switch = html.Button(NAMES[theme], id="theme", className="theme", type="button", title=about)
    parts = [
        html.A("Normscape", href=place.home, className="brand"),
        _here(place, slug),
        html.Nav(
            [
                html.Button("Search", type="button", className="theme", **index),
                element("button", menu, "Scenes"),
                element("div", {"id": "scenes", "class": "menu", "popover": True}, html.Div(_menu(place))),
            ],
            **attributes(aria_label="Scenes"),
        ),
        switch,
    ]
    return html.Header(parts, className="top")


def footer(links: Sequence[tuple[str, str]]) -> html.Footer | None:
    """The foot of a page with links, each a text and a URL; None if there are none."""
    return html.Footer([html.A(text, href=url) for text, url in links], className="foot") if links else None


def _menu(place: Place) -> list[Any]:
    """The sections of the menu: a section for each chapter with its scenes, then the other pages."""
    chapters = [
        html.Section(
            [
                html.P([html.Span(chapter.number), chapter.title]),
                html.Ul([html.Li(to(place, each.scene)) for each in chapter.scenes]),
            ]
        )
        for chapter in course.chapters()
    ]
    own = {name: front_pages()[name].title for name in PAGES}
    titles = {slug: guide.title for slug, guide in guides().items()}
    own["papers"] = titles.pop("papers")  # about the scenes, not about using them elsewhere
    others = [
        _links(place, name, pages) for name, pages in (("More pages", own), ("Use it elsewhere", titles))
    ]
    return [*chapters, *others]


def _links(place: Place, heading: str, pages: Mapping[str, str]) -> html.Section:
    """A section of the menu: its heading, then links to pages. pages: the titles of the pages, by name."""
    links = [html.Li(html.A(title, href=place.page(name))) for name, title in pages.items()]
    return html.Section([html.P(heading), html.Ul(links)])


def to(
    place: Place,
    scene: Scene,
    content: Any = None,
    *,
    name: str | None = None,
    tour: bool = False,
    **others: Any,
) -> html.A:
    """A link to a scene; a script marks it if the reader has visited the scene.

    content: what the link shows; the default is the scene's title. name: the link's tooltip, which is
    also its name for screen readers; None for none. tour: whether the link starts the scene's tour. others:
    further attributes.
    """
    own = attributes(data_to=scene.slug, aria_label=name)
    href = place.scene(scene.slug) + ("?tour=1" if tour else "")
    return html.A(content or scene.title, href=href, title=name, **own, **others)


def _here(place: Place, slug: str) -> Any:
    """For the header: the chapter of a scene, between links to the scenes before and after it in the course.

    None if the scene has no chapter.
    """
    entry = course.in_course(slug)
    if entry is None:
        return None
    chapter = course.chapters()[entry.chapter - 1]
    back, on = (
        to(place, other.scene, sign, name=f"{word}: {other.scene.title}", className="beside")
        if other
        else None
        for other, sign, word in zip(course.previous_and_next(slug), "‹›", ("Previous", "Next"), strict=True)
    )
    name: list[Any] = [html.Span(entry.label), " ", html.Span(chapter.title, className="question")]
    middle = html.A(name, href=f"{place.home}#chapter-{chapter.number}", title=chapter.title)
    return html.Nav([back, middle, on], className="here", **attributes(aria_label="Course"))
