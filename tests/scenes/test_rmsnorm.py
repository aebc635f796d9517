"""LayerNorm beside RMSNorm: the relation, and what q moves."""

import numpy as np
import pytest

from components.scenes.rmsnorm import SCENE
from geometry import layer_norm, rms_norm

EXACT = 1e-12  # double precision, a few operations
RECIPE = SCENE.recipe()
SLIDER = pytest.mark.parametrize("q", (-5.0, -1.0, 0.0, 0.3, 5.0))


def stages(cloud, **params):
    return RECIPE.cloud(cloud).stages(RECIPE.defaults | params)


@SLIDER
def test_each_side_is_its_norm(q):
    for name, norm in (("layernorm", layer_norm), ("rmsnorm", rms_norm)):
        start, *_, end = stages(name, q=q)
        np.testing.assert_allclose(end, norm(start, eps=0.0), rtol=0, atol=EXACT)


@SLIDER
def test_the_relation_is_exact(q):
    np.testing.assert_allclose(stages("relation", q=q)[-1], stages("rmsnorm", q=q)[-1], rtol=0, atol=EXACT)


@SLIDER
def test_q_is_the_mean_in_units_of_the_deviation_and_layer_norm_does_not_see_it(q):
    x, *_, end = stages("layernorm", q=q)
    own = x.mean(1) / x.std(1) - q
    np.testing.assert_allclose(own, stages("layernorm", q=0.0)[0].mean(1) / x.std(1), rtol=0, atol=1e-9)
    assert abs(own.mean()) < 0.1
    np.testing.assert_allclose(end, stages("layernorm", q=0.0)[-1], rtol=0, atol=1e-10)


def test_far_from_zero_all_are_near_a_pole():
    for q in (-5.0, 5.0):
        cosine = stages("rmsnorm", q=q)[-1].sum(1) / 3
        assert (np.sign(q) * cosine > 0.9).all()
