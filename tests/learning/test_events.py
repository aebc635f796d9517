import numpy as np
import pytest

from learning.events import drops, plateaus

STEPS = np.arange(0, 4001, 20)


def staircase(levels, ends):
    """Losses at STEPS: levels[k] up to and including the step ends[k], then the next level."""
    return np.array([levels[np.searchsorted(ends, step, side="left")] for step in STEPS])


STAIRS = staircase([0.7, 0.3, 0.01], [1000, 3000, 4000])


def spans(events):
    return [(event.start, event.end) for event in events]


def test_a_staircase_has_a_plateau_on_each_step_but_the_last_and_a_drop_at_each_edge():
    assert spans(plateaus(STEPS, STAIRS)) == [(0, 1000), (1020, 3000)]
    assert spans(drops(STEPS, STAIRS)) == [(1000, 1020), (3000, 3020)]
    first, second = drops(STEPS, STAIRS)
    assert (first.before, first.after, second.before, second.after) == (0.7, 0.3, 0.3, 0.01)


def test_a_curve_counts_by_its_steps_not_by_its_checkpoints():
    keep = np.sort(np.random.default_rng(0).choice(len(STEPS), 120, replace=False))
    keep = np.unique([0, 50, 51, 150, 151, 200, *keep])
    assert spans(plateaus(STEPS[keep], STAIRS[keep])) == [(0, 1000), (1020, 3000)]
    assert spans(drops(STEPS[keep], STAIRS[keep])) == [(1000, 1020), (3000, 3020)]


@pytest.mark.parametrize(
    "loss",
    [np.full(len(STEPS), 0.7), np.zeros(len(STEPS)), *(10 ** -(STEPS / n) for n in (1000, 4400, 9000))],
)
def test_a_constant_and_a_straight_line_have_neither(loss):
    """A loss that is constant, or whose logarithm falls linearly at any rate, has no plateau and no drop."""
    assert plateaus(STEPS, loss) == [] and drops(STEPS, loss) == []


def test_scale_does_not_matter():
    for scale in (1e-3, 1, 1e3):
        assert spans(plateaus(STEPS, scale * STAIRS)) == spans(plateaus(STEPS, STAIRS))
        assert spans(drops(STEPS, scale * STAIRS)) == spans(drops(STEPS, STAIRS))


def test_small_noise_changes_nothing():
    for seed in range(5):
        noise = 10 ** np.random.default_rng(seed).uniform(-0.04, 0.04, len(STEPS))
        assert spans(plateaus(STEPS, STAIRS * noise)) == [(0, 1000), (1020, 3000)]
        assert [end for _, end in spans(drops(STEPS, STAIRS * noise))][-1] >= 3020
        assert len(drops(STEPS, STAIRS * noise)) == 2
        assert plateaus(STEPS, 0.7 * noise) == [] and drops(STEPS, 0.7 * noise) == []


def test_a_peak_that_comes_back_down_is_no_drop():
    loss = np.full(len(STEPS), 0.1)
    loss[100:103] = 5.0
    assert drops(STEPS, loss) == []


def test_a_slow_fall_is_no_drop_and_a_fast_one_is():
    for width, count in ((2000, 0), (100, 1)):
        loss = 0.7 * 10 ** -(np.clip((STEPS - 1000) / width, 0, 1) * 1.2)
        assert len(drops(STEPS, loss)) == count


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_curve_counts_up_to_its_first_number_that_is_not_finite(bad):
    loss = STAIRS.copy()
    loss[160:] = bad
    assert spans(drops(STEPS, loss)) == [(1000, 1020), (3000, 3020)]
    loss[0] = bad
    assert plateaus(STEPS, loss) == [] and drops(STEPS, loss) == []


def test_no_and_one_checkpoint():
    for count in (0, 1):
        assert plateaus(STEPS[:count], STAIRS[:count]) == [] and drops(STEPS[:count], STAIRS[:count]) == []
