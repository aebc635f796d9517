"""The majority task: find the most frequent class of a sequence from counts. Source: brody2023, 3.1, E.1."""

from functools import cache

import numpy as np

from geometry.angles import to_mean_line
from learning.datasets import DataSet, Stream
from learning.film import Film

Array = np.ndarray

# as in the code of brody2023; the most frequent class leads by at least MARGIN tokens
TOKENS, CLASSES, MARGIN = 50, 20, 6
TEST_SEQUENCES, BATCH_SEQUENCES = 256, 128


def majority(n: int, *, seed: int, batch: int) -> Stream:
    """A data set of n random sequences, each with its most frequent class as the label.

    A sequence of TOKENS tokens is represented by counts: the number of its tokens in each of CLASSES classes.
    The sorted counts are a uniformly random partition of TOKENS into at most CLASSES parts, in which the
    largest part exceeds the second by MARGIN or more. The counts are then assigned to classes at random. Loss
    and accuracy are measured on the n sequences; each training step draws `batch` others.
    """
    of = sequences(n, np.random.default_rng(seed))
    return Stream(
        of.points,
        of.labels,
        CLASSES,
        "majority",
        draw=lambda step: sequences(batch, np.random.default_rng([seed + 1, step])),
    )


def sequences(n: int, rng: np.random.Generator) -> DataSet:
    """n random sequences, as described at `majority`."""
    counts = partitions(n, TOKENS - MARGIN, CLASSES, rng=rng)
    counts[:, 0] += MARGIN  # one-to-one: from partitions of TOKENS − MARGIN to those with the margin
    counts = rng.permuted(counts, axis=1)
    return DataSet(counts, counts.argmax(-1), CLASSES, "majority")


def partitions(n: int, total: int, parts: int, *, rng: np.random.Generator) -> Array:
    """n uniformly random partitions of `total`, as rows of `parts` numbers in decreasing order: (n, parts).

    A partition writes `total` as a sum of at most `parts` positive whole numbers, its parts; zeros fill the
    rest of the row.

    Method: draw the conjugate partition, whose parts are at most `parts` in size. For each size from the
    largest down, draw the number k of parts of this size. Let R be what then remains of `total`. The
    probability of k is proportional to the number of partitions of R into parts that are smaller than this
    size.
    """
    ways, left = _ways(total, parts), np.full(n, total)
    often = np.zeros((n, parts), dtype=np.int64)
    for part in range(parts, 0, -1):
        rest = left[:, None] - part * np.arange(total // part + 1)
        sums = np.cumsum(np.where(rest < 0, 0, ways[part - 1][np.maximum(rest, 0)]), axis=-1)
        often[:, part - 1] = (sums <= rng.integers(sums[:, -1:])).sum(-1)
        left = left - part * often[:, part - 1]
    return np.cumsum(often[:, ::-1], axis=-1)[:, ::-1].copy()


@cache
def _ways(total: int, largest: int) -> Array:
    """Array (largest + 1, total + 1): entry (k, n) counts the partitions of n into parts of size ≤ k."""
    ways = np.zeros((largest + 1, total + 1), dtype=np.int64)
    ways[0, 0] = 1
    for part in range(1, largest + 1):
        ways[part] = ways[part - 1]
        for number in range(part, total + 1):
            ways[part, number] += ways[part, number - part]
    return ways


def mean_query_angle(film: Film) -> Array:
    """The mean angle between the queries and the line along the all-ones vector 𝟏, in degrees: (S, T).

    The mean is over the queries of all classes. There are S seeds and T checkpoints.
    """
    return to_mean_line(film.network.queries(film.weights.astype(float))).mean(-1)
