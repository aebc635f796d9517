"""Pages are drawn in the typefaces that come with the app, and in no others."""

from tests.browser.hand import TIMEOUT_MS, rest

OURS = {"SourceSans3VF", "STIX Two Math"}  # the names inside the font files
LOADED = "() => document.fonts.status === 'loaded' && [...document.fonts].some((f) => f.status === 'loaded')"
# Mark each element whose text has a character that no earlier element has in the same style. Returns the
# number of different pairs of a character and a style.
MARK = """(root) => {
  const known = new Set();
  const marked = [...document.querySelectorAll(`${root} *`)].filter((e) => {
    const own = [...e.childNodes].map((n) => (n instanceof Text ? n.data.trim() : "")).join("");
    if (!own || !e.checkVisibility() || e.closest("svg, #theme, script, style")) return false;
    const { fontFamily, fontStyle, fontWeight } = getComputedStyle(e);
    const letters = [...own].map((letter) => [letter, fontFamily, fontStyle, fontWeight].join());
    const fresh = letters.some((letter) => !known.has(letter));
    letters.forEach((letter) => known.add(letter));
    return fresh;
  });
  marked.forEach((e) => e.setAttribute("data-face", root));
  return known.size;
}"""


def drawn(page, root):
    """The typefaces in which the text inside an element is drawn: a set of their names, and a count.

    The count is the number of different pairs (character, style) in the text. The name of a typeface that is
    not ours begins with "the system's". root: a CSS selector of letters only, such as "body".
    """
    count = page.evaluate(MARK, root)
    tools = page.context.new_cdp_session(page)
    for domain in ("DOM", "CSS"):
        tools.send(f"{domain}.enable")
    top, found = tools.send("DOM.getDocument")["root"]["nodeId"], set()
    marked = {"nodeId": top, "selector": f"[data-face={root}]"}
    for node in tools.send("DOM.querySelectorAll", marked)["nodeIds"]:
        for face in tools.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]:
            name = face["familyName"] if face["isCustomFont"] else f"the system's {face['familyName']}"
            found.add(name)
    tools.detach()
    return found, count


# By how many pixels the radicand of each root extends beyond the root sign.
BEYOND = """() => [...document.querySelectorAll("main msqrt")].filter((e) => e.checkVisibility()).map((e) =>
  e.lastElementChild.getBoundingClientRect().right - e.getBoundingClientRect().right)"""


def test_pages_are_drawn_in_our_typefaces_and_a_root_is_as_wide_as_what_stands_under_it(page):
    """All text is drawn in our typefaces, formulas in STIX Two Math; root signs cover all that is under them.

    Root signs do so even if the page was laid out before the typeface had loaded, or if words before the
    formula have characters that the text typeface lacks.
    """
    for path in ("/", "/embed/fold", "/rmsnorm?n=60&tour=3"):
        page.goto(path)
        page.wait_for_function("() => window.normscape?.players[0]?.ready", timeout=TIMEOUT_MS)
        page.wait_for_function(LOADED, timeout=TIMEOUT_MS)
        reaches = page.evaluate(BEYOND)
        assert max(reaches, default=0) < 0.5 and (reaches or "rmsnorm" not in path), path
        if path != "/":
            rest(page)
        found, count = drawn(page, "body")
        assert found == OURS and count > 40, path
        assert drawn(page, "math")[0] == {"STIX Two Math"}, path
