from itertools import islice, pairwise

import numpy as np
import pytest
import torch
from torch.nn import functional

from benchmarks.training import batched, looped
from learning.datasets import DataSet, octants, random_labels, rings, spiral
from learning.film import key
from learning.network import MIDDLES, Network, initial
from learning.training import Adam, _Run, accuracies, losses, train, trained

NETWORK, SPIRAL = Network(2, 3, 2, 1), spiral(60, turns=1, noise=0, seed=0)
EVEN = torch.full((5,), 0.2)


@pytest.fixture(autouse=True)
def single_precision():
    """Make PyTorch create tensors in single precision, as in the application."""
    torch.set_default_dtype(torch.float32)


def test_the_losses_are_those_of_a_plain_loop_over_modules():
    data = spiral(200, turns=1, noise=0, seed=0)
    before = torch.get_num_threads()
    torch.set_num_threads(1)  # a loop over small tensors takes minutes where threads wait for one another
    try:
        np.testing.assert_allclose(batched(data, 6, 100), looped(data, 6, 100), rtol=0, atol=1e-4)
    finally:
        torch.set_num_threads(before)


def test_the_first_checkpoint_is_the_network_before_training():
    film = trained(NETWORK, SPIRAL, seeds=2, steps=3, seed=5)
    np.testing.assert_array_equal(film.weights[:, 0], initial(NETWORK, [5, 6]))


@pytest.mark.parametrize("middle", MIDDLES)
@pytest.mark.parametrize("data", [SPIRAL, rings(37, noise=0.1, seed=0)], ids=["60", "37"])
def test_a_seed_trains_alone_as_among_others(middle, data):
    """Training a seed gives the same numbers alone as beside others, to the last bit."""
    network = Network(2, 3, 2, 1, middle)
    many = trained(network, data, seeds=7, steps=40, lr=0.03)
    for seed, count in ((4, 1), (3, 3)):
        few = trained(network, data, seeds=count, steps=40, lr=0.03, seed=seed)
        assert np.array_equal(few.weights[4 - seed], many.weights[4])
        assert np.array_equal(few.loss[4 - seed], many.loss[4])


def test_training_repeats_and_does_not_depend_on_time():
    calm = trained(NETWORK, SPIRAL, seeds=2, steps=300)
    moments = []
    for moment in train(NETWORK, SPIRAL, seeds=2, steps=300):
        moment.film()
        torch.manual_seed(len(moments))
        moments.append(moment)
    assert key(moments[-1].film()) == key(calm)


def test_moments_come_at_once_and_in_order():
    moments = list(train(NETWORK, SPIRAL, seeds=3, steps=700))
    assert moments[0].step == 0 and moments[0].film().steps.tolist() == [0]
    assert [m.done for m in moments] == [False] * (len(moments) - 1) + [True]
    assert all(a.step < b.step and a.seconds < b.seconds for a, b in pairwise(moments))
    assert [m.film().steps[-1] for m in moments] == [m.step for m in moments]
    film = moments[-1].film()
    np.testing.assert_array_equal(moments[-1].loss, film.loss[:, -1])
    assert film.steps[-1] == 700 and film.settings == {
        "seeds": 3,
        "steps": 700,
        "lr": 0.01,
        "seed": 0,
        "checkpoints": 150,
    }


def test_stopping_early_keeps_what_there_is_and_the_callers_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)  # another number of threads than training uses
    try:
        training = train(NETWORK, SPIRAL, seeds=2, steps=100_000)
        first, second = islice(training, 2)
        assert torch.get_num_threads() == 2
        training.close()
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert 0 < second.step < 100_000 and second.film().steps[-1] == second.step
    assert first.film().steps.tolist() == [0]  # still the film up to that moment


def test_loss_and_accuracy_of_the_film_are_those_of_its_weights():
    data = random_labels(30, seed=1)
    film = trained(NETWORK, data, seeds=2, steps=200, lr=0.05)
    assert film.loss[:, -1].max() < film.loss[:, 0].min()
    for seed in range(2):
        for k in (0, 70, -1):
            logit = film.pipeline(seed).stages(data.points.astype(float), {"step": float(film.steps[k])})[-1][
                :, 0
            ]
            loss = np.logaddexp(0, (1 - 2 * data.labels) * logit).mean()
            assert film.loss[seed, k] == pytest.approx(loss, abs=1e-5)
            assert film.accuracy[seed, k] == pytest.approx(((logit > 0) == data.labels).mean(), abs=1e-6)


def test_more_classes_and_test_data():
    data = octants(90, seed=0)
    three = DataSet(
        data.points, (data.points[:, 0] > -0.4).astype(int) + (data.points[:, 0] > 0.4), 3, "bands"
    )
    film = trained(Network(3, 4, 1, 3), three, seeds=2, steps=400, lr=0.03, test=three)
    assert film.accuracy[:, -1].min() > 0.9
    np.testing.assert_array_equal(film.test_accuracy, film.accuracy)
    assert film.pipeline(0).stages(three.points, {"step": 400.0})[-1].shape == (90, 3)


def test_a_seed_that_diverges_rests_and_harms_no_other():
    film = trained(NETWORK, SPIRAL, seeds=12, steps=20, lr=1e5)
    ended = np.array([bool(word) for word in film.ended])
    assert 0 < ended.sum() < 12  # some seeds diverge, and some do not
    for k in (np.flatnonzero(ended)[0], np.flatnonzero(~ended)[0]):
        alone = trained(NETWORK, SPIRAL, seeds=1, steps=20, lr=1e5, seed=int(k))
        last = alone.weights.shape[1] - 1  # a run of a single seed ends when this seed diverges
        assert alone.ended == film.ended[k : k + 1]
        assert np.array_equal(alone.weights[0], film.weights[k, : last + 1])
        assert (film.weights[k, last:] == film.weights[k, last]).all() or not ended[k]


def test_no_number_of_one_seed_reaches_another():
    runs = [_Run(NETWORK, SPIRAL, None, lr=0.01, seeds=range(3), steps=9) for _ in range(2)]
    for run in runs:
        run.go(0)
    with torch.no_grad():
        runs[0].leaves[0][1] = torch.nan
    for run in runs:
        run.go(60)
    broken, whole = (run.history for run in runs)
    assert broken.ended == ["", "diverged at step 1", ""] and whole.ended == [""] * 3
    assert np.array_equal(broken.weights[:, [0, 2]], whole.weights[:, [0, 2]])
    assert np.isfinite(broken.weights).all()


def test_when_all_seeds_have_diverged_training_is_over():
    *_, last = train(Network(2, 4, 4, 1, "relu"), SPIRAL, seeds=2, steps=5000, lr=1e30)
    assert last.done and last.step < 100 and all(word.startswith("diverged at step") for word in last.ended)


def test_losses_and_accuracies_are_those_of_torch():
    logits, labels = torch.randn(3, 5, 1), torch.tensor([0, 1, 1, 0, 1])
    for k in range(3):
        want = functional.binary_cross_entropy_with_logits(logits[k, :, 0], labels.float())
        torch.testing.assert_close(losses(logits, labels, EVEN)[k], want)
    many, labels = torch.randn(3, 5, 4), torch.tensor([0, 3, 1, 0, 2])
    for k in range(3):
        torch.testing.assert_close(losses(many, labels, EVEN)[k], functional.cross_entropy(many[k], labels))
        assert accuracies(many, labels, EVEN)[k] == (many[k].argmax(-1) == labels).float().mean()


def test_points_without_a_share_do_not_count():
    logits, labels = torch.randn(2, 5, 1), torch.tensor([0, 1, 1, 0, 1])
    half = torch.tensor([0.5, 0.5, 0, 0, 0])
    pair = torch.tensor([0.5, 0.5])
    torch.testing.assert_close(losses(logits, labels, half), losses(logits[:, :2], labels[:2], pair))
    torch.testing.assert_close(accuracies(logits, labels, half), accuracies(logits[:, :2], labels[:2], pair))


def test_adam_is_that_of_torch():
    start = torch.randn(20, dtype=torch.float64)
    ours, theirs = start.clone(), torch.nn.Parameter(start.clone())
    adam, other = Adam(ours, lr=0.1), torch.optim.Adam([theirs], lr=0.1)
    for _ in range(30):
        gradient = torch.randn(20, dtype=torch.float64)
        theirs.grad = gradient.clone()
        adam.step(gradient)
        other.step()
    torch.testing.assert_close(ours, theirs.detach(), rtol=1e-12, atol=1e-12)


def test_a_falling_rate_ends_at_0():
    """A falling learning rate falls linearly, and would be 0 after the last step.

    So of two steps, the first has the whole rate, and the second has half of it.
    """
    held, fell = (
        trained(NETWORK, SPIRAL, seeds=2, steps=2, falling=falling).weights for falling in (False, True)
    )
    np.testing.assert_array_equal(held[:, :2], fell[:, :2])
    np.testing.assert_allclose(fell[:, 2] - fell[:, 1], (held[:, 2] - held[:, 1]) / 2, atol=1e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seeds": 0}, "seeds is a whole number, 1 … 256: got 0"),
        ({"seeds": 1.5}, "seeds"),
        ({"steps": 0}, "steps"),
        ({"steps": 10**6}, "steps"),
        ({"seed": -1}, "seed"),
        ({"checkpoints": 1}, "checkpoints"),
        ({"lr": 0.0}, "lr"),
        ({"lr": float("nan")}, "lr"),
        ({"lr": float("inf")}, "lr"),
        ({"network": Network(3, 3, 2, 1)}, "2 inputs and 1 outputs: the network has 3 and 1"),
        ({"network": Network(2, 3, 2, 2)}, "the network has 2 and 2"),
        ({"test": octants(9, seed=0)}, "3 inputs"),
        (
            {
                "data": DataSet(np.full((4, 2), 3e38), [0, 1, 0, 1], 2, "far"),
                "network": Network(2, 64, 3, 1, "relu"),
            },
            "scale",
        ),
    ],
)
def test_what_cannot_be_trained(change, message):
    options = {"network": NETWORK, "data": SPIRAL, "seeds": 2, "steps": 5, **change}
    with pytest.raises(ValueError, match=message):
        trained(options.pop("network"), options.pop("data"), **options)
