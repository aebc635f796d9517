"""Starting from the previous frame's results gives the same as starting from scratch."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.scenes.select import SCENE
from components.training.recipes import recipe_of
from geometry.selection import selectable

LIVE = 1e-5  # tolerance of a weight, as in test_selection.py, for each of the two results that are compared


def check(node, sets):
    n, d = sets[0].shape
    answers = node.ask("warm", sets=[keys.ravel().tolist() for keys in sets], n=n, d=d)
    for warm, cold in answers:
        assert warm["wins"] == cold["wins"]
        np.testing.assert_allclose(warm["largest"], cold["largest"], atol=2 * LIVE, rtol=0)
    return [warm["wins"] for warm, _ in answers]


@settings(max_examples=30)
@given(st.integers(1, 6), st.integers(2, 40), st.integers(0, 2**32 - 1), st.floats(1e-3, 1))
def test_a_cloud_that_wanders(node, d, n, seed, speed):
    """Selectable keys and weights computed from the last frame's result are the same as from scratch.

    The keys move independently. In a late frame, half of them coincide with others; in two further frames,
    all are in a hyperplane.
    """
    rng = np.random.default_rng(seed)
    x, sets = rng.normal(size=(n, d)), []
    for _ in range(12):
        x = x + speed * rng.normal(size=(n, d))
        sets.append(x)
    level = x * ([1.0] * (d - 1) + [0.0])
    met = x.copy()
    met[: n // 2] = met[n // 2 : 2 * (n // 2)]
    check(node, [*sets, sets[0], met, x, level, level, x])


@pytest.mark.parametrize("d", [2, 3, 4])
@pytest.mark.parametrize("norm", ["layernorm", "rmsnorm"])
def test_the_way_of_the_scene(node, d, norm):
    """Along a scene's motion, selectable keys computed from the last frame's result are those from scratch.

    The keys move forward, then back in steps three times as long. In every tenth frame, the selectable keys
    are those that Python finds.
    """
    recipe = recipe_of(SCENE, n=80, d=d, norm=norm)
    stages = recipe.cloud("keys").stages(recipe.defaults | {"gamma1": 0.6})
    there = [(1 - t) * a + t * b for a, b in pairwise(stages) for t in np.arange(20) / 20]
    sets = [*there, stages[-1], *there[::-3]]
    wins = check(node, sets)
    assert wins[::10] == [selectable(keys).tolist() for keys in sets[::10]]
