"""A mark whose points open other scenes, by a click or Enter; pointer and arrow keys show their names."""

import pytest

from components.language.scene import scenes
from components.training.recipes import recipe_of
from tests.browser.hand import player, rest, visit

LINKS = next(
    mark.hand.links
    for mark in recipe_of(scenes()["unselectable"]).views[0].layers
    if getattr(mark, "hand", None)
)
OPENS, CLOSED = 17, 62  # 50 keys in 4 dimensions; 500 in 16, which no picture shows
PLACE = """(() => { const [panel] = p.panels, { left, top } = panel.gd.getBoundingClientRect();
  const at = p.at.cells.subarray(value * p.at.cells.length / 63), [x, y] = panel.pixel(at[0], at[1]);
  return [left + x + 12, top + y + 8]; })()"""


@pytest.fixture
def opened(new_page):
    """Open the scene `unselectable`; returns its page, and a list of the addresses that its marks open.

    The test itself answers the requests for these addresses.
    """
    page, asked = new_page(), []
    page.route("**/select?**", lambda route: (asked.append(route.request.url), route.fulfill(body="keys")))
    visit(page, "/unselectable")
    rest(page)
    return page, asked


def click(page, cell, words):
    """Hover over a cell until its label contains `words`, and then click. cell: the number of its point.

    Without waiting for the label, Plotly would report the point over which the pointer was before.
    """
    place = player(page, PLACE, cell)
    page.mouse.move(*place)
    page.wait_for_function(
        "(words) => document.querySelector('.hoverlayer').textContent.includes(words)", arg=words
    )
    page.mouse.click(*place)


def test_the_pointer_or_a_key_reads_a_cell_and_a_click_or_enter_opens_it(opened):
    page, asked = opened
    click(page, CLOSED, "500 keys in 16")
    rest(page, f"p.followed === {CLOSED}")
    assert not asked, "there is nothing to open"
    click(page, OPENS, "50 keys in 4")
    page.wait_for_url("**/select?**")
    page.go_back()
    page.wait_for_function("() => window.normscape?.players?.[0]?.ready")
    assert player(page, "p.followed") == OPENS, "the ring is where the reader was"
    for _ in range(2):
        page.keyboard.press(",")
    rest(page, f"p.followed === {OPENS - 2}")
    assert "Keys n: 10" in page.locator(".numbers").inner_text()
    page.locator(".scrubber button").first.focus()
    page.keyboard.press("Enter")  # which is the button's
    assert len(asked) == 1
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Enter")
    page.wait_for_url("**/select?**")
    opened_to = [LINKS[k].removeprefix("select") for k in (OPENS, OPENS - 2)]
    assert [url.partition("/select")[2] for url in asked] == opened_to
