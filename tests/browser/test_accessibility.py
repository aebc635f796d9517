"""Accessibility: axe finds no violations, a text describes the figure's state, and the keyboard is enough."""

from pathlib import Path

import numpy as np
import pytest

from tests.browser.hand import (
    SMALL_2D,
    SMALL_3D,
    TIMEOUT_MS,
    camera,
    painted,
    player,
    rest,
    shot,
    until,
    visit,
)

AXE = Path(__file__).resolve().parents[2] / "node_modules/axe-core/axe.min.js"
STANDARDS = {
    "type": "tag",
    "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
}
# Axe's rules that the dark theme can break: those about colours and pictures.
COLOURS = {"type": "rule", "values": ["color-contrast", "link-in-text-block", "image-alt"]}
LOOK = """async (runOnly) => {
  const asked = { runOnly, resultTypes: ["violations"], preload: false };
  const { violations } = await axe.run(document, asked);
  const told = ({ target, failureSummary }) => `${target}: ${failureSummary}`;
  return violations.map(({ id, nodes }) => [id, ...nodes.map(told)]);
}"""
CONTROLS = "a, button, input, select, textarea, summary, [tabindex='0']"
SEEN = """(controls) => [...document.querySelectorAll(controls)].filter((e) => {
  e.focus({ focusVisible: true, preventScroll: true });
  return e.checkVisibility() && document.activeElement === e;
}).map((e) => {
  e.focus({ focusVisible: true, preventScroll: true });
  const { outlineStyle, outlineWidth } = getComputedStyle(e);
  return [e.outerHTML.slice(0, 80), outlineStyle !== "none" && parseFloat(outlineWidth) >= 2];
})"""
# After the home page, glossary and story: an unknown page, a refused link, a stop of a tour, two embeds. The
# pages of scenes are tested in tests/browser/test_scenes.py.
PAGES = ("/", "/words", "/story", "/nowhere", "/language?progress=99", "/language?tour=3")
PAGES += ("/embed/language", "/embed/language?controls=0")


@pytest.fixture
def page(kept):
    return kept


def barriers(page):
    """The violations that axe finds on a page in both themes.

    In the dark theme, only the rules about colours and pictures are checked, because all else is the same.
    """
    if page.evaluate("!window.axe"):
        page.evaluate(AXE.read_text("utf-8"))
    found = []
    for scheme, rules in (("light", STANDARDS), ("dark", COLOURS)):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function(f"() => document.documentElement.dataset.scheme === '{scheme}'")
        with painted(page):  # axe measures contrast only of painted elements
            found += page.evaluate(LOOK, rules)
    return found


def unseen(page):
    """The visible controls of a page that have no outline of at least 2 pixels when they have the focus.

    Returns the beginning of the HTML of each.
    """
    return [element for element, is_seen in page.evaluate(SEEN, CONTROLS) if not is_seen]


@pytest.mark.allow_errors("Failed to load resource")  # two of these pages are error pages
def test_axe_finds_nothing(new_page):
    page = new_page(reduced_motion="reduce")
    for link in PAGES:
        page.goto(link)
        page.wait_for_selector("h1", state="attached")
        if page.locator("[data-slug]").count():
            until(page, "p.ready")
        assert barriers(page) == [], link
        assert unseen(page) == [], link


def test_axe_finds_nothing_in_the_dialogs(page):
    visit(page, f"/layernorm?{SMALL_2D}")
    for name in ("Share, embed", "Keys (?)"):
        page.get_by_role("button", name=name).click()
        for details in page.locator("dialog details").all():
            details.evaluate("(e) => { e.open = true; }")
        assert barriers(page) == [] and unseen(page) == []
        page.keyboard.press("Escape")
        page.wait_for_selector("dialog", state="detached")


def test_with_colours_of_the_system_signs_stay_visible(page):
    visit(page, f"/layernorm?{SMALL_3D}&progress=2")
    page.emulate_media(forced_colors="active", color_scheme="light")
    rest(page)
    ground = 255  # white
    scrubber = shot(page, page.locator(".track .progress"))
    assert (scrubber != ground).any(-1).sum() > 0.1 * scrubber[..., 0].size
    swatches = page.locator(".legend .swatch:visible").all()
    letters = page.locator(".formula .symbol").all()
    assert swatches and letters
    for swatch in swatches:
        signs = shot(page, swatch)
        assert (signs != ground).any(-1).sum() > 0.5 * signs[..., 0].size
    for lines in (shot(page, letter) for letter in letters):
        assert (lines[-3:] != ground).any(-1).sum(1).max() > 0.4 * lines.shape[1], "underlined"
    lit, other = (page.locator(f".passage{kind} > .to").first for kind in (".lit", ":not(.lit)"))
    assert (shot(page, lit)[5, 12] != shot(page, other)[5, 12]).any()
    page.emulate_media(forced_colors="none")


def tells(page, words):
    """Wait until the description of the figure's state contains some words, and return the description."""
    page.wait_for_function(
        "(words) => document.querySelector('.told')?.textContent.includes(words)",
        arg=words,
        timeout=TIMEOUT_MS,
    )
    return page.locator(".told").inner_text()


def test_the_figure_is_told_in_words_at_rest(page):
    visit(page, "/layernorm?n=60&follow=12")
    assert "60 points, at the stage x (0 of 5)." in tells(page, "60 points")
    words = page.locator(".told")
    figure = page.get_by_role("img", name="LayerNorm").first
    assert figure.get_attribute("aria-describedby") == words.get_attribute("id")
    assert words.bounding_box()["width"] <= 1, "for those who hear it"
    player(page, "(p.set('gamma1', 1.5), p.seek(2))")
    tells(page, "γ₁ = 1.5")
    point = player(page, "[...p.drawn(p.recipe.table.cloud).slice(36, 39)]")
    text = words.inner_text().replace("−", "-")
    assert "at the stage unit sphere (2 of 5)." in text and "γ₁ = 1.5." in text
    told = text.split("Point 12 is at (")[1].split(")")[0].split(",")
    np.testing.assert_allclose(np.array(told, float), point, atol=5e-4)
    assert text.rstrip().endswith("Seen from the front, slightly above.")
    player(page, "p.fly({ eye: [0, 0, -1.4], center: [0, 0, 0] })")
    tells(page, "Seen from straight below.")
    player(page, "p.seek(2.5)")
    before = tells(page, "between the stages unit sphere and × √3 (2.5 of 5)")
    assert words.get_attribute("aria-live") == "polite"
    player(page, "(p.loop = true, p.play())")  # it never comes to rest
    until(page, "p.progress >= 3")
    assert words.inner_text() == before, "nothing is said while it moves"
    assert page.locator("main :is(output, [role=status])").count() == 0, "readouts are silent"


def test_the_end_of_a_replay_is_announced(page):
    visit(page, f"/layernorm?{SMALL_2D}&progress=5")
    assert page.locator(".figure:not([role=img][aria-label])").count() == 0, "named from the start"
    before = tells(page, "(5 of 5)")
    page.evaluate("""new MutationObserver((all) => { window.told = all.map(
        ({ addedNodes }) => [...addedNodes].map((each) => each.textContent).join("")).join("");
      }).observe(document.querySelector(".told"), { childList: true, subtree: true })""")
    page.keyboard.press("Space")
    rest(page)
    page.wait_for_function("() => window.told?.includes('(5 of 5)')", timeout=TIMEOUT_MS)
    assert page.locator(".told").inner_text() == before


def test_points_of_two_classes_are_counted(page):
    visit(page, "/temperature?progress=2")
    right, of = tells(page, "365 points, ").split("after the layer: ")[1].split(" points")[0].split(" of ")
    assert of == "365"
    share = page.locator(".headline b").inner_text().removesuffix(" %")
    assert float(share) == pytest.approx(100 * int(right) / 365, abs=0.05)


def arm(page):
    """The vector from the point that the camera looks at to the camera."""
    return camera(page) - center(page)


def center(page):
    return np.array(player(page, "p.panels[0].camera().center"))


def test_keys_follow_points_and_turn_the_scene(page):
    visit(page, "/layernorm?n=60")
    page.keyboard.press(".")
    page.keyboard.press(".")
    page.keyboard.press(",")
    assert player(page, "p.followed") == 1
    page.keyboard.press(",")
    page.keyboard.press(",")
    assert player(page, "p.followed") == 59, "around"
    assert page.locator(".numbers caption").last.inner_text().endswith("click it, or press “,” or “.”.")
    assert page.get_by_role("link", name="1.1 What does LayerNorm do?").count() == 1
    looked_at, before = center(page), arm(page)
    page.keyboard.press("Shift+ArrowRight")
    after = arm(page)
    angle = np.degrees(np.arctan2(after[1], after[0]) - np.arctan2(before[1], before[0]))
    assert angle == pytest.approx(10, abs=0.1) and after[2] == pytest.approx(before[2], abs=1e-6)
    for _ in range(12):
        page.keyboard.press("Shift+ArrowUp")
    high = arm(page)
    assert np.degrees(np.arcsin(high[2] / np.linalg.norm(high))) == pytest.approx(85, abs=0.1)
    assert np.linalg.norm(high) == pytest.approx(np.linalg.norm(before), rel=1e-4)
    assert center(page) == pytest.approx(looked_at, abs=1e-6)
    assert player(page, "p.progress") == 0
    rest(page)
    page.wait_for_function(
        "() => location.search.includes('camera=') && location.search.includes('follow=59')"
    )


def test_letters_can_be_turned_off(page):
    """Single-character shortcuts can be turned off, as WCAG 2.1.4 requires, for users of speech input.

    The arrow keys still work.
    """
    visit(page, "/layernorm?n=60")
    page.get_by_role("button", name="Keys (?)").click()
    page.get_by_label("Use letters, digits and punctuation as shortcuts").uncheck()
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    page.keyboard.press("3")
    page.keyboard.press("?")
    page.keyboard.press(".")
    assert player(page, "[p.leg, p.progress, p.followed]") == [None, 0, 0]
    assert page.locator("dialog").count() == 0
    page.keyboard.press("ArrowRight")
    rest(page)
    assert player(page, "p.progress") == 1


FOCUS = "(document.activeElement.closest('.question') ?? document.activeElement).textContent"


def test_the_focus_comes_to_each_question_and_is_never_lost(page):
    visit(page, "/layernorm?tour=1")
    page.locator(".guide .on").press("Enter")
    title = page.locator(".guide h2").text_content()
    assert page.evaluate(FOCUS) == title
    page.keyboard.press("Tab")
    assert page.locator(".guide .question").text_content() in page.evaluate(FOCUS)
    page.keyboard.press("Enter")
    assert page.evaluate(FOCUS) == "Next"
    page.locator(".guide").get_by_text("Close").press("Enter")
    assert page.evaluate(FOCUS) == "Take the tour"
    for key in ("p", "ArrowRight", "Escape"):
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement !== document.body"), key
    page.wait_for_selector(".presenting", state="detached")
    assert page.evaluate(FOCUS) == page.locator(".guide h2").text_content() != title
