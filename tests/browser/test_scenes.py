"""Every scene in a browser: it opens, its tour runs, it moves the fast way, it fits a telephone."""

import json

import pytest

from components.scene import scenes
from components.text import read
from tests.browser.hand import player, rest, until, visit

EVERY = pytest.mark.parametrize("scene", scenes().values(), ids=scenes())


@EVERY
def test_the_tour_leads_through_every_stop(page, scene):
    visit(page, f"/{scene.slug}")
    page.get_by_role("button", name="Take the tour").click()
    stops = read(scene.folder / "text.md").tour
    for k, stop in enumerate(stops, 1):
        until(page, f"p.ready && p.root.querySelector('.guide .count').textContent === '{k} of {len(stops)}'")
        chosen = {
            name: value for name, value in stop.state.items() if name in [c.name for c in scene.choices]
        }
        until(
            page,
            f"Object.entries({json.dumps(chosen)}).every(([n, value]) => String(p.choices[n]) === value)",
        )
        until(page, f"p.ready && Math.abs(p.progress - {stop.state.get('progress', 'p.progress')}) < 1e-6")
        rest(page)
        page.locator(".guide .on").click()
    assert page.locator(".guide").is_hidden()
    assert page.locator(".notice").is_hidden()


@EVERY
def test_it_moves_the_fast_way_in_the_dark_on_a_telephone(new_page, scene):
    page = new_page(viewport={"width": 390, "height": 844}, color_scheme="dark")
    visit(page, f"/{scene.slug}")
    first = scene.recipe().parameters[0]
    player(page, "p.set(...value)", [first.name, first.max])
    player(page, "p.seek(0.4 * p.last)")
    rest(page)
    assert player(page, "p.panels.every((panel) => panel.fast)")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator(".text .prose").inner_text()
