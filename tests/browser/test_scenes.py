"""Every scene in a browser: it opens, its tour runs, it uses the fast path, it fits a phone."""

import json

import numpy as np
import pytest
from playwright.sync_api import expect

from components.language.scene import scenes
from components.training.recipes import recipe_of, state_of
from geometry.centering import hyperplane_basis
from tests.browser.hand import STATE, finger, frames, middle, pixels_drawn, player, rest, visit, whole_state
from tests.browser.test_accessibility import barriers, unseen
from tests.browser.test_framing import shares
from tests.scenes.rules import keep

STACKED = """[...document.querySelectorAll(".views .figure, .scrubber")].map((e) => e.getBoundingClientRect())
  .filter(({ height }) => height).sort((a, b) => a.top - b.top)
  .every(({ top }, k, all) => k === 0 || top >= all[k - 1].bottom - 1)"""

LAPTOP, DESK, TELEPHONE = [
    {"width": width, "height": height} for width, height in ((1440, 900), (1024, 768), (390, 844))
]
# Scenes whose main figure is measured in pixels: 3D and 2D views, alone and beside others. (For all scenes it
# is computed in tests/test_scenes.py.) The value is the least share of the panel's smaller side that the
# sphere, circle, or else the whole content must span. It is lower for a sphere with a cloud around it.
DRAWN = {"layernorm": 0.4, "fold": 0.6, "shear": 0.6, "norms": 0.6, "heads": 0.6}
MOST = 5  # controls that are visible at the start, outside of folded parts
OPEN = """[...new Set([...document.querySelectorAll(".controls :is(.slider, .choice)")]
  .filter((e) => e.checkVisibility() && !e.closest("details"))
  .map((e) => e.closest(".vector") ?? e))].length"""
WORDS = """() => { // words of the overview and the text, also in formulas, that are wholly in the window
  const walker = document.createTreeWalker(document.querySelector(".spread"), NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  let count = 0;
  while (walker.nextNode()) {
    const { currentNode: node } = walker;
    if (!node.parentElement.closest(".overview, .explained")) continue;
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
RECIPE = """performance.getEntriesByType("resource").filter(({ name }) => name.includes("/recipe/"))
  .map(({ encodedBodySize }) => encodedBodySize)"""
HEAVIEST = 180_000  # bytes, compressed; all that a scene loads has at most 950 kB (test_documents)
# Whether the first readout overlaps the figure although the view is nearly square.
COVERED = """(() => {
  const box = (name) => document.querySelector(`.view ${name}`).getBoundingClientRect();
  const [number, figure] = [box(".headline"), box(".figure")];
  return number.bottom > figure.top + 1 && figure.width / figure.height < 1.25;
})()"""
CUT = "[...document.querySelectorAll('.formula, html')].filter((e) => e.scrollWidth > e.clientWidth).length"
# The visible shares of the main figure and of the tour's card, and the hidden pixels of the card's text. On a
# narrow page the scrubber covers the page below it.
SEEN = """(() => {
  const { card } = p.tour, over = innerWidth <= 700 ? p.part("scrubber").getBoundingClientRect().bottom : 0;
  const share = (e, above) => {
    const { top, bottom, height } = e.getBoundingClientRect();
    return (Math.min(innerHeight, bottom) - Math.max(above, top)) / height;
  };
  const hero = p.root.querySelector(".views > .view");
  return [share(hero, 0), share(card, over), card.scrollHeight - card.clientHeight];
})()"""
# The same for every stop, as soon as its text is shown, without waiting for pictures.
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
    """Whether most of the main figure and the whole card of the tour are visible at once.

    hero, card: the visible shares of the figure and of the card, from 0 to 1. hidden: the height, in pixels,
    of the card's text that is visible only after scrolling inside the card.
    """
    return hero >= 0.7 and card > 0.99 and hidden <= 1


def apart(seen):
    """A message that lists where a tour's card or the main figure is cut off; "" if both are always visible.

    seen: a list of triples (hero, card, hidden), the arguments of `together`, one for each picture of the
    tour. In the message, pictures are numbered from 1. A stop with a question has two: before and after the
    answer.
    """
    cut = [(k, *each) for k, each in enumerate(seen, start=1) if not together(*each)]
    told = "picture {} of the tour: {:.0%} of the hero, {:.0%} of the stop, {:.0f} pixels hidden"
    return "; ".join(told.format(*each) for each in cut)


@pytest.fixture(scope="module", params=scenes().values(), ids=scenes())
def scene(request):
    """Each scene; all tests of one scene run in a row, so that its page is loaded only once."""
    return request.param


@pytest.fixture
def window(window, request):
    """The window size that `kept` sets (see conftest.py); None for `opened`, which sets the size itself."""
    return None if "opened" in request.fixturenames else window


@pytest.fixture
def page(kept):
    return kept


@pytest.fixture
def opened(page, scene):
    """The page of the scene, with reduced motion; it is loaded only if the page shows another scene.

    So the tests of one scene use one page, and each test finds it in the state in which the last one has left
    it.
    """
    if new := page.evaluate("window.openedForScene") != scene.slug:  # left by tests of other files
        page.evaluate("document.body.replaceChildren()")  # remove the previous scene
        page.set_viewport_size(LAPTOP)
    page.emulate_media(reduced_motion="reduce")
    if new:
        page.emulate_media(color_scheme="light")
        visit(page, f"/{scene.slug}")
        page.evaluate(f"window.openedForScene = '{scene.slug}'")
    return page


def test_its_first_screen_is_light_and_explains_its_hero_is_large_and_axe_finds_nothing(opened, scene):
    opened.set_viewport_size(LAPTOP)
    rest(opened)
    slug, size, count = scene.slug, max(opened.evaluate(RECIPE)), opened.evaluate(WORDS)
    keep("light page", slug, 0 < size <= HEAVIEST, f"{size:,} bytes")
    keep("controls", slug, (found := opened.evaluate(OPEN)) <= MOST, found)
    keep("first screen", slug, count >= FEWEST, f"{count} words")
    keep("accessible", slug, not (found := [*barriers(opened), *unseen(opened)]), found)
    keep("clear number", slug, not opened.evaluate(COVERED), "it covers a square figure")
    if scene.slug in DRAWN:
        with pixels_drawn(opened):
            hero, every, off, whole = shares(opened, scene)
        assert hero >= DRAWN[scene.slug] and every >= 0.45 and off <= 0.08 and whole


def test_it_moves_the_fast_way_in_the_dark_on_a_telephone(opened, scene):
    opened.set_viewport_size(TELEPHONE)
    opened.emulate_media(color_scheme="dark", reduced_motion="no-preference")
    for first in recipe_of(scene).parameters[:1]:
        player(opened, "p.set(...value)", [first.name, first.max])
    player(opened, "p.seek(0.4 * p.last)")
    rest(opened)
    slug, slow = scene.slug, player(opened, "p.panels.filter((panel) => !panel.fast).length")
    keep("fast", slug, not slow, f"{slow} panels call Plotly")
    wide = opened.evaluate("document.documentElement.scrollWidth - innerWidth")
    keep("narrow page", slug, wide <= 0, f"{wide} pixels too wide")
    keep("narrow page", slug, not (cut := opened.evaluate(CUT)), f"{cut} things are cut")
    keep("narrow page", slug, opened.evaluate(STACKED), "one thing lies over another")
    assert opened.locator(".text .prose").inner_text()
    opened.evaluate("scrollTo(0, 1500)")
    seen = player(opened, STOPS)
    assert len(seen) >= len(scene.text.tour)
    keep("tour on a telephone", slug, all(together(*each) for each in seen), apart(seen))


def test_the_tour_stays_beside_the_figure(opened, scene):
    opened.set_viewport_size(DESK)
    rest(opened)
    seen = player(opened, STOPS)
    assert len(seen) >= len(scene.text.tour)
    keep("tour on a desk", scene.slug, all(together(*each) for each in seen), apart(seen))


def made_of(recipe):
    """The kinds of marks in each view of a recipe, and the kinds of its readouts: a pair (marks, readouts).

    marks: for each view, a set of triples (class, primitive, whether the mark has no colour scale). readouts:
    the set of the classes of the readouts.
    """
    views = (view.layers for view in recipe.views)
    marks = (frozenset((type(m), m.draws, getattr(m, "color", None) is None) for m in each) for each in views)
    return tuple(marks), frozenset(map(type, recipe.readouts))


def test_what_the_tour_chooses_is_drawn(opened, scene):
    """After a jump to a stop of the tour, the figure comes to rest in the state of this stop.

    Stops with the same kinds of marks and readouts (see `made_of`) are alike, so only one of them is tested.
    """
    opened.set_viewport_size(DESK)
    stops = {made_of(state_of(scene, stop.state).recipe): stop for stop in scene.text.tour}
    for stop in stops.values():
        player(opened, "p.go(value)", stop.state)
        rest(opened, f"({STATE}) === {json.dumps(whole_state(scene, stop))}")
    expect(opened.locator(".notice")).to_be_hidden()


def drag_v(page, angle, steps=12):
    """In the scene `fibre`, turn the arrow v to the direction `angle`, in degrees.

    The pointer drags the arrow's tip around the origin, in the view from above, in `steps` moves.
    """
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
    assert player(page, "p.choose({ show: 'axes' })")
    expect(page.locator(".handle")).to_have_count(1)
    drag_v(page, 200)
    assert player(page, "p.params.phi") == pytest.approx(200, abs=2)


def test_a_query_that_is_dragged_far_stays_in_the_view_and_under_the_pointer(page):
    visit(page, "/select?d=2")
    rest(page)
    (low, high), *_ = player(page, "p.panels[0].view.ranges")
    left, top, wide, tall = player(page, "p.panels[0].drawingBox")
    page.locator(".handle").scroll_into_view_if_needed()
    box = page.locator(".view .figure").first.bounding_box()
    x, y = box["x"] + left + 0.88 * wide, box["y"] + top + 0.5 * tall
    page.mouse.move(*middle(page, ".handle"))
    page.mouse.down()
    for k in range(20):  # the axes follow from frame to frame
        page.mouse.move(x, y + k % 2)
        frames(page)
    page.mouse.up()
    rest(page)
    assert player(page, "p.params.q1") > high
    (west, east), *_ = player(page, "p.panels[0].ranges")
    assert east - west > high - low
    np.testing.assert_allclose(middle(page, ".handle"), (x, y), atol=4)
    assert player(page, "p.panels[0].gd._fullLayout.xaxis.range") == [west, east], "at rest, too"


def test_a_point_in_space_is_dragged_in_the_plane_that_faces_the_camera(page):
    """A dragged point follows the pointer in a plane that faces the camera; sliders move its handle."""
    names = ("x1", "x2", "x3")
    in_space = ".view:first-child .handle"

    def place():
        return np.array(player(page, "value.map((name) => p.params[name])", names))

    visit(page, "/jacobian?progress=2")
    rest(page)
    page.locator(in_space).scroll_into_view_if_needed()
    before, camera = place(), player(page, "p.panels[0].camera()")
    x, y = middle(page, in_space)
    page.mouse.move(x, y)
    page.mouse.down(button="right")
    page.mouse.move(x - 30, y - 20)
    page.mouse.up(button="right")
    assert (place() == before).all()
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 30, y - 20)
    page.mouse.move(x - 60, y - 40)
    page.mouse.up()
    rest(page)
    np.testing.assert_allclose(middle(page, in_space), (x - 60, y - 40), atol=3)
    moved = place() - before
    assert np.linalg.norm(moved) > 0.3
    assert abs(moved @ np.array(camera["eye"])) < 0.02 * np.linalg.norm(camera["eye"])  # a step is 0.01
    assert player(page, "p.panels[0].camera().eye") == pytest.approx(camera["eye"])
    page.locator("#parameter-x3").focus()
    page.keyboard.press("ArrowDown")
    rest(page)
    assert place()[2] < before[2] + moved[2] and middle(page, in_space)[1] > y - 40


def test_v_is_dragged_by_a_finger(new_page):
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True)
    visit(page, "/fibre")
    page.locator(".handle").scroll_into_view_if_needed()
    assert page.locator(".handle").evaluate("(e) => getComputedStyle(e).touchAction") == "none"
    (x, y), scrolled = middle(page, ".handle"), page.evaluate("scrollY")
    finger(page, [(x, y), (x - 10, y - 30), (x - 30, y - 60)])()
    rest(page)
    assert player(page, "p.params.phi") > 30 and page.evaluate("scrollY") == scrolled
