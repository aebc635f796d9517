"""Collect checkpoints during training, and thin them to the number that a film (stored training) keeps."""

from collections.abc import Mapping
from math import ceil
from typing import Any

import numpy as np

from learning.datasets import DataSet
from learning.film import Film
from learning.network import Network
from learning.weights import LARGEST_WEIGHT

Array = np.ndarray

MAX_CHECKPOINTS, MAX_HISTORY_BYTES = (1000, 128 * 2**20)  # limits for checkpoints in memory, before thinning
LOSS_FLOOR = 1e-6  # smaller losses count as this one, because changes below are not visible


class History:
    """The checkpoints of S networks of one architecture, taken every `stride` steps and at the last step.

    The networks differ in their seeds. A seed *diverges* when its loss is not finite or one of its weights
    leaves ±LARGEST_WEIGHT. From then on its last good checkpoint is repeated, and `ended` says at which step
    it diverged. `add` raises ValueError if a seed diverges at the first checkpoint.
    """

    def __init__(self, network: Network, seeds: int, steps: int):
        kept = min(MAX_CHECKPOINTS, MAX_HISTORY_BYTES // (4 * seeds * network.parameter_count))
        self.network, self.steps, self.count = network, steps, 0
        self.stride = ceil(steps / max(kept, 2))
        self.ended = [""] * seeds
        room = steps // self.stride + 2
        self.at = np.zeros(room, dtype=np.int64)
        self.weights = np.zeros((room, seeds, network.parameter_count), dtype=np.float32)
        self.loss, self.accuracy, self.tested = np.zeros((3, room, seeds), dtype=np.float32)

    def wants(self, step: int) -> bool:
        return step % self.stride == 0 or step == self.steps

    @property
    def done(self) -> bool:
        return self.at[self.count - 1] == self.steps or all(self.ended)

    def add(self, step: int, weights: Array, loss: Array, accuracy: Array, tested: Array) -> None:
        """Add a checkpoint: weights (rows, P), loss, accuracy and test accuracy `tested` (rows,).

        There are at least S rows. Rows after the first S are ignored; they occur because at least two
        networks are trained at once.
        """
        k, seeds = self.count, len(self.ended)
        weights, loss, accuracy, tested = (part[:seeds] for part in (weights, loss, accuracy, tested))
        bad = ~(np.isfinite(loss) & (np.abs(weights) <= LARGEST_WEIGHT).all(-1))  # also where they are NaN
        if k == 0 and bad.any():
            raise ValueError("the loss is not finite from the start: scale the data down")
        self.ended = [
            word or (f"diverged at step {step}" if b else "") for word, b in zip(self.ended, bad, strict=True)
        ]
        rests = np.array([bool(word) for word in self.ended])
        for row, value in (
            (self.weights, weights),
            (self.loss, loss),
            (self.accuracy, accuracy),
            (self.tested, tested),
        ):
            row[k] = value
            row[k, rests] = row[k - 1, rests]
        self.at[k], self.count = step, k + 1

    def film(
        self, data: DataSet, settings: Mapping[str, Any], *, checkpoints: int, count: int, tested: bool
    ) -> Film:
        """The first `count` checkpoints as a film (stored training run), thinned to at most `checkpoints`.

        `tested` says whether test accuracies were recorded.
        """
        keep = thinned(self.loss[:count], checkpoints)
        weights, *curves = (
            np.swapaxes(row[keep], 0, 1) for row in (self.weights, self.loss, self.accuracy, self.tested)
        )
        test = curves.pop() if tested else None
        return Film(
            self.network,
            data,
            self.at[keep],
            weights,
            curves[0],
            curves[1],
            tuple(self.ended),
            settings,
            test,
        )


def thinned(loss: Array, most: int) -> Array:
    """The indices of at most `most` of T checkpoints, including the first and the last.

    `loss` is (T, S). The checkpoints are evenly spaced along a measure of progress, to which two parts
    contribute equally: the number of checkpoints, and the path length of log10 loss, averaged over seeds. So
    more checkpoints are kept where the loss changes.
    """
    count = len(loss)
    if count <= most:
        return np.arange(count)
    moved = np.abs(np.diff(np.log10(np.maximum(loss, LOSS_FLOOR)), axis=0)).mean(-1)
    path = np.concatenate([[0.0], np.cumsum(moved / max(moved.sum(), 1e-12) + 1 / len(moved))])
    keep = np.searchsorted(path, np.linspace(0, path[-1], most) - 1e-12)
    return np.unique(np.clip(keep, 0, count - 1))
