"""Still pictures as they are served: drawn once a version, kept compressed, and named by what they show.

So a browser that has one is told so before anything is drawn, by any worker, also after a restart. The cards
of the gallery are drawn beforehand: `python -m components.web.stills` does, into the store; or, with
previews, into a folder that an image has. Those of one reader's own network are drawn for each question.
"""

from __future__ import annotations

import gzip
import hashlib
import sys
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from pathlib import Path

from flask import Flask, Response, current_app, request

from components import theme
from components.drawing import card, preview, still
from components.language.front import front_pages
from components.language.link import THEMES
from components.language.scene import Scene, WrongValue, scenes
from components.training import store
from components.training.recipes import state_of
from components.web.answer_cache import answer_cache
from components.web.budget import work

ROOT = Path(__file__).parents[2]
DRAWN_FROM = ("components/**/*.py", "geometry/**/*.py", "learning/**/*.py", "films/*", "normscape/films/*")
DRAWN_BEFORE = ROOT / "cards"  # the pictures that an image has
MAX_STILL_BYTES = (
    16 * 2**20
)  # bytes cached by a process; those of the gallery are half a megabyte, previews 2.5
PATIENCE = 0.2  # seconds for an answer of the store, which spares a drawing of about as long
CARDS_KEPT = store.Store("cards", PATIENCE)
SVG, PNG = "image/svg+xml; charset=utf-8", "image/png"
Draw = Callable[[Scene, Mapping[str, str]], bytes]  # gzipped
Wanted = tuple[str, Scene, dict[str, str], Draw]  # kind, scene, query, and what draws it


@dataclass(frozen=True)
class Shelf:
    """The pictures that a process has cached. One is drawn at a time."""

    cached: Callable[..., bytes] = field(default_factory=lambda: answer_cache(MAX_STILL_BYTES))
    drawing: threading.Lock = field(default_factory=threading.Lock)


def keep_stills(server: Flask) -> None:
    server.extensions["stills"] = Shelf()


def answer(scene: Scene, query: Mapping[str, str], kind: str = "still") -> Response:
    """The picture that a query asks for, or 304 where the browser has it. Raises WrongValue.

    kind: "still", of any state; "card", for the home page, in a theme, at rest or `moving=1`; "preview", a
    PNG of any state; or the name of a front page, for its preview.
    """
    painted = kind not in ("still", "card")
    packed = not painted and request.accept_encodings.quality("gzip") > 0
    name = named(kind, scene, query, packed)
    known = request.if_none_match
    if not known.star_tag and known.contains_weak(name):
        reply = Response(status=304)
    else:
        body = picture(kind, scene, query)
        reply = Response(body if packed else gzip.decompress(body), content_type=PNG if painted else SVG)
        if packed:
            reply.headers["Content-Encoding"] = "gzip"
    reply.set_etag(name)
    reply.headers["Cache-Control"] = "no-cache"
    if not painted:
        reply.headers["Vary"] = "Accept-Encoding"
    return reply


def picture(kind: str, scene: Scene, query: Mapping[str, str]) -> bytes:
    """Gzipped; drawn unless it is kept. The gallery's cost nobody's budget: an image cannot ask again."""
    shelf: Shelf = current_app.extensions["stills"]
    key = None if scene.private(query) else (kind, scene.slug, *sorted(query.items()))
    free = not query or dict(query) in [{"theme": look} for look in THEMES]
    before = free and (kind == "card" or not query)
    make = DRAWN.get(kind) or partial(drawn_front, kind)

    def worked() -> bytes:
        with nullcontext() if free else work(), shelf.drawing:
            return shared(kind, scene, query, make) if before else make(scene, query)

    return worked() if key is None else shelf.cached(key, worked)


def shared(kind: str, scene: Scene, query: Mapping[str, str], make: Draw) -> bytes:
    """A picture that is there already, or is drawn for all processes; without a store, for this one."""
    name = named(kind, scene, query, True)
    with suppress(store.StoreUnavailable):
        if body := there(name):
            return body
    body = make(scene, query)
    with suppress(store.StoreUnavailable):
        CARDS_KEPT.set(name, body)
    return body


def there(name: str) -> bytes | None:
    """A picture by its name, of the image or of the store. Raises StoreUnavailable."""
    with suppress(OSError):
        if body := whole((DRAWN_BEFORE / name).read_bytes()):
            return body
    return whole(CARDS_KEPT.get(name))


def whole(body: bytes | None) -> bytes | None:
    """A kept picture; None for what is none, or not all of it: it would stay in every browser."""
    try:
        return body if body and gzip.decompress(body) else None
    except (OSError, EOFError, zlib.error):
        return None


def gallery(folder: Path | None = None) -> None:
    """Pictures before anybody asks: cards and previews into a folder, or cards alone for all processes."""
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        for kind, scene, query, make in (*cards(), *previews()):
            (folder / named(kind, scene, query, True)).write_bytes(make(scene, query))
    else:
        if missing():
            with suppress(store.StoreUnavailable):
                CARDS_KEPT.clear()  # of other versions
        for wanted in cards():
            shared(*wanted)


def cards() -> Iterator[Wanted]:
    """The cards of each scene; those of one recipe after one another."""
    for scene in scenes().values():
        for look in theme.THEMES:
            yield "card", scene, {"theme": look}, drawn_card


def previews() -> Iterator[Wanted]:
    """The previews of scenes as they open, and of front pages."""
    for scene in scenes().values():
        yield "preview", scene, {}, drawn_preview
    for name, page in front_pages().items():
        yield name, scenes()[page.slug], {}, partial(drawn_front, name)


def missing() -> bool:
    """Whether a card must be drawn for all processes; not where no store answers."""
    with suppress(store.StoreUnavailable):
        return not all(there(named(kind, scene, query, True)) for kind, scene, query, _ in cards())
    return False


def drawn(scene: Scene, query: Mapping[str, str]) -> bytes:
    state = state_of(scene, query)
    return gzip.compress(still.svg(state.recipe, state).encode(), mtime=0)


def drawn_card(scene: Scene, query: Mapping[str, str]) -> bytes:
    for name, value in query.items():
        if name not in CARDS or value not in CARDS[name]:
            raise WrongValue(name, f"a card has no {name}={value}", CARDS)
    text = still.dressed(undressed(scene.slug, "moving" in query), query.get("theme", "auto"))
    return gzip.compress(text.encode(), mtime=0)


def drawn_preview(scene: Scene, query: Mapping[str, str]) -> bytes:
    state = state_of(scene, query)
    return gzip.compress(preview.png(state.recipe, state, scene.title), mtime=0)


def drawn_front(name: str, scene: Scene, query: Mapping[str, str]) -> bytes:
    """The preview of a page that is not a scene; it takes no query."""
    for wrong in query:
        raise WrongValue(wrong, f"this picture has no {wrong!r}", [])
    page = front_pages()[name]
    state = state_of(scene, page.query)
    return gzip.compress(preview.png(state.recipe, state, page.title), mtime=0)


@lru_cache(maxsize=1)
def undressed(slug: str, moving: bool) -> str:
    """A card in the theme "auto", which others follow at once: they have the same shapes."""
    state = state_of(scenes()[slug], {}, tour=False)
    return (card.moving if moving else card.card)(state.recipe, state)


CARDS = {"theme": list(THEMES), "moving": ["1"]}
DRAWN: dict[str, Draw] = {"still": drawn, "card": drawn_card, "preview": drawn_preview}


def named(kind: str, scene: Scene, query: Mapping[str, str], packed: bool) -> str:
    """The name of a picture, its ETag: what it is drawn from, and how it travels."""
    asked = repr((version(), kind, scene.slug, sorted(query.items()), packed))
    return hashlib.sha256(asked.encode()).hexdigest()[:20]


@cache
def version() -> str:
    """A fingerprint of all that pictures are drawn from: the code, the films that are shipped, typefaces."""
    files = sorted(path for pattern in DRAWN_FROM for path in ROOT.glob(pattern) if path.is_file())
    files += preview.FONT_FILES
    return hashlib.sha256(b"".join(hashlib.sha256(path.read_bytes()).digest() for path in files)).hexdigest()


if __name__ == "__main__":
    gallery(*map(Path, sys.argv[1:]))
