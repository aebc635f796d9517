"""Compare three ways to find the keys that attention can select: linear programmes, Qhull and our method.

Run it with `python -m benchmarks.selection`; it prints a table of CPU times. All three ways get the same sets
of Gaussian keys, one after another in one process, and must give the same answers. HiGHS solves one linear
programme for each key. Qhull is run in up to MAX_DIMENSION dimensions only.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from time import process_time

import numpy as np

from geometry import hull
from geometry.clouds import gaussian
from tools.films import selectable_keys

SIZES = ((50, 4), (200, 4), (100, 8), (500, 8))
ROUNDS = 3  # sets of keys of each size
MAX_DIMENSION = 5  # largest dimension for Qhull


def programmes(keys: np.ndarray) -> np.ndarray:
    return np.asarray([selectable_keys.programme(keys, k) for k in range(len(keys))])


def by_hull(keys: np.ndarray) -> np.ndarray:
    return np.isin(np.arange(len(keys)), hull.vertices(keys))


def timed(way: Callable[[np.ndarray], np.ndarray], n: int, d: int) -> tuple[float, list[np.ndarray]]:
    """Run `way` on ROUNDS sets of n keys in d dimensions; return its median CPU time in ms, and its results.

    way: a function that returns, for each of the keys (n, d), whether some query selects it.
    """
    times, found = [], []
    for seed in range(ROUNDS):
        keys, start = gaussian(n, d, seed=seed), process_time()
        found.append(way(keys))
        times.append(1000 * (process_time() - start))
    return statistics.median(times), found


def main() -> None:
    print("| keys, dimensions | a programme a key, ms | Qhull, ms | ours, ms |\n| --- | --- | --- | --- |")
    for n, d in SIZES:
        ours, found = timed(selectable_keys.unbeaten, n, d)
        ways = {"programmes": programmes} | ({"hull": by_hull} if d <= MAX_DIMENSION else {})
        others = {name: timed(way, n, d) for name, way in ways.items()}
        for name, (_, theirs) in others.items():
            if not np.array_equal(theirs, found):
                raise SystemExit(f"{name} and ours differ for {n} keys in {d} dimensions")
        qhull = f"{others['hull'][0]:.1f}" if "hull" in others else "not run"
        print(f"| {n}, {d} | {others['programmes'][0]:,.0f} | {qhull} | {ours:.1f} |", flush=True)


if __name__ == "__main__":
    main()
