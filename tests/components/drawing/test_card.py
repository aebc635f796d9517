"""Cards of the gallery: the main figure fills the card, and no frame of the animation shows a mark twice."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from components.drawing import card
from components.drawing.still import dressed
from components.language.scene import scenes
from components.training.recipes import state_of

EVERY = pytest.mark.parametrize("scene", scenes().values(), ids=scenes())
LARGEST = 90_000  # bytes of a card: the home page loads one for each scene that is in sight


@EVERY
def test_the_hero_fills_its_frame_and_nothing_leaves_it(scene):
    state = state_of(scene, {})
    size, (left, top, wide, tall), (drawn,) = card._run(state.recipe, [state])
    assert (wide, tall) == pytest.approx((card.WIDTH, card.HEIGHT), rel=0.1)
    flat = np.concatenate([each.flat for each in drawn])
    flat = np.clip(flat[~np.isnan(flat[:, 0])], -np.array(size) / 2, np.array(size) / 2)
    share = (flat.max(0) - flat.min(0)) / (wide, tall)
    assert 0.7 <= share.max() <= 1
    assert (flat.min(0) >= (left, top)).all() and (flat.max(0) <= (left + wide, top + tall)).all()


@EVERY
def test_a_card_is_small_and_whole(scene):
    text = card.card(*(lambda state: (state.recipe, state))(state_of(scene, {"theme": "dark"})))
    assert ElementTree.fromstring(text).get("viewBox") and len(text) < LARGEST
    assert "nan" not in text.lower() and text.count("--paper:") == 1


@pytest.mark.parametrize("slug", ["fold", "spiral", "unselectable"])
def test_a_picture_in_another_theme_is_the_same_but_for_its_style_sheet(slug):
    auto, dark = (state_of(scenes()[slug], {"theme": theme}) for theme in ("auto", "dark"))
    assert dressed(card.card(auto.recipe, auto), "dark") == card.card(dark.recipe, dark)


@pytest.mark.parametrize("slug", ["fold", "rmsnorm", "unselectable"])
def test_each_moment_of_a_run_shows_each_mark_once(slug):
    state = state_of(scenes()[slug], {})
    text, count = card.moving(state.recipe, state), len(card.eased(len(state.recipe.stages) - 1))
    runs = [tuple(map(int, each)) for each in re.findall(r'<g class="f(\d+)-(\d+)"', text)]
    assert runs and all(0 <= a < b <= count for a, b in runs)
    moved = [run for run in runs if run != (0, count)]
    assert moved, "something moves"
    shown = [sum(a <= k < b for a, b in runs) for k in range(count)]
    assert max(shown) <= len(state.recipe.views[0].layers)
    for a, b in set(runs):
        sheet = re.search(rf"@keyframes f{a}-{b}{{(.*?}})}}", text).group(1)
        steps = re.findall(r"([\d.]+)%{visibility:(\w+)}", sheet)
        assert [word for _, word in steps] == ["hidden"] * (a > 0) + ["visible"] + ["hidden"] * (b < count)
        assert [float(at) for at, _ in steps] == sorted(float(at) for at, _ in steps)


def test_a_run_rests_at_its_stages():
    for last in (1, 2, 5):
        run = card.eased(last)
        assert run[0] == 0 and run[-1] == last and (np.diff(run) > 0).all()
        assert {float(k) for k in range(last + 1)} <= set(run.tolist())
