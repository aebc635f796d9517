import numpy as np
import pytest
import torch

from geometry.softmax import softmax

EXACT = 1e-14  # double precision


def close(got, want):
    np.testing.assert_allclose(np.asarray(got), want, rtol=0, atol=EXACT)


@pytest.mark.parametrize("temperature", [0.1, 1.0, 30.0])
def test_it_is_the_softmax_of_torch(xp, rng, temperature):
    x = rng.normal(size=(2, 5, 4))
    want = torch.softmax(torch.asarray(x) / temperature, -1).numpy()
    close(softmax(xp.asarray(x), temperature=temperature), want)


@pytest.mark.parametrize(("n", "d"), [(4, 4), (3, 5), (5, 3), (1, 1)])
def test_a_causal_point_sees_the_first_coordinates_alone(xp, rng, n, d):
    x = rng.normal(size=(2, n, d))
    hidden = torch.ones(n, d).triu(1).bool()
    want = torch.softmax(torch.asarray(x).masked_fill(hidden, -np.inf), -1).numpy()
    close(softmax(xp.asarray(x), causal=True), want)


def test_temperature_zero_is_the_argmax_which_several_share(xp):
    x = xp.asarray([[1.0, 3.0, 2.0], [2.0, 2.0, -1.0]])
    close(softmax(x, temperature=0.0), [[0, 1, 0], [0.5, 0.5, 0]])
    close(softmax(x, temperature=1e-3), [[0, 1, 0], [0.5, 0.5, 0]])
    close(softmax(x, temperature=0.0, causal=True), [[1, 0, 0], [0.5, 0.5, 0]])


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_nothing_overflows(xp, size):
    got = np.asarray(softmax(xp.asarray([[size, -size, 0.0]])))
    assert np.isfinite(got).all() and got.sum() == pytest.approx(1)


def test_a_shift_of_all_changes_nothing(xp, rng):
    x = rng.normal(size=(5, 4))
    close(softmax(xp.asarray(x + 7.0)), np.asarray(softmax(xp.asarray(x))))


@pytest.mark.parametrize("temperature", [[1.0, 2.0], np.ones(1), torch.ones(2)], ids=str)
def test_a_temperature_is_one_number(temperature):
    with pytest.raises(ValueError, match="temperature is one number: got shape"):
        softmax(torch.ones(2, 2), temperature=temperature)


def test_a_temperature_below_zero_is_refused():
    with pytest.raises(ValueError, match="0 or more: got -1"):
        softmax(np.ones((2, 2)), temperature=-1.0)


@pytest.mark.parametrize("causal", [False, True])
def test_gradients_into_points_and_temperature(causal):
    x = torch.randn(3, 3, dtype=torch.float64, requires_grad=True)
    t = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x, t: softmax(x, temperature=t, causal=causal), (x, t))


def test_no_points(xp):
    assert softmax(xp.zeros((0, 3))).shape == (0, 3)
