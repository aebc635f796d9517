"""The claims of all scenes hold, and cover every number and every stop of the scenes' texts."""

import re
from functools import cache
from importlib import import_module

import pytest

from components.language.scene import scenes
from tests.scenes.claims import NAMED, body, claims, places, stop, text
from tests.scenes.rules import keep

OWN = {slug: import_module(f"tests.scenes.test_{slug}") for slug in scenes()}
KEYS = [(slug, key) for slug, module in OWN.items() for key in module.CLAIMS]


@pytest.mark.parametrize("slug", OWN)
def test_every_number_is_claimed(slug):
    known = [span for key in OWN[slug].CLAIMS for span in places(slug, key)]
    free = [
        text(slug)[max(a - 70, 0) : b + 30]
        for a, b in claims(slug)
        if not any(low <= a and b <= high for low, high in known)
    ]
    keep("numbers claimed", slug, not free, " | ".join(free))


@pytest.mark.parametrize("slug", OWN)
def test_every_stop_is_claimed(slug):
    """Each stop of a tour has a claim, also a stop without numbers."""
    known = [span for key in OWN[slug].CLAIMS for span in places(slug, key)]
    for title in (each.title for each in scenes()[slug].text.tour):
        start, end = body(slug, title)
        claimed = any(low < end and start < high for low, high in known)
        keep("stops claimed", slug, claimed, f"no claim in the stop {title!r}")


@pytest.mark.parametrize("slug", OWN)
def test_every_claim_stands_in_the_text(slug):
    keys = OWN[slug].CLAIMS
    lost = [key for key in keys if not places(slug, key)]
    keep("claims in text", slug, not lost, lost)


@pytest.mark.parametrize("slug", OWN)
def test_panels_are_called_by_their_titles(slug):
    """No text says where a panel is. The titles that a stop names are those of views that the stop shows."""
    placed = re.findall(
        r"(?<!\*)\b(?:second|third|last|left|right|upper|lower|lowest) (?:panel|picture)\b", text(slug)
    )
    keep("panels by title", slug, not placed, ", ".join(placed))
    named, shown = set(NAMED.findall(text(slug))), set()
    for title in (each.title for each in scenes()[slug].text.tour if named):
        titles = {view.title for view in stop(slug, title).recipe.views}
        start, end = body(slug, title)
        own = set(NAMED.findall(text(slug)[start:end]))
        keep("panels by title", slug, own <= titles, f"{own - titles} at the stop {title!r}")
        shown |= titles
    keep("panels by title", slug, named <= shown, named - shown)


@pytest.mark.parametrize("slug", OWN)
def test_no_colour_is_called_dark(slug):
    """No text has words such as “dark” or “lighter”: what is dark in the light theme is pale in the other."""
    found = re.findall(r"\b(?:dark|darker|darkest|brighter|lighter)\b", text(slug))
    keep("no dark colours", slug, not found, ", ".join(found))


@cache
def check(claim):
    """Call a claim's function, once for all fragments that share it; a failure is not cached."""
    claim()


@pytest.mark.parametrize(("slug", "key"), KEYS)
def test_claim(slug, key):
    check(OWN[slug].CLAIMS[key])
