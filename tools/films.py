"""Train the films that are shipped, and write them to films/. `make films`, or with names only those.

What comes out is the same each time, but for rounding that differs between machines.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from time import perf_counter
from typing import Any

import numpy as np

from geometry import center, layer_norm, rms_norm
from geometry.centering import hyperplane_basis
from geometry.clouds import gaussian
from geometry.fates import selectable
from learning.datasets import DataSet, digits, octants, random_labels, spiral, xor
from learning.film import Film, score, to_npz
from learning.network import MIDDLES, Network
from learning.shipped import FOLDER
from learning.training import trained

POINTS = (8, 16, 32)  # of random labels
LABELLINGS, SHOWN = 4, 3  # how often their labels are drawn, and which of these has a film
DEPTHS = range(1, 7)
STARTS = ((0.03, 4000), (0.01, 4000), (0.01, 20_000))  # learning rates and steps, with many starts
NUMBERS = (5, 10, 20, 50, 100, 200, 500)  # of Gaussian keys,
DIMENSIONS = (2, 3, 4, 5, 6, 8, 10, 12, 16)  # theirs,
SETS = 100  # and how often they are drawn
ARMS = ("drawn", "centred", "scaled", "layernorm", "eps")  # what becomes of them
WIDE, NARROW = 32, 3  # hidden layers of the digits: all but the last, and the last where it is drawn


def plane(turns: float, depth: int, **options: Any) -> Film:
    return trained(Network(2, 3, depth, 1), spiral(200, turns=turns, noise=0, seed=0), **options)


def one(film: Film, data: DataSet, *, half: bool) -> Film:
    """A film of one seed as seen on these data, with its weights as they will be stored."""
    weights = film.weights.astype(np.float16 if half else np.float32).astype(np.float32)
    film = replace(film, weights=weights, test_accuracy=None)
    loss, accuracy = np.transpose(
        [score(film.pipeline(0).stages(data.points, {"step": step})[-1], data.labels) for step in film.steps]
    )
    return replace(film, data=data, loss=loss[None], accuracy=accuracy[None])


def labels() -> None:
    """How many of the networks fit all labels of m points, by depth; and a film of one that does, if any."""
    options: dict[str, Any] = {"steps": 4000, "lr": 0.03}
    table = []
    for m in POINTS:
        for depth in DEPTHS:
            network = Network(2, 3, depth, 1)
            runs = [trained(network, random_labels(m, seed=k), seeds=8, **options) for k in range(LABELLINGS)]
            share = float(np.mean([run.solved(1) for run in runs]))
            table.append({"m": m, "depth": depth, "networks": 8 * LABELLINGS, "fitted": share})
            data = runs[SHOWN].data
            best = trained(network, data, seeds=1, seed=runs[SHOWN].best(), checkpoints=60, **options)
            film = one(best, data, half=True)
            write(f"labels_{m}_{depth}", film, half=True, words=f"{share:.2f} of {8 * LABELLINGS} fit all")
    write_table("labels", table)


def starts() -> None:
    """Which of 32 starts a set fit all 32 labels at depth 4, by learning rate and steps."""
    rows = []
    for lr, steps in STARTS:
        for k in range(LABELLINGS):
            data = random_labels(32, seed=k)
            run = trained(Network(2, 3, 4, 1), data, lr=lr, steps=steps, checkpoints=2)
            fitted = np.flatnonzero(run.solved(1)).tolist()
            rows.append({"lr": lr, "steps": steps, "set": k, "networks": run.seeds, "fitted": fitted})
            print(f"  starts: {rows[-1]}", flush=True)
    write_table("starts", rows)


def keys(x: np.ndarray, arm: str) -> np.ndarray:
    """What an arm makes of keys, in coordinates of the flat in which they lie then."""
    made = {"drawn": x, "scaled": rms_norm(x, eps=0), "centred": center(x)}
    made |= {"layernorm": layer_norm(x, eps=0), "eps": layer_norm(x)}  # the usual ε = 1e-5
    return made[arm] if arm in ("drawn", "scaled") else made[arm] @ hyperplane_basis(x.shape[-1]).T


def unselectable() -> None:
    """The share of keys that no query selects, by number and dimension: mean over sets, and their spread."""
    table = []
    for n, d in product(NUMBERS, DIMENSIONS):
        row: dict[str, Any] = {"n": n, "d": d, "sets": SETS}
        for arm in ARMS:
            sets = (keys(gaussian(n, d, seed=k), arm) for k in range(SETS))
            shares = [1 - float(np.mean(selectable(each))) for each in sets]
            row[arm] = [round(float(np.mean(shares)), 6), round(float(np.std(shares, ddof=1)), 6)]
        table.append(row)
        print(f"  unselectable: {row}", flush=True)
    write_table("unselectable", table)


def digit_network(middle: str, depth: int, last: int) -> Network:
    return Network(64, WIDE, depth, 10, middle, widths=(*[WIDE] * (depth - 1), last))


def numerals() -> None:
    """Test accuracy by activation, depth and width of the last hidden layer; a film of one on the sphere."""
    train, test = digits(seed=0)
    options: dict[str, Any] = {"steps": 600, "test": test}
    table = []
    for last in (WIDE, NARROW):
        for middle in MIDDLES:
            for depth in range(1, 5):
                run = trained(digit_network(middle, depth, last), train, seeds=3, **options)
                assert run.test_accuracy is not None
                tests = sorted(round(float(accuracy), 4) for accuracy in run.test_accuracy[:, -1])
                table.append({"middle": middle, "depth": depth, "last": last, "accuracies": tests})
                print(f"  digits: {middle}, depth {depth}, last {last}: {tests}", flush=True)
    write_table("digits", table)
    network = digit_network("u_eps", 4, NARROW)
    options |= {"steps": 1500}
    seed = trained(network, train, seeds=4, **options).best()  # by the data that it has learned from
    film = trained(network, train, seeds=1, seed=seed, checkpoints=50, **options)
    write("digits", one(film, test, half=True), half=True, words="on the 360 that it has not learned from")


FILMS: dict[str, Callable[[], Film]] = {
    "spiral": lambda: plane(1, 2),
    "spiral_15": lambda: plane(1.5, 3, steps=8000),
    "octants": lambda: trained(Network(3, 3, 4, 1), octants(400, seed=0), steps=6000),
    "xor": lambda: trained(Network(2, 3, 1, 1), xor(120, noise=0.25, seed=0), seeds=8, steps=1000),
}
TABLES = {"labels": labels, "starts": starts, "digits": numerals, "unselectable": unselectable}


def write(name: str, film: Film, *, half: bool = False, words: str = "") -> None:
    data = to_npz(film, half=half)
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{name}.npz").write_bytes(data)
    best, solved = film.accuracy[film.best(), -1], int(film.solved().sum())
    print(f"{name}: accuracy {best:.3f}, {solved} of {film.seeds} pass 0.99, {len(data) >> 10} kB {words}")


def write_table(name: str, rows: list[dict[str, Any]]) -> None:
    """One row a line, so that a change is seen."""
    text = ",\n".join(json.dumps(row) for row in rows)
    (FOLDER / f"{name}.json").write_text(f"[\n{text}\n]\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "names", nargs="*", help=f"of {', '.join([*FILMS, *TABLES])}; all where none is given"
    )
    names = parser.parse_args().names or [*FILMS, *TABLES]
    if unknown := set(names) - {*FILMS, *TABLES}:
        parser.error(f"no film {', '.join(sorted(unknown))}: take of {', '.join([*FILMS, *TABLES])}")
    for name in names:
        start = perf_counter()
        if name in FILMS:
            write(name, FILMS[name]())
        else:
            TABLES[name]()
        print(f"  {name}: {perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
