"""Pages are drawn in the typefaces that come with the app, and in no other."""

import pytest

from tests.browser.hand import PATIENCE

OURS = {"SourceSans3VF", "STIX Two Math"}  # as they call themselves
LOADED = "() => document.fonts.status === 'loaded' && [...document.fonts].some((f) => f.status === 'loaded')"
WORDS = "h1, p, button:not(#theme), label, select, summary, td, .stop, .legend li, .headline, math, math *"


def drawn(page, selector):
    """The typefaces in which text is drawn: name → how many glyphs."""
    tools = page.context.new_cdp_session(page)
    for domain in ("DOM", "CSS"):
        tools.send(f"{domain}.enable")
    root = tools.send("DOM.getDocument")["root"]["nodeId"]
    found = {}
    for node in tools.send("DOM.querySelectorAll", {"nodeId": root, "selector": selector})["nodeIds"]:
        for face in tools.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]:
            name = face["familyName"] if face["isCustomFont"] else f"the system's {face['familyName']}"
            found[name] = found.get(name, 0) + face["glyphCount"]
    return found


@pytest.mark.parametrize("path", ["/", "/layernorm", "/embed/fold"])
def test_a_page_is_drawn_in_our_typefaces(page, server, path):
    page.goto(f"{server}{path}")
    page.wait_for_function("() => window.normscape?.players[0]?.ready", timeout=PATIENCE)
    page.wait_for_function(LOADED, timeout=PATIENCE)
    found = drawn(page, WORDS)
    assert sum(found.values()) > 200
    assert set(found) == OURS
    assert set(drawn(page, "math *")) == {"STIX Two Math"}
