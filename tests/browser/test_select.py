"""The scene of keys: a key is dragged out of the hull of the others, and the link has its position."""

from tests.browser.hand import player, until, visit

INSIDE = "/select?keys=inside&d=2&norm=rmsnorm&q1=1&q2=0.5"
PLACES = """([index, x, y]) => {
  const p = window.normscape.players[0], panel = p.panels[0], box = panel.gd.getBoundingClientRect();
  const keys = p.drawn("keys"), at = [[keys[2 * index], keys[2 * index + 1]], [x, y]];
  return at.map(([x, y]) => panel.pixel(x, y)).map(([left, top]) => [box.left + left, box.top + top]);
}"""


def fate(page):
    return page.locator(".readout").first.text_content()


def test_a_key_that_is_carried_out_can_win(page):
    visit(page, INSIDE)
    page.locator(".views").scroll_into_view_if_needed()
    assert "never wins: it is an average of 3 others" in fate(page)
    (x, y), there = page.evaluate(PLACES, [3, 2.0, 2.0])
    page.mouse.move(x, y)
    page.mouse.down(button="right")
    page.mouse.move(*there)
    page.mouse.up(button="right")
    assert player(page, "p.params.x3 === p.recipe.parameters.find((q) => q.name === 'x3').value")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move((x + there[0]) / 2, (y + there[1]) / 2)
    page.mouse.move(*there)
    page.mouse.up()
    until(page, "p.followed === 3 && Math.hypot(p.params.x3 - 2, p.params.y3 - 2) < 0.1")
    page.wait_for_function("() => document.querySelector('.readout').textContent.includes('can win')")
    page.wait_for_function("() => location.search.includes('x3=') && location.search.includes('y3=')")
    assert player(
        page,
        "Object.keys(p.params).filter((n) => /^[xy]\\d/.test(n) && p.params[n] !== "
        "p.recipe.parameters.find((q) => q.name === n).value).sort()",
    ) == ["x3", "y3"]
    assert page.locator(".parameters input[type=range]").count() == 5
