"""The column beside the figure: a few controls, text that follows the stages; and the page on paper."""

import pytest

from components.language.scene import scenes
from tests.browser.hand import FEW, player, rest, until, visit

WORDS = """() => { // of the text, in formulas too, that stand wholly in the window
  const walker = document.createTreeWalker(document.querySelector(".explained"), NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  let count = 0;
  while (walker.nextNode()) {
    const { currentNode: node } = walker;
    if (node.parentElement.closest("math, .to")) continue;
    for (const word of node.data.matchAll(/\\p{L}+/gu)) {
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      count += range.getBoundingClientRect().bottom <= innerHeight;
    }
  }
  return count;
}"""
FEWEST = 60  # words of explanation on the first screen
LAPTOP = {"width": 1440, "height": 900}


@pytest.fixture
def page(kept):
    return kept


def lit(page):
    return page.locator(".passage.lit strong").all_inner_texts()


def test_a_paragraph_is_lit_at_its_stage_and_leads_there(page):
    visit(page, f"/layernorm?{FEW}")
    assert "A layer of a network" in page.locator(".passage.lit").inner_text()
    page.locator(".passage", has_text="falls along the orange line").click()
    rest(page)
    assert player(page, "p.progress") == 1 and lit(page) == ["centre"]
    shown = page.get_by_role("button", name="Stage 2: unit sphere, × √3")
    for stage in (2, 3, 2):
        shown.focus()
        page.keyboard.press("Enter")
        rest(page)
        assert player(page, "p.progress") == stage and lit(page) == ["unit sphere", "× √d"]
        assert shown.get_attribute("aria-current") == "step"
    player(page, "p.seek(0)")
    rest(page)
    page.locator(".passage a.word").first.click()
    page.wait_for_url("**/words#*")


def test_what_is_folded_unfolds_when_a_link_or_a_stop_sets_it(page):
    visit(page, "/layernorm")
    more = page.locator("details.more")
    assert not more.evaluate("(e) => e.open") and page.locator("#parameter-beta1").is_hidden()
    assert page.locator("#parameter-gamma1").is_visible()
    player(page, "p.go({ beta1: '0.5', progress: '5' })")
    until(page, "p.params.beta1 === 0.5")
    page.wait_for_function("() => document.querySelector('details.more').open")
    more.locator("summary").click()
    player(page, "p.set('mean', 0.3)")
    rest(page)
    assert not more.evaluate("(e) => e.open"), "the reader has closed it"
    visit(page, f"/layernorm?{FEW}")
    assert more.evaluate("(e) => e.open") and page.locator("#choice-n").is_visible()


def test_the_first_screen_explains(new_page):
    """Where the controls will be there is room before they come: no player is needed to measure."""
    page, few = new_page(viewport=LAPTOP), {}
    page.route("**/recipe/**", lambda route: None)  # it is on its way
    for slug in scenes():
        page.goto(f"/{slug}", wait_until="domcontentloaded")
        page.wait_for_function(
            "() => getComputedStyle(document.querySelector('.stage')).position === 'sticky'"
        )
        found = page.evaluate(WORDS)
        if found < FEWEST:
            few[slug] = found
    assert not few


def test_a_scene_on_paper(page):
    scene = scenes()["layernorm"]
    visit(page, f"/layernorm?{FEW}")
    page.emulate_media(media="print")
    try:
        pressed = page.locator("button, input, select, summary:has(+ .choices), .top, .head .on")
        assert not pressed.and_(page.locator(":visible")).count()
        told = page.locator(".words-of-stop, .questions details > div").evaluate_all(
            "(all) => all.map((e) => e.getBoundingClientRect().height)"
        )
        assert len(told) == len(scene.text.tour) + len(scene.text.questions) and min(told) > 10
        cut = "(all) => all.filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.className)"
        assert page.locator(".numbers .scroll, .prose table").evaluate_all(cut) == []
        assert page.locator(".sources li").count() and page.locator(".figure").first.is_visible()
    finally:
        page.emulate_media(media="screen")
    paper = page.pdf(format="A4")
    assert paper.startswith(b"%PDF") and len(paper) > 50_000
    assert page.evaluate("document.querySelector('.views').style.width") == "", "as before"
