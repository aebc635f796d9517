"""A reader's recording on the page: uploaded, viewed norm by norm, saved as a table, deleted."""

import pytest

from learning.recording.recording import Recording
from tests.browser.hand import player, rest, visit
from tests.learning.recording.norms import norm

# the place of the third norm in the uppermost strip
PLACE = """(() => { const panel = p.panels[1], { left, top } = panel.gd.getBoundingClientRect();
  const at = p.at['middle 0'], [x, y] = panel.pixel(at[4], at[5]); return [left + x, top + y]; })()"""


@pytest.mark.allow_errors("400 .BAD REQUEST.")
def test_a_recording_is_opened_and_deleted(page, tmp_path):
    mine = tmp_path / "mine.safetensors"
    Recording([norm(f"h.{k}.ln_1", n=30, d=20, seed=k) for k in range(4)], "mine").save(mine)
    (tmp_path / "other.safetensors").write_bytes(b"PK\3\4" + bytes(99))
    visit(page, "/model")
    rest(page)
    files = page.locator(".recordings input[type=file]").first
    files.set_input_files(tmp_path / "other.safetensors")
    page.locator(".recordings", has_text="cannot be opened").wait_for()
    files.set_input_files(mine)
    rest(page, "p.choices.own")
    assert player(page, "p.recipe.clouds[0].points.shape[0]") == 30
    page.mouse.click(*player(page, PLACE))
    rest(page, "String(p.choices.norm) === '3'")
    assert player(page, "p.recipe.views[0].title") == "Norm 3 of 4: h.2.ln_1"
    with page.expect_download() as saved:
        page.locator(".recordings a", has_text=".csv").click()
    assert len(saved.value.path().read_text().splitlines()) == 5
    page.get_by_role("button", name="Delete the opened recording").click()
    rest(page, "!p.choices.own")
    assert player(page, "p.recipe.clouds[0].points.shape[0]") == 600
