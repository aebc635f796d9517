"""The home page: its live figure, the cards, and the path from scene to scene."""

import re
from functools import partial

from playwright.sync_api import expect

from components.language import course
from components.language.scene import scenes
from components.pages import home
from tests.browser.hand import POLL_MS, TIMEOUT_MS, finger, frames, middle, strange, until

WIDE, NARROW = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
HERO = "const p = window.normscape?.players?.find((each) => each.root.dataset.hero)"
FIRST, SECOND, THIRD = course.chapters()[0].scenes[:3]
ASKED = "performance.getEntriesByType('resource').map((each) => each.name)"


def living(page, condition="p.ready"):
    page.wait_for_function(
        f"() => {{ {HERO}; return p && ({condition}); }}", timeout=TIMEOUT_MS, polling=POLL_MS
    )


def hero(page, code):
    return page.evaluate(f"() => {{ {HERO}; return {code}; }}")


def test_a_figure_lives_on_the_right_of_the_first_screen(kept):
    page = kept
    page.set_viewport_size(WIDE)
    page.goto("/")
    living(page, "p.ready && p.playing && p.progress > 0")
    box, words = (page.locator(name).bounding_box() for name in (".hero", ".intro"))
    height = min(box["y"] + box["height"], WIDE["height"]) - box["y"]
    assert box["width"] * height >= 0.55 * WIDE["width"] * WIDE["height"]
    assert box["x"] >= words["x"] + words["width"] - 1 and box["y"] + box["height"] <= WIDE["height"]
    inputs = page.locator(".hero input")
    assert inputs.count() == 1 and page.locator(".start").inner_text() == "Start: three minutes"
    slider = inputs.bounding_box()
    page.mouse.click(slider["x"] + 0.6 * slider["width"], slider["y"] + slider["height"] / 2)
    living(page, "!p.playing && Math.abs(p.progress - 3) < 0.3")
    page.mouse.wheel(0, 2000)
    page.wait_for_function("() => scrollY > 900")
    frames(page, 10)
    assert not hero(page, "p.playing"), "a hand has it, and it rests"
    assert page.url.endswith("/"), "its state is not the page's"
    page.locator(".chapter h2").first.click()
    page.keyboard.press(" ")
    assert not hero(page, "p.playing"), "the keys of the page are not the figure's"


def scroll(page, to):
    page.evaluate("(to) => scrollTo(0, to)", to)
    page.wait_for_function("(to) => scrollY === to", arg=to)
    frames(page, 10)


def test_the_figure_rests_out_of_sight_and_once_its_slider_has_been_moved(kept):
    """The home page's figure pauses while it is out of sight, and stops for good once its slider is moved.

    The test moves the slider by a key. A click on the picture does not stop the figure.
    """
    page = kept
    page.set_viewport_size(WIDE)
    page.goto("/")
    living(page, "p.ready && p.playing")
    page.mouse.click(*middle(page, ".hero .views"))
    scroll(page, 1500)
    living(page, "!p.playing")
    scroll(page, 0)
    living(page, "p.playing")
    page.locator(".hero input").focus()
    page.keyboard.press("ArrowRight")
    assert not hero(page, "p.playing"), "the reader has moved it"
    living(page, "!p.leg")
    scroll(page, 1500)
    scroll(page, 0)
    assert not hero(page, "p.playing"), "it stays where the reader has put it"


def tap(symbol):
    at = symbol.bounding_box()
    finger(symbol.page, [(at["x"] + at["width"] / 2, at["y"] + at["height"] / 2)])()


def test_the_symbols_of_the_formula_say_what_they_mean_to_the_pointer_to_a_finger_and_to_keys(new_page):
    """The meaning of a symbol is shown, inside the window, after a hover, a tap, or a focus by key.

    This works after the player has rewritten the formula. Each meaning belongs to exactly one button.
    """
    page = new_page(has_touch=True, viewport=NARROW)
    page.goto("/")
    living(page)
    note, symbols = page.locator(".hero .gloss"), page.locator(".hero .formula .symbol")
    assert set(symbols.all_text_contents()) == set(home.SYMBOLS)
    for symbol, meaning in home.SYMBOLS.items():
        letter = page.locator(f".hero .formula .symbol:text-is('{symbol}')").first
        button = page.get_by_role("button", name=meaning)
        for act in (letter.hover, partial(tap, letter), button.focus):
            act()
            page.wait_for_function("(note) => !note.hidden", arg=note.element_handle())
            assert note.inner_text() == meaning
            box = note.bounding_box()
            assert box["x"] >= 0 and box["x"] + box["width"] <= NARROW["width"]
            page.mouse.move(0, 0)
            page.keyboard.press("Escape")  # hides the meaning after a tap or a focus
            page.wait_for_function("(note) => note.hidden", arg=note.element_handle())


def test_for_calm_readers_it_is_a_picture_short_on_a_telephone_and_of_two_pages_of_paper(new_page):
    page = new_page(reduced_motion="reduce")
    page.goto("/", wait_until="load")
    page.evaluate("new Promise((go) => requestIdleCallback(go, { timeout: 2000 }))")
    page.hover(".card")
    frames(page, 5)
    assert page.locator(".hero .poster").is_visible() and page.locator("[data-slug]").count() == 0
    assert not [url for url in page.evaluate(ASKED) if "attend" in url or "moving" in url]
    page.set_viewport_size(NARROW)
    page.wait_for_function("(width) => innerWidth === width", arg=NARROW["width"])
    height, width = page.evaluate("(e => [e.scrollHeight, e.scrollWidth])(document.documentElement)")
    assert height <= 110 * len(scenes()) and width <= NARROW["width"]
    page.emulate_media(forced_colors="active")
    ground = "(e) => [getComputedStyle(e).fill, getComputedStyle(document.body).backgroundColor]"
    poster, around = page.locator(".hero .poster > rect").first.evaluate(ground)
    assert poster == around, "no box of another colour"
    page.emulate_media(forced_colors="none")
    page.set_viewport_size({"width": 1024, "height": 768})
    paper = page.pdf(format="A4", margin=dict.fromkeys(("top", "right", "bottom", "left"), "1cm"))
    assert len(re.findall(rb"/Type\s*/Page\b", paper)) == 2, (
        "the chapters begin below the figure, on the first"
    )


MOVING = re.compile("moving=1")


def test_a_card_moves_under_the_pointer(kept):
    page = kept
    page.goto("/")
    card = page.locator(".card").nth(1)
    picture = card.locator("img.only-light")
    card.hover()
    expect(picture).to_have_attribute("src", MOVING)
    page.wait_for_function("(image) => image.complete && image.naturalWidth", arg=picture.element_handle())
    page.mouse.move(0, 0)
    expect(picture).not_to_have_attribute("src", MOVING)
    page.keyboard.press("Tab")
    card.focus()
    expect(picture).to_have_attribute("src", MOVING)


def test_three_clicks_lead_to_the_third_scene_and_what_was_visited_is_marked(new_page):
    page = new_page(reduced_motion="reduce")
    strange(page)
    page.goto("/")
    page.click(".start")
    until(page, "p.ready && p.tour.current === 0")
    page.click(".here .beside:last-child")
    until(page, f"p.slug === '{SECOND.scene.slug}'")
    page.locator(".onwards a.next").click()
    until(page, f"p.slug === '{THIRD.scene.slug}'")
    assert THIRD.label in page.locator(".here").inner_text()
    assert page.locator(".onwards .before a").inner_text().startswith(SECOND.scene.title)
    page.click("header .brand")
    page.wait_for_selector(".card.visited")
    visited = page.locator(".card.visited").evaluate_all("(all) => all.map((each) => each.dataset.to)")
    assert visited == [step.scene.slug for step in (FIRST, SECOND, THIRD)]
    assert page.evaluate("document.cookie") == "", "it stays in this browser"
    page.click(".forget button")
    expect(page.locator(".visited")).to_have_count(0)
    expect(page.locator(".forget")).to_be_hidden()


def test_the_tours_are_chained(page):
    stops = FIRST.scene.text.tour
    page.goto(f"/{FIRST.scene.slug}?tour={len(stops)}")
    until(page, "p.ready && p.tour.current >= 0")
    if stops[-1].question:
        page.click(".guide .on")
    expect(page.locator(f".guide .words a.onwards:has-text('{SECOND.scene.title}')")).to_be_visible()
    page.keyboard.press("p")
    page.keyboard.press("PageDown")  # follows the link, and the next scene is presented too
    until(page, f"p.slug === '{SECOND.scene.slug}' && p.ready && p.tour.current === 0")
    expect(page.locator(".presenting .guide")).to_be_visible()
    assert page.evaluate("sessionStorage.length") == 0, "once: whoever opens a page does not present"


def test_the_search_leads_to_a_word_and_to_an_answer(page):
    page.goto("/words")
    page.get_by_role("button", name="Search").click()
    page.wait_for_selector("dialog input:focus")  # the dialog is loaded now
    page.keyboard.type("softmax")
    page.wait_for_selector(".found a[href$='/words#softmax']")
    page.keyboard.press("Escape")  # one press closes it, though something is typed
    page.wait_for_selector("dialog", state="detached")
    page.get_by_role("button", name="Search").click()
    page.wait_for_selector("dialog input:focus")
    page.keyboard.type("softmax")
    page.click(".found a[href$='/words#softmax']")
    page.wait_for_url("**/words#softmax")
    page.wait_for_selector("dialog", state="detached")
    page.get_by_role("button", name="Search").click()
    page.wait_for_selector("dialog input:focus")
    page.keyboard.type("are angles halved")
    page.wait_for_selector(".found a[href$='/fold#why-are-angles-halved-at-t-1']")
    for key, there in (("ArrowDown", ".found li:first-child a:focus"), ("ArrowUp", "dialog input:focus")):
        page.keyboard.press(key)
        expect(page.locator(there), key).to_have_count(1)
    page.keyboard.press("Enter")
    page.wait_for_url("**/fold#why-are-angles-halved-at-t-1")
    expect(page.locator("#why-are-angles-halved-at-t-1"), "the question is open").to_be_visible()
    page.locator("a.word").first.click()
    page.wait_for_url("**/words#*")
