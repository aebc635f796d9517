"""The letters of a text as points: the text under the figure, and a sentence that the reader types."""

import pytest
from playwright.sync_api import expect

from tests.browser.hand import player, rest, until, visit

MARKED = "document.querySelectorAll('.letters .marked').length"
BOX = "document.querySelector('.letters [role=listbox]')"
LETTERS = ".letters [role=option]"


@pytest.fixture
def page(kept):
    return kept


def test_letters_are_followed_and_marked(page):
    visit(page, "/language")
    letters = page.locator(LETTERS)
    text = "".join(letters.all_text_contents())
    assert text == "The film was slow at first, but its end was a great success."
    assert page.evaluate(MARKED) == 32
    assert page.locator(".letters .key").text_content() == "marked: no query can choose"
    letters.nth(49).click()
    assert player(page, "p.followed") == 49
    assert "a, no query can choose" in letters.nth(49).get_attribute("aria-label")
    page.keyboard.press("ArrowRight")
    assert (player(page, "p.followed"), player(page, "p.leg")) == (50, None)
    until(page, f"{BOX}.getAttribute('aria-activedescendant') === 'letter-keys-50'")
    assert letters.nth(50).get_attribute("aria-selected") == "true"
    player(page, "p.seek(2)")
    until(page, f"{MARKED} === 0")
    rest(page)
    assert "follow=50" in page.url


@pytest.mark.allow_errors("Failed to load resource")  # what the server refuses
def test_a_sentence_of_ones_own(page):
    """A sentence that cannot be shown gets an error message, and the figure stays.

    A valid sentence is shown, and is in the link.
    """
    visit(page, "/language?sentence=own")
    entry, hint = page.locator("#choice-own"), page.locator("#choice-own-hint")
    for typed, words in (
        ("x" * 100_000, "own has 100000 characters, at most 200 fit"),
        ("no 😀", "the model has never read 😀"),
        ("", "own is empty"),
    ):
        entry.fill(typed)
        entry.press("Tab")
        until(page, f"document.querySelector('#choice-own-hint').textContent.includes({words!r})")
        assert page.locator(LETTERS).count() == len("What does a key want?"), hint.text_content()
    entry.fill("50 % (e.g.)")
    entry.press("Enter")
    until(page, "document.querySelectorAll('.letters [role=option]').length === 11")
    expect(hint).to_be_empty()
    page.wait_for_function("() => location.search.includes('own=50')")
