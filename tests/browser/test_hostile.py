"""Hasty readers, a dead server, invalid input: nothing breaks, and the page reports the problem."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from components.pages import modules
from tests.browser.hand import (
    SMALL_2D,
    TIMEOUT_MS,
    difference,
    drag_slider,
    fetching,
    planes,
    player,
    rest,
    until,
    visit,
)

SHIFTED_PICTURE = 1.5  # mean absolute difference of 255
SLOW_ANSWERS = """async (url, options) => {
  if (String(url).includes("/recipe/")) await new Promise((go) => setTimeout(go, delays.shift() ?? 0));
  return own(url, options);
}"""
DEEP = modules.names("page/attend")[-1]  # a module that others import
OF_TRAINING = next(m for m in modules.names("player/training")[1:] if m not in modules.names("page/attend"))
OFFLINE = "ERR_INTERNET_DISCONNECTED|Failed to load resource"
NO_ANSWER = "The server does not answer. This page keeps asking"
CHOOSE = """(pairs) => { for (const [name, value] of pairs) {
  const control = document.getElementById(`choice-${name}`);
  control.value = value;
  control.dispatchEvent(new Event("change", { bubbles: true }));
} }"""


@pytest.fixture
def page(kept):
    return kept


@pytest.mark.parametrize("delays", [[600, 300, 0, 0], [0, 0, 400, 0]])
def test_of_rapid_choices_the_latest_wins(page, delays):
    visit(page, f"/layernorm?{SMALL_2D}")
    page.evaluate("(delays) => { window.delays = delays; }", delays)
    with fetching(page, SLOW_ANSWERS):
        page.evaluate(CHOOSE, [["d", "4"], ["points", "lattice"], ["d", "2"], ["variant", "rmsnorm"]])
        until(page, "p.ready && p.recipe.chosen.variant === 'rmsnorm'")
        page.wait_for_timeout(800)  # longer than any answer still on its way
        rest(page)
    assert player(page, "[p.recipe.chosen.d, p.recipe.chosen.points, p.panels.length, p.panels[0].is3d]") == [
        "2",
        "lattice",
        1,
        False,
    ]
    assert page.evaluate("Object.fromEntries(new URLSearchParams(location.search))") == {
        "variant": "rmsnorm", "d": "2", "points": "lattice", "n": "60",
    }  # fmt: skip
    assert page.input_value("#choice-d") == "2"
    drag_slider(page, "gamma1", 30)
    player(page, "p.play()")
    until(page, "p.progress > 0.2")


def test_choices_while_it_plays_and_while_a_slider_moves(page):
    visit(page, f"/layernorm?{SMALL_2D}")
    player(page, "p.play()")
    for name, value in (
        ("d", "4"),
        ("n", "1700"),
        ("d", "3"),
        ("points", "worked"),
        ("d", "2"),
        ("points", "ring"),
    ):
        page.evaluate(CHOOSE, [[name, value]])
        player(page, "p.set('gamma1', value)", len(value) / 4)
        player(page, "p.play()")
        page.wait_for_timeout(120)
    until(page, "p.ready && p.recipe.chosen.points === 'ring' && p.recipe.chosen.d === '2'")
    player(page, "p.pause()")
    rest(page)
    assert player(page, "p.panels.every((panel) => panel.fast)")


def test_a_page_left_while_it_loads(new_page):
    page = new_page()
    page.goto("/words")

    def leave():
        page.get_by_role("button", name="Scenes").click()
        page.locator(".menu a[href='/layernorm']").click()

    for _ in range(2):
        leave()
        until(page, "normscape.players.length === 1")
        page.go_back()
        page.wait_for_selector("#softmax", timeout=TIMEOUT_MS)
    leave()
    until(page, "p.ready")
    assert page.evaluate("normscape.players.length") == 1


@pytest.mark.allow_errors("ERR_CONNECTION_REFUSED|Failed to load resource")
def test_the_server_dies_under_an_open_page(mortal, new_page):
    base, process = mortal
    page = new_page(known=base)
    visit(page, f"{base}/layernorm?{SMALL_2D}")
    rest(page)
    process.kill()
    process.wait()
    drag_slider(page, "gamma1", -40)
    gamma = player(page, "p.params.gamma1")
    assert gamma < 1
    player(page, "p.play()")
    until(page, "p.progress > 0.2")
    player(page, "p.pause()")
    page.select_option("#choice-points", "ring")
    page.wait_for_selector(".notice:has-text('The server does not answer')", timeout=TIMEOUT_MS)
    assert player(page, "[p.recipe.chosen.points, p.params.gamma1]") == ["gaussian", gamma]
    assert page.input_value("#choice-points") == "gaussian", "the list shows what the picture shows"
    player(page, "p.seek(3)")
    page.wait_for_url("**progress=3**")
    assert player(page, "p.drawn('points').every(Number.isFinite)")


@pytest.mark.allow_errors(OFFLINE)
@pytest.mark.parametrize(
    ("scene", "stop", "before", "after"),
    [
        ("fibre", 7, "p.choices.show === 'fibre'", "p.choices.show === 'axes' && p.progress === 1"),
        # the second stop is at a stage that the first one's recipe does not have
        ("jacobian", 6, "p.choices.pass === 'forward'", "p.choices.pass === 'backward' && p.progress === 4"),
    ],
)
def test_a_stop_without_an_answer_is_asked_again_unless_the_reader_has_moved_on(
    new_page, scene, stop, before, after
):
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True)
    visit(page, f"/{scene}?tour={stop}&progress=1")
    rest(page, before)
    to, notice = page.locator(".guide .steps button"), page.locator(".notice")
    for moves_on in ("Back", "Close", ""):
        page.context.set_offline(True)
        to.filter(has_text="Next").click()
        expect(notice).to_contain_text(NO_ANSWER)
        buttons = to.last.bounding_box()
        assert buttons["y"] + buttons["height"] <= 844, "the notice leaves the tour's buttons in the window"
        if moves_on:
            to.filter(has_text=moves_on).click()
            expect(notice).to_be_hidden()
        page.context.set_offline(False)
        if moves_on:
            page.wait_for_timeout(1000)  # nothing is to happen
            assert player(page, f"[{before}, p.wanted]") == [True, None]
        if moves_on == "Close":
            assert player(page, "p.tour.current") == -1
            player(page, "p.tour.visit(value)", stop - 1)
            rest(page, before)
    until(page, after.split(" &&")[0])
    rest(page, after)
    expect(notice).to_be_hidden()


@pytest.mark.allow_errors(OFFLINE)
def test_a_link_without_an_answer_is_followed_later_with_what_the_reader_sets_meanwhile(new_page):
    page = new_page()
    visit(page, f"/layernorm?{SMALL_2D}&progress=1")
    rest(page)
    page.select_option("#choice-d", "4")
    until(page, "p.choices.d === '4'")
    rest(page)
    page.context.set_offline(True)
    page.go_back()
    expect(page.locator(".notice")).to_contain_text(NO_ANSWER)
    drag_slider(page, "gamma1", -40)
    gamma = player(page, "p.params.gamma1")
    page.wait_for_timeout(1000)  # a second request, also without an answer
    assert gamma < 1 and "d=2" in page.url
    page.context.set_offline(False)
    until(page, "p.choices.d === '2'")
    rest(page)
    assert player(page, "p.params.gamma1") == gamma
    page.wait_for_url("**gamma1=**", timeout=TIMEOUT_MS)
    expect(page.locator(".notice")).to_be_hidden()


@pytest.mark.allow_errors(OFFLINE)
def test_choices_made_without_an_answer_are_all_carried_out(new_page):
    """A recording and a norm that are chosen while the server is unreachable are both shown later.

    Usually a new recording resets the norm to its default. Here the norm is chosen after the recording, so
    the choice must stay, although the chosen number, 3, is also the number of the norm shown before.
    """
    page = new_page()
    visit(page, "/model?norm=3&progress=1")
    rest(page)
    page.context.set_offline(True)
    player(page, "void p.choose({recording: value})", "minilm")
    expect(page.locator(".notice")).to_contain_text(NO_ANSWER)
    player(page, "void p.choose({norm: '3'})")
    page.wait_for_timeout(500)  # the second request gets no answer either
    page.context.set_offline(False)
    rest(page, "p.choices.recording === 'minilm'")
    assert player(page, "[p.choices.norm, p.recipe.chosen.norm].map(String)") == ["3", "3"]


def test_a_recipe_that_does_not_come_is_told_until_it_comes(new_page):
    page = new_page()
    held = []
    page.route("**/recipe/**", lambda route: held.append(route))
    page.goto(f"/layernorm?{SMALL_2D}")
    page.wait_for_selector(".notice:has-text('still loading')", timeout=TIMEOUT_MS)
    told = page.get_by_role("status").filter(has_text="still loading")
    expect(told).to_contain_text("“LayerNorm, moved by hand”")
    held[0].continue_()
    until(page, "p.ready")
    expect(page.locator(".notice")).to_be_hidden()
    page.select_option("#choice-points", "ring")
    page.wait_for_selector(".notice:has-text('still loading')", timeout=TIMEOUT_MS)
    page.select_option("#choice-points", "gaussian")  # the ring, chosen first, is no longer awaited
    page.wait_for_selector(".notice", state="hidden", timeout=TIMEOUT_MS)


@pytest.mark.allow_errors("status of 400")
def test_what_was_wrong_is_said_however_long_the_figure_takes(new_page):
    page, held = new_page(), []
    page.route("**/lib/**", lambda route: held.append(route))
    page.goto("/fold?t=9", wait_until="commit")
    page.wait_for_selector(".notice:has-text('still loading')", timeout=TIMEOUT_MS)
    for route in held:
        route.continue_()
    until(page, "p.ready")
    page.wait_for_selector(".notice:has-text('t=9')", timeout=TIMEOUT_MS)


@pytest.mark.allow_errors("ERR_FAILED|ERR_BLOCKED")
@pytest.mark.parametrize(
    ("module", "link"),
    [
        ("page/attend", "/fold"),
        (DEEP, "/fold"),
        (OF_TRAINING, "/spiral?n=40&depth=1"),
        ("page/load_dash", "/spiral?n=40&depth=1"),
    ],
)
def test_a_module_that_is_blocked_is_told(new_page, module, link):
    """A page reports a module that is blocked, even one that only training needs."""
    page = new_page()
    page.route(f"**/assets/*/{module}.mjs", lambda route: route.abort())
    page.goto(link)
    page.wait_for_selector(".unmoved:has-text('reload the page')", timeout=TIMEOUT_MS)


@pytest.mark.parametrize("dash", ["", "constructor() { throw new Error('no'); }"], ids=["silent", "throws"])
def test_a_training_panel_that_is_never_rendered_is_told(new_page, dash):
    """If Dash starts, but renders nothing, a message replaces the panel's inert copy."""
    page = new_page()
    page.route(
        "**/_dash-component-suites/**", lambda route: route.fulfill(body="", content_type="text/javascript")
    )
    page.route(
        "**/dash-renderer/**",
        lambda route: route.fulfill(
            body=f"window.DashRenderer = class {{ {dash} }};", content_type="text/javascript"
        ),
    )
    visit(page, "/spiral?n=40&depth=1")
    page.locator(".training").evaluate("(e) => { e.open = true; }")
    page.wait_for_selector(".training [role=alert]:has-text('did not load')", timeout=TIMEOUT_MS)
    assert not page.locator(".training .until").count()


@pytest.mark.parametrize("path", ["/fold", "/embed/fold"])
def test_a_module_that_does_not_come_is_told_until_it_comes(new_page, path):
    page = new_page()
    held = []
    page.route(f"**/assets/*/{DEEP}.mjs", lambda route: held.append(route))
    page.goto(path, wait_until="commit")
    page.wait_for_selector(".unmoved, .notice:has-text('still loading')", timeout=TIMEOUT_MS)
    held[0].continue_()
    until(page, "p.ready")
    page.wait_for_selector(".unmoved", state="detached", timeout=TIMEOUT_MS)
    expect(page.locator(".notice")).to_be_hidden()


def test_the_modules_run_without_being_bundled(page, monkeypatch):
    """A page works with separate JavaScript modules, which the server sends if it has no current bundle."""
    monkeypatch.setattr(modules, "folders", lambda: (modules.ASSETS,))
    own = re.compile(r"/assets/\w+/(\w+/[\w/]+\.mjs)$")
    served = []

    def fulfil(route):
        served.append(own.search(route.request.url)[1])
        route.fulfill(body=modules.asset(served[-1]), content_type="text/javascript")

    page.route(own, fulfil)
    visit(page, "/fold")
    rest(page)
    assert "player/player.mjs" in served


@pytest.mark.allow_errors("status of 400")
def test_a_choice_that_does_not_suit_the_vectors_is_refused_in_a_notice(page):
    visit(page, "/layernorm?points=own&vectors=1+2+3&d=3&progress=1")
    rest(page)
    page.select_option("#choice-d", "2")
    page.wait_for_selector(".notice:has-text('3 numbers, but d = 2. The picture is as it was.')")
    expect(page.locator("#choice-vectors")).not_to_have_attribute("aria-invalid", "true")
    assert page.input_value("#choice-d") == "3"


@pytest.mark.allow_errors("status of 400")
def test_nonsense_vectors_are_named_by_their_line(page):
    visit(page, "/layernorm?points=own&d=2")
    rest(page)
    before, shown = player(page, "Array.from(p.drawn('points'))"), planes(page)
    for nonsense, line in (("1 2\n4 x", 2), ("1 2\n4 5\n7", 3), ("hello", 1)):
        page.fill("#choice-vectors", nonsense)
        page.press("#choice-vectors", "Tab")
        page.wait_for_selector(f".choice > .hint:has-text('line {line}')", timeout=TIMEOUT_MS)
        expect(page.locator("#choice-vectors")).to_have_attribute("aria-invalid", "true")
        assert player(page, "Array.from(p.drawn('points'))") == before
        assert page.input_value("#choice-vectors") == nonsense, "what was typed stays to be mended"
    rest(page)
    after = planes(page)  # the message may shift the figure by a fraction of a pixel
    height, width = np.minimum(after.shape, shown.shape)[:2]
    assert difference(after[:height, :width], shown[:height, :width]) < SHIFTED_PICTURE
    page.fill("#choice-vectors", "1 2\n4 5.5")
    page.press("#choice-vectors", "Tab")
    until(page, "p.ready && p.drawn('points').length === 4")
    expect(page.locator(".choice > .hint:not(:empty), .choice [aria-invalid=true]")).to_have_count(0)


@pytest.mark.allow_errors("status of 400")
def test_a_number_of_points_out_of_range(page):
    visit(page, f"/layernorm?{SMALL_2D}")
    page.fill("#choice-n", "20000")
    page.press("#choice-n", "Enter")
    page.wait_for_selector(".choice > .hint:has-text('20000')", timeout=TIMEOUT_MS)
    assert player(page, "p.drawn('points').length") == 120
