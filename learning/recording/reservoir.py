"""Reservoir sampling of vectors.

Each vector gets a random number, and the vectors with the smallest numbers are kept.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray


class Reservoir:
    """A uniform random sample of at most `most` of the vectors seen, with d numbers each.

    The first `kept` rows of `x` are the kept vectors. Each row of `about` has three numbers on the vector in
    the same row of `x`: its position, its token, and how many vectors were seen before it. The method
    `choose` writes the third number. Its caller must write the first two, and the vector.
    """

    def __init__(self, most: int, d: int, seed: int) -> None:
        self.x, self.about = np.empty((most, d), np.float32), np.empty((most, 3), np.int64)
        self.drawn, self.kept, self.seen = np.empty(most), 0, 0
        self.lots = np.random.default_rng(seed)

    @property
    def finite(self) -> Array:
        """For each kept vector, whether all its numbers are finite."""
        return np.asarray(np.isfinite(self.x[: self.kept]).all(axis=-1))

    def choose(self, count: int) -> tuple[Array, Array]:
        """Choose at random which of the next `count` vectors to keep; all of them count as seen.

        They may replace vectors that were kept before. Returns the indices of the vectors to keep, from 0 to
        `count` − 1, and the rows of `x` and `about` where the caller must write them.
        """
        most, drawn = len(self.drawn), self.lots.random(count)
        every = np.concatenate([self.drawn[: self.kept], drawn])
        stay = np.argpartition(every, most - 1)[:most] if len(every) > most else np.arange(len(every))
        new = np.sort(stay[stay >= self.kept]) - self.kept
        places = np.setdiff1d(np.arange(most), stay[stay < self.kept])[: len(new)]
        self.drawn[places], self.kept = drawn[new], min(len(every), most)
        self.about[places, 2] = self.seen + new
        self.seen += count
        return new, places
