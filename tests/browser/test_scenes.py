"""Every scene in a browser: it opens, its tour runs, it moves the fast way, it fits a telephone."""

import numpy as np
import pytest

from components.language.scene import scenes
from components.training.recipes import recipe_of
from geometry.centering import hyperplane_basis
from tests.browser.hand import finger, middle, player, rest, visit, walk
from tests.browser.test_accessibility import barriers, unseen

STACKED = """[...document.querySelectorAll(".views .figure, .scrubber")].map((e) => e.getBoundingClientRect())
  .filter(({ height }) => height).sort((a, b) => a.top - b.top)
  .every(({ top }, k, all) => k === 0 || top >= all[k - 1].bottom - 1)"""

DESK, TELEPHONE = {"width": 1024, "height": 768}, {"width": 390, "height": 844}
MOST = 5  # controls that are open at the start: they stand in nothing that folds
OPEN = """[...new Set([...document.querySelectorAll(".controls :is(.slider, .choice)")]
  .filter((e) => e.checkVisibility() && !e.closest("details"))
  .map((e) => e.closest(".vector") ?? e))].length"""
# The shares of the hero and of the tour's card that are seen, and what is hidden in the card, in pixels.
# On a narrow page the scrubber covers what is under it.
SEEN = """(() => {
  const { card } = p.tour, over = innerWidth <= 700 ? p.part("scrubber").getBoundingClientRect().bottom : 0;
  const share = (e, above) => {
    const { top, bottom, height } = e.getBoundingClientRect();
    return (Math.min(innerHeight, bottom) - Math.max(above, top)) / height;
  };
  const hero = p.root.querySelector(".views > .view");
  return [share(hero, 0), share(card, over), card.scrollHeight - card.clientHeight];
})()"""
# The same of every stop, as soon as its words stand there: no picture is waited for.
STOPS = f"""(() => {{
  const found = [];
  for (let k = 0; k <= p.tour.last; k++) {{
    p.tour.visit(k);
    found.push({SEEN});
    if (p.tour.answer(0)) found.push({SEEN});
  }}
  p.tour.card.querySelector(".steps button:last-child").click();
  return found;
}})()"""


def together(hero, card, hidden):
    """Whether the card of the tour and the figure are seen together."""
    return hero >= 0.7 and card > 0.99 and hidden <= 1


@pytest.fixture(scope="module", params=scenes().values(), ids=scenes())
def scene(request):
    """Each scene, with all of its tests one after the other: its page is loaded once."""
    return request.param


@pytest.fixture
def page(kept):
    return kept


def test_the_tour_leads_through_every_stop(page, scene):
    """From state to state in one cut, the card beside the figure; `test_site` has how it moves."""
    seen = []
    page.set_viewport_size(DESK)
    page.emulate_media(reduced_motion="reduce")
    walk(page, f"/{scene.slug}", scene, lambda page: seen.append(player(page, SEEN)))
    assert len(seen) >= len(scene.text.tour) and all(together(*each) for each in seen), seen


def test_few_controls_are_open_and_axe_finds_nothing(page, scene):
    page.emulate_media(reduced_motion="reduce")
    visit(page, f"/{scene.slug}")
    assert page.evaluate(OPEN) <= MOST
    assert barriers(page) == []
    assert unseen(page) == []


def test_it_moves_the_fast_way_in_the_dark_on_a_telephone(page, scene):
    page.set_viewport_size(TELEPHONE)
    page.emulate_media(color_scheme="dark")
    visit(page, f"/{scene.slug}")
    for first in recipe_of(scene).parameters[:1]:
        player(page, "p.set(...value)", [first.name, first.max])
    player(page, "p.seek(0.4 * p.last)")
    rest(page)
    assert player(page, "p.panels.every((panel) => panel.fast)")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate(STACKED), "nothing lies over another"
    assert page.locator(".text .prose").inner_text()
    page.evaluate("scrollTo(0, 1500)")
    seen = player(page, STOPS)
    assert len(seen) >= len(scene.text.tour) and all(together(*each) for each in seen), seen


def drag_v(page, angle, steps=12):
    """Take v by its tip and carry it around the origin, in the view from above."""
    page.locator(".handle").scroll_into_view_if_needed()
    x, y = middle(page, ".handle")
    left, top = player(page, "p.panels[1].pixel(0, 0)")
    box = page.locator(".view .figure").nth(1).bounding_box()
    left, top = left + box["x"], top + box["y"]
    start, far = np.arctan2(top - y, x - left), np.hypot(x - left, top - y)
    page.mouse.move(x, y)
    page.mouse.down()
    for turn in np.linspace(start, np.radians(angle), steps):
        page.mouse.move(left + far * np.cos(turn), top - far * np.sin(turn))
    page.mouse.up()


def test_v_is_dragged_without_a_request(page):
    visit(page, "/fibre?show=fibre&progress=2")
    rest(page)
    before = np.array(player(page, "[...p.drawn('input')]"))
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    drag_v(page, 100)
    rest(page)
    assert player(page, "p.params.phi") == pytest.approx(100, abs=2)
    image = np.array(player(page, "[...p.drawn('input')]")).reshape(-1, 3)
    angle = np.radians(player(page, "p.params.phi"))
    want = np.sqrt(3) * np.array([np.cos(angle), np.sin(angle)]) @ hyperplane_basis(3)
    np.testing.assert_allclose(image, np.broadcast_to(want, image.shape), atol=1e-5)  # single precision
    assert np.abs(image.ravel() - before).max() > 1
    assert page.locator("#parameter-phi").input_value() == str(player(page, "p.params.phi"))
    assert not asked, asked
    assert player(page, "p.choose({ show: 'axes' })") and page.locator(".handle").count() == 1
    drag_v(page, 200)
    assert player(page, "p.params.phi") == pytest.approx(200, abs=2)


def test_v_is_dragged_by_a_finger(new_page):
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True)
    visit(page, "/fibre")
    page.locator(".handle").scroll_into_view_if_needed()
    assert page.locator(".handle").evaluate("(e) => getComputedStyle(e).touchAction") == "none"
    (x, y), scrolled = middle(page, ".handle"), page.evaluate("scrollY")
    finger(page, [(x, y), (x - 10, y - 30), (x - 30, y - 60)])()
    rest(page)
    assert player(page, "p.params.phi") > 30 and page.evaluate("scrollY") == scrolled
