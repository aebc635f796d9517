"""Native controls: sliders with a name, a value and a number field; the scrubber; keys."""

import pytest
from playwright.sync_api import expect

from tests.browser.hand import (
    SMALL_2D,
    SMALL_3D,
    TIMEOUT_MS,
    finger,
    frames,
    middle,
    player,
    rest,
    until,
    visit,
)

LINK = f"/layernorm?{SMALL_2D}"


@pytest.fixture
def page(kept):
    return kept


def test_a_slider_has_a_name_and_a_value(page):
    visit(page, LINK)
    for label, name in (("mean", "mean"), ("ε", "eps"), ("γ₁", "gamma1"), ("β₂", "beta2")):
        slider = page.get_by_role("slider", name=label, exact=True)
        assert slider.get_attribute("id") == f"parameter-{name}"
        assert slider.get_attribute("aria-valuetext")
        assert page.get_by_role("textbox", name=f"{label}, value").is_visible()
    assert page.get_by_role("slider", name="ε", exact=True).get_attribute("aria-valuetext") == "1e-5"


def test_letters_of_the_formula_are_sliders(page):
    """Letters of the formula are sliders: γ by drag, by key and by double click, ε by key.

    While γ is dragged, its value is shown. A double click sets it to its default. The fields beside the
    figure show the same values.
    """
    visit(page, LINK)
    letter = page.locator(".formula .symbol", has_text="γ")
    x, y = middle(page, ".formula .symbol")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y, steps=3)
    assert page.locator(".dragged").inner_text() == "γ₁ = 2\u2002γ₂ = 2"
    page.mouse.up()
    assert page.locator(".dragged").is_hidden()
    assert [player(page, f"p.params.gamma{k}") for k in (1, 2)] == [2, 2]
    page.keyboard.press("ArrowLeft")
    assert player(page, "p.params.gamma2") == 1.99
    assert player(page, "p.leg") is None, "the arrows belong to the letter, not to the stages"
    rest(page)
    assert page.input_value("[aria-label='γ₁, value']") == "1.99" and "gamma2=1.99" in page.url
    told = page.get_by_role("slider", name="γ₁, γ₂, in the formula")
    assert told.get_attribute("aria-valuetext") == "γ₁ = 1.99\u2002γ₂ = 1.99"
    letter.dblclick()
    assert player(page, "p.params.gamma2") == 1
    eps = page.get_by_role("slider", name="ε, in the formula")
    eps.press("Home")
    assert player(page, "p.params.eps") == 0
    eps.press("ArrowRight")
    assert player(page, "p.params.eps") == 1e-8


def test_letters_of_the_formula_get_the_focus_in_the_order_of_the_formula(page):
    """The key Tab reaches the formula's letters that are sliders in the order of the formula.

    Beside the figure, their parameters have another order. A parameter whose symbol is not in the formula has
    no letter.
    """
    visit(page, "/layernorm?progress=1")
    letters = page.locator(".formula .symbol").all_text_contents()
    names = page.locator(".formula .letter").evaluate_all("(all) => all.map((each) => each.ariaLabel[0])")
    assert names == list(dict.fromkeys(letters)) == ["γ", "ε", "β"]


def test_letters_of_the_formula_are_moved_by_a_finger(new_page):
    """A finger that drags a letter does not scroll the page; the bubble with the value is fully visible.

    A finger that begins just beside the letter drags it, too.
    """
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True)
    visit(page, LINK)
    x, y = middle(page, ".formula .symbol")
    lift = finger(page, [(x, y), (x + 20, y + 40), (x + 40, y + 80)])
    words = page.locator(".dragged", has_text="γ₁ = 1.67\u2002γ₂ = 1.67")
    words.wait_for()
    box = words.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 390
    lift()
    words.wait_for(state="hidden")
    assert player(page, "p.params.gamma2") == 1.67 and page.evaluate("scrollY") == 0
    finger(page, [(x + 15, y + 15), (x - 5, y + 15), (x - 25, y + 15)])()
    assert player(page, "p.params.gamma2") == 1, "a finger that is not quite there, too"


def test_a_scroll_that_begins_beside_a_letter_of_the_formula_leaves_its_parameter(new_page):
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True)
    visit(page, f"{LINK}&gamma2=0.5")
    rest(page)
    page.evaluate("addEventListener('pointercancel', () => (window.cancelled = true))")
    x, y = middle(page, ".formula .symbol")
    lift = finger(page, [(x + 2 * min(k, 4), y + 25 - 12 * k) for k in range(12)])
    page.wait_for_function("() => window.cancelled && scrollY > 0", timeout=60_000)
    lift()
    assert player(page, "[p.params.gamma1, p.params.gamma2]") == [1, 0.5]


def test_a_scroll_that_begins_on_a_slider_leaves_its_value(new_page):
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True)
    visit(page, f"{LINK}&gamma1=1.5")
    rest(page)
    values = "const range = document.querySelector('#parameter-gamma1');"
    page.evaluate(f"{values} addEventListener('input', () => (range.dataset.moved = range.value))")
    page.locator("#parameter-gamma1").evaluate("(range) => range.scrollIntoView({ block: 'end' })")
    frames(page)
    scrolled = page.evaluate("scrollY")
    x, y = middle(page, "#parameter-gamma1")
    finger(page, [(x, y - 12 * k) for k in range(16)])()
    restored = f"() => {{ {values} return range.dataset.moved && range.value === '1.5' }}"
    page.wait_for_function(restored, timeout=20_000)
    rest(page)
    assert page.evaluate("scrollY") > scrolled and player(page, "p.params.gamma1") == 1.5
    assert "gamma1=1.5" in page.url


def test_arrow_keys_move_a_slider_and_a_double_click_resets_it(page):
    visit(page, LINK)
    page.focus("#parameter-gamma1")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert player(page, "p.params.gamma1") == 1.02
    assert player(page, "p.leg") is None, "the arrows belong to the slider, not to the stages"
    page.mouse.dblclick(*middle(page, "#parameter-gamma1"))
    assert player(page, "p.params.gamma1") == 1
    rest(page)
    assert page.input_value("[aria-label='γ₁, value']") == "1"


def test_the_logarithmic_slider_ends_in_an_exact_zero(page):
    visit(page, LINK)
    page.focus("#parameter-eps")
    page.keyboard.press("Home")
    assert player(page, "p.params.eps") == 0
    seen = []
    for _ in range(3):
        page.keyboard.press("ArrowRight")
        seen.append(player(page, "p.params.eps"))
    assert seen == [1e-8, 1.12e-8, 1.26e-8]
    page.keyboard.press("End")
    assert player(page, "p.params.eps") == 10
    page.keyboard.press("Home")
    rest(page)
    assert "eps=0" in page.url


def test_a_number_typed_is_taken(page):
    visit(page, LINK)
    entry = page.locator("[aria-label='γ₁, value']")
    for typed, value in {"0.5": 0.5, "0,25": 0.25, "−1.5": -1.5, " 2 ": 2, "-1e-1": -0.1}.items():
        entry.fill(typed)
        entry.press("Enter")
        assert player(page, "p.params.gamma1") == value, typed
        assert entry.get_attribute("aria-invalid") == "false", typed


def test_a_wrong_number_is_named_and_changes_nothing(page):
    visit(page, LINK)
    entry, hint = page.locator("[aria-label='γ₂, value']"), page.locator("#parameter-gamma2-hint")
    before = player(page, "p.params")
    for typed in ("abc", "", "3", "-2.01", "1e400", "0.5.5", "NaN"):
        entry.fill(typed)
        entry.press("Tab")
        assert player(page, "p.params") == before, typed
        assert entry.get_attribute("aria-invalid") == "true", typed
        assert hint.text_content() == "a number from -2 to 2"
        assert entry.input_value() == typed, "what was typed stays to be mended"
        entry.press("Escape")
        assert entry.get_attribute("aria-invalid") == "false", typed
        assert entry.input_value() == "1"


def test_a_slider_that_moves_mends_its_entry(page):
    visit(page, LINK)
    entry = page.locator("[aria-label='γ₁, value']")
    entry.fill("abc")
    entry.press("Tab")
    page.focus("#parameter-gamma1")
    page.keyboard.press("ArrowLeft")
    rest(page)
    assert entry.input_value() == "0.99"
    assert entry.get_attribute("aria-invalid") == "false"


@pytest.mark.parametrize("link", [f"/embed/layernorm?{SMALL_2D}", "/embed/strands"])
def test_labels_of_stages_never_overlap(page, link):
    """The labels of the stages, on the scrubber, do not overlap in windows of three widths.

    In a wide window each label has the stage's name. Where there is less room, only the label of the present
    stage has a name, and the others have numbers.
    """
    visit(page, link)
    for width, name_count in ((1200, "labels.length"), (560, "1"), (800, "1 || names === labels.length")):
        page.set_viewport_size({"width": width, "height": 700})
        until(
            page,
            """(() => {
                const labels = [...document.querySelectorAll(".stop")];
                const isShown = (label) => label.checkVisibility({ visibilityProperty: true });
                const boxes = labels.filter(isShown).map((label) => {
                    const text = document.createRange();
                    text.selectNodeContents(label);
                    return text.getBoundingClientRect();
                });
                const names = labels.filter((label) => label.lastChild.offsetWidth).length;
                const apart = boxes.every(({ left }, k) => !k || left > boxes[k - 1].right);
                return apart && (names === NAMES);
            })()""".replace("NAMES", name_count),
        )


def test_the_scrubber_has_the_stages_as_stops(page):
    visit(page, LINK)
    stops = page.locator(".stop")
    assert page.locator(".stop .name").all_text_contents() == player(page, "p.recipe.stages")
    assert page.locator(".stop .nth").all_text_contents() == [*"012345"], "as the keys have them"
    assert page.get_by_role("button", name="1 centre", exact=True).count() == 1
    parameter = next(p for p in player(page, "p.recipe.parameters") if p["about"] and not p["folded"])
    slider = page.locator(f"#parameter-{parameter['name']}")
    expect(slider).to_have_accessible_description(parameter["about"])
    assert page.get_by_role("slider", name="Progress through the stages").is_visible()
    stops.nth(2).click()
    rest(page)
    assert player(page, "p.progress") == 2
    assert stops.nth(2).get_attribute("aria-current") == "step"
    assert page.locator(".formula .marked").count() > 0
    page.focus(".progress")
    page.keyboard.press("ArrowLeft")
    rest(page)
    assert player(page, "p.progress") == 1
    x, y = middle(page, ".progress")
    page.mouse.click(x, y)
    rest(page)
    assert abs(player(page, "p.progress") - 2.5) < 0.05


def test_buttons_play_pause_step_and_loop(page):
    visit(page, LINK)
    page.click("[aria-label='Step on (→)']")
    rest(page)
    assert player(page, "p.progress") == 1
    page.click("[aria-label='Step back (←)']")
    rest(page)
    assert player(page, "p.progress") == 0
    player(page, "(p.speed = 0.1, 0)")  # it plays until the click comes
    page.click("[aria-label='Play (space)']")
    until(page, "p.progress > 0.2")
    page.click("[aria-label='Pause (space)']")
    assert not player(page, "p.playing")
    page.select_option("[aria-label='Speed']", "4")
    page.click("[aria-label='Loop']")
    assert page.get_attribute("[aria-label='Loop']", "aria-pressed") == "true"
    player(page, "p.seek(4.9)")
    page.click("[aria-label='Play (space)']")
    until(page, "p.playing && p.progress > 0.1 && p.progress < 2")
    page.click("[aria-label='Loop']")
    player(page, "[p.seek(4.9), p.play()]")  # it may have come to its end by now
    rest(page, "!p.playing && p.progress === 5")
    page.select_option("#choice-points", "ring")
    until(page, "p.ready && p.recipe.chosen.points === 'ring'")
    assert page.input_value("[aria-label='Speed']") == "4", "a new recipe keeps the speed"


def test_a_list_that_is_open_stays_open_when_a_recipe_arrives(page):
    visit(page, LINK)
    page.click("#choice-points")
    before = page.query_selector("#choice-points:open")
    assert before, "the browser says which list is open"
    player(page, "p.choose({ variant: 'rmsnorm' })")
    rest(page, "p.recipe.chosen.variant === 'rmsnorm'")
    assert page.input_value("#choice-variant") == "rmsnorm", "the other list shows what has arrived"
    assert before.evaluate("(list) => list.isConnected && list.matches(':open')")
    page.keyboard.press("Escape")
    player(page, "p.choose({ points: 'ring' })")
    rest(page, "p.recipe.chosen.points === 'ring'")
    assert page.input_value("#choice-points") == "ring"


def test_keys(page):
    visit(page, LINK)
    page.keyboard.press("3")
    rest(page)
    assert player(page, "p.progress") == 3
    page.keyboard.press("ArrowRight")
    rest(page)
    assert player(page, "p.progress") == 4
    page.keyboard.press("ArrowLeft")
    rest(page)
    assert player(page, "p.progress") == 3
    page.keyboard.press("9")
    rest(page)
    assert player(page, "p.progress") == 5, "the last stage"
    player(page, "p.set('gamma1', 2)")
    page.keyboard.press("r")
    rest(page)
    assert player(page, "[p.progress, p.params.gamma1]") == [0, 1]
    player(page, "(p.speed = 0.1, 0)")  # it plays until the next key comes
    page.keyboard.press(" ")
    assert player(page, "p.playing")
    page.keyboard.press(" ")
    assert not player(page, "p.playing")
    page.focus("#parameter-gamma1")
    page.keyboard.press(" ")
    assert player(page, "p.playing"), "also with the hand on a slider, which has no use for the key"
    page.keyboard.press(" ")
    page.keyboard.press("?")
    page.wait_for_selector("dialog[open]", timeout=TIMEOUT_MS)
    page.keyboard.press("r")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached", timeout=TIMEOUT_MS)
    page.keyboard.press("f")
    page.wait_for_function("() => document.fullscreenElement?.matches('.scene')", timeout=TIMEOUT_MS)
    views, stage = page.locator(".views").bounding_box(), page.locator(".scrubber").bounding_box()
    assert views["height"] > 400
    assert stage["y"] + stage["height"] <= page.evaluate("innerHeight")
    page.keyboard.press("f")
    page.wait_for_function("() => !document.fullscreenElement", timeout=TIMEOUT_MS)


def test_keys_typed_into_a_field_do_nothing_else(page):
    visit(page, f"/layernorm?{SMALL_3D}&points=own")
    vectors = page.input_value("#choice-vectors")
    for field in ("[aria-label='γ₁, value']", "#choice-vectors"):
        page.focus(field)
        for key in ("5", " ", "r", "f", "?", "ArrowRight"):
            page.keyboard.press(key)
        assert player(page, "[p.leg, p.playing, p.progress]") == [None, False, 0]
        assert page.locator("dialog").count() == 0
        assert page.evaluate("document.fullscreenElement") is None
    # the typed text is no list of vectors, so the server would refuse it when the page closes
    page.locator("#choice-vectors").evaluate("(field, text) => { field.value = text; }", vectors)


def test_who_asks_for_calm_sees_steps_without_motion(page):
    page.emulate_media(reduced_motion="reduce")
    visit(page, LINK)
    frames(page, 3)
    assert player(page, "[p.playing, p.progress]") == [False, 0]
    player(
        page, "void (p.seen = [], function f() { if (p.seen?.push(p.progress)) requestAnimationFrame(f); }())"
    )
    page.keyboard.press("ArrowRight")
    until(page, "p.progress === 1")
    page.keyboard.press(" ")
    until(page, "p.progress === 2")
    page.keyboard.press(" ")
    rest(page)
    assert set(player(page, "[p.seen, p.seen = null][0]")) == {0, 1, 2}
    page.click(".head .on")
    until(page, "p.camera")
    assert player(page, "p.flight") is None


@pytest.mark.allow_errors("400")
def test_check_boxes_of_a_refused_choice_show_the_present_one_again(page):
    visit(page, "/activation")
    boxes = page.locator(".choice.several input")
    before = [box.is_checked() for box in boxes.all()]
    page.route("**/recipe/**", lambda route: route.fulfill(status=400, json={"error": "too much"}), times=1)
    boxes.first.click()
    page.get_by_text("too much. The picture is as it was.").wait_for()
    assert [box.is_checked() for box in boxes.all()] == before
    boxes.first.click()
    until(page, "p.choices.others !== 'tanh'")
    assert [box.is_checked() for box in boxes.all()] == [not before[0], *before[1:]]
