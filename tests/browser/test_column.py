"""The column beside the figure: its few controls, its text that follows the stages, and its printed form."""

import pytest

from components.language.scene import scenes
from tests.browser.hand import SMALL_2D, SMALL_3D, painted, player, rest, until, visit


@pytest.fixture
def page(kept):
    return kept


def lit(page):
    return page.locator(".passage.lit strong").all_inner_texts()


def test_a_paragraph_is_lit_at_its_stage_and_leads_there(page):
    visit(page, f"/layernorm?{SMALL_3D}")
    assert "A layer of a network" in page.locator(".passage.lit").inner_text()
    page.locator(".passage", has_text="falls along the orange line").click()
    rest(page)
    assert player(page, "p.progress") == 1 and lit(page) == ["centre"]
    shown = page.get_by_role("button", name="Next of stages 2, 3: unit sphere, × √3")
    for stage in (2, 3, 2):
        shown.focus()
        page.keyboard.press("Enter")
        rest(page)
        assert player(page, "p.progress") == stage and lit(page) == ["unit sphere", "× √d"]
        assert shown.get_attribute("aria-current") == "step"
    page.evaluate("getSelection().selectAllChildren(document.querySelector('h1'))")
    page.keyboard.press("Enter")
    rest(page)
    assert player(page, "p.progress") == 3, "the button works also while text is selected"
    player(page, "p.seek(0)")
    rest(page)
    page.locator(".passage a.word").first.click()
    page.wait_for_url("**/words#*")


def test_what_is_folded_unfolds_when_a_link_or_a_stop_sets_it(new_page):
    page = new_page()  # in which nothing has been unfolded
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
    visit(page, f"/layernorm?{SMALL_2D}")
    assert more.evaluate("(e) => e.open") and page.locator("#choice-n").is_visible()
    left = [page.locator(f"#choice-{name}").bounding_box()["x"] for name in ("n", "variant")]
    assert left[0] == pytest.approx(left[1], abs=1), "numbers stand where menus do"


def test_a_scene_on_paper(page):
    scene = scenes()["layernorm"]
    visit(page, f"/layernorm?{SMALL_2D}")
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
    with painted(page):
        paper = page.pdf(format="A4")
    assert paper.startswith(b"%PDF") and len(paper) > 50_000
    assert page.evaluate("document.querySelector('.views').style.width") == "", "as before"


LEFT = "([x, y]) => document.elementFromPoint(x, y)?.closest('.numbers, .text')?.className"


def test_the_figure_leaves_with_its_column(page):
    """The figure does not cover the numbers and the text below it when the page is scrolled to them."""
    page.set_viewport_size({"width": 1440, "height": 900})
    visit(page, f"/layernorm?{SMALL_2D}")
    for part in ("numbers", "text"):
        below = page.locator(f"main > .{part}")
        below.evaluate("(e) => e.scrollIntoView()")
        box = below.bounding_box()
        assert page.evaluate(LEFT, [box["x"] + 20, box["y"] + 40]) == part
