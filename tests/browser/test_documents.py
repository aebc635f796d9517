"""Pages before their scripts run, and pages without scripts: what is visible, and how much they load."""

import re

import pytest

from components.language.scene import scenes
from tests.browser.hand import TIMEOUT_MS, rest, shot, strays, until, visit

SCRIPT = re.compile(r"\.m?js(\?|$)")
PAINTED = "() => performance.getEntriesByName('first-contentful-paint').length"
KINDS = "el => [...el.querySelectorAll('*')].map((e) => [e.localName, e.className, e.id].join())"
WATCH = f"""
const watch = () => {{ window.served = ({KINDS})(document.querySelector(".until")); }};
addEventListener("DOMContentLoaded", watch);"""


def weighed(page):
    """A list that gets the compressed size, in bytes, of each file that the page loads from now on."""
    sizes, session = [], page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.on("Network.loadingFinished", lambda told: sizes.append(told["encodedDataLength"]))
    return sizes


def silent(page):
    """From now on, leave every request of the page for a script without an answer."""
    page.route(SCRIPT, lambda route: None)


@pytest.mark.pixels
@pytest.mark.parametrize(("link", "words"), [("/", "does to space"), ("/layernorm", "moved by hand")])
def test_the_first_paint_waits_for_no_script(page, link, words):
    silent(page)
    page.goto(link, wait_until="commit")
    page.wait_for_function(PAINTED, timeout=TIMEOUT_MS)
    assert words in page.locator("h1").inner_text()
    page.close()


@pytest.mark.parametrize("link", ["/fold", "/layernorm?d=2&n=60&gamma1=1.5"])
def test_what_the_player_asks_for_first_is_on_its_way(kept, link):
    """The page preloads the recipe that its player needs, so the player does not request it a second time."""
    page, asked = kept, []
    page.on("request", lambda request: asked.append(request.url) if "/recipe/" in request.url else None)
    page.goto(link)
    until(page, "p.ready")
    (entry,) = page.evaluate(
        "performance.getEntriesByType('resource').filter((r) => r.name.includes('/recipe/'))"
    )
    assert asked == [entry["name"]] and entry["initiatorType"] == "link"


@pytest.mark.pixels
def test_an_embed_shows_its_picture_within_60_kb(page):
    sizes = weighed(page)
    silent(page)
    page.goto("/embed/norms", wait_until="commit")
    page.wait_for_function(PAINTED, timeout=TIMEOUT_MS)
    assert page.title() == scenes()["norms"].title
    assert colours(page, ".poster") > 50
    page.wait_for_timeout(300)
    assert 0 < sum(sizes) < 60_000
    page.close()


def colours(page, selector):
    """The number of different colours in the part of the page that `selector` names."""
    shown = shot(page, page.locator(selector))
    return len({tuple(pixel) for pixel in shown.reshape(-1, 3)})


def test_without_scripts_the_gallery_shows_and_leads_and_a_scene_is_read(new_page):
    page, scene = new_page(java_script_enabled=False), scenes()["layernorm"]
    page.goto("/")
    for theme in ("dark", "light"):
        page.emulate_media(color_scheme=theme)
        assert strays(page) == []
    page.get_by_role("button", name="Scenes").click()
    page.get_by_role("listitem").get_by_role("link", name=scenes()["fold"].title).click()
    assert page.locator("h1").inner_text() == scenes()["fold"].title
    page.goto("/layernorm?d=2")
    assert colours(page, ".poster") > 50
    assert page.locator(".formula math").is_visible() and "What you see" in page.inner_text(".prose")
    assert page.locator(".tour > ol > li > a").all_inner_texts() == [stop.title for stop in scene.text.tour]
    assert page.locator(".questions details").count() == len(scene.text.questions)
    assert not page.locator(".controls, .scrubber, #theme").and_(page.locator(":visible")).count()
    page.locator(".tour > ol > li > a").nth(1).click()
    assert page.url.endswith("/layernorm?tour=2")


def test_home_is_light(page):
    """Before its figure is live, the home page makes at most 25 requests and loads at most 350 kB.

    The pictures of all cards are there.
    """
    sizes = weighed(page)
    page.route("**/page/attend.mjs", lambda route: None)
    page.goto("/", wait_until="commit")
    page.wait_for_function("() => document.querySelector('[data-hero][data-slug]')")
    page.wait_for_load_state("load")
    assert strays(page) == []
    assert 10 < len(sizes) <= 25
    assert sum(sizes) <= 350_000
    print(f"{len(sizes)} requests, {sum(sizes) / 1000:.0f} kB")
    page.close()


def test_a_scene_is_light(new_page):
    """The scene with the largest recipe loads at most 950 kB. (For the others see test_scenes.py.)"""
    page = new_page(first=True)
    sizes = weighed(page)
    visit(page, "/digits")
    rest(page)
    page.wait_for_load_state("networkidle")
    assert 700_000 < sum(sizes) <= 950_000
    print(f"{len(sizes)} requests, {sum(sizes) / 1000:.0f} kB")


def test_dash_shows_the_panel_that_was_served_once_it_is_open(page):
    """Dash is loaded when the training panel is opened, and shows the same fields as the static page.

    Dash's component libraries that the panel does not use are not loaded.
    """
    page.add_init_script(WATCH)
    visit(page, "/spiral?n=40&depth=1")
    rest(page)
    opened = page.evaluate("performance.now()")
    page.click(".training summary")
    page.wait_for_selector("#react-entry-point #train", state="attached", timeout=TIMEOUT_MS)
    shown = page.locator("#react-entry-point").evaluate(KINDS)
    assert shown == page.evaluate("served") and len(shown) > 4
    assert page.locator(".until").count() == 0
    asked = page.evaluate("performance.getEntriesByType('resource').filter((r) => r.name.includes('/_dash'))")
    assert all(each["startTime"] > opened for each in asked)
    fetched = " ".join(each["name"] for each in asked)
    assert "dash_renderer" in fetched and not re.search("core_components|dash_table|polyfill", fetched)
