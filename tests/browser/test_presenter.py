"""Presenter mode: full screen, clicker, laser pointer, questions; and links that show some controls."""

from itertools import pairwise

import pytest
from playwright.sync_api import expect

from components.language.scene import scenes
from tests.browser.hand import SMALL_2D, TIMEOUT_MS, frames, player, rest, until, visit

PAGE = f"/layernorm?{SMALL_2D}"
STOPS = scenes()["layernorm"].text.tour
ASKS = next(k for k, stop in enumerate(STOPS) if stop.question)


@pytest.fixture
def page(kept):
    return kept


def present(page, link=PAGE):
    visit(page, link)
    page.keyboard.press("p")
    page.wait_for_selector(".presenting")


def current(page):
    return player(page, "p.tour.current")


# Parts of a presentation in a narrow window, from top to bottom.
PARTS = (".stage > .formula", ".headline", ".view > .figure", ".stage > .scrubber", ".controls")

SHOWN = (
    """(all) => all.filter((e) => e.checkVisibility({ visibilityProperty: true })).map((e) => e.className)"""
)

IDS = "(all) => all.filter((e) => e.checkVisibility()).map((e) => e.id)"

# Record in `turned` whether the browser enters full screen, or refuses it.
TURNED = """window.turned = "";
for (const kind of ["fullscreenchange", "fullscreenerror"])
  document.addEventListener(kind, () => { window.turned ||= kind; }, { once: true });"""


def test_on_a_large_screen_the_texts_of_the_figure_grow_with_those_around_it(page):
    """A presentation enlarges the texts of the figure, by a factor of 1.4 to 1.5, until it ends."""
    fonts = "p.panels.map(({ gd }) => gd.layout.xaxis.tickfont.size)"
    page.set_viewport_size({"width": 1920, "height": 1080})
    visit(page, "/fold")
    rest(page)
    before = player(page, fonts)
    page.keyboard.press("p")
    rest(page, f"{fonts}.every((size, k) => size > 1.4 * {before}[k])")
    scales = player(page, "p.panels.map(({ scale }) => scale)")
    assert all(1.4 < scale < 1.5 for scale in scales)
    assert player(page, fonts) == pytest.approx([x * y for x, y in zip(before, scales, strict=True)])
    page.keyboard.press("p")
    rest(page, f"{fonts}.every((size, k) => size === {before}[k])")
    assert set(player(page, "p.panels.map(({ scale }) => scale)")) == {1}


def test_the_figure_fills_the_screen(page):
    visit(page, f"{PAGE}&tour=1")
    for width, height in ((1440, 900), (1024, 768)):
        page.set_viewport_size({"width": width, "height": height})
        rest(page, f"innerWidth === {width}")
        for _ in range(20):  # a window that has just changed is sometimes refused
            page.evaluate(TURNED)
            page.keyboard.press("p")
            page.wait_for_function("() => window.turned", timeout=TIMEOUT_MS)
            if page.evaluate("turned") == "fullscreenchange":
                break
            page.keyboard.press("Escape")
        page.wait_for_function("() => document.fullscreenElement?.matches('.presenting')")
        rest(page)
        shown = page.locator("button, input, select, a, h1").evaluate_all(SHOWN)
        assert set(shown) == {"progress", "stop", "", "entry"}
        assert page.locator(".controls input").evaluate_all(IDS) == ["parameter-mean", "parameter-mean-value"]
        page.wait_for_function(
            "() => normscape.players[0].panels.every(({ gd }) => gd._fullLayout.width === gd.clientWidth)"
        )
        box, caption = page.locator(".views").bounding_box(), page.locator(".guide").bounding_box()
        assert box["width"] * box["height"] > 0.45 * width * height
        assert caption["y"] + caption["height"] <= height
        assert page.locator(".guide .words").evaluate("(e) => parseFloat(getComputedStyle(e).fontSize)") >= 16
        page.keyboard.press("p")
        page.wait_for_function("() => !document.fullscreenElement && !document.querySelector('.presenting')")
        expect(page.locator(".controls > .guide")).to_be_visible()
        expect(page.locator(".tools")).to_be_visible()


def test_on_a_wide_screen_a_table_stands_under_the_card_and_leaves_the_pictures_their_height(page):
    page.set_viewport_size({"width": 1440, "height": 900})
    present(page, "/drift?tour=2")
    player(page, "p.tour.answer(0)")
    rest(page, "p.root.matches('.with-table')")
    stage, card, table = (
        page.locator(part).first.bounding_box() for part in (".stage", ".controls", ".numbers")
    )
    assert stage["height"] > 800 and stage["x"] + stage["width"] <= table["x"]
    assert card["y"] + card["height"] <= table["y"] and table["y"] + table["height"] <= 900
    assert page.locator(".numbers table").evaluate_all(
        "(all) => all.every((e) => e.scrollWidth <= e.parentElement.clientWidth)"
    )


def test_beside_a_table_pictures_stay_large_and_controls_inside_the_card(page):
    """In a presentation with a table beside the figure, pictures stay large and controls stay in their card.

    The test shows the last stop of the scene `model`, whose text speaks of the table.
    """
    stops = scenes()["model"].text.tour
    page.set_viewport_size({"width": 1024, "height": 768})
    present(page, f"/model?recording=trained&norm=9&progress=1&tour={len(stops)}")
    rest(page, "p.root.matches('.with-table')")
    assert page.locator(".view .figure").first.bounding_box()["height"] > 240
    card = page.locator(".controls").bounding_box()
    fields = page.locator(".controls :is(input, select):visible").all()
    assert len(fields) == 2
    for field in fields:
        box = field.bounding_box()
        assert box["x"] + box["width"] <= card["x"] + card["width"] and box["width"] > 100


@pytest.mark.parametrize("link", ["/layernorm?n=60&tour=4", "/fibre?tour=7"])
def test_on_a_small_screen_the_tables_of_a_stop_are_visible_as_a_whole(page, link):
    page.set_viewport_size({"width": 1024, "height": 768})
    present(page, link)
    rest(page, "p.root.matches('.with-table')")
    hidden = page.locator(".numbers, .numbers .scroll").evaluate_all(
        "(all) => all.map((e) => [e.scrollWidth - e.clientWidth, e.scrollHeight - e.clientHeight])"
    )
    assert len(hidden) > 1 and not any(map(any, hidden))


def test_on_a_small_screen_graphs_above_a_clock_keep_their_height(page):
    page.set_viewport_size({"width": 1024, "height": 768})
    present(page, "/placement?tour=8")
    rest(page)
    tall = page.locator(".view.flat .figure").evaluate_all("(all) => all.map((e) => e.clientHeight)")
    assert len(tall) == 2 and min(tall) > 240


def test_the_reason_of_a_refusal_stands_under_its_field(page):
    """The message about a refused value is below its field, and no wider than the row of the field.

    The message is set and measured in one JavaScript call, because the player may empty it at any time.
    """
    present(page, f"{PAGE}&tour=8")
    rest(page)
    choice = page.locator(".controls .choice:has(.hint):visible").first
    row, field, hint = choice.evaluate(
        """(choice, words) => {
          choice.querySelector(".hint").textContent = words;
          const parts = [choice, choice.querySelector("select, input"), choice.querySelector(".hint")];
          return parts.map((part) => part.getBoundingClientRect().toJSON());
        }""",
        "A reason of some length, such as that of a number that is too large.",
    )
    assert hint["height"] and hint["top"] >= field["bottom"]
    assert hint["right"] <= row["right"] + 1


# The number fields that are cut off, outside the card, or over another field or the name of their vector.
WRONG_FIELDS = """([...all]) => {
  const card = document.querySelector(".controls").getBoundingClientRect();
  const name = document.querySelector(".group.vector:has(.mentioned) legend").getBoundingClientRect();
  const over = (a, b) =>
    a.left < b.right && b.left < a.right && a.top < b.bottom - 4 && b.top < a.bottom - 4;
  const boxes = all.map((e) => e.getBoundingClientRect());
  return all.filter((e, k) => e.scrollWidth > e.clientWidth || boxes[k].right > card.right
    || [name, ...boxes.slice(0, k)].some((other) => over(boxes[k], other))).map((e) => e.id);
}"""


def test_the_number_fields_of_a_vector_stand_beside_each_other(page):
    """In a presentation, the number fields of a vector stand side by side in the card.

    The vector has five fields. Then the test adds a sixth, a copy of the last, and checks all again.
    """
    for width, height in ((1280, 800), (1440, 1000), (1024, 768), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        present(page, "/strands?tour=5")
        fields = page.locator(".controls .group.vector .entry:visible")
        expect(fields).to_have_count(5)
        assert fields.evaluate_all(WRONG_FIELDS) == [], (width, height)
        page.evaluate(
            """() => {
              const last = document.querySelector(".group.vector:has(.mentioned) .slider:last-child");
              const copy = last.cloneNode(true);
              last.after(copy);
              copy.querySelector(".entry").value = "−1.25";
            }"""
        )
        expect(fields).to_have_count(6)
        assert fields.evaluate_all(WRONG_FIELDS) == [], (width, height)
        page.keyboard.press("p")


def test_no_part_overlaps_another(page):
    present(page, "/fold?progress=0")
    page.keyboard.press("End")
    rest(page)
    formula, headline = (page.locator(part).bounding_box() for part in (".formula math", ".headline span"))
    assert formula["x"] + formula["width"] < headline["x"]
    page.set_viewport_size({"width": 360, "height": 225})  # a zoom of 400 %
    frames(page)
    parts = [page.locator(f"{part} >> nth=0").bounding_box() for part in PARTS]
    for upper, lower in pairwise(parts):
        assert upper["height"] > 0 and upper["y"] + upper["height"] <= lower["y"] + 1
    assert page.locator(".presenting").evaluate("(e) => e.scrollHeight > e.clientHeight"), "scrolls"
    page.set_viewport_size({"width": 1280, "height": 800})


def test_the_focus_stays_when_a_stop_rebuilds_the_page(page):
    """When a stop of the tour rebuilds the formula and the stages, the keyboard focus stays where it is.

    It stays on the same stage or letter of the formula. If this no longer exists, it goes to the picture.
    """
    focus = "document.activeElement.id || document.activeElement.className"
    present(page, "/fold?progress=0")
    page.locator(".stop").nth(1).focus()
    player(page, "p.tour.visit(p.tour.last)")
    rest(page, "p.state.choices.map === 'both'")
    assert page.evaluate(focus) == "stage-fold-1"
    page.locator(".formula .letter").first.focus()
    player(page, "p.tour.visit(0)")
    rest(page, "p.state.choices.map !== 'both'")
    assert page.evaluate(focus).startswith(("letter-fold-", "figure "))


def test_a_clicker_leads_through_the_tour(page):
    present(page)
    page.keyboard.press("PageDown")
    assert current(page) == 0 and page.locator(".guide h2").inner_text() == STOPS[0].title
    page.keyboard.press("End")
    assert current(page) == len(STOPS) - 1
    page.keyboard.press("PageUp")
    page.keyboard.press("ArrowLeft")
    assert current(page) == len(STOPS) - 3
    page.keyboard.press("Home")
    assert current(page) == 0
    rest(page)
    player(page, "(p.speed = 0.1, 0)")  # it plays until the next key comes
    page.keyboard.press(" ")
    assert player(page, "p.playing")
    page.keyboard.press("b")
    assert not player(page, "p.playing")
    page.keyboard.press("Escape")  # handled by the browser itself in full screen
    page.evaluate("document.fullscreenElement && document.exitFullscreen()")
    page.wait_for_selector(".presenting", state="detached")


def test_back_at_the_first_stop_leads_to_the_last_one_of_the_scene_before(new_page):
    page = new_page()
    visit(page, "/rmsnorm?tour=1")
    page.keyboard.press("p")
    page.wait_for_selector(".presenting")
    page.keyboard.press("PageUp")
    page.wait_for_url("**/layernorm*")
    page.wait_for_selector(".presenting")
    assert current(page) == len(STOPS) - 1
    page.close()


@pytest.mark.allow_errors("ERR_FAILED|502")
def test_without_a_network_the_presentation_stays_and_says_why(new_page):
    """While the next page cannot be opened, the presentation stays in its scene, and shows a notice.

    This holds without a network, and if a proxy answers in place of the server. A key removes the notice.
    """
    page = new_page()
    faults = [lambda route: route.abort(), lambda route: route.fulfill(status=502)]
    # before the page opens, because Chromium applies a new route to an open page only a moment later
    page.route("**/rmsnorm?*", lambda route: faults.pop(0)(route) if faults else route.continue_())
    present(page, f"{PAGE}&tour={len(STOPS)}")
    notice = page.locator(".presenting .notice")
    for _ in range(2):
        page.keyboard.press("PageDown")
        expect(notice).to_contain_text("cannot be opened")
        expect(notice).to_be_visible()
        page.keyboard.press("l")
        expect(notice).to_be_hidden()
    page.keyboard.press("PageDown")
    page.wait_for_url("**/rmsnorm?*")
    page.wait_for_selector(".presenting")
    page.close()


def test_a_presentation_that_ends_while_the_next_page_loads_does_not_go_on_there(new_page):
    page = new_page()
    visit(page, f"{PAGE}&tour={len(STOPS)}")
    page.evaluate(LEAVE_WHILE_LOADING)
    page.keyboard.press("p")
    page.wait_for_selector(".presenting")
    page.keyboard.press("PageDown")
    page.wait_for_url("**/rmsnorm?*")
    until(page, "p.ready")
    assert not page.locator(".presenting").count()
    page.close()


# Press × as soon as the browser begins to load the page of the next scene. Full screen, which would have to
# end first, is not available.
LEAVE_WHILE_LOADING = """const set = Storage.prototype.setItem;
Element.prototype.requestFullscreen = undefined;
void (Storage.prototype.setItem = function (...all) {
  set.apply(this, all);
  if (all[1] === "handed over") queueMicrotask(() => document.querySelector(".leave").click());
});"""


def test_a_reload_continues_the_presentation_and_another_visit_does_not(new_page):
    page = new_page()
    visit(page, PAGE)
    page.keyboard.press("p")
    page.wait_for_selector(".presenting")
    page.keyboard.press("PageDown")
    page.keyboard.press("PageDown")
    page.reload()
    page.wait_for_selector(".presenting")
    until(page, "p.ready && p.tour.current === 1")
    page.evaluate(TURNED)
    page.keyboard.press("PageDown")
    page.wait_for_function("() => turned")  # a browser enters full screen only at a key press
    page.goto("/fold")
    for _ in range(2):
        until(page, "p.ready")
        assert not page.locator(".presenting").count()
        page.reload()
    page.close()


def test_the_key_r_shows_the_stop_afresh(page):
    """While presenting, R restores the state of the stop."""
    k = next(k for k, stop in enumerate(STOPS) if not stop.question and float(stop.state.get("progress", 0)))
    present(page, f"{PAGE}&tour={k + 1}")
    rest(page)
    at = player(page, "p.progress")
    player(page, "p.goTo(0)")
    rest(page, "p.progress === 0")
    page.keyboard.press("r")
    rest(page, f"Math.abs(p.progress - {at}) < 1e-9")
    assert at > 0 and current(page) == k


def test_a_number_that_is_typed_does_not_keep_the_keys(page):
    """In a number field, Enter sets the number, after which keys work; Page Down leads to the next stop."""
    present(page, "/outlier?tour=3")
    rest(page, "p.params.a === 30")
    field = page.locator(".controls .mentioned .entry").first
    for key in ("Enter", "PageDown"):
        field.fill("0")
        field.press(key)
        if key == "Enter":
            until(page, "p.params.a === 0")
            page.keyboard.press("r")
            rest(page, "p.params.a === 30")
    until(page, "p.choices.norm === 'rmsnorm' && p.params.a === 30")
    assert current(page) == 3
    page.keyboard.press("p")


# Press and release the laser's key at once. In two calls from the test, the key could count as held.
TAP = """for (const kind of ["keydown", "keyup"])
  document.body.dispatchEvent(new KeyboardEvent(kind, { key: "l", bubbles: true }));"""


def test_the_frame_of_the_focus_is_around_the_card_not_on_its_text(page):
    present(page, f"{PAGE}&tour=1")
    page.keyboard.press("PageDown")
    page.locator(".guide h2").focus()
    drawn = "(element) => getComputedStyle(element).outlineStyle"
    assert page.locator(".guide").evaluate(drawn) == "none"
    assert page.locator(".controls").evaluate(drawn) == "solid"
    page.keyboard.press("p")


def test_the_laser_follows_the_pointer_and_catches_no_click(page):
    present(page)
    dot = page.locator(".laser")
    assert dot.is_hidden()
    page.evaluate(TAP)
    page.mouse.move(300, 200)
    frames(page)
    box = dot.bounding_box()
    assert (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) == pytest.approx((300, 200), abs=1)
    assert page.evaluate("getComputedStyle(document.elementFromPoint(300, 200)).cursor") == "none"
    assert not page.evaluate("document.elementFromPoint(300, 200).matches('.laser')")
    page.evaluate(TAP)
    assert dot.is_hidden()
    page.keyboard.down("l")
    assert dot.is_visible()
    page.wait_for_timeout(500)  # longer than HOLD_MS in assets/page/present.mjs
    page.keyboard.up("l")
    assert dot.is_hidden(), "it was held"


def test_a_question_hides_the_motion_until_it_is_answered(page):
    asked, before = STOPS[ASKS], STOPS[ASKS - 1]
    visit(page, f"{PAGE}&tour={ASKS + 1}")
    until(
        page, f"p.tour.current === {ASKS} && p.ready && !p.leg && p.progress === {before.state['progress']}"
    )
    assert (
        page.locator(".guide .question").is_visible()
        and asked.answers[0] in page.locator(".guide").inner_text()
    )
    assert page.locator(".guide .words").inner_text().count("tails") == 0
    wrong = (asked.right + 1) % len(asked.answers)
    page.locator(".guide .question button").nth(wrong).focus()
    page.keyboard.press("Enter")
    until(page, f"p.ready && !p.leg && p.progress === {asked.state['progress']}")
    said = page.locator(".guide [aria-live=polite]").inner_text()
    assert f"No. The answer is: {asked.answers[asked.right]}." in said and "tails" in said
    assert page.evaluate("document.activeElement.textContent") == "Next"
    page.get_by_role("button", name="Back", exact=True).click()
    page.get_by_role("button", name="Next", exact=True).click()
    expect(page.locator(".guide .question"), "one that is answered is not asked again").to_have_count(0)


def test_digits_answer_and_a_clicker_reveals(page):
    present(page, f"{PAGE}&tour={ASKS + 1}")
    page.wait_for_selector(".guide .question")
    page.keyboard.press("9")
    assert page.locator(".guide .question").count(), "there is no ninth answer"
    page.keyboard.press(str(STOPS[ASKS].right + 1))
    assert "Right:" in page.locator(".verdict").inner_text()
    later = next(k for k, stop in enumerate(STOPS) if stop.question and k > ASKS)
    player(page, "p.tour.visit(value)", later)
    page.wait_for_selector(".guide .question")
    page.keyboard.press("PageDown")
    rest(page)
    page.keyboard.press("1")
    rest(page)
    assert str(player(page, "p.progress")) == STOPS[later].state["progress"], "a digit only answers"
    assert current(page) == later and "The answer:" in page.locator(".verdict").inner_text()
    page.keyboard.press("PageDown")
    assert current(page) == later + 1


def test_a_teachers_link_shows_some_controls(page, server):
    visit(page, PAGE)
    page.get_by_role("button", name="Share, embed").click()
    page.locator(".teacher summary").click()
    boxes = page.locator(".teacher input[type=checkbox]")
    assert boxes.evaluate_all("(all) => all.every((box) => box.checked)")
    for box in boxes.all():
        if box.evaluate("(e) => e.parentElement.textContent") not in ("γ₁", "dimension"):
            box.uncheck()
    page.select_option("#teacher-stop", "1")
    link = page.get_by_label("Teacher's link", exact=True).input_value()
    assert link == f"{server}{PAGE}&controls=d,gamma1&tour=1"
    visit(page, link)
    until(page, "p.tour.current === 0")
    controls = ".controls :is(input[type=range], select), .scrubber :is(button, input)"
    page.wait_for_function(
        """(controls) => [...document.querySelectorAll(controls)].filter((e) => e.checkVisibility())
          .map((e) => e.id).join() === "choice-d,parameter-gamma1\"""",
        arg=controls,
    )
    page.focus("#parameter-gamma1")
    page.keyboard.press("ArrowRight")
    rest(page)
    page.wait_for_function(
        "() => location.search.includes('gamma1=1.01') && location.search.includes('controls=d,gamma1')"
    )
    page.select_option("#choice-d", "2")
    until(page, "p.ready && p.choices.d === '2'")
    expect(page.locator(".controls input[type=range]"), "also after a choice").to_have_count(1)
    label = page.locator(".controls .slider label", has_text="γ₁")
    assert label.bounding_box()["width"] > 10, "a single slider of a vector has its own label"


def test_a_teacher_selects_only_controls_that_the_page_shows(page):
    visit(page, "/particles")
    page.get_by_role("button", name="Share, embed").click()
    labels = page.locator(".teacher fieldset label").all_text_contents()
    assert "tokens" in labels and not any("token 0" in label for label in labels)


def test_without_controls_the_text_has_their_room(page):
    visit(page, "/spiral?n=40&depth=1&controls=0")
    assert page.locator(".scrubber").is_hidden() and page.locator(".training").is_hidden()
    lead, text = page.locator(".head p").bounding_box(), page.locator(".explained").bounding_box()
    assert text["y"] - (lead["y"] + lead["height"]) < 30
    page.keyboard.press("2")
    rest(page)
    assert player(page, "p.progress") == 2, "keys stay"


@pytest.mark.allow_errors("400")
def test_the_page_of_a_wrong_link_names_the_control(new_page):
    page = new_page()
    visit(page, "/fold?controls=gamma9")
    assert "the scene has no control gamma9" in page.locator(".notice").inner_text()
    assert page.locator("#parameter-t").is_visible()


def test_a_stop_has_its_controls_and_its_table_beside_it(page):
    present(page, "/layernorm?n=60&tour=1")
    rest(page)
    slider = page.locator("#parameter-mean")
    before = slider.input_value()
    page.locator(".guide h2").focus()
    page.keyboard.press("Tab")
    expect(slider).to_be_focused()
    page.keyboard.press("ArrowRight")
    assert slider.input_value() != before and current(page) == 0, "arrow keys move a slider with the focus"
    page.keyboard.press("End")
    assert slider.input_value() == slider.get_attribute("max") and current(page) == 0, "and so does End"
    page.focus("#parameter-mean-value")
    page.keyboard.press("PageDown")
    assert current(page) == 1, "a clicker always leads on"
    expect(slider, "not beside a question").to_be_hidden()
    page.keyboard.press("3")
    expect(slider).to_be_visible()
    expect(page.locator(".numbers")).to_be_hidden()
    player(page, "p.tour.visit(3)")
    rest(page)
    table = page.locator(".numbers table", has_text="unit sphere")
    expect(table).to_be_visible()
    box, views = table.bounding_box(), page.locator(".views").bounding_box()
    assert box["y"] + box["height"] <= page.viewport_size["height"] < 2 * views["height"]
