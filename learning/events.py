"""Find plateaus and sudden drops in a loss curve. Source: winsor2022."""

from dataclasses import dataclass

import numpy as np

Array = np.ndarray

PLATEAU_BAND = 0.1  # largest change of log10 loss within a plateau
LEAST_PLATEAU = 0.1  # smallest duration of a plateau, as a share of the training
PLATEAU_SLOPE = 0.5  # largest mean slope of a plateau; a fall from largest to smallest in the whole time is 1
DROP_FACTOR = 2.0
LONGEST_DROP = 0.05  # largest duration of a drop, as a share of the training
LOSS_FLOOR = 1e-9  # smaller losses, including 0, are replaced by this one before taking logarithms


@dataclass(frozen=True)
class Event:
    """A plateau or drop of a loss curve: its first and last training step, and the loss at both."""

    start: int
    end: int
    before: float
    after: float


def plateaus(steps: Array, loss: Array) -> list[Event]:
    """The plateaus of a loss curve, ordered by time; `steps` and `loss` are (T,).

    A plateau is a stretch of steps in which log10 loss

    - stays within a band of width PLATEAU_BAND;
    - stays more than PLATEAU_BAND above its value at the end of the training;
    - falls slowly: on average at most PLATEAU_SLOPE times as fast as a line that falls from the largest value
      to the smallest during the whole training.

    A plateau lasts at least the share LEAST_PLATEAU of the training. From each step, only the longest stretch
    that begins there and has the first two properties is considered. If plateaus overlap, the longest is
    kept. The first loss that is not finite, and all later ones, are ignored.
    """
    steps, level = _curve(steps, loss)
    if len(steps) < 2:
        return []
    above, run = level > level[-1] + PLATEAU_BAND, steps[-1] - steps[0]
    even = (level.max() - level.min()) / run
    found: list[tuple[int, int]] = []
    for i, j in sorted(_within(level, above), key=lambda pair: steps[pair[0]] - steps[pair[1]]):
        free, time = all(j <= a or i >= b for a, b in found), steps[j] - steps[i]
        if free and time >= LEAST_PLATEAU * run and level[i] - level[j] <= PLATEAU_SLOPE * even * time:
            found.append((i, j))
    return [_event(steps, loss, i, j) for i, j in sorted(found)]


def drops(steps: Array, loss: Array) -> list[Event]:
    """The sudden drops of a loss curve, ordered by time; `steps` and `loss` are (T,).

    In a drop, the smallest loss so far falls by more than a factor of DROP_FACTOR, within at most the share
    LONGEST_DROP of the training. Drops that overlap or touch are merged into one, which may be longer. The
    end of a spike is no drop, because it does not lower the smallest loss so far. The first loss that is not
    finite, and all later ones, are ignored.
    """
    steps, level = _curve(steps, loss)
    best = np.minimum.accumulate(level)
    found: list[tuple[int, int]] = []
    for i, j in _falls(steps, best):
        if found and i <= found[-1][1]:
            i, j = found.pop()[0], j
        found.append((i, j))
    return [_event(steps, loss, i, j) for i, j in found]


def _curve(steps: Array, loss: Array) -> tuple[Array, Array]:
    """The steps and log10 losses before the first loss that is not finite."""
    loss = np.asarray(loss, dtype=float)
    end = int(np.argmin([*np.isfinite(loss), False]))
    return np.asarray(steps)[:end], np.log10(np.maximum(loss[:end], LOSS_FLOOR))


def _within(level: Array, above: Array) -> list[tuple[int, int]]:
    """For each index, the longest stretch that begins there and could be part of a plateau.

    A stretch is a pair (first index, last index). In it the log10 loss `level` stays within a band of width
    PLATEAU_BAND, and `above` is True everywhere. An index where `above` is False has no stretch.
    """
    pairs = []
    for i in range(len(level)):
        spread = np.maximum.accumulate(level[i:]) - np.minimum.accumulate(level[i:])
        fits = (spread <= PLATEAU_BAND) & above[i:]
        if fits[0]:
            pairs.append((i, i + int(np.argmin([*fits, False])) - 1))
    return pairs


def _falls(steps: Array, best: Array) -> list[tuple[int, int]]:
    """The stretches where the smallest loss so far falls by more than a factor of DROP_FACTOR.

    A stretch is a pair (first index, last index). It lasts at most the share LONGEST_DROP of the training.
    Stretches may overlap. `best` is log10 of the smallest loss so far, at each of the `steps`.
    """
    pairs, depth = [], np.log10(DROP_FACTOR)
    for j in range(1, len(best)):
        i = int(np.searchsorted(steps, steps[j] - LONGEST_DROP * (steps[-1] - steps[0])))
        if best[i] - best[j] > depth and best[j] < best[j - 1]:
            pairs.append((int(np.flatnonzero(best[:j] == best[i])[-1]), j))
    return pairs


def _event(steps: Array, loss: Array, i: int, j: int) -> Event:
    return Event(int(steps[i]), int(steps[j]), float(loss[i]), float(loss[j]))
