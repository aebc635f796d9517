"""Every mark drawn by the fast path looks as Plotly draws it, in a made-up scene that has all of them."""

import pytest

from components.publish.plain import single_file
from components.training.recipes import state_of
from tests.browser.hand import difference, look, move, player, until
from tests.browser.test_painter import (
    ANOTHER_BLURRED,
    ANOTHER_PICTURE,
    BLURRED,
    SAME_BLURRED,
    SAME_PICTURE,
    SMALL,
    let_go,
)
from tests.components.language.test_scene import SCENE

SMALL_3D = ("3", [], SAME_PICTURE, ANOTHER_PICTURE)
PLANE = ("2", [BLURRED], SAME_BLURRED, ANOTHER_BLURRED)


@pytest.mark.pixels
def test_every_mark_moves_as_it_settles(new_page, tmp_path):
    file, page = tmp_path / "all.html", new_page(**SMALL)
    for d, size, same, another in (SMALL_3D, PLANE):
        file.write_text(single_file(SCENE, state_of(SCENE, {"d": d, "progress": "0"})), "utf-8")
        page.goto(file.as_uri())
        page.locator("[data-slug]").scroll_into_view_if_needed()
        until(page, "p.ready")
        move(page, {"gain": 1.6, "eps": 0.4}, 1.7)
        moving = look(page, *size)
        assert player(page, "p.panels.every((panel) => panel.fast)")
        move(page, {"gain": 1.6, "eps": 0.4}, 1.9)
        other = look(page, *size)
        move(page, {"gain": 1.6, "eps": 0.4}, 1.7)
        let_go(page, 1.7)
        still = look(page, *size)
        assert difference(moving, still) < same, d
        assert difference(other, still) > another, "the comparison would not see a wrong picture"
