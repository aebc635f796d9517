"""Plateaus and sudden drops of a loss curve. Source: winsor2022."""

from dataclasses import dataclass

import numpy as np

Array = np.ndarray

LOSS_FLOOR = 1e-9  # a loss below, also 0, counts as this one


@dataclass(frozen=True)
class Event:
    """A plateau or drop: its first and last step, and the loss at both."""

    start: int
    end: int
    before: float
    after: float


def plateaus(
    steps: Array, loss: Array, *, band: float = 0.1, least: float = 0.1, slow: float = 0.5
) -> list[Event]:
    """Where training waits before it goes on, in order of time, for steps (T,) and losses (T,).

    A plateau is a longest stretch of at least `least` of the run in which log10 loss stays within a band of
    this width, falls less than `slow` times as fast as evenly from the greatest loss to the least, and is all
    the time more than the width above the final one. The longest is taken first, and others only where they
    do not overlap. A curve counts up to its first value that is not finite.
    """
    steps, level = _curve(steps, loss)
    if len(steps) < 2:
        return []
    above, run = level > level[-1] + band, steps[-1] - steps[0]
    even = (level.max() - level.min()) / run
    found: list[tuple[int, int]] = []
    for i, j in sorted(_within(level, above, band), key=lambda pair: steps[pair[0]] - steps[pair[1]]):
        free, time = all(j <= a or i >= b for a, b in found), steps[j] - steps[i]
        if free and time >= least * run and level[i] - level[j] <= slow * even * time:
            found.append((i, j))
    return [_event(steps, loss, i, j) for i, j in sorted(found)]


def drops(steps: Array, loss: Array, *, factor: float = 2.0, within: float = 0.05) -> list[Event]:
    """Where the loss falls suddenly, in order of time, for steps (T,) and losses (T,).

    A drop is a stretch in which the least loss so far falls by more than `factor` within the share `within`
    of the run; drops that touch are one. A peak that only comes back down is none. A curve counts up to its
    first value that is not finite.
    """
    steps, level = _curve(steps, loss)
    best = np.minimum.accumulate(level)
    found: list[tuple[int, int]] = []
    for i, j in _falls(steps, best, np.log10(factor), within):
        if found and i <= found[-1][1]:
            i, j = found.pop()[0], j
        found.append((i, j))
    return [_event(steps, loss, i, j) for i, j in found]


def _curve(steps: Array, loss: Array) -> tuple[Array, Array]:
    """Steps and log10 of the losses before the first that is not finite."""
    loss = np.asarray(loss, dtype=float)
    end = int(np.argmin([*np.isfinite(loss), False]))
    return np.asarray(steps)[:end], np.log10(np.maximum(loss[:end], LOSS_FLOOR))


def _within(level: Array, above: Array, band: float) -> list[tuple[int, int]]:
    """For each start i the last j such that all of i … j lie above, and within the band."""
    pairs = []
    for i in range(len(level)):
        spread = np.maximum.accumulate(level[i:]) - np.minimum.accumulate(level[i:])
        fits = (spread <= band) & above[i:]
        if fits[0]:
            pairs.append((i, i + int(np.argmin([*fits, False])) - 1))
    return pairs


def _falls(steps: Array, best: Array, depth: float, within: float) -> list[tuple[int, int]]:
    """For each end j that lies deeper than the window before it: from where it begins to fall, to j."""
    pairs = []
    for j in range(1, len(best)):
        i = int(np.searchsorted(steps, steps[j] - within * (steps[-1] - steps[0])))
        if best[i] - best[j] > depth and best[j] < best[j - 1]:
            pairs.append((int(np.flatnonzero(best[:j] == best[i])[-1]), j))
    return pairs


def _event(steps: Array, loss: Array, i: int, j: int) -> Event:
    return Event(int(steps[i]), int(steps[j]), float(loss[i]), float(loss[j]))
