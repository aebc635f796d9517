"""Still pictures: scenes in any state (SVG), cards of the home page (SVG), previews of links (PNG).

Pictures of default states, which all visitors request first, are drawn once per version and kept as files:
`python -m components.web.stills` draws them for a Docker image, and the server draws the cards before it
listens.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import MappingProxyType

from components.drawing import card, preview, still
from components.language.front import front_pages
from components.language.link import THEMES
from components.language.scene import Scene, WrongValue, scenes
from components.settings import cache_folder
from components.training.recipes import state_of
from components.web.budget import cached_or_computed
from learning.file_write import write_whole

ROOT = Path(__file__).parents[2]
CODE = ("components/**/*.py", "geometry/**/*.py", "learning/**/*.py")
DRAWN_FROM = (*CODE, "components/**/*.md", "films/*", "normscape/films/*")
IMAGE_FOLDER = ROOT / "cards"  # in a Docker image; elsewhere they are in the cache folder
SVG, PNG = "image/svg+xml", "image/png"
CARDS = {"theme": list(THEMES), "moving": ["1"]}


def picture(kind: str, scene: Scene, query: Mapping[str, str]) -> bytes:
    """A picture of a scene, from a file, from the cache or newly drawn.

    Raises WrongValue, Busy, StoreUnavailable. kind is one of these:

    "still"    an SVG of the state that `query` describes
    "preview"  a PNG of the state that `query` describes
    "card"     an SVG for the home page; `query` may contain only `theme`, and `moving=1` for an animation
    "home" …   a PNG: the link preview of the page with this name in `front_pages`; `query` must be empty
    """
    key = None if scene.private(query) else (kind, scene.slug, *sorted(query.items()))
    # pictures of default states, such as cards, are not charged, because an <img> does not retry
    free = not query or (query.keys() == {"theme"} and query["theme"] in THEMES)
    return cached_or_computed(key, lambda: _picture(kind, scene, query), free=free)


def _picture(kind: str, scene: Scene, query: Mapping[str, str]) -> bytes:
    if kind == "card":
        for name, value in query.items():
            if value not in CARDS.get(name, ()):
                raise WrongValue(name, f"a card has no {name}={value}", CARDS)
        svg = kept("moving card" if "moving" in query else "card", scene)
        return still.dressed(svg.decode(), query.get("theme", "auto")).encode()
    if query and kind in front_pages():
        wrong = next(iter(query))
        raise WrongValue(wrong, f"this picture has no {wrong!r}", [])
    return draw(kind, scene, query) if query else kept(kind, scene)


def kept(kind: str, scene: Scene) -> bytes:
    """The picture of a scene's default state, from a file. kind: what `draw` draws, such as "card".

    If there is no file, the picture is drawn, and written to the file if the folder is writable.
    """
    path = folder() / version() / f"{kind}-{scene.slug}"
    with suppress(OSError):
        return path.read_bytes()
    body = draw(kind, scene)
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, body)
    return body


def folder() -> Path:
    return IMAGE_FOLDER if IMAGE_FOLDER.exists() else cache_folder(os.environ) / "cards"


def draw(kind: str, scene: Scene, query: Mapping[str, str] = MappingProxyType({})) -> bytes:
    """Draw a picture: a PNG for "preview" and for the names in `front_pages`, otherwise an SVG.

    kind: "still", "preview", "card", "moving card" (with an animation), or the name of a front page, whose
    own state is drawn. query: the state. If it is empty, SVG has the colours of the theme "auto".
    """
    page = front_pages().get(kind)
    state = state_of(scene, page.query if page else query)
    if page or kind == "preview":
        return preview.png(state.recipe, state, page.title if page else scene.title)
    svg = {"still": still.svg, "card": card.card, "moving card": card.moving}[kind]
    return svg(state.recipe, state).encode()


def draw_cards() -> None:
    """Delete all pictures that other versions have kept; draw the missing cards, but no "moving card"."""
    for other in folder().glob("*"):
        if other.name != version():
            shutil.rmtree(other, ignore_errors=True)
    for scene in scenes().values():
        kept("card", scene)


def draw_image() -> None:
    """Draw the pictures that a Docker image contains: all cards without animation, and all previews."""
    IMAGE_FOLDER.mkdir(exist_ok=True)
    for scene in scenes().values():
        kept("card", scene)
        kept("preview", scene)
    for name, page in front_pages().items():
        kept(name, scenes()[page.slug])


@cache
def version() -> str:
    """A fingerprint of all files on which pictures depend: code, texts, shipped trainings, and typefaces."""
    files = sorted(path for pattern in DRAWN_FROM for path in ROOT.glob(pattern) if path.is_file())
    files += preview.FONT_FILES
    digest = hashlib.sha256(b"".join(hashlib.sha256(path.read_bytes()).digest() for path in files))
    return digest.hexdigest()[:20]


if __name__ == "__main__":
    draw_image()
