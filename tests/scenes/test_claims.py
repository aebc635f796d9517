"""Every number that a scene's text has is computed by a test of the scene, over all that the page offers."""

import re
from importlib import import_module

import pytest

from components.language.scene import scenes
from tests.scenes.claims import body, claims, places, text

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
    assert not free, "\n".join(free)


@pytest.mark.parametrize("slug", OWN)
def test_every_stop_is_claimed(slug):
    """Also one without a number: what its words say holds in its state."""
    known = [span for key in OWN[slug].CLAIMS for span in places(slug, key)]
    for title in (stop.title for stop in scenes()[slug].text.tour):
        start, end = body(slug, title)
        assert any(low < end and start < high for low, high in known), title


@pytest.mark.parametrize("slug", OWN)
def test_every_claim_stands_in_the_text(slug):
    keys = OWN[slug].CLAIMS
    assert [key for key in keys if not places(slug, key)] == []


@pytest.mark.parametrize("slug", OWN)
def test_no_colour_is_called_dark(slug):
    """What is dark in the light theme is pale in the dark one."""
    assert not re.search(r"\b(dark|darker|darkest|brighter|lighter)\b", text(slug))


@pytest.mark.parametrize(("slug", "key"), KEYS)
def test_claim(slug, key):
    OWN[slug].CLAIMS[key]()
