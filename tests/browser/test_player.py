"""The player: its interface for scripts, requests, the camera, figures at rest, the tour, the opening."""

import json
import re

import numpy as np
import pytest
from playwright.sync_api import expect

from components.language.scene import scenes
from components.training import recipes
from components.training.recipes import recipe_of
from geometry.plane import along
from tests.browser.hand import (
    SMALL_2D,
    SMALL_3D,
    STATE,
    TIMEOUT_MS,
    camera,
    difference,
    drag,
    drag_slider,
    fetching,
    finger,
    frames,
    middle,
    move,
    pixels,
    player,
    rest,
    strange,
    touches,
    until,
    visit,
    whole_state,
)

SMALL = {"width": 900, "height": 640}
SAME_CAMERA = 2e-3  # tolerance of the eye's coordinates, of which a link has three digits
SAME_IMAGE = 0.1  # mean absolute difference of 255, as in test_painter
FRAME = 250  # milliseconds of motion that one frame advances at most, as in assets/player/motion.mjs

# The positions of the pickable layer: in the engine, and in Plotly's data.
HELD = """await (async () => {
  const { pointsOf } = await import("/assets/engine/shown.mjs");
  const { positions, stages } = await import("/assets/engine/engine.mjs");
  const all = stages(p.recipe, p.params), at = positions(p.recipe, p.params, p.progress);
  const { layers } = p.recipe.views[0], l = layers.findIndex((layer) => layer.hand?.kind === 'follow');
  const points = pointsOf(layers[l], { ...p.moment, stages: all, at });
  const { x, y, z } = p.panels[0].gd.data[l];
  return [Array.from(points), x.flatMap((_, i) => [x[i], y[i], z[i]])];
})()"""

# For each point of the pickable layer: x and y on the screen, in pixels of the window, and its depth.
PROJECTED = """(() => {
  const panel = p.panels[0], scene = panel.scene, { view, projection, model } = scene.glplot.cameraParams;
  const l = p.recipe.views[0].layers.findIndex((layer) => layer.hand?.kind === 'follow');
  const { x, y, z } = panel.gd.data[l];
  const times = (m, v) => [0, 1, 2, 3].map((r) => v.reduce((s, c, k) => s + m[4 * k + r] * c, 0));
  const box = scene.glplot.canvas.getBoundingClientRect();
  return x.map((_, i) => {
    const at = [x[i], y[i], z[i]].map((c, r) => c * scene.dataScale[r]);
    const [u, v, , depth] = times(projection, times(view, times(model, [...at, 1])));
    return [box.x + (0.5 + u / depth / 2) * box.width, box.y + (0.5 - v / depth / 2) * box.height, depth];
  });
})()"""

# Hold back recipes, except those with d=2, until the test releases them.
HELD_UP = """async (url, ...all) => {
  const another = String(url).includes("/recipe/") && !String(url).includes("d=2");
  if (another) await new Promise((go) => { window.letGo = go; });
  return own(url, ...all);
}"""


@pytest.fixture
def window(window, draws):
    """The window size of a page: small for tests that are marked `pixels`, because these draw everything."""
    return SMALL if draws else window


@pytest.fixture
def page(kept):
    return kept


def hover(page, i):
    """Move the pointer to point i, and return the text of its hover label."""
    x, y, _ = player(page, PROJECTED)[i]
    page.mouse.move(x - 3, y - 3)
    page.mouse.move(x, y, steps=3)
    page.wait_for_selector(".hovertext", timeout=TIMEOUT_MS)
    return page.locator(".hovertext").first.text_content()


def nearest(page):
    """The index of the point that is nearest to the camera, so that nothing hides it."""
    return int(np.argmin([depth for _, _, depth in player(page, PROJECTED)]))


def test_contract(page):
    visit(page, f"/layernorm?{SMALL_2D}")
    assert page.evaluate("normscape.players.length") == 1
    assert player(page, "p.slug") == "layernorm"
    assert player(page, "p.recipe.stages.length") == 6
    assert player(page, "p.progress") == 0
    player(page, "p.set('gamma1', 1.5)")
    player(page, "p.seek(3.7)")
    until(page, "!p.scheduled")
    assert player(page, "p.params.gamma1") == 1.5
    assert player(page, "p.progress") == 3.7
    positions = "(await import('/assets/engine/engine.mjs')).positions(p.recipe, p.params, p.progress)"
    expected = player(page, f"Array.from({positions}.points)")
    drawn = player(page, "Array.from(p.drawn('points'))")
    assert drawn == expected


WRONG = ("p.set('gamma1', 99)", "p.set('gamma1', NaN)", "p.set('delta', 1)")
WRONG += ("p.seek(-1)", "p.seek(5.01)", "p.seek(NaN)")


def test_a_value_that_the_scene_has_not_is_refused(page):
    visit(page, f"/layernorm?{SMALL_2D}")
    before = player(page, "[p.params, p.progress]")
    for wrong in WRONG:
        tried = f"(() => {{ try {{ {wrong}; return 'nothing'; }} catch (error) {{ return error.name; }} }})()"
        assert player(page, tried) == "RangeError", wrong
        assert player(page, "[p.params, p.progress]") == before, wrong


def test_seeking_stops_a_move_and_goes_on_playing(page):
    visit(page, f"/layernorm?{SMALL_2D}")
    player(page, "p.goTo(5)")
    until(page, "p.progress > 0.01")
    player(page, "p.seek(2)")
    rest(page)
    assert player(page, "p.progress") == 2
    player(page, "p.play()")
    until(page, "p.progress > 2.02")
    player(page, "p.seek(4)")
    until(page, "p.playing && p.progress > 4.02")


def test_no_request_while_the_hand_moves_and_while_it_plays(page):
    visit(page, f"/layernorm?{SMALL_2D}")
    rest(page)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    before = player(page, "Array.from(p.stages.points.at(-1))")
    drag_slider(page, "gamma1", -60)
    drag_slider(page, "eps", 50)
    assert player(page, "Array.from(p.stages.points.at(-1))") != before
    player(page, "(p.speed = 4, p.play())")
    until(page, "p.progress > 2")
    player(page, "p.pause()")
    rest(page)
    assert asked == []


def test_speed_changes_without_a_jump(page):
    visit(page, f"/layernorm?{SMALL_2D}")
    player(page, "(p.speed = 0.25, p.goTo(5))")
    until(page, "p.progress > 0.01")
    before, after = player(
        page,
        """(async () => {
          const { done } = p.leg;
          p.speed = 4;
          await new Promise(requestAnimationFrame);
          return [done, p.leg?.done ?? Infinity];
        })()""",
    )
    assert after <= before + 2 * FRAME * 4, "two frames at most, at four times the speed"


def test_the_camera_stays_where_the_hand_left_it(page):
    visit(page, f"/layernorm?{SMALL_3D}")
    first = camera(page)
    player(page, "(p.loop = true, p.play())")
    until(page, "p.progress > 0.1")
    drag(page, middle(page, ".figure"), (140, 50))
    turned = camera(page)
    assert np.abs(turned - first).max() > 0.2, "the drag has turned the scene"
    assert player(page, "p.playing"), "and it plays on"
    then = player(page, "p.progress")
    until(page, f"Math.abs(p.progress - {then}) > 0.1")
    left = camera(page)  # turning runs out within a frame or two
    assert np.abs(left - turned).max() < 0.1
    player(page, "p.pause()")
    rest(page)
    page.wait_for_function("() => location.search.includes('camera=')", timeout=TIMEOUT_MS)
    assert np.abs(camera(page) - left).max() < SAME_CAMERA, "after it has settled"
    drag_slider(page, "gamma2", 40)
    rest(page)
    assert np.abs(camera(page) - left).max() < SAME_CAMERA, "after a slider"
    page.select_option("#choice-points", "ring")
    until(page, "p.ready && p.recipe.chosen.points === 'ring'")
    rest(page)
    assert np.abs(camera(page) - left).max() < SAME_CAMERA, "after a choice"
    page.set_viewport_size({"width": 1100, "height": 760})
    rest(page)
    assert np.abs(camera(page) - left).max() < SAME_CAMERA, "after a resize"


@pytest.mark.pixels
def test_a_drag_that_turns_the_figure_picks_no_point(page):
    visit(page, "/layernorm?n=12&progress=3")
    rest(page)
    i = nearest(page)
    player(page, "p.follow(value)", (i + 1) % 12)
    rest(page)
    first, (x, y, _) = camera(page), player(page, PROJECTED)[i]
    hover(page, i)
    page.mouse.down()
    frames(page, 3)  # Plotly sees a click in the frame in which the button is down
    page.mouse.move(x + 90, y + 30, steps=8)
    page.mouse.up()
    rest(page)
    assert np.abs(camera(page) - first).max() > 0.2
    assert player(page, "p.followed") == (i + 1) % 12


def test_in_a_plane_a_press_that_leaves_a_point_and_comes_back_picks_nothing(page):
    """A press and a release on the same point are a click only if the pointer stays there in between."""
    visit(page, "/stretch")
    rest(page)
    places = """(() => {
      const panel = p.panels[0], { left, top } = panel.gd.getBoundingClientRect();
      const k = panel.view.layers.findIndex(({ hand }) => hand?.kind === "follow");
      const all = panel.pixels(panel.frame[k].points);
      return [10, 40].map((i) => [left + all[2 * i], top + all[2 * i + 1]]);
    })()"""
    (x, y), other = player(page, places)
    page.mouse.click(x, y)
    followed = player(page, "p.followed")
    page.mouse.move(*other)
    page.mouse.down()
    page.mouse.move(other[0] + 60, other[1], steps=3)
    page.mouse.move(*other, steps=3)
    page.mouse.up()
    frames(page, 2)
    assert player(page, "p.followed") == followed
    page.mouse.click(*other)
    until(page, f"p.followed !== {followed}")


def test_a_finger_turns_all_pictures_and_the_link_says_how(new_page):
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True)
    visit(page, "/rmsnorm?progress=1")
    rest(page)
    first = camera(page)
    x, y = middle(page, ".figure")
    finger(page, [(x + 8 * k, y + 3 * k) for k in range(12)])()
    page.wait_for_function("() => location.search.includes('camera=')", timeout=TIMEOUT_MS)
    rest(page)
    assert np.abs(camera(page) - first).max() > 0.1
    one, other = player(page, "p.panels.filter((q) => q.scene).map((q) => q.camera().eye)")
    np.testing.assert_allclose(one, other, atol=SAME_CAMERA)


def test_two_fingers_come_closer_and_do_not_turn_the_figure(new_page):
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True)
    visit(page, f"/layernorm?{SMALL_3D}")
    rest(page)
    first = camera(page)
    x, y = middle(page, ".figure")
    put = touches(page, (x, y))
    put("touchStart", f0=(-40, 0))
    put("touchStart", f0=(-40, 0), f1=(40, 0))
    for k in range(1, 9):
        put("touchMove", f0=(-40 - 5 * k, 0), f1=(40 + 5 * k, 0))
    put("touchEnd", f0=(-80, 0))
    for k in range(1, 9):
        put("touchMove", f1=(80 - 10 * k, 5 * k))
    put("touchEnd")
    until(page, f"Math.hypot(...p.panels[0].camera().eye) < {0.6 * np.linalg.norm(first)}")
    rest(page)
    np.testing.assert_allclose(camera(page), first / 2, rtol=0.02, atol=0.02)
    finger(page, [(x + 8 * k, y) for k in range(12)])()
    until(page, f"Math.abs(p.panels[0].camera().eye[0] - {first[0] / 2}) > 0.05")


def test_two_fingers_zoom_also_where_one_is_on_a_handle(new_page):
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True)
    visit(page, "/jacobian?progress=1")
    page.locator(".handle").first.scroll_into_view_if_needed()
    rest(page)
    first, params = np.linalg.norm(camera(page)), player(page, "p.params")
    put = touches(page, middle(page, ".handle"))
    put("touchStart", f0=(0, 0))
    put("touchStart", f0=(0, 0), f1=(-80, 0))
    for k in range(1, 9):
        put("touchMove", f0=(0, 5 * k), f1=(-80, -10 * k))
    put("touchEnd")
    until(page, f"Math.hypot(...p.panels[0].camera().eye) < {0.8 * first}")
    rest(page)
    assert player(page, "p.params") == params


@pytest.mark.parametrize("way", ["", "#without=buffers"])
def test_the_scene_turns_at_once_after_it_has_settled(page, way):
    """A drag turns the figure at once; Plotly by itself would ignore it for half a second after an update.

    After the drag, when the figure is at rest again, the page requests no animation frames.
    """
    visit(page, f"/layernorm?{SMALL_3D}&gamma1=1.2{way}")
    player(page, "p.seek(2)")
    rest(page)
    first = camera(page)
    drag(page, middle(page, ".figure"), (120, 40))
    frames(page)  # in which Plotly turns it
    assert np.abs(camera(page) - first).max() > 0.2
    assert page.evaluate(STILL, TIMEOUT_MS), "what is at rest asks for no frames"


# Whether the page stops requesting animation frames within `patience` milliseconds.
STILL = """async (patience) => {
  const own = window.requestAnimationFrame, end = performance.now() + patience;
  let asked = 1;
  window.requestAnimationFrame = (call) => { asked++; return own(call); };
  while (asked && performance.now() < end) {
    asked = 0;
    await new Promise((go) => setTimeout(go, 200));
  }
  window.requestAnimationFrame = own;
  return !asked;
}"""


# The largest change of an entry of the camera's matrix within `time` milliseconds.
SWAY = """async (time) => {
  const { view } = normscape.players[0].panels[0].scene.camera;
  const first = [...view.computedMatrix], end = performance.now() + time;
  let far = 0;
  while (performance.now() < end) {
    await new Promise((go) => setTimeout(go, 20));
    far = Math.max(far, ...first.map((x, i) => Math.abs(x - view.computedMatrix[i])));
  }
  return far;
}"""


def test_a_space_opens_where_it_stays(page):
    """A 3D figure is drawn with its final camera at once.

    Plotly by itself would ignore input and move the camera for half a second.
    """
    visit(page, f"/layernorm?{SMALL_3D}")
    assert page.evaluate(SWAY, 400) == 0


@pytest.mark.pixels
def test_cameras_of_one_scene_turn_together(page):
    visit(page, f"/rmsnorm?{SMALL_3D}")
    rest(page)
    drag(page, middle(page, ".view:nth-of-type(2) .figure"), (-90, 30))
    page.wait_for_function("() => location.search.includes('camera=')", timeout=TIMEOUT_MS)
    frames(page, 3)
    left, right = player(page, "p.panels.map((panel) => panel.camera().eye)")
    assert np.abs(np.subtract(left, right)).max() < SAME_CAMERA
    assert np.abs(np.subtract(left, player(page, "p.recipe.views[0].camera"))).max() > 0.1


def test_the_wheel_scrolls_the_page_and_comes_closer_with_ctrl(page):
    visit(page, f"/layernorm?{SMALL_3D}")
    first = camera(page)
    page.mouse.move(*middle(page, ".figure"))
    page.mouse.wheel(0, 200)
    page.wait_for_function("() => scrollY > 0", timeout=TIMEOUT_MS)
    assert np.allclose(camera(page), first)
    page.evaluate("scrollTo(0, 0)")
    page.keyboard.down("Control")
    page.mouse.wheel(0, -200)
    page.keyboard.up("Control")
    until(page, f"Math.hypot(...p.panels[0].camera().eye) < {0.9 * np.linalg.norm(first)}")


@pytest.mark.pixels
def test_at_rest_hover_and_data_tell_where_the_points_are_and_a_click_follows_one(page):
    visit(page, "/layernorm?n=12")
    rest(page)
    hover(page, nearest(page))  # also of a figure that has just been opened
    drag_slider(page, "mean", -50)
    player(page, "p.seek(3)")
    rest(page)
    shown, held = player(page, HELD)
    assert np.allclose(shown, held, atol=1e-6)
    text = hover(page, nearest(page))
    i, *numbers = (float(x.replace("−", "-")) for x in re.findall(r"[-−]?\d+(?:\.\d+)?", text))
    at = player(page, "Array.from(p.drawn('points'))")[3 * int(i) : 3 * int(i) + 3]
    assert np.allclose(numbers, at, atol=0.006), "hover shows two digits"
    player(page, "p.play()")
    page.wait_for_selector(
        ".hovertext", state="hidden", timeout=TIMEOUT_MS
    )  # no stale hover label while points move
    rest(page, "!p.playing")
    i = nearest(page)
    player(page, "p.follow(value)", (i + 1) % 12)
    rest(page)
    hover(page, i)
    page.mouse.down()
    frames(page, 3)  # Plotly sees a click in the frame in which the button is down
    page.mouse.up()
    until(page, f"p.followed === {i}")
    rest(page)
    assert "camera" not in page.url, "a click turns nothing"
    assert f"Point {i}," in page.locator(".numbers table:not(.facts) caption").text_content()
    first = page.locator(".numbers table:not(.facts) tbody tr").first.locator("td").first.text_content()
    assert abs(float(first.replace("−", "-")) - player(page, "p.stages.points[0][3 * p.followed]")) < 1e-3


def test_the_saved_picture_shows_the_present_state(page):
    def saved(page):
        rest(page)
        if not page.locator("[aria-label='Save the picture']").is_visible():
            page.click("[aria-label='More buttons']")
        with page.expect_download(timeout=TIMEOUT_MS) as download:
            page.click("[aria-label='Save the picture']")
        assert download.value.suggested_filename == "layernorm.png"
        return pixels(download.value.path().read_bytes(), 400)

    page.set_viewport_size(SMALL)
    visit(page, f"/layernorm?{SMALL_2D}")
    before = saved(page)
    # sideways: a link does not store a rotation of the view from straight above
    drag(page, middle(page, ".figure"), (140, 0))
    player(page, "p.set('gamma1', 1.8)")
    player(page, "p.seek(4)")
    after = saved(page)
    page.goto(page.url)  # a new document: only the link has the state
    assert difference(after, saved(page)) < SAME_IMAGE
    assert difference(after, before) > 5 * SAME_IMAGE


@pytest.mark.allow_errors("no drawing today")
def test_a_figure_that_cannot_be_drawn_says_so(new_page):
    page = new_page()
    visit(page, f"/layernorm?{SMALL_2D}")
    player(page, "(p.panels[0].settle = async () => { throw new Error('no drawing today'); }, 0)")
    page.select_option("#choice-points", "ring")
    page.locator(".notice", has_text="could not be drawn").wait_for(timeout=TIMEOUT_MS)


def test_the_tour_leads_from_stop_to_stop(page):
    visit(page, "/layernorm")
    rest(page)
    page.click(".head .on")
    until(page, "p.camera")
    page.click(".guide .on")
    page.click(".guide .question button")  # this stop asks first
    until(page, "p.progress > 0.5")
    assert page.locator(".tour .current").count() == 1
    rest(page)
    assert player(page, "p.progress") == 1


def test_back_and_forward_lead_from_stop_to_stop(page):
    """The browser's Back and Forward lead from stop to stop: caption and figure belong to the same stop.

    Back from the first stop closes the tour.
    """
    scene = scenes()["cone"]
    visit(page, "/cone")
    page.click(".head .on")

    def shows(stop):
        rest(page, f"p.tour.current === {stop - 1}")
        state = json.dumps(whole_state(scene, scene.text.tour[stop - 1]))
        until(page, f"({STATE}) === {state}")
        expect(page.locator(".guide .count")).to_have_text(f"{stop} of {len(scene.text.tour)}")

    shows(1)
    page.click(".guide .on")
    page.click(".guide .question button")
    shows(2)
    page.click(".guide .on")
    until(page, "p.tour.current === 2")
    page.go_back()
    shows(2)
    page.go_back()
    shows(1)
    page.go_forward()
    shows(2)
    page.go_back()
    page.go_back()
    expect(page.locator(".guide")).to_be_hidden()
    rest(page)
    assert page.url.endswith("/cone")


def test_a_choice_before_the_answer_has_no_entry_in_the_history(page):
    """A choice made while a stop's question is open adds no entry to the browser's history.

    So after the answer, Back leads from this stop to the previous one, in the figure and in the caption.
    """
    scene = scenes()["cone"]
    visit(page, "/cone?progress=1")
    page.click(".head .on")
    page.click(".guide .on")
    page.select_option("#choice-what", "line")
    rest(page, "p.recipe.chosen.what === 'line'")
    page.click(".guide .question button")
    rest(page, f"({STATE}) === {json.dumps(whole_state(scene, scene.text.tour[1]))}")
    page.go_back()
    rest(page, f"({STATE}) === {json.dumps(whole_state(scene, scene.text.tour[0]))}")
    expect(page.locator(".guide .count")).to_have_text("1 of 6")


def test_back_skips_the_stops_of_a_closed_tour(page):
    """After a tour is closed, Back leads to the state before the tour; then Forward opens its stops again.

    If the figure was moving when the tour started, Back leads to the stage at which the motion would have
    ended.
    """
    visit(page, "/cone?progress=1")
    player(page, "(p.goTo(0), p.root.querySelector('.head .on').click())")
    player(page, "(p.tour.visit(1), p.tour.visit(2))")
    page.get_by_role("button", name="Close").click()
    page.select_option("#choice-what", "line")
    rest(page, "p.recipe.chosen.what === 'line'")
    page.go_back()
    rest(page, "p.recipe.chosen.what === 'cut'")
    expect(page.locator(".guide")).to_be_hidden()
    page.go_back()
    rest(page, "location.search === '' && p.progress === 0")
    expect(page.locator(".guide")).to_be_hidden()
    page.go_forward()
    expect(page.locator(".guide .count")).to_have_text("1 of 6")


def test_back_skips_the_stops_of_every_closed_tour(page):
    """After several closed tours, Back skips the stops of each of them.

    This holds also after a reload of the page, and after Forward has led past the stops.
    """
    visit(page, "/cone?progress=1")

    def tour(stop):
        page.click(".head .on")
        player(page, f"p.tour.visit({stop})")
        page.get_by_role("button", name="Close").click()
        rest(page)

    def goes(by, offset):
        page.evaluate(f"history.go({by})")
        rest(page, f"history.state.at === {first} + {offset}")
        expect(page.locator(".guide")).to_be_hidden()

    first = page.evaluate("history.state.at")
    tour(1)
    tour(2)
    goes(-1, 3)
    goes(-1, 0)
    goes(3, 3)
    goes(-1, 0)
    goes(3, 3)
    page.reload()
    rest(page)
    goes(-1, 0)
    page.go_forward()
    expect(page.locator(".guide .count")).to_have_text("1 of 6")


def test_a_link_to_a_place_on_the_page_leaves_the_tour_open(page):
    """A link to a heading of the same page (#…) does not close the tour, and leaves the figure as it is.

    Back and Forward leave the tour open, too, if they only change a choice. Once the tour is closed, Back
    skips the history entry of this link.
    """
    visit(page, "/cone")
    player(page, "p.tour.visit(0)")
    rest(page, "p.tour.current === 0")
    counting = "((restore) => () => { p.restored += 1; return restore.call(p); })"
    player(page, f"(p.restored = 0, p.restore = {counting}(p.restore), location.hash = '#question')")
    page.wait_for_function("history.state?.at !== undefined")
    rest(page, "p.tour.current === 0")
    assert player(page, "p.restored") == 0
    page.select_option("#choice-what", "line")
    rest(page, "p.recipe.chosen.what === 'line'")
    page.go_back()
    rest(page, "p.recipe.chosen.what === 'cut'")
    page.go_forward()
    rest(page, "p.recipe.chosen.what === 'line'")
    expect(page.locator(".guide .count")).to_have_text("1 of 6")
    page.get_by_role("button", name="Close").click()
    page.go_back()
    rest(page, "p.recipe.chosen.what === 'cut' && !location.hash")
    expect(page.locator(".guide")).to_be_hidden()


def test_a_stop_fixes_the_whole_state(page):
    """A stop sets choices, clock, progress, followed point and camera, whatever the state before."""
    scene = scenes()["spiral"]
    visit(page, "/spiral?seed=3&curve=accuracy&step=40&follow=7&progress=1&camera=1,1,1")
    rest(page)
    for k in (4, 1, 0):
        player(page, "p.tour.visit(value)", k)
        until(
            page, f"p.ready && !p.leg && ({STATE}) === {json.dumps(whole_state(scene, scene.text.tour[k]))}"
        )


def test_what_the_reader_sets_while_a_stop_arrives_stays_as_set(page):
    """A stop whose recipe arrives late does not replace values that the reader has set in the meantime.

    The reader presses a key, types a number, is still typing another one, and holds a slider. The new recipe
    is shown only when the reader neither types nor holds a slider.
    """
    visit(page, f"/layernorm?{SMALL_2D}")
    with fetching(page, HELD_UP):
        visit(page, f"/layernorm?{SMALL_2D}&tour=1")
        until(page, "p.tour.current === 0 && window.letGo")
        page.focus("#parameter-gamma1")
        page.keyboard.press("ArrowRight")
        page.fill("#parameter-beta1-value", "0.3")
        page.keyboard.press("Enter")
        page.fill("#parameter-beta2-value", "0.2")
        player(page, "letGo()")
        page.wait_for_timeout(300)
        x, y = middle(page, "#parameter-mean")
        page.mouse.move(x, y)
        page.mouse.down()  # which takes the number
        page.wait_for_timeout(300)
        page.mouse.move(x + 20, y, steps=3)
        held = player(page, "[p.params.mean, p.choices.d]")
        page.mouse.up()
    rest(page, "p.choices.d === '3'")
    stop = recipes.state_of(scenes()["layernorm"], scenes()["layernorm"].text.tour[0].state)
    own = {"gamma1": 1.01, "beta1": 0.3, "beta2": 0.2, "mean": held[0]}
    assert held[1] == "2" and held[0] != stop.params["mean"]
    assert player(page, "p.params") == {**stop.params, **own} and player(page, "p.followed") == stop.follow
    page.wait_for_function("() => location.search.includes('gamma1=1.01')")


def test_a_run_ends_with_the_plane_edge_on(page):
    """During a run, the camera turns, at the same distance, until the separating plane appears as a line."""
    visit(page, "/labels?data=xor&progress=2.9&camera=0.629,-0.629,0.343")
    rest(page)
    before, recipe = camera(page), recipe_of(scenes()["labels"], data="xor")
    player(page, "p.play()")
    rest(page, "!p.playing && p.progress === p.last")
    corners = recipe.positions(recipe.defaults, recipe.progress)["plane"]
    sides = np.diff(recipe.views[0].ranges)[:, 0]  # of the cube that a camera is measured in
    away, normal = along(corners[:, 0])
    after = camera(page)
    off = [abs(eye @ (sides * normal) - away) / sides.max() for eye in (before, after)]
    assert off[1] < SAME_CAMERA < 0.1 * off[0]
    assert np.linalg.norm(after) == pytest.approx(np.linalg.norm(before), abs=SAME_CAMERA)


def test_a_scene_shows_itself_once_until_it_is_touched(new_page):
    """On a first visit a scene plays once, and any key stops it where it is; on later visits it stays still.

    Even on a first visit, it does not play if its link asks for a state, or the reader prefers reduced
    motion.
    """
    page = new_page()
    strange(page)
    for link, motion in (("/fold?progress=1", "no-preference"), ("/fold", "reduce")):
        page.emulate_media(reduced_motion=motion)
        page.goto(link)
        until(page, "p.ready")
        assert not player(page, "p.opening || p.playing || p.leg"), link
        assert page.evaluate("localStorage.visited") == "fold"
        page.evaluate("localStorage.visited = ''")
    page.emulate_media(reduced_motion="no-preference")
    page.goto("/fold")
    until(page, "p.ready && p.opening && (p.speed = 0.1)")  # it lasts until the key comes
    until(page, "p.opening && p.progress > 0.2")
    page.keyboard.press("x")
    until(page, "!p.opening && !p.leg && !p.playing")
    where = player(page, "p.progress")
    rest(page)
    assert 0 < where < player(page, "p.last") and player(page, "p.progress") == where
    page.goto("/fold")
    until(page, "p.ready")
    assert not player(page, "p.opening || p.playing"), "once"


@pytest.mark.parametrize("act", ["wheel", "Tab", "Enter", "click"])
def test_any_action_at_the_play_button_pauses_the_opening(new_page, act):
    """A click, Enter, Tab or the wheel at the play button pauses the opening, and does not restart it."""
    page = new_page()
    strange(page)
    page.goto("/fold")
    until(page, "p.ready && p.opening && (p.speed = 0.1)")
    if act == "wheel":
        page.mouse.move(*middle(page, ".play"))
        page.mouse.wheel(0, 1)
    elif act == "click":
        page.mouse.click(*middle(page, ".play"))
    else:
        page.focus(".play")
        page.keyboard.press(act)
    until(page, "!p.opening && !p.leg && !p.playing")
    rest(page)
    assert 0 < player(page, "p.progress") < player(page, "p.last")


def test_ten_thousand_points_move_the_fast_way(page):
    visit(page, "/layernorm?n=10000")
    move(page, {"mean": 0.2}, 2.5)
    assert player(page, "p.panels[0].fast")
    assert player(page, "p.drawn('points').length") == 30_000
