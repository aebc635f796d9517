from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from learning.majority import CLASSES, MARGIN, TOKENS, majority, partitions


def every(total, most, parts):
    """All ways to write `total` as a sum of at most `parts` positive numbers, none larger than `most`.

    Each is a tuple in descending order.
    """
    if total == 0:
        return [()]
    if parts == 0:
        return []
    return [(k, *rest) for k in range(1, min(total, most) + 1) for rest in every(total - k, k, parts - 1)]


@pytest.mark.parametrize(("total", "parts"), [(7, 7), (9, 3), (4, 6), (5, 1)])
def test_each_partition_is_as_likely_as_the_others(total, parts):
    drawn = partitions(20_000, total, parts, rng=np.random.default_rng(0))
    found, counts = np.unique(drawn, axis=0, return_counts=True)
    padded = [(*p, *[0] * (parts - len(p))) for p in every(total, total, parts)]
    assert {tuple(row) for row in found.tolist()} == set(padded)
    assert stats.chisquare(counts).pvalue > 1e-3 if len(counts) > 1 else counts[0] == 20_000


def test_sequences_are_as_in_the_paper():
    data = majority(500, seed=1, batch=10)
    counts = data.points.astype(int)
    ahead = np.sort(counts, axis=-1)[:, ::-1]
    assert counts.shape == (500, CLASSES) and (counts.sum(-1) == TOKENS).all() and (counts >= 0).all()
    assert (ahead[:, 0] - ahead[:, 1] >= MARGIN).all() and (ahead[:, 0] - ahead[:, 1] == MARGIN).any()
    assert (counts.argmax(-1) == data.labels).all()
    assert stats.chisquare(np.bincount(data.labels, minlength=CLASSES)).pvalue > 1e-3


def test_each_step_learns_from_new_sequences_and_they_come_again():
    data, again = (majority(20, seed=4, batch=64) for _ in range(2))
    batches = [data.batch(step).points for step in range(4)]
    assert all(len(batch) == 64 for batch in batches)
    assert all((one != other).any() for one, other in pairwise(batches))
    np.testing.assert_array_equal(again.batch(2).points, batches[2])
    np.testing.assert_array_equal(again.points, data.points)
