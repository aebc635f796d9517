"""Tokens are dragged while they move: on circle and sphere, under all placements; by finger and key, too."""

import numpy as np
import pytest

from tests.browser.hand import camera, finger, player, rest, touches, until, visit

# The pixels of the tokens of the last draggable mark (NaN for tokens on the far side of a sphere), and of the
# centre.
PLACES = """await (async () => {
  const { eyeOf, flat } = await import("/assets/engine/perspective.mjs");
  const [{ gd, ranges, frame, view }] = [p.panels[0]], { left, top } = gd.getBoundingClientRect();
  const l = view.layers.findLastIndex(({ hand }) => hand?.kind === "relocate");
  const { rows } = view.layers[l], k = rows.length, middle = rows.map(({ offset }) => offset);
  const camera = k === 3 && p.panels[0].camera();
  const pixel = (at) => (camera ? [...flat(Float32Array.from(at), ranges, camera, gd.clientWidth,
    gd.clientHeight)] : p.panels[0].pixel(...at)).map((x, i) => x + [left, top][i]);
  const near = (at) => !camera || eyeOf(ranges, camera).reduce((sum, e, r) =>
    sum + (at[r] - middle[r]) * (e - at[r]), 0) > 0;
  const { points } = frame[l];
  const all = Array.from({ length: points.length / k }, (_, i) => [...points.subarray(k * i, k * i + k)]);
  return [all.map((at) => (near(at) ? pixel(at) : [NaN, NaN])), pixel(middle)];
})()"""
# Events of a pressed pointer that reach the canvas without pointer capture. Chromium sends such a mouseout
# when the pointer is captured, if it has moved by then.
STRAY = """["mousemove", "mouseout"].forEach((type) => p.panels[0].scene.glplot.canvas.dispatchEvent(
  new MouseEvent(type, { bubbles: true, buttons: 1, clientX: value[0], clientY: value[1] })))"""
ON = ("", "d=3&n=64", "placement=all", "placement=all&d=3&n=64")


@pytest.fixture
def page(kept):
    return kept


def places(page):
    found, centre = player(page, PLACES)
    return np.array(found, float), np.array(centre)


def token_and_place(page):
    """The pixel of a visible token that is far from the others, and the pixel to which it shall be dragged.

    The second pixel is a sixth of a turn away around the centre of the circle or sphere, and 0.8 times as far
    from this centre as the token.
    """
    at, centre = places(page)
    seen = np.flatnonzero(~np.isnan(at[:, 0]))
    apart = np.linalg.norm(at[seen, None] - at[seen], axis=-1) + np.where(np.eye(len(seen)), 1e9, 0)
    out = np.linalg.norm(at[seen] - centre, axis=1)
    token = seen[np.argmax(np.where(out > out.max() / 2, apart.min(1), 0))]
    c, s = np.cos(np.pi / 3), np.sin(np.pi / 3)
    way = [[c, -s], [s, c]] @ (at[token] - centre)
    return at[token], centre + 0.8 * way


def off(page, pixel, query):
    """The distance in pixels between the selected token and the place `pixel`.

    With tokens on a circle, the distance is measured to the circle's point in the direction of `pixel`.
    query: the query of the page's link; tokens are on a sphere if it contains "d=3".
    """
    at, centre = places(page)
    way, there = at[player(page, "p.followed")] - centre, pixel - centre
    if "d=3" not in query:
        there = there * np.linalg.norm(way) / np.linalg.norm(there)
    return np.linalg.norm(way - there)


@pytest.mark.parametrize("query", ON)
def test_a_token_is_dragged_while_it_moves(page, query):
    visit(page, f"/particles?progress=0&time=0.2&{query}")
    page.locator(".views").scroll_into_view_if_needed()
    rest(page)
    view = camera(page) if "d=3" in query else None
    start, end = token_and_place(page)
    player(page, "(p.speed = 0.05, p.toggleClock())")  # slow, so that tokens hardly move even in a long frame
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*(start + end) / 2)
    page.mouse.move(*end)
    if view is not None:
        player(page, STRAY, list(end))
    player(page, "(p.then = p.params.time)")
    until(page, "p.params.time > p.then + 0.005 && p.followed === p.params.who0")
    assert player(page, "p.params.time - p.params.when0") < 0.02, "held, it follows the clock"
    assert off(page, end, query) < 12, "it is under the pointer, but for the motion of a frame"
    page.mouse.up()
    when = player(page, "(p.speed = 0.25, p.params.when0)")
    until(page, "p.params.time > p.params.when0 + 0.1")
    assert player(page, "p.params.when0") == pytest.approx(when, abs=0.05), "free, it goes on by itself"
    player(page, "p.toggleClock()")
    rest(page, "location.search.includes('who0=')")
    if view is not None:
        np.testing.assert_allclose(camera(page), view, atol=1e-9)


def test_a_finger_drags_a_token_and_does_not_scroll(new_page):
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True)
    visit(page, "/particles?progress=0&time=0.6&d=3&n=16")
    rest(page)
    scrolled, view = page.evaluate("scrollY"), camera(page)
    start, end = token_and_place(page)
    finger(page, [tuple(start), tuple((start + end) / 2), tuple(end)])()
    until(page, "p.params.who0 === p.followed")
    rest(page)
    assert off(page, end, "d=3") < 3
    assert page.evaluate("scrollY") == scrolled
    np.testing.assert_allclose(camera(page), view, atol=1e-9)


def test_two_fingers_on_tokens_zoom_and_leave_them_where_they_are(new_page):
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True)
    visit(page, "/particles?progress=0&time=0.6&d=3&n=16")
    rest(page)
    first, params = np.linalg.norm(camera(page)), player(page, "p.params")
    put = touches(page, token_and_place(page)[0])
    put("touchStart", f0=(0, 0))
    put("touchStart", f0=(0, 0), f1=(-60, 0))
    for k in range(1, 9):
        put("touchMove", f0=(5 * k, 0), f1=(-60 - 5 * k, 0))
    put("touchEnd")
    until(page, f"Math.hypot(...p.panels[0].camera().eye) < {0.8 * first}")
    rest(page)
    assert player(page, "p.params") == params


TWICE = """for (const key of "aa")
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }))"""


def test_keys_turn_the_followed_token(page):
    visit(page, "/particles?progress=0&time=0.6&follow=5")
    rest(page)
    angle = "Math.atan2(p.drawn('tokens')[5 * W + 1], p.drawn('tokens')[5 * W]) * 180 / Math.PI"
    angle = angle.replace("W", "(p.drawn('tokens').length / 32)")
    before = player(page, angle)
    page.evaluate(TWICE)  # before the next frame
    rest(page)
    assert (player(page, angle) - before + 180) % 360 - 180 == pytest.approx(20, abs=0.2)
    assert player(page, "[p.params.who0, p.params.who1]") == [5, -1], "the same token at the same time"
    for _ in range(4):  # at other times, more than are kept
        player(page, "p.set('time', p.params.time + 0.1)")
        page.keyboard.press("d")
    rest(page)
    assert player(page, "[0, 1, 2, 3].map((k) => p.params['when' + k])") == pytest.approx(
        [1.0, 0.7, 0.8, 0.9]
    )
