"""Sequences in which one class is the most frequent, as their counts. Source: brody2023, 3.1 and E.1."""

from functools import cache, lru_cache

import numpy as np

from learning.datasets import DataSet, Stream

Array = np.ndarray

TOKENS, CLASSES, MARGIN = (
    50,
    20,
    6,
)  # as in the code of brody2023: the most frequent class leads by MARGIN tokens
HELD, BATCH = 256, 128  # sequences that are measured, and those of a step
EXAMPLES = 80_000  # in the training set of brody2023


def majority(n: int, *, seed: int, batch: int) -> Stream:
    """Counts (n, CLASSES) of sequences of TOKENS tokens, and the class that is there most often.

    How often the classes are there is a partition of TOKENS into at most CLASSES parts of which the largest
    is ahead by MARGIN or more, each as likely as the others; which class has which part is drawn by lot. To
    learn from there are `batch` new sequences a step.
    """
    of = _drawn(n, np.random.default_rng(seed))
    return Stream(
        of.points,
        of.labels,
        CLASSES,
        "majority",
        draw=lambda step: _drawn(batch, np.random.default_rng([seed + 1, step])),
    )


def epochs(n: int, *, seed: int, batch: int, examples: int = EXAMPLES) -> Stream:
    """As `majority`, but learned from one set of so many examples, in a new order each time through it.

    What does not fill a batch at the end of an epoch is left out of it. Source: brody2023, E.1.
    """
    of, known = _drawn(n, np.random.default_rng(seed)), _drawn(examples, np.random.default_rng(seed + 1))

    @lru_cache(maxsize=1)
    def order(epoch: int) -> Array:
        return np.random.default_rng([seed + 2, epoch]).permutation(examples)

    def draw(step: int) -> DataSet:
        epoch, k = divmod(step, examples // batch)
        chosen = order(epoch)[k * batch : (k + 1) * batch]
        return DataSet(known.points[chosen], known.labels[chosen], CLASSES, "majority")

    return Stream(of.points, of.labels, CLASSES, "majority", draw=draw)


def _drawn(n: int, rng: np.random.Generator) -> DataSet:
    counts = partitions(n, TOKENS - MARGIN, CLASSES, rng=rng)
    counts[:, 0] += MARGIN  # every partition with that margin comes from one without
    counts = rng.permuted(counts, axis=1)
    return DataSet(counts, counts.argmax(-1), CLASSES, "majority")


def partitions(n: int, total: int, parts: int, *, rng: np.random.Generator) -> Array:
    """n uniformly random partitions (n, parts) of a number, in decreasing order, padded with zeros.

    Turned on their side they have parts of at most `parts`: how often each of these is there is drawn from
    the largest down, by the number of ways in which the smaller ones can fill what is left.
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
def _ways(total: int, parts: int) -> Array:
    """In how many ways each number up to `total` is a sum of parts 1 … k, a row for each k up to `parts`."""
    ways = np.zeros((parts + 1, total + 1), dtype=np.int64)
    ways[0, 0] = 1
    for part in range(1, parts + 1):
        ways[part] = ways[part - 1]
        for number in range(part, total + 1):
            ways[part, number] += ways[part, number - part]
    return ways
