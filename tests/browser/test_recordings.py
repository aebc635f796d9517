"""The page of recorded models: the atlas, a reader's own recording, and the table of all norms."""

import pytest
from playwright.sync_api import expect

from components.language.scene import scenes
from learning.recording.recording import Recording
from tests.browser.hand import player, rest, visit
from tests.learning.recording.norms import norm

# The position on the screen, in the uppermost strip, of point `value` of the norms of attention.
PLACE = """(() => { const panel = p.panels[1], { left, top } = panel.gd.getBoundingClientRect();
  const at = p.at['attention 0'], [x, y] = panel.pixel(at[2 * value], at[2 * value + 1]);
  return [left + x, top + y]; })()"""
MARKUP = "<img src=x>"  # as the name of a recording
OPENED = "[...p.root.querySelectorAll('#choice-recording option')].find((o) => o.selected).textContent"


@pytest.fixture
def page(kept):
    return kept


@pytest.mark.allow_errors("400 .BAD REQUEST.")
def test_recordings_are_opened_and_deleted(page, tmp_path):
    mine = tmp_path / "mine.safetensors"
    norms = [norm(f"h.{k}.ln_{part}", n=30, d=20, seed=2 * k + part) for k in range(2) for part in (1, 2)]
    Recording(norms, MARKUP).save(mine)
    theirs = tmp_path / "theirs.safetensors"
    Recording(norms[:2], "theirs").save(theirs)
    (tmp_path / "other.safetensors").write_bytes(b"PK\3\4" + bytes(99))
    visit(page, "/model?recording=trained")
    rest(page)
    files = page.locator(".recordings input[type=file]").first
    files.set_input_files(tmp_path / "other.safetensors")
    page.locator(".recordings", has_text="other.safetensors: This file cannot be opened").wait_for()
    files.set_input_files(mine)
    rest(page, "p.choices.own")
    assert player(page, "p.recipe.clouds[0].points.shape[0]") == 30
    assert player(page, OPENED) == f"yours: {MARKUP}"
    assert MARKUP in page.get_by_role("tab", include_hidden=True).first.text_content()
    assert not page.locator("[src=x]").count()
    assert not page.get_by_role("link", name="Take the tour").is_visible()
    recordings = page.locator("#choice-recording option").all_text_contents()
    page.mouse.click(*player(page, PLACE, 1))
    rest(page, "String(p.choices.norm) === '3'")
    assert page.locator("#choice-recording option").all_text_contents() == recordings
    assert player(page, "p.recipe.views[0].title") == "Norm 3 of 4: h.1.ln_1"
    with page.expect_download() as saved:
        page.locator(".recordings a", has_text=".csv").click()
    assert len(saved.value.path().read_text().splitlines()) == 5
    page.locator(".recordings input[type=file]").last.set_input_files(theirs)
    rest(page, "p.choices.other")
    key = player(page, "p.choices.other")
    page.get_by_role("button", name="Delete the second recording “theirs”").click()
    page.locator(".recordings p", has_text="“theirs” was deleted from the server.").wait_for()
    rest(page, "p.choices.own && !p.choices.other")
    assert not page.get_by_role("button", name="second recording “").count()
    assert page.request.get(f"/recipe/model?own={key}").status == 400
    page.get_by_role("button", name=f"Delete the opened recording “{MARKUP}”").click()
    rest(page, "!p.choices.own")
    page.locator(".recordings p", has_text=f"“{MARKUP}” was deleted").wait_for()
    assert player(page, "p.recipe.clouds[0].points.shape[0]") == 600
    assert player(page, OPENED) == "a small GPT, trained"
    expect(page.get_by_role("link", name="Take the tour")).to_be_visible()


def test_a_file_that_is_too_large_is_refused_with_what_to_do(page, tmp_path):
    large = tmp_path / "large.safetensors"
    Recording([norm(n=2000, d=600)], "large").save(large)
    visit(page, "/model")
    rest(page)
    part = page.locator(".recordings")
    part.evaluate("(part) => (part.dataset.maxBytes = String(2 ** 20))")
    part.locator("input[type=file]").first.set_input_files(large)
    part.locator("p", has_text="at most 1 MiB can be opened here. Record the model again").wait_for()
    expect(part).to_contain_text("without --full (in Python without full=True), and the file fits")


def test_the_pointer_reads_a_norm_of_the_strips(page):
    visit(page, "/model?recording=trained")
    rest(page)
    page.mouse.move(*player(page, PLACE, 2))
    page.locator(".hovertext", has_text="layer 2, attention").wait_for()
    assert "longest vector ÷ median length: " in page.locator(".hovertext").text_content()


def test_the_table_of_all_norms_sorts_opens_a_norm_and_is_saved(page):
    visit(page, "/model?recording=trained")
    rest(page)
    table = page.locator(".overview-table table")
    names = "(table) => [...table.tBodies[0].rows].map((row) => row.cells[0].textContent)"
    assert table.evaluate(names)[0] == "1: h.0.ln_1" and len(table.evaluate(names)) == 9
    table.get_by_role("button", name="σ", exact=True).click()
    assert table.evaluate(names)[0] == "9: ln_f", "the stream grows, and the largest comes first"
    table.get_by_role("button", name="σ", exact=True).click()
    assert table.evaluate(names)[-1] == "9: ln_f"
    table.get_by_role("button", name="9: ln_f").click()
    rest(page, "String(p.choices.norm) === '9'")
    expect(table.locator("tr.current th")).to_have_text("9: ln_f")
    assert table.evaluate(names)[-1] == "9: ln_f", "the order stays"
    table.locator("tbody tr", has_text="2: h.0.ln_2").locator("td").last.click()
    rest(page, "String(p.choices.norm) === '2'")
    table.get_by_role("button", name="9: ln_f").press("Enter")
    rest(page, "String(p.choices.norm) === '9'")
    expect(table.get_by_role("button", name="9: ln_f"), "the next Tab goes on from there").to_be_focused()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as CSV").click()
    lines = saved.value.path().read_text().splitlines()
    assert lines[0].startswith("path,kind,d,") and len(lines) == 10
    page.get_by_label("recording", exact=True).select_option("minilm")
    rest(page, "p.choices.recording === 'minilm' && String(p.choices.norm) === '1'")


def test_two_recordings_have_a_picture_and_a_table_each(page):
    visit(page, "/model?recording=trained&beside=start&norm=3")
    rest(page)
    first, second = page.locator(".overview-table").all()
    expect(second).to_contain_text("a small GPT, before training")
    expect(second.get_by_role("button", name="3: h.1.ln_1")).to_have_count(0)  # its rows choose nothing
    first.get_by_role("button", name="9: ln_f").click()
    rest(page, "String(p.choices.norm) === '9'")
    captions = page.locator(".views > .view figcaption")
    expect(captions.nth(0)).to_have_text("a small GPT, trained, norm 9 of 9")
    expect(captions.nth(2)).to_have_text("a small GPT, before training, norm 9 of 9")
    low, high, strips = (page.locator(".views > .view").nth(k).bounding_box() for k in (2, 0, 1))
    assert low["y"] >= high["y"] + high["height"] and strips["height"] > 1.9 * low["height"]


def test_the_tour_begins_with_the_model_that_is_shown(page):
    for recording, title in (
        ("minilm", "The first token of an encoder"),
        ("smollm2", "Four massive vectors"),
    ):
        visit(page, f"/model?recording={recording}&norm=2")
        rest(page)
        page.get_by_role("link", name="Take the tour").click()
        page.get_by_role("heading", name=title).wait_for()
        rest(page)
        page.get_by_role("button", name="Close", exact=True).click()


def test_each_recording_has_a_tour_of_its_own(page):
    visit(page, "/model?recording=minilm")
    rest(page)
    page.get_by_role("link", name="Take the tour").click()
    card, told = page.locator(".guide"), ["1 of 3", "2 of 3", "3 of 3"]
    for words in told:
        assert card.locator(".count").text_content() == words
        rest(page, "p.choices.recording === 'minilm'")
        if words != told[-1]:
            card.get_by_role("button", name="Next", exact=True).click()
    assert card.get_by_role("button", name="Done").is_visible()
    card.get_by_role("button", name="A direction that is empty").click()
    rest(page, "p.choices.recording === 'antiberty'")
    assert card.locator(".count").text_content() == "1 of 3"
    assert card.get_by_role("button", name="Back").is_disabled()


def test_a_stop_of_another_recording_has_its_norm_also_if_it_has_the_same_number(page):
    stops = [stop.state for stop in scenes()["model"].text.tour]
    (last,) = [k for k, stop in enumerate(stops) if stop["recording"] == "trained" and stop["norm"] == "9"]
    visit(page, "/model?recording=antiberty&norm=9")
    rest(page)
    player(page, "p.tour.visit(value)", last)
    rest(page, "p.choices.recording === 'trained'")
    assert player(page, "p.choices.norm") == "9"
