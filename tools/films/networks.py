"""Train small classifiers on spirals, octants, XOR, random labels and digits, for the training scenes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from learning.datasets import FILMED_LABELLING, digits, filmed_xor, octants, random_labels, spiral
from learning.film import Film
from learning.network import MIDDLES, Network
from learning.training import trained
from tools.films.store import stored, write, write_table

RANDOM_POINT_COUNTS = (8, 16, 32)
LABELLINGS = 4  # random labellings of each count
DEPTHS = range(1, 7)
START_SETTINGS = ((0.03, 4000), (0.01, 4000), (0.01, 20_000))  # learning rate and steps
WIDE_LAYER, NARROW_LAYER = 32, 3  # widths of the digits' hidden layers; a narrow last one can be drawn


def spiral_film(turns: float, depth: int, **options: Any) -> Film:
    """Train networks of width 3 on a spiral with this number of turns; returns their film.

    depth: the number of hidden layers. options: those of `train`.
    """
    return trained(Network(2, 3, depth, 1), spiral(200, turns=turns, noise=0, seed=0), **options)


def labels() -> None:
    """Write the table "labels": the share of networks that fit m random labels, for each m and depth.

    Also writes, for each m and depth, a film (weights at checkpoints of training) of the best network for the
    labelling FILMED_LABELLING.
    """
    options: dict[str, Any] = {"steps": 4000, "lr": 0.03}
    seeds, table = 8, []
    count = seeds * LABELLINGS
    for m in RANDOM_POINT_COUNTS:
        for depth in DEPTHS:
            network = Network(2, 3, depth, 1)
            labellings = [random_labels(m, seed=k) for k in range(LABELLINGS)]
            runs = [trained(network, data, seeds=seeds, **options) for data in labellings]
            share = float(np.mean([run.solved(1) for run in runs]))
            table.append({"m": m, "depth": depth, "networks": count, "fitted": share})
            data = runs[FILMED_LABELLING].data
            best = trained(
                network, data, seeds=1, seed=runs[FILMED_LABELLING].best(), checkpoints=60, **options
            )
            film = stored(best, data, half=True)
            words = f"{round(share * count)} of {count} networks fit all labels"
            write(f"labels_{m}_{depth}", film, half=True, words=words)
    write_table("labels", table)


def starts() -> None:
    """Write the table "starts": the seeds with which a network of depth 4 learns 32 random labels.

    The table has a row for each setting (learning rate and number of steps) and each random labelling.
    """
    rows = []
    for lr, steps in START_SETTINGS:
        for k in range(LABELLINGS):
            data = random_labels(32, seed=k)
            run = trained(Network(2, 3, 4, 1), data, lr=lr, steps=steps, checkpoints=2)
            fitted = np.flatnonzero(run.solved(1)).tolist()
            rows.append({"lr": lr, "steps": steps, "set": k, "networks": run.seeds, "fitted": fitted})
            print(f"  starts: {rows[-1]}", flush=True)
    write_table("starts", rows)


def digit_network(middle: str, depth: int, last: int) -> Network:
    """A network for digits, with the function `middle` between its layers, and `depth` hidden layers.

    last: the width of the last hidden layer; the others have WIDE_LAYER.
    """
    return Network(64, WIDE_LAYER, depth, 10, middle, widths=(*[WIDE_LAYER] * (depth - 1), last))


def digits_table() -> None:
    """Write the table "digits": test accuracy by activation or norm, depth, and last hidden layer's width.

    Also writes a film (weights at checkpoints of training) of one network, the best of four seeds.
    """
    train, test = digits(seed=0)
    options: dict[str, Any] = {"steps": 600, "test": test}
    table = []
    for last in (WIDE_LAYER, NARROW_LAYER):
        for middle in MIDDLES:
            for depth in range(1, 5):
                run = trained(digit_network(middle, depth, last), train, seeds=3, **options)
                assert run.test_accuracy is not None
                tests = sorted(round(float(accuracy), 4) for accuracy in run.test_accuracy[:, -1])
                table.append({"middle": middle, "depth": depth, "last": last, "accuracies": tests})
                print(f"  digits: {middle}, depth {depth}, last {last}: {tests}", flush=True)
    write_table("digits", table)
    network = digit_network("u_eps", 4, NARROW_LAYER)
    options |= {"steps": 1500}
    seed = trained(network, train, seeds=4, **options).best()  # by training accuracy, not by the test's
    film = trained(network, train, seeds=1, seed=seed, checkpoints=50, **options)
    write("digits", stored(film, test, half=True), half=True, words="on the 360 that it has not learned from")


FILMS: dict[str, Callable[[], Film]] = {
    "spiral": lambda: spiral_film(1, 2),
    "spiral_15": lambda: spiral_film(1.5, 3, steps=8000),
    "octants": lambda: trained(Network(3, 3, 4, 1), octants(400, seed=0), steps=6000),
    "xor": lambda: trained(Network(2, 3, 1, 1), filmed_xor(), seeds=8, steps=1000),
}
