"""Attention among points equals PyTorch's, and points that a differential equation moves equal SciPy's."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from geometry import Affine, Attention, Derivative, Entries, Flow, Normalize, Pipeline, Put

EXACT = 1e-12
TIMES = np.linspace(0, 4, 81)
PULL = Pipeline((Normalize(), Affine(np.vstack([3 * np.eye(2), np.eye(2), np.eye(2)])), Attention(2)))
TOKENS = Pipeline((*PULL.steps, Affine(np.eye(2, 3))))  # y ↦ attention's average of normalised tokens


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.booleans())
def test_attention_is_that_of_pytorch(seed, n, causal):
    x = np.random.default_rng(seed).normal(size=(n, 7))
    q, k, v = (torch.tensor(x[:, columns]) for columns in (slice(2), slice(2, 4), slice(4, 7)))
    # with the identity as further values, the weights themselves come out
    every = torch.nn.functional.scaled_dot_product_attention(
        q, k, torch.hstack([v, torch.eye(n, dtype=v.dtype)]), is_causal=causal, scale=1.0
    )
    want = torch.hstack([every[:, :3], every[:, 3:].diagonal()[:, None]])
    for got in (Attention(2, causal).apply(x, {}), Attention(2, causal).apply(torch.tensor(x), {}).numpy()):
        np.testing.assert_allclose(got, want, atol=EXACT)


def test_attention_needs_values():
    with pytest.raises(ValueError, match="a value: got 4"):
        Attention(2).apply(np.zeros((3, 4)), {})


def reference(x, until):
    def velocity(_, y):
        return TOKENS.stages(y.reshape(x.shape))[-1].ravel()

    return solve_ivp(velocity, (0, until), x.ravel(), rtol=1e-10, atol=1e-12).y[:, -1].reshape(x.shape)


@pytest.mark.parametrize("until", (0.05, 1.3, 4.0, 9.0))
def test_a_flow_is_what_scipy_integrates(until):
    x = np.random.default_rng(2).normal(size=(8, 2))
    flow = Flow(TOKENS, TIMES, Entries(0.0, {"t": 1.0}))
    want = reference(x, min(until, 4))
    np.testing.assert_allclose(flow.apply(x, {"t": until}), want, atol=2e-3 if until == 1.3 else 1e-6)
    np.testing.assert_array_equal(flow.apply(x, {"t": -1.0}), x)
    np.testing.assert_array_equal(flow.apply(x + 1, {"t": 0.0}), x + 1)
    tensor = flow.apply(torch.tensor(x, requires_grad=True), {"t": until})
    np.testing.assert_allclose(tensor.detach().numpy(), flow.apply(x, {"t": until}), atol=EXACT)
    assert tensor.requires_grad


def test_between_two_times_points_move_in_straight_lines():
    x = np.random.default_rng(3).normal(size=(4, 2))
    a, between, b = (Flow(TOKENS, TIMES, t).apply(x, {}) for t in (0.5, 0.5125, 0.55))
    np.testing.assert_allclose(between, 0.75 * a + 0.25 * b, atol=EXACT)


def test_a_point_is_put_elsewhere_on_the_way():
    """A flow with puts equals SciPy's solver that is stopped at each put and continued from the new place.

    A put turns one point to a given direction at a given time, and keeps its length. Tested just before each
    put, at it, and at the end. A put of the point −1, which does not exist, changes nothing.
    """
    x = np.random.default_rng(4).normal(size=(5, 2))
    puts = [
        Put(3, Entries(0.0, {"when": 1.0}), [0.0, -7.0]),
        Put(1, 0.52, [1.0, 1.0]),
        Put(-1, 0.1, [1.0, 0.0]),
    ]
    flow = Flow(TOKENS, TIMES, Entries(0.0, {"t": 1.0}), puts)
    want, now = x, 0.0
    for time, point, angle in ((0.52, 1, np.pi / 4), (1.31, 3, -np.pi / 2)):
        want, now = reference(want, time - now), time
        before = {"t": time - 1e-9, "when": 1.31}
        np.testing.assert_allclose(flow.apply(x, before), want, atol=1e-6)
        want[point] = np.linalg.norm(want[point]) * np.array([np.cos(angle), np.sin(angle)])
        np.testing.assert_allclose(flow.apply(x, before | {"t": time}), want, atol=1e-6)
    params = {"t": 4.0, "when": 1.31}
    np.testing.assert_allclose(flow.apply(x, params), reference(want, 4 - now), atol=1e-6)
    np.testing.assert_allclose(flow.apply(torch.tensor(x), params), flow.apply(x, params), atol=EXACT)
    assert flow.parameters == {"t", "when"}


def test_puts_at_the_start_after_the_end_or_to_the_origin():
    x = np.random.default_rng(5).normal(size=(3, 2))
    still = Flow(TOKENS, TIMES, 0.0, [Put(0, -2.0, [0.0, 1.0])]).apply(x, {})
    np.testing.assert_allclose(still, [[0, np.linalg.norm(x[0])], *x[1:]], atol=EXACT)
    free = Flow(TOKENS, TIMES, 9.0).apply(x, {})
    for put in (Put(0, 4.5, [0.0, 1.0]), Put(0, TIMES[7], [0.0, 0.0])):
        np.testing.assert_array_equal(Flow(TOKENS, TIMES, 9.0, [put]).apply(x, {}), free)


def test_two_threads_may_use_one_flow(monkeypatch):
    """States that another thread computes in the meantime do not change a result.

    The test simulates this thread: before the first solver step, it applies the same flow once more.
    """
    x = np.random.default_rng(2).normal(size=(4, 2))
    flow = Flow(TOKENS, TIMES, Entries(0.0, {"until": 1.0}))
    alone = Flow(TOKENS, TIMES, Entries(0.0, {"until": 1.0})).apply(x, {"until": 2.0})
    step = Flow._step

    def interrupted(self, *given):
        monkeypatch.setattr(Flow, "_step", step)
        flow.apply(x, {"until": 1.0})
        return step(self, *given)

    monkeypatch.setattr(Flow, "_step", interrupted)
    np.testing.assert_array_equal(flow.apply(x, {"until": 2.0}), alone)


@pytest.mark.parametrize("times", ([], [0.0, 0.0], [1.0, 0.5], [[0.0, 1.0]]))
def test_times_increase(times):
    with pytest.raises(ValueError, match="the times of a flow are increasing"):
        Flow(TOKENS, times)


def test_velocities_have_the_width_of_points():
    with pytest.raises(ValueError, match="cannot be added"):
        Flow(PULL, TIMES).width(2)


@pytest.mark.parametrize("step", (Attention(1), Flow(TOKENS, TIMES)))
def test_no_derivative_of_points_that_see_one_another(step):
    with pytest.raises(ValueError, match="no derivative of"):
        Derivative(Pipeline((step,)))
