"""Pages after leaving and returning, without WebGL or a server, in any width, and by keyboard alone."""

import re
from itertools import pairwise

import pytest
from playwright.sync_api import expect

from components.language.scene import scenes
from tests import waiting
from tests.browser.hand import (
    SMALL_2D,
    SMALL_3D,
    TIMEOUT_MS,
    difference,
    frames,
    player,
    rest,
    shot,
    strays,
    until,
    visit,
)

FIGURES = 10
SMALL = {"viewport": {"width": 800, "height": 600}}
WATCH_CONTEXTS = """
const made = (window.contexts = []), get = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
  const context = get.call(this, kind, ...rest);
  const known = !context || made.some((r) => r.deref() === context);
  if (kind.includes("webgl") && !known) made.push(new WeakRef(context));
  return context;
};"""
NO_WEBGL = """
const get = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
  return kind.includes("webgl") ? null : get.call(this, kind, ...rest);
};"""
SIZES = [(390, 844), (1024, 768), (1440, 900)]
CONTROLS = (
    ".scrubber :is(input, button:not(.more), select), .controls :is(input, select, textarea),"
    " header :is(.brand, button)"
)


@pytest.fixture
def page(kept):
    return kept


def test_ten_figures_after_one_another_leak_no_webgl_context(new_page):
    """Ten figures that follow one another in one page free their WebGL contexts.

    At the end, only the contexts of the last figure are left, and one in which Plotly draws saved images.
    """
    page, said = new_page(**SMALL), []
    page.on("console", lambda message: said.append(message.text))
    page.add_init_script(WATCH_CONTEXTS + "window.kept = true;")
    for k in range(FIGURES):
        visit(page, f"/rmsnorm?{SMALL_3D}&seed={k}")
    assert page.evaluate("contexts.length") >= 2 * FIGURES, "each view has had one"
    alive = "contexts.map((r) => r.deref()).filter((c) => c && !c.isContextLost()).length"
    assert page.evaluate(alive) == player(page, "p.panels.filter((panel) => panel.is3d).length") == 2
    for _ in range(2):
        player(page, "p.save()")
    assert page.evaluate(alive) <= 3, "Plotly draws images in one context of its own"
    assert page.evaluate("normscape.players.length") == 1
    assert not [text for text in said if "Too many active WebGL contexts" in text]


def test_from_scene_to_scene_through_the_menu(page):
    visit(page, f"/layernorm?{SMALL_2D}")
    page.get_by_role("button", name="Scenes").click()
    page.locator(".menu a[href='/fold']").click()
    until(page, "p.ready && p.slug === 'fold'")
    rest(page)
    assert page.evaluate("normscape.players.length") == 1
    assert page.locator(".view").count() == 3
    assert page.locator("#parameter-t").is_visible()
    assert page.locator("#parameter-gamma1").count() == 0
    assert page.locator(".tour").count() == page.locator(".head .on").count() == 1
    assert page.locator(".tour > ol > li").count() == player(page, "p.recipe.text.tour.length")
    assert page.url.endswith("/fold")
    fetched = page.evaluate(
        "performance.getEntriesByType('resource').filter((r) => r.transferSize).map((r) => r.name)"
    )
    assert not [name for name in fetched if "/assets/" in name or "/lib/" in name], (
        "what one page has, all have"
    )


def test_without_webgl_there_is_a_word_and_a_still_picture(new_page):
    page = new_page()
    page.add_init_script(NO_WEBGL)
    visit(page, f"/layernorm?{SMALL_3D}")
    assert "no WebGL" in page.locator(".views [role=status]").text_content()
    loaded = "() => (({ complete, naturalWidth: n }) => complete && n)(document.querySelector('.still img'))"
    page.wait_for_function(loaded, timeout=TIMEOUT_MS)
    before = shot(page, page.locator(".still img"))
    page.focus("#parameter-gamma1")
    page.keyboard.press("End")
    page.keyboard.press("4")
    page.wait_for_function(
        "() => document.querySelector('.still img').src.includes('progress=4')", timeout=TIMEOUT_MS
    )
    page.wait_for_function(loaded, timeout=TIMEOUT_MS)
    assert "gamma1=2" in page.get_attribute(".still img", "src")
    frames(page)
    assert difference(shot(page, page.locator(".still img")), before) > 1
    with page.expect_download(timeout=TIMEOUT_MS) as download:
        page.click("[aria-label='Save the picture']")
    assert download.value.suggested_filename == "layernorm.svg"
    page.click("[aria-label='Play (space)']")
    rest(page, "!p.playing && p.progress === 5")
    page.keyboard.press("r")
    page.select_option("#choice-d", "2")
    until(page, "p.ready && p.panels.length === 1")
    expect(page.locator(".still"), "a plane needs no WebGL").to_have_count(0)
    page.select_option("#choice-d", "4")
    until(page, "p.ready && p.panels.length === 0")
    page.wait_for_function(loaded, timeout=TIMEOUT_MS)


@pytest.mark.parametrize(("slug", "query"), [("layernorm", SMALL_2D), ("rmsnorm", SMALL_3D)])
def test_everything_has_its_place(page, slug, query):
    visit(page, f"/{slug}?{query}")
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        frames(page, 3)
        is_in_its_place(page, width, height)


def is_in_its_place(page, width, height):
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "no scrolling sideways"
    stops = sorted(
        (box["x"], box["x"] + box["width"])
        for box in (stop.bounding_box() for stop in page.locator(".stop").all())
    )
    assert all(end <= start for (_, end), (start, _) in pairwise(stops)), f"stops overlap: {stops}"
    assert stops[0][0] >= 0
    assert stops[-1][1] <= width
    more = page.locator(".tool.more")
    if more.is_visible():
        more.click()
    assert page.evaluate(HIDDEN, CONTROLS) == []
    if width > 1000:
        page.evaluate("scrollTo(0, 0)")
        box = page.locator(".tools").bounding_box()
        assert box["y"] + box["height"] <= height, "picture, scrubber and buttons at one glance"


# Scroll to each picture of the light theme, and wait until it is loaded.
ALL_SEEN = """async () => {
  for (const picture of document.querySelectorAll(".card img.only-light")) {
    picture.scrollIntoView();
    if (!picture.complete) await new Promise((go) => { picture.onload = go; });
  }
}"""


@pytest.mark.allow_errors("Failed to load resource")
def test_a_search_without_the_server_says_so(page):
    page.goto("/words")
    page.route("**/search.mjs", lambda route: route.abort())
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_role("alert")).to_have_text(re.compile("server does not answer"))
    page.unroute("**/search.mjs")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_role("dialog", name="Search")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_two_clicks_open_one_search(new_page):
    page = new_page()
    held = []
    page.route("**/search.mjs", lambda route: held.append(route))
    page.goto("/words")
    for _ in range(2):
        page.get_by_role("button", name="Search").click()
    waiting.until(lambda: page.evaluate("1") and held)
    for route in held:
        route.continue_()
    page.get_by_role("dialog", name="Search").first.wait_for()
    frames(page)
    assert page.get_by_role("dialog", name="Search").count() == 1


def test_a_page_that_the_browser_has_kept_shows_a_theme_chosen_elsewhere(new_page):
    """After the Back button, a page has the theme chosen on another page, unless its link names a theme.

    The browser of the tests keeps no pages, so the test dispatches the event with which a kept page returns.
    """
    page = new_page(color_scheme="light")
    for query, scheme in (("", "dark"), ("?theme=light", "light")):
        page.goto(f"/words{query}")
        page.evaluate("document.cookie = 'theme=dark; path=/'")
        page.evaluate("void dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
        expect(page.locator("html")).to_have_attribute("data-scheme", scheme)
        page.context.clear_cookies()


def test_the_gallery_fetches_the_theme_that_is_shown(new_page):
    page = new_page(reduced_motion="reduce")
    asked = []
    page.on("request", lambda request: "/card/" in request.url and asked.append(request.url))
    page.goto("/")
    assert strays(page) == []
    page.evaluate(ALL_SEEN)
    assert len(asked) == len(scenes()) and all(url.endswith("?theme=light") for url in asked)
    while page.locator("html").get_attribute("data-scheme") == "light":
        page.click("#theme")
    page.wait_for_function("() => document.querySelector('.card img.only-dark').naturalWidth")
    page.goto("/fold", wait_until="commit")
    expect(page.locator("html"), "kept").to_have_attribute("data-scheme", "dark")
    page.goto("/")
    assert strays(page) == []


def test_what_a_wide_table_is_of_can_be_read_on_a_telephone(page):
    page.set_viewport_size({"width": SIZES[0][0], "height": SIZES[0][1]})
    visit(page, "/digits")
    page.get_by_role("tab", name="Numbers").click()
    for far in (0, 200):
        page.evaluate("(far) => { document.querySelector('.scroll').scrollLeft = far; }", far)
        box, scroll = (page.locator(name).bounding_box() for name in (".scroll caption", ".scroll"))
        assert scroll["x"] - 1 <= box["x"]
        assert box["x"] + box["width"] <= scroll["x"] + scroll["width"] + 1


@pytest.mark.parametrize("link", ["/digits", "/embed/digits"])
def test_the_picture_of_a_point_covers_nothing_of_the_figure(page, link):
    """The picture of the followed digit is below the figure, in windows of three sizes."""
    visit(page, link)
    for width, height in ((1280, 800), (1024, 768), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        rest(page)
        shown = ".views > .view:first-child"
        figure, picture, view = (
            page.locator(f"{shown}{part}").bounding_box() for part in (" > .figure", " > .picture", "")
        )
        assert figure["height"] > 200 and picture["width"] > 50
        assert picture["y"] >= figure["y"] + figure["height"]
        assert picture["y"] + picture["height"] <= view["y"] + view["height"] + 1
        assert picture["x"] >= page.locator(f"{shown} > .legend").bounding_box()["x"]


# The controls whose centre cannot be clicked because something covers it.
HIDDEN = """(controls) => [...document.querySelectorAll(controls)].filter((control) => {
  control.scrollIntoView({ block: "center" });
  const box = control.getBoundingClientRect();
  const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  return !(top && (control.contains(top) || top.contains(control)));
}).map((control) => control.outerHTML.slice(0, 120))"""


WATCH_JUMPS = """
window.jumps = [];
new PerformanceObserver((list) => {
  for (const { sources } of list.getEntries()) {
    for (const { node, previousRect: a, currentRect: b } of sources) jumps.push([node?.className, a.y, b.y]);
  }
}).observe({ type: "layout-shift", buffered: true });"""


@pytest.mark.pixels
def test_the_stage_stands_still_while_it_fills(new_page):
    """When the live figure replaces the still picture, nothing below or beside it moves."""
    page = new_page()
    page.add_init_script(WATCH_JUMPS)
    visit(page, f"/layernorm?{SMALL_2D}")
    rest(page)
    moved = [
        jump
        for jump in page.evaluate("jumps")
        if jump[0] in ("views", "scrubber", "controls", "stage", "head")
    ]
    assert moved == []


def test_by_keyboard_alone(page):
    visit(page, f"/layernorm?{SMALL_2D}")
    order = []
    for _ in range(120):
        page.keyboard.press("Tab")
        stop = page.evaluate(FOCUSED)
        if stop is None or stop["again"]:
            break
        order.append(stop)
    astray = [stop["name"] for stop in order if not stop["after"]]
    assert astray == [], "the order of the document is the order of the keys"
    assert [stop["name"] for stop in order if not stop["outlined"]] == []
    assert [stop["name"] for stop in order if not stop["shown"]] == []
    missed = "(all) => [...document.querySelectorAll(all)].filter((e) => !met.has(e)).map((e) => e.outerHTML)"
    assert page.evaluate(missed, CONTROLS) == []
    names = [stop["name"] for stop in order]
    assert (
        names.index("Progress through the stages")
        < names.index("Play (space)")
        < names.index("choice-variant")
    )
    assert any("Take the tour" in name for name in names)


FOCUSED = """() => {
  const e = document.activeElement;
  if (!e || e === document.body) return null;
  const style = getComputedStyle(e), box = e.getBoundingClientRect();
  const before = [...(window.met ??= new Set())].at(-1);
  const again = met.has(e), after = !before || Boolean(before.compareDocumentPosition(e) & 4);
  met.add(e);
  return { again, after, name: e.getAttribute("aria-label") || e.id || e.textContent,
    outlined: e.matches(":focus-visible") && style.outlineStyle !== "none" && style.outlineWidth !== "0px",
    shown: box.width > 0 && box.bottom > 0 && box.top < innerHeight };
}"""


def test_focus_stays_when_the_parts_are_built_again(page):
    visit(page, f"/layernorm?{SMALL_2D}")
    page.focus("#choice-points")
    page.keyboard.press("ArrowDown")
    until(page, "p.ready && p.recipe.chosen.points === 'lattice'")
    assert page.evaluate("document.activeElement.id") == "choice-points"
    page.focus("#parameter-gamma1")
    page.go_back()
    until(page, "p.ready && p.recipe.chosen.points === 'gaussian'")
    assert page.evaluate("document.activeElement.id") == "parameter-gamma1"
