"""Train attention on the majority task, for the scene `majority`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from geometry.arrays import Array
from learning.attention import NORMS, AttentionClassifier
from learning.datasets import DataSet, Stream
from learning.film import Film
from learning.history import thinned
from learning.majority import BATCH_SEQUENCES, CLASSES, TEST_SEQUENCES, majority, mean_query_angle, sequences
from learning.training import train, trained
from tools.films.store import stored, write, write_table

RATES = {"slow": (0.001, 4000), "fast": (0.01, 1500)}  # learning rate and steps
# as many steps as brody2023 reports; there the learning rate falls more slowly, to 0.0009
FALLING_RATE_OPTIONS = {"lr": 0.001, "steps": 17_000}
TRAINING_SEQUENCES = 80_000  # size of the training set of brody2023
FALLING_BATCH, FALLING_TEST_SEQUENCES = 256, 512
FALLING_SEEDS = dict.fromkeys(NORMS, 2) | {"layer_norm": 4}  # more seeds, since its first two differ much
# SHORT_LENGTH, in units of √d, is the length of the outputs of brody2023's norm without projection
LENGTHS_BATCH, LENGTHS_SEEDS, SHORT_LENGTH = 64, 3, 1 / 8
LENGTHS = {
    "long": (1.0, 1.0),
    "keys": (SHORT_LENGTH, 1.0),
    "values": (1.0, SHORT_LENGTH),
    "short": (SHORT_LENGTH, SHORT_LENGTH),
}


@dataclass(frozen=True)
class Lengths(AttentionClassifier):
    """Attention after RMSNorm, with the normalised vectors scaled differently for keys and for values.

    asked    the length of the vectors from which queries and keys are computed, in units of √d
    valued   the length of the vectors from which values are computed, in units of √d
    """

    norm: str = "rms_norm"
    asked: float = 1.0
    valued: float = 1.0

    def logits(self, parts: Sequence[Array], counts: Array) -> Array:
        by = {"query": self.asked, "key": self.asked, "value": self.valued}
        scaled = [by.get(name, 1.0) * part for name, part in zip(self.shapes, parts, strict=True)]
        return super().logits(scaled, counts)


def counting() -> None:
    """Train attention on the majority task, for each norm and learning rate; write films and a table.

    A film has the weights at checkpoints of one training. The table "majority" has a row for each film. A row
    has for each seed the first steps at which 50, 90 and 99 % accuracy are reached (None: never), and the
    loss, accuracy and `mean_query_angle` at the end. It also has the medians over seeds of loss, accuracy and
    angle at several steps; the column `at` lists these steps.
    """
    rows = []
    for rate, (lr, steps) in RATES.items():
        for norm in NORMS:
            data = majority(TEST_SEQUENCES, seed=0, batch=BATCH_SEQUENCES)
            network = AttentionClassifier(norm=norm)
            run = trained(network, data, seeds=10, steps=steps, lr=lr, checkpoints=300)
            angle = mean_query_angle(run)
            keep = thinned(run.loss.T, 60)
            curves = {"loss": run.loss, "accuracy": run.accuracy, "angle": angle}
            rows.append(
                {"norm": norm, "rate": rate, "lr": lr, "steps": steps, "batch": BATCH_SEQUENCES}
                | {f"to_{share}": reached(run, share / 100) for share in (50, 90, 99)}
                | {f"end_{name}": np.round(each[:, -1], 4).tolist() for name, each in curves.items()}
                | {"at": run.steps[keep].tolist()}
                | {name: np.round(np.median(each, 0)[keep], 4).tolist() for name, each in curves.items()}
            )
            write(f"majority_{norm}_{rate}", kept(run), half=True)
            write_table("majority", rows)


def epochs(n: int, *, seed: int, batch: int, examples: int = TRAINING_SEQUENCES) -> Stream:
    """The data set of `majority`, but trained in epochs on a fixed set of `examples` random sequences.

    Each epoch goes through this set once, in batches of `batch` sequences and in a new random order. An
    incomplete batch at the end of an epoch is left out. Loss and accuracy are measured on n sequences that
    are drawn independently of this set. Source: brody2023, E.1.
    """
    of, known = (
        sequences(n, np.random.default_rng(seed)),
        sequences(examples, np.random.default_rng(seed + 1)),
    )

    @lru_cache(maxsize=1)
    def order(epoch: int) -> np.ndarray:
        return np.random.default_rng([seed + 2, epoch]).permutation(examples)

    def draw(step: int) -> DataSet:
        epoch, k = divmod(step, examples // batch)
        chosen = order(epoch)[k * batch : (k + 1) * batch]
        return DataSet(known.points[chosen], known.labels[chosen], CLASSES, "majority")

    return Stream(of.points, of.labels, CLASSES, "majority", draw=draw)


def falling() -> None:
    """Write the table "majority_falling": trainings with the data and the number of steps of brody2023.

    The table has a row for each norm: the settings, and for each seed the first steps and the final values
    that `counting` writes too. The learning rate starts as in brody2023, and falls to 0. No films are
    written. Takes about ten minutes on one core.
    """
    rows: list[dict[str, Any]] = []
    data, options = (
        epochs(FALLING_TEST_SEQUENCES, seed=0, batch=FALLING_BATCH),
        FALLING_RATE_OPTIONS | {"falling": True},
    )
    for norm in NORMS:
        run = trained(
            AttentionClassifier(norm=norm), data, seeds=FALLING_SEEDS[norm], checkpoints=300, **options
        )
        curves = {"loss": run.loss, "accuracy": run.accuracy, "angle": mean_query_angle(run)}
        rows.append(
            {"norm": norm, "seeds": [*range(FALLING_SEEDS[norm])], "batch": FALLING_BATCH}
            | FALLING_RATE_OPTIONS
            | {f"to_{share}": reached(run, share / 100) for share in (50, 90, 99)}
            | {f"end_{name}": np.round(each[:, -1], 4).tolist() for name, each in curves.items()}
        )
        write_table("majority_falling", rows)


def lengths() -> None:
    """Write the table "majority_lengths": for each setting in LENGTHS, each seed's steps to 50 % accuracy."""
    data, rows = majority(TEST_SEQUENCES, seed=0, batch=LENGTHS_BATCH), []
    for name, (asked, valued) in LENGTHS.items():
        network = Lengths(asked=asked, valued=valued)
        run = train(network, data, seeds=LENGTHS_SEEDS, steps=2000, lr=RATES["slow"][0])
        film = next(moment for moment in run if (moment.accuracy > 0.55).all() or moment.done).film()
        rows.append({"short": name, "batch": LENGTHS_BATCH, "to_50": reached(film, 0.5)})
        write_table("majority_lengths", rows)


def reached(film: Film, accuracy: float) -> list[int | None]:
    """For each seed, the step of its first checkpoint with at least this accuracy; None if there is none."""
    return [None if np.isnan(step) else int(step) for step in film.steps_to(accuracy)]


def kept(film: Film) -> Film:
    """The film with fewer checkpoints, and with weights in half precision, as it is stored.

    `thinned` chooses at most 32 checkpoints; of these, every third and the last one are kept.
    """
    film = at(film, thinned(film.loss.T, 32))
    film = at(film, np.unique([*range(0, len(film.steps), 3), len(film.steps) - 1]))
    return stored(film, film.data, half=True)


def at(film: Film, keep: np.ndarray) -> Film:
    """The film with only the checkpoints whose indices are in `keep`."""
    parts = {name: getattr(film, name)[:, keep] for name in ("weights", "loss", "accuracy")}
    return replace(film, steps=film.steps[keep], **parts)
