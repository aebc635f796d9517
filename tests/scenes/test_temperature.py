"""What one threshold can do before and after: a fold finds both extremes, a stretch makes room."""

import numpy as np
import pytest

from components.cloud import coordinate
from components.recipe import Accuracy
from components.scenes.temperature import SCENE
from components.scenes.temperature.build import KINDS
from geometry.distributions import best_threshold

EXACT = 1e-12  # double precision, one normalisation
SEEDS = range(8)
DAYS = sum(n for _, n in KINDS)


def right(task, seed, **params):
    """The shares before and after."""
    recipe = SCENE.recipe(task=task, seed=seed)
    stages = recipe.cloud("days").stages(recipe.defaults | params)
    shown = [r for r in recipe.readouts if isinstance(r, Accuracy)]
    return [best_threshold(coordinate(r.row, stages[-1], stages), r.classes)[1] for r in shown]


@pytest.mark.parametrize("seed", SEEDS)
def test_one_threshold_finds_one_heap_then_both(seed):
    before, after = right("extreme", seed)
    one_lost = 1 - min(n for _, n in KINDS[1:]) / DAYS
    assert before == pytest.approx(one_lost, abs=4 / DAYS)  # where heaps overlap, a few days more or less
    assert after > 0.95


@pytest.mark.parametrize("seed", SEEDS)
def test_a_smaller_a_folds_more_evenly(seed):
    shares = [right("extreme", seed, shrink=a)[1] for a in (0.9, 0.5, 0.3, 0.1)]
    assert shares == sorted(shares) and shares[-1] > 0.99


@pytest.mark.parametrize("seed", SEEDS)
def test_a_stretch_makes_room_but_not_more_right(seed):
    assert right("hot", seed) == [1, 1]
    recipe = SCENE.recipe(task="hot", seed=seed)
    days, edge = recipe.cloud("days"), recipe.follow
    x = days.points[:, 0]
    assert np.mean(x[x > 0] >= x[edge]) == pytest.approx(0.9, abs=1 / np.sum(x > 0))
    for t in (0.5, 1.0, 3.0, 5.0):
        got = days.stages(recipe.defaults | {"stretch": t})[-1]
        want = t * x / np.hypot(t * x, days.points[:, 1])
        np.testing.assert_allclose(got[:, 0], want, rtol=0, atol=EXACT)


@pytest.mark.parametrize("seed", SEEDS)
def test_days_stand_on_the_circle_in_the_order_of_their_temperature(seed):
    recipe = SCENE.recipe(seed=seed)
    days, degrees = recipe.cloud("days").points, recipe.cloud("degrees").points[:, 0]
    np.testing.assert_allclose(np.linalg.norm(days, axis=1), 1, rtol=0, atol=EXACT)
    assert np.all(np.diff(days[np.argsort(degrees), 0]) >= 0)
    assert len(days) == DAYS == 365


def test_a_seed_is_a_year():
    one, same, other = (SCENE.recipe(seed=s).cloud("degrees").points for s in (5, 5, 6))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_without_shrink_only_the_height_counts():
    recipe = SCENE.recipe()
    days = recipe.cloud("days")
    got = days.stages(recipe.defaults | {"shrink": 0.0, "shift": 1.0})[-1][:, 0]
    np.testing.assert_allclose(got, 1 / np.hypot(1, days.points[:, 1]), rtol=0, atol=EXACT)
