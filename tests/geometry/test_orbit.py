"""`Orbit`: each state is computed from the previous one and its own inputs, for a number of rounds."""

import numpy as np
import pytest
import torch

from geometry import Affine, Entries, Orbit, Pipeline, Pointwise

TURN = np.array([[0.6, -0.8], [0.8, 0.6]])
ROUND = Pipeline((Affine(np.hstack([1.1 * TURN, np.eye(2)])), Pointwise("tanh")))  # x ↦ tanh(1.1·Rx + u)


def states(x, rounds):
    out = [x[0, :2]]
    for k in range(1, len(x)):
        out.append(np.tanh(1.1 * TURN @ out[-1] + x[k, 2:]) if k <= rounds else out[-1])
    return np.array(out)


@pytest.mark.parametrize("rounds", (0, 3, 6, 20))
def test_each_state_follows_from_the_one_before(rounds):
    x = np.random.default_rng(0).normal(size=(7, 4))
    step = Orbit(ROUND, 2, Entries(0.0, {"step": 1.0}))
    np.testing.assert_allclose(step.apply(x, {"step": float(rounds)}), states(x, rounds), atol=1e-14)
    tensor = step.apply(torch.tensor(x), {"step": float(rounds)})
    np.testing.assert_allclose(tensor.numpy(), states(x, rounds), atol=1e-14)


def test_a_round_is_taken_in_part():
    x = np.random.default_rng(1).normal(size=(5, 4))
    before, part, after = (Orbit(ROUND, 2, count).apply(x, {}) for count in (2.0, 2.25, 3.0))
    np.testing.assert_allclose(part, 0.75 * before + 0.25 * after, atol=1e-14)


def test_an_iteration_gives_a_state_again():
    with pytest.raises(ValueError, match="cannot go on"):
        Orbit(Pipeline((Affine(np.eye(3, 4)),)), 2).width(4)
