"""The home page, the story and the glossary: titles, and the scenes and states in their preview pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from components.language.story import story

HOME_TITLE = "See what normalisation does to space"
HOME_STATE = {  # state of the scene `layernorm` in the figure of the home page
    "eps": "0",
    "gamma1": "1.2",
    "gamma2": "1.7",
    "gamma3": "0.7",
    "camera": "0.605,-0.518,0.253,0,0,0.026",
}
WORDS_TITLE = "Words and symbols"
SPHERE_STATE = {"eps": "0", "progress": "3"}  # state of the scene `layernorm` with its points on the sphere


@dataclass(frozen=True)
class FrontPage:
    """A page's title, and the scene (by slug) and state (as a query) that its preview picture shows."""

    title: str
    slug: str
    query: Mapping[str, str]


@cache
def front_pages() -> dict[str, FrontPage]:
    """The home page, the story and the glossary. The keys are their names in addresses, such as "home"."""
    text = story()
    opening = text.parts[0]
    return {
        "home": FrontPage(HOME_TITLE, "layernorm", HOME_STATE),
        "story": FrontPage(text.title, opening.slug, opening.blocks[1].state),
        "words": FrontPage(WORDS_TITLE, "layernorm", SPHERE_STATE),
    }
