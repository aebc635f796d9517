import numpy as np
import pytest

from learning.datasets import spiral
from learning.history import MAX_CHECKPOINTS, MAX_HISTORY_BYTES, History, thinned
from learning.network import Network

NETWORK, DATA = Network(2, 3, 2, 1), spiral(10, turns=1, noise=0, seed=0)
OPTIONS = {"checkpoints": 100, "tested": False}


def filled(values, steps=None):
    """A history of two seeds.

    values (T, 2): for the steps 0 to T − 1 and for each seed, one number. All weights have this value, and
    the loss is its magnitude. steps: the planned number of steps of the training, by default T − 1.
    """
    history = History(NETWORK, 2, steps or len(values) - 1)
    for step, value in enumerate(np.asarray(values, dtype=np.float32)):
        weights = np.repeat(value[:, None], NETWORK.parameter_count, axis=1)
        history.add(step, weights, abs(value), np.full(2, 0.5), np.full(2, 0.25))
    return history


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, -2e6])
def test_a_seed_rests_at_its_last_finite_checkpoint(bad):
    history = filled([[1, 1], [2, 2], [3, bad], [4, 4], [5, bad]])
    assert history.ended == ["", "diverged at step 2"] and history.done
    film = history.film(DATA, {}, count=history.count, **OPTIONS)
    assert film.loss.tolist() == [[1, 2, 3, 4, 5], [1, 2, 2, 2, 2]]
    assert film.weights[1, :, 0].tolist() == [1, 2, 2, 2, 2]


def test_all_seeds_ended_is_the_end():
    history = filled([[1, 1], [np.nan, 1]], steps=50)
    assert not history.done
    history = filled([[1, 1], [np.nan, 1], [1, np.nan]], steps=50)
    assert history.done and history.ended == ["diverged at step 1", "diverged at step 2"]


def test_a_loss_that_is_not_finite_from_the_start():
    with pytest.raises(ValueError, match="scale the data down"):
        filled([[np.nan, 1], [1, 1]])


def test_a_film_of_the_first_checkpoints():
    history = filled(np.ones((9, 2)))
    assert history.film(DATA, {}, count=4, **OPTIONS).steps.tolist() == [0, 1, 2, 3]
    film = history.film(DATA, {}, count=9, checkpoints=3, tested=True)
    assert film.steps.tolist() == [0, 4, 8] and (film.test_accuracy == 0.25).all()


@pytest.mark.parametrize(("seeds", "steps"), [(1, 1), (32, 4000), (32, 4001), (256, 100_000)])
def test_what_is_kept_is_bounded_and_the_last_step_always_wanted(seeds, steps):
    for network in (NETWORK, Network(64, 64, 4, 10)):
        history = History(network, seeds, steps)
        wanted = [step for step in range(steps + 1) if history.wants(step)]
        assert (
            wanted[0] == 0 and wanted[-1] == steps and len(wanted) <= len(history.at) <= MAX_CHECKPOINTS + 2
        )
        assert history.weights.nbytes <= MAX_HISTORY_BYTES + 2 * history.weights[0].nbytes


def test_thinning_keeps_ends_order_and_number():
    rng = np.random.default_rng(0)
    for count in (2, 3, 50, 400):
        loss = np.exp(np.cumsum(rng.normal(size=(count, 3)), axis=0) / 10)
        for most in (2, 10, 150):
            keep = thinned(loss, most)
            assert keep[0] == 0 and keep[-1] == count - 1 and len(keep) <= most and (np.diff(keep) > 0).all()


def test_checkpoints_are_dense_where_the_loss_moves():
    loss = np.where(np.arange(1000) < 500, 0.7, 0.7 * 10 ** -(np.clip(np.arange(1000) - 500, 0, 50) / 25))
    keep = thinned(loss[:, None], 100)
    moving = ((keep >= 500) & (keep < 550)).sum()
    assert moving == pytest.approx(50, abs=6) and len(keep) - moving >= 40  # half by the loss, half in time
    even = thinned(np.full((1000, 2), 0.7), 100)
    assert np.diff(even).max() <= 11
