"""The explorer as a static site: all pages, and the recipes for those choices that readers most likely make.

It offers everything that needs no server. All links are relative, so the folder can be below any path.
"""

from __future__ import annotations

import gzip
import hashlib
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from dash import html
from dash.development.base_component import Component

from components import fonts, theme
from components.drawing import preview
from components.drawing.still import dressed
from components.language import story as long_text
from components.language.front import HOME_STATE, FrontPage, front_pages
from components.language.link import key
from components.language.marks import Choose, hand_of
from components.language.scene import Choice, Scene, Sentence, Several, Typed, Whole, WrongValue, scenes
from components.pages import guides, home, page, recordings, search, shell, story, words
from components.pages.markup import element
from components.pages.modules import asset, names, with_js_names
from components.pages.shell import LEAD, Place, document, header, module, preloads
from components.publish import bar
from components.publish.plain import data_block
from components.publish.shared_parts import compact, parts, with_references
from components.publish.subcommand import CommandFailed
from components.training.recipes import draft, state_of
from components.web.server import bundle, contents, library_code, style_sheet
from components.web.stills import draw
from learning.file_write import write_whole

HOME, BELOW = Place("", static=True), Place("../", static=True)
ENTRY = "page/attend"
ENTRIES = (ENTRY, "page/reader", "page/home", "page/story")
FIRST = ("page/theme.js", "page/watch.js")  # scripts that run before the first paint
OWN = (*FIRST, "page/style.css")
STYLES = "theme.css"  # in the folder of every site
GZIP_LEVEL = 6  # level, 1 to 9: 9 takes longer and saves 0.4 %, since recipes are mostly base64
# A recipe is written for each combination of a scene's choices, up to this many combinations. Choices that
# would make more are varied one at a time.
TOGETHER = 64
SUBSETS = 5  # a choice that allows several of at most so many options gets a recipe for each subset of them
MAX_EXPORTED_VALUES = 32  # a whole number whose range is at most this long gets a recipe for each value
# A whole number with a longer range and a default below the bound is taken for a seed: few values are enough.
SEED_DEFAULT_BOUND, EXPORTED_SEEDS = 10, 4
Links = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Site:
    """The facts about a static site that its pages contain.

    url    the absolute address that the folder will have, with a slash at its end; "" if unknown
    links  the links at the foot of each page, as pairs (text, URL)
    """

    url: str
    links: Links


def write(folder: Path, url: str = "", links: Links = ()) -> str:
    """Write the site into a folder; returns a line for the terminal with its size.

    Raises OSError, and CommandFailed if `folder` is a file, or has files but is not an older site.
    links: (text, URL) of each link at the foot of pages. url: the folder's absolute address on the web; "" if
    unknown, and then link previews have no pictures, because social networks need absolute addresses.
    """
    url = f"{url.rstrip('/')}/" if url else ""
    site = Site(url, links)
    _shared(folder, ENTRIES)
    if url:
        _previews(folder / "preview")
    files = {scene.slug: _scene(folder, scene, site) for scene in scenes().values()}
    usual = {slug: each[""] for slug, each in files.items()}
    _put(folder / "search.json", search.index(HOME))
    preview_tags = front_preview("words", "words/", words.LEAD, url)
    read = _page(f"{words.WORDS_TITLE} · Normscape", BELOW, preview_tags, words.page(BELOW), words.LEAD, site)
    _put(folder / "words/index.html", read)
    for slug, guide in guides.guides().items():
        head = shell.preview(guide.title, guide.lead, url=f"{url}{slug}/" if url else "")
        main = guides.page(guide, BELOW)
        page_of = _page(f"{guide.title} · Normscape", BELOW, head, main, guide.lead, site)
        _put(folder / slug / "index.html", page_of)
    _put(folder / "story/index.html", long_read(BELOW, usual, site))
    _put(folder / "index.html", front(usual[home.hero().slug], site))
    return _size(folder)


def write_story(folder: Path, links: Links = ()) -> str:
    """Write a site that consists of the story only; returns a line for the terminal with its size.

    Raises OSError. Raises CommandFailed if `folder` is a file, contains the explorer, or has files but is not
    an older site. links: (text, URL) of each link at the foot.
    """
    if (folder / "story/index.html").is_file():
        raise CommandFailed(
            f"{folder} contains the explorer, of which the story is a part: name another folder"
        )
    _shared(folder, ENTRIES[-1:])
    slugs = dict.fromkeys(part.slug for part in long_text.story().parts)
    made = {slug: contents(scenes()[slug], scenes()[slug].choose({})) | {"choices": []} for slug in slugs}
    files = {slug: _recipe(folder, slug, compact(each)) for slug, each in made.items()}
    _put(folder / "index.html", long_read(HOME, files, Site("", links), alone=True))
    return _size(folder)


def _shared(folder: Path, entries: Sequence[str]) -> None:
    """Write the files that several pages use: scripts, styles, fonts, and the drawing library.

    entries: the modules from which pages start. Raises CommandFailed, OSError.
    """
    if folder.exists() and not folder.is_dir():
        raise CommandFailed(f"{folder} is a file: name a folder")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / STYLES).is_file():
        raise CommandFailed(
            f"{folder} contains other files: name a new or empty folder, or that of an older site"
        )
    _put(folder / STYLES, style_sheet())  # first, so that an interrupted site can be written again
    needed = dict.fromkeys(name for entry in entries for name in names(entry))
    for name in OWN:
        _put(folder / "assets" / name, asset(name))
    for name in needed:
        _put(folder / HOME.asset(f"{name}.mjs"), with_js_names(asset(f"{name}.mjs")))
    _put(folder / "lib" / bundle()[0], library_code())
    for name, data in fonts.files().items():
        write_whole(folder / "lib" / name, data)


def _previews(folder: Path) -> None:
    """Write the pictures of link previews, as PNG: of all scenes, the home page, the story, the glossary."""
    folder.mkdir(parents=True, exist_ok=True)
    opened = {scene.slug: FrontPage(scene.title, scene.slug, {}) for scene in scenes().values()}
    for name, shown in (opened | front_pages()).items():
        state = state_of(scenes()[shown.slug], shown.query)
        write_whole(folder / f"{name}.png", preview.png(state.recipe, state, shown.title))


def front_preview(name: str, path: str, lead: str, url: str) -> list[Any]:
    """The link preview of a page that is not a scene, as elements for its head.

    name: the key of the page in `front_pages`. path: its address, relative to the site's root. lead: its
    description. url: the absolute address of the site's root; "" if unknown.
    """
    return _preview(name, path, front_pages()[name].title, lead, url)


def _preview(name: str, path: str, title: str, lead: str, url: str) -> list[Any]:
    if not url:
        return shell.preview(title, lead)
    return shell.preview(title, lead, url=f"{url}{path}", image=f"{url}preview/{name}.png")


def _recipe(folder: Path, slug: str, text: str) -> str:
    """Write a recipe as a gzip file, and return its path in `folder`.

    The same recipe always gives the same bytes and the same name. The page itself decompresses the file
    (assets/player/source.mjs), so any file server will do.
    """
    name = f"recipes/{slug}-{hashlib.sha256(text.encode()).hexdigest()[:12]}.json.gz"
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    write_whole(folder / name, gzip.compress(text.encode(), GZIP_LEVEL, mtime=0))
    return name


def _size(folder: Path) -> str:
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    return f"{folder}: {len(sizes)} files, {sum(sizes) / 1e6:.1f} MB"


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text)


def _scene(folder: Path, scene: Scene, site: Site) -> dict[str, str]:
    """Write the files of a scene: its page, the pictures of its card, and its recipes.

    Returns the path of each recipe's file, by `link.key`.
    """
    for moves in (False, True):
        picture = draw("moving card" if moves else "card", scene).decode()
        for scheme in theme.THEMES:
            name = Place("", static=True).card(scene.slug, scheme, moving=moves)
            _put(folder / name, dressed(picture, scheme))
    made, files = [], {}
    for chosen in bar.over(list(variants(scene)), f"{scene.slug:12}"):
        with suppress(WrongValue):  # an invalid combination
            made.append((chosen, contents(scene, chosen)))
    choices = offered(scene, [chosen for chosen, _ in made])
    default_parts: dict[str, Any] = {}
    for chosen, recipe in made:
        whole = recipe | {"choices": choices}
        text = compact(with_references(whole, default_parts))
        files[key(scene, chosen)] = _recipe(folder, scene.slug, text)
        default_parts = default_parts or parts(whole)  # the first recipe is that of the defaults
    _put(folder / scene.slug / "index.html", scene_page(scene, files, choices, site))
    return files


# --- choices


def offered(scene: Scene, made: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The choices that readers of a static page can change, with the values that have a recipe, as JSON data.

    Text fields, results of training and parts of such results (`Picked`) are left out: they need a server. A
    `Several` with more than SUBSETS options is left out, as only its default has a recipe; smaller ones
    keep all options. made: for each recipe that was written, its choices; the page opens with the first.
    """
    out = []
    for fields, choice in zip(scene.json()["choices"], scene.choices, strict=True):
        there = {str(chosen[choice.name]) for chosen in made}
        if isinstance(choice, Whole):
            numbers = sorted({*values(choice), *clicked(scene.slug, choice.name), made[0][choice.name]})
            out.append(
                fields | {"kind": "one", "options": {str(n): str(n) for n in numbers if str(n) in there}}
            )
        elif isinstance(choice, Choice):
            out.append(fields | {"options": {v: label for v, label in choice.options.items() if v in there}})
        elif isinstance(choice, Several) and len(choice.options) <= SUBSETS:
            out.append(fields)
    return out


def values(choice: Any) -> Sequence[Any]:
    """The values of a choice for which the site has recipes, whatever the other choices are.

    For a `Whole` with a long range, these are a few numbers. For a text, or a `Several` with more than
    SUBSETS options, there is only the default. For any other choice, these are all values.
    """
    match choice:
        case Choice():
            return list(choice.options)
        case Several() if len(choice.options) <= SUBSETS:
            sizes = range(len(choice.options) + 1)
            return [",".join(words) for n in sizes for words in itertools.combinations(choice.options, n)]
        case Whole() if choice.max - choice.min <= MAX_EXPORTED_VALUES:
            return list(range(choice.min, choice.max + 1, choice.step))
        case Whole() if choice.default < SEED_DEFAULT_BOUND:
            return sorted({choice.default, *range(choice.min, choice.min + EXPORTED_SEEDS)})
        case Whole():
            return sorted(
                {max(choice.min, choice.default // 4), choice.default, min(choice.max, choice.default * 2)}
            )
    return [choice.default]


@cache
def clicked(slug: str, name: str, other: tuple[tuple[str, str], ...] = ()) -> Sequence[int]:
    """The numbers to which readers can set the choice `name` by clicking in a scene's figure.

    For example, a click on a point sets which normalisation layer of a model is shown. other: the choices
    that differ from the defaults. Returns () for a scene with training, where clicks select seeds: the site
    has only those seeds that `values` lists.
    """
    scene = scenes()[slug]
    if scene.training is not None:
        return ()
    marks = (mark for view in draft(scene, scene.choose(dict(other))).views for mark in view.layers)
    hands = (hand for mark in marks if isinstance(hand := hand_of(mark), Choose) and hand.choice == name)
    return sorted({int(number) for hand in hands for number in hand.numbers})


def variants(scene: Scene) -> Iterator[dict[str, Any]]:
    """The combinations of choices for which recipes are written, each once.

    These are: the defaults; the choices at the stops of the tour; the combinations of `_together`; and each
    value of each choice (`_alone`). Combinations for which the page would show a text field are left out,
    except those of the tour (see `needs_text_field`).
    """
    usual = {c.name: c.default for c in scene.choices}
    named = {c.name: c for c in scene.choices}
    seen: set[str] = set()
    stops = [stop.state for stop in scene.text.tour]
    toured = [{n: named[n].parse(text) for n, text in stop.items() if n in named} for stop in stops]
    for other in itertools.chain([{}], toured, _together(scene), _alone(scene)):
        chosen = usual | other
        if key(scene, chosen) not in seen and not needs_text_field(scene, chosen):
            seen.add(key(scene, chosen))
            yield chosen


def needs_text_field(scene: Scene, chosen: Mapping[str, Any]) -> bool:
    """Whether a combination of choices is left out of the site, because its page would show a text field.

    Text fields need a server. A field counts if it has `when` = (choice, values), `chosen` gives the choice
    one of these values, and no stop of the tour gives the choice the same value.
    """
    asked = (c.when for c in scene.choices if isinstance(c, Typed | Sentence) and c.when)
    return any(
        chosen[name] in some and all(stop.state.get(name) != chosen[name] for stop in scene.text.tour)
        for name, some in asked
    )


def _together(scene: Scene) -> Iterator[dict[str, Any]]:
    """All combinations of the values of some choices; at most TOGETHER combinations.

    The choices are those of the classes `Choice` and `Several`, in the order of the scene. A choice is left
    out if it would raise the number of combinations above TOGETHER.
    """
    chosen: list[tuple[str, Sequence[Any]]] = []
    for choice in scene.choices:
        count = math.prod(len(options) for _, options in chosen)
        if isinstance(choice, Choice | Several) and count * len(values(choice)) <= TOGETHER:
            chosen.append((choice.name, values(choice)))
    for combination in itertools.product(*(options for _, options in chosen)):
        yield dict(zip((name for name, _ in chosen), combination, strict=True))


def _alone(scene: Scene) -> Iterator[dict[str, Any]]:
    """For each value of each choice, the changes from the defaults that show this value.

    Usually this is one change. A choice that is shown only for some values of another choice (`when`) is
    combined with each of these values. A `Whole` that clicks can set is combined with each value of the
    choice in its field `of` (a change of that choice resets the number). So, for example, each normalisation
    layer of each recorded model has a recipe.
    """
    for choice in scene.choices:
        beside: list[Mapping[str, Any]] = (
            [{choice.when[0]: v} for v in choice.when[1]] if choice.when else [{}]
        )
        for other, value in itertools.product(beside, values(choice)):
            yield {**other, choice.name: value}
        if isinstance(choice, Whole):
            above = [c for c in scene.choices if isinstance(c, Choice) and c.name in choice.of]
            for other in [{c.name: v} for c in above for v in c.options] or [{}]:
                for number in clicked(scene.slug, choice.name, tuple(other.items())):
                    yield {**other, choice.name: number}


# --- pages


def long_read(place: Place, files: Mapping[str, str], site: Site, *, alone: bool = False) -> str:
    """The HTML of the story's page. alone: whether the story is the only page of the site.

    files: for each scene by slug, the path of the file with its default recipe, in the site's folder.
    """

    def data(scene: Scene) -> dict[str, Any]:
        return page.facts(scene, plotly=f"{place.root}lib/{bundle()[0]}")

    def end(scene: Scene) -> Component:
        return data_block({"": f"{place.root}{files[scene.slug]}"})

    main = story.page(place, state_of, data, end=end, alone=alone)
    preview_tags = front_preview("story", "story/", long_text.story().lead, site.url)
    head = [preview_tags, module(place.asset("page/story.mjs"))]
    title, lead = f"{long_text.story().title} · Normscape", long_text.story().lead
    return _page(title, place, head, main, lead, site, alone=alone)


def front(recipe: str, site: Site) -> str:
    """The HTML of the home page. recipe: the path of its figure's recipe, in the site's folder."""
    scene = home.hero()
    data = page.facts(scene, plotly=f"lib/{bundle()[0]}") | page.apart(HOME_STATE, "progress")
    block = data_block({"": recipe})
    main = home.home(HOME, state_of(scene, HOME_STATE), data, end=block)
    head = [front_preview("home", "", LEAD, site.url), module(HOME.asset("page/home.mjs"))]
    return _page("Normscape", HOME, head, main, LEAD, site)


def scene_page(
    scene: Scene, files: Mapping[str, str], choices: Sequence[Mapping[str, Any]], site: Site
) -> str:
    """The HTML of a scene's page.

    files: the paths of its recipes in the site's folder, by `link.key`. choices: the result of `offered`.
    """
    data = page.facts(scene, page=BELOW.scene("{slug}"), plotly=f"{BELOW.root}lib/{bundle()[0]}")
    main = page.scene_page(
        scene,
        state_of(scene, {}),
        data,
        BELOW,
        choices=choices,
        below=_needs_server(scene, choices),
        end=data_block({chosen: f"{BELOW.root}{name}" for chosen, name in files.items()}),
    )
    early = preloads(BELOW, [ENTRY], data["data-plotly"])
    preview_tags = _preview(scene.slug, f"{scene.slug}/", scene.title, scene.lead, site.url)
    more = [preview_tags, module(BELOW.asset(f"{ENTRY}.mjs")), early]
    return _page(f"{scene.title} · Normscape", BELOW, more, main, scene.lead, site, scene.slug)


def _needs_server(scene: Scene, choices: Sequence[Mapping[str, Any]]) -> html.P | None:
    """The line below a scene's controls that says what the static site lacks, because it needs a server.

    These can be missing, although the text of the scene may mention them: options of choices, whole choices,
    typing a text, training, opening a recording. Returns None if nothing is missing. choices: the choices
    that the site has, from `offered`.
    """
    there = {each["name"]: each["options"] for each in choices}
    missing = [
        f"choose “{label}” ({choice.label})"
        for choice in scene.choices
        if isinstance(choice, Choice)
        for value, label in choice.options.items()
        if value not in there[choice.name]
    ]
    missing += [
        f"change “{choice.label}”"
        for choice in scene.choices
        if isinstance(choice, Several) and choice.name not in there
    ]
    missing += [
        f"type {choice.label} of your own"
        for choice in scene.choices
        if isinstance(choice, Typed | Sentence) and choice.when and choice.when[1][0] in there[choice.when[0]]
    ]
    missing += ["train your own network"] if scene.training else []
    missing += ["open a recording of your own model"] if scene.slug == recordings.SCENE.slug else []
    words = f"This site has no Normscape server. With one, you can also {' and '.join(missing)}."
    return html.P(words, className="needs") if missing else None


def _page(
    title: str,
    place: Place,
    more: Any,
    main: html.Main,
    lead: str,
    site: Site,
    slug: str = "",
    *,
    alone: bool = False,
) -> str:
    """The HTML of a page of the static site. more: further elements for its head.

    lead: its description. slug: the scene on it; "" for none. alone: whether it is the site's only page; it
    has no header then. The scripts in FIRST run first: they set the theme, and report if the browser blocks
    modules.
    """
    first = [element("script", {"src": place.asset(name)}) for name in FIRST]
    reader = [] if alone else [module(place.asset("page/reader.mjs"))]
    head = [*first, *reader, *place.styles("page/style.css"), more]
    body = [None if alone else header(place, slug=slug), main, shell.footer(site.links)]
    return document(title, head, body, lead=lead)
