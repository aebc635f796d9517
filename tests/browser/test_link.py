"""The link contains the whole state; history; light and dark."""

import re
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.hand import (
    SMALL_2D,
    SMALL_3D,
    TIMEOUT_MS,
    camera,
    drag,
    fetching,
    middle,
    player,
    rest,
    until,
    visit,
)

SAME_CAMERA = 2e-3  # of the eye's coordinates: the link carries three digits


def query(page):
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


def written(page, name):
    """Wait until the link in the page's address has a value for a name."""
    page.wait_for_function(
        "(name) => new URLSearchParams(location.search).has(name)", arg=name, timeout=TIMEOUT_MS
    )


@pytest.fixture
def page(kept):
    return kept


# The colour of the followed point in Plotly's data.
COLOUR = "p.panels[0].gd.data.find((trace) => trace.name === 'the followed point').marker.color"


def test_the_link_has_the_whole_state_and_restores_it(page):
    visit(page, f"/layernorm?{SMALL_3D}&points=ring")
    drag(page, middle(page, ".figure"), (120, 40))
    written(page, "camera")
    player(page, "p.set('gamma2', -0.73)")
    player(page, "p.set('eps', 0)")
    player(page, "p.seek(3.25)")
    player(page, "p.follow(7)")
    written(page, "follow")
    page.click("#theme")
    written(page, "theme")
    state = "[p.choices, p.params, p.progress, p.followed, p.state.theme, Array.from(p.drawn('points'))]"
    before, eye = player(page, state), camera(page)
    page.evaluate("localStorage.removeItem('theme')")  # only the link has the state
    page.goto(page.url)
    until(page, "p.ready")
    assert query(page) | {"camera": ""} == {
        "n": "60",
        "points": "ring",
        "gamma2": "-0.73",
        "eps": "0",
        "progress": "3.25",
        "follow": "7",
        "theme": "light",
        "camera": "",
    }
    assert player(page, state) == before
    assert np.abs(camera(page) - eye).max() < SAME_CAMERA
    link = query(page)
    rest(page)
    assert query(page) == link, "and it stays"


def test_defaults_are_not_written(page):
    visit(page, "/layernorm?n=0400")
    assert player(page, "p.choices.n") == "400", "as the server reads it"
    player(page, "p.set('gamma1', 1.5)")
    written(page, "gamma1")
    page.keyboard.press("r")
    page.wait_for_function("() => location.search === ''", timeout=TIMEOUT_MS)


def test_what_the_hand_has_not_moved_follows_the_choice(page):
    """After a choice, parameters that the reader has not set take the defaults of the new recipe.

    Those that the reader has set keep their values.
    """
    visit(page, f"/layernorm?{SMALL_2D}&gamma1=1.5")
    assert player(page, "(await p.choose({ points: 'worked' }), [p.params.mean, p.params.gamma1])") == [
        0,
        1.5,
    ]
    player(page, "p.set('mean', 0.5)")
    assert player(page, "(await p.choose({ points: 'ring' }), p.params.mean)") == 0.5


def test_back_and_forward_lead_through_choices_and_pages(page):
    page.goto("/")
    page.click("a.card[href='/fold']")
    until(page, "p.ready")
    player(page, "p.set('t', 1.5)")
    page.select_option("#choice-map", "both")
    until(page, "p.ready && p.recipe.chosen.map === 'both'")
    page.click("details.more summary")
    page.select_option("#choice-n", "24")
    until(page, "p.ready && p.recipe.chosen.n === '24'")
    assert query(page) == {"map": "both", "n": "24", "t": "1.5"}
    page.go_back()
    until(page, "p.ready && p.recipe.chosen.n !== '24'")
    expect(page.locator("#choice-map")).to_have_value("both")
    page.go_back()
    until(page, "p.ready && p.recipe.chosen.map !== 'both'")
    assert player(page, "p.params.t") == 1.5, "what had not yet been written when the choice changed"
    page.go_back()
    page.wait_for_selector(".cards", timeout=TIMEOUT_MS)
    scenes = "(window.normscape?.players ?? []).filter((p) => !p.root.dataset.hero).length"
    assert page.evaluate(scenes) == 0, "the front page has no player but its own"
    page.go_forward()
    until(page, "p.ready && p.recipe.chosen.map !== 'both' && p.params.t === 1.5")
    page.go_forward()
    until(page, "p.ready && p.recipe.chosen.map === 'both' && p.recipe.chosen.n !== '24'")


# Hold back answers until the test releases them.
LATE = """async (...all) => {
  await new Promise((go) => { window.letGo = go; });
  return own(...all);
}"""


def test_going_back_at_once_leaves_each_link_as_it_was(page):
    """After Back, the address is that of the earlier state, also while this state is still loading.

    The figure, which shows the later state until then, does not write it into the address.
    """
    visit(page, f"/layernorm?{SMALL_2D}&points=ring")
    page.select_option("#choice-variant", "rmsnorm")
    until(page, "p.ready && p.recipe.chosen.variant === 'rmsnorm'")
    rest(page)
    with fetching(page, LATE):
        player(page, "(window.letGo = null, p.seek(2))")
        page.evaluate("history.back()")
        page.wait_for_function("() => !location.search.includes('rmsnorm')", timeout=TIMEOUT_MS)
        rest(page)  # the old state has settled, the new one is still on its way
        assert query(page) == {"d": "2", "n": "60", "points": "ring"}
        page.wait_for_function("() => window.letGo")
        page.evaluate("letGo()")
        until(page, "p.ready && p.recipe.chosen.variant !== 'rmsnorm'")


# Answer requests for n=61 by an error, and others never.
REFUSING = """async (url, { signal }) => {
  if (url.includes("n=61")) return new Response('{"error": "no such number"}', { status: 400 });
  return new Promise((_, no) => signal.addEventListener("abort", () => no(signal.reason)));
}"""


def test_a_choice_that_is_refused_while_a_link_loads_leaves_the_state_in_the_address(page):
    visit(page, f"/layernorm?{SMALL_2D}")
    page.select_option("#choice-points", "ring")
    rest(page, "p.recipe.chosen.points === 'ring'")
    with fetching(page, REFUSING):
        page.evaluate("history.back()")
        page.wait_for_function("() => !location.search.includes('ring')", timeout=TIMEOUT_MS)
        assert player(page, "p.choose({ n: '61' })") is False
        player(page, "p.set('gamma1', 1.5)")
        written(page, "gamma1")
    assert query(page) == {"d": "2", "n": "60", "points": "ring", "gamma1": "1.5"}


def test_going_back_turns_the_camera_back(page):
    visit(page, f"/layernorm?{SMALL_3D}&camera=1,0.5,0.4")
    page.select_option("#choice-points", "ring")
    rest(page, "p.recipe.chosen.points === 'ring'")
    drag(page, middle(page, ".figure"), (120, 40))
    rest(page)
    assert np.abs(camera(page) - [1, 0.5, 0.4]).max() > 0.1
    page.go_back()
    until(page, "p.ready && p.recipe.chosen.points === 'gaussian'")
    rest(page)
    assert np.abs(camera(page) - [1, 0.5, 0.4]).max() < SAME_CAMERA


def test_a_link_left_in_motion_writes_nothing_onto_the_next_page(page):
    visit(page, f"/layernorm?{SMALL_2D}")
    player(page, "p.set('gamma1', 1.5)")
    page.click("header .brand")
    page.wait_for_selector(".cards", timeout=TIMEOUT_MS)
    page.wait_for_timeout(600)  # longer than REST
    assert urlsplit(page.url)[2:4] == ("/", "")


WRONG = (  # tests/assets/test_link.py tests wrong values and their messages
    ("points=nonsense", "points"),
    ("gamma1=1&gamma1=1", "gamma1"),
    ("theme=constructor", "theme"),
)


@pytest.mark.allow_errors("status of 400")
def test_a_wrong_link_says_what_was_wrong_and_starts_from_defaults(page):
    state = "[p.params.gamma1, p.params.gamma2, p.progress, String(p.choices.n)]"
    for wrong, said in WRONG:
        visit(page, f"/layernorm?{SMALL_2D}&gamma2=1.5&{wrong}")
        notice = page.locator(".notice")
        expect(notice, wrong).to_be_visible()
        expect(notice, wrong).to_have_text(re.compile(rf"\b{said}\b"))
        assert player(page, state) == [1, 1, 0, "400"], wrong
        assert player(page, "document.documentElement.dataset.scheme") in ("light", "dark"), wrong


def test_two_tabs_are_independent(page):
    visit(page, f"/layernorm?{SMALL_2D}")
    other = page.context.new_page()
    visit(other, f"/layernorm?{SMALL_2D}&gamma1=-1")
    player(other, "p.seek(4)")
    written(other, "progress")
    assert player(page, "[p.params.gamma1, p.progress]") == [1, 0]
    assert "progress" not in page.url
    other.close()


def test_light_and_dark(new_page):
    page = new_page(color_scheme="light")
    visit(page, f"/layernorm?{SMALL_2D}")
    light = player(page, COLOUR)
    page.emulate_media(color_scheme="dark")
    until(page, "document.documentElement.dataset.scheme === 'dark'")
    until(page, f"{COLOUR} !== '{light}'")
    dark = player(page, COLOUR)
    page.click("#theme")
    until(page, f"{COLOUR} === '{light}'")
    written(page, "theme")
    assert query(page)["theme"] == "light"
    visit(page, f"/layernorm?{SMALL_2D}")
    assert player(page, COLOUR) == light, "the choice stays"
    visit(page, f"/layernorm?{SMALL_2D}&theme=dark")
    assert player(page, COLOUR) == dark, "a link's theme wins"
    visit(page, f"/layernorm?{SMALL_2D}")
    assert player(page, COLOUR) == light, "for one visit"
