"""Attention that finds the most frequent class."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from geometry.angles import to_mean_line
from learning.attention import NORMS, Attention
from learning.film import Film
from learning.history import thinned
from learning.majority import BATCH, HELD, epochs, majority
from learning.training import trained
from tools.films.store import stored, write, write_table

RATES = {"slow": (0.001, 4000), "fast": (0.01, 1500)}  # learning rates and steps with attention
FALLING = {"lr": 0.001, "steps": 17_000}  # as 004 trains it, but with 256 sequences a step in place of 6,000
FALLING_BATCH, FALLING_HELD = 256, 512
FALLING_SEEDS = dict.fromkeys(NORMS, 2) | {"layer_norm": 4}  # whose first two are far apart


def counting() -> None:
    """Attention that finds the most frequent class, by its norm and the learning rate: films and a table.

    A row a film: for each seed the first steps with these accuracies (None: never) and how it ends, and the
    medians of its curves.
    """
    rows = []
    for rate, (lr, steps) in RATES.items():
        for norm in NORMS:
            data = majority(HELD, seed=0, batch=BATCH)
            run = trained(Attention(norm=norm), data, seeds=10, steps=steps, lr=lr, checkpoints=300)
            angle = turned(run)
            keep = thinned(run.loss.T, 60)
            curves = {"loss": run.loss, "accuracy": run.accuracy, "angle": angle}
            rows.append(
                {"norm": norm, "rate": rate, "lr": lr, "steps": steps, "batch": BATCH}
                | {f"to_{share}": reached(run, share / 100) for share in (50, 90, 99)}
                | {f"end_{name}": np.round(each[:, -1], 4).tolist() for name, each in curves.items()}
                | {"at": run.steps[keep].tolist()}
                | {name: np.round(np.median(each, 0)[keep], 4).tolist() for name, each in curves.items()}
            )
            write(f"majority_{norm}_{rate}", kept(run), half=True)
            write_table("majority", rows)


def falling() -> None:
    """The same for as many steps as 004 trains, from as many examples, with its rate that falls: a table.

    A row for each norm. Some ten minutes of a core.
    """
    rows: list[dict[str, Any]] = []
    data, options = epochs(FALLING_HELD, seed=0, batch=FALLING_BATCH), FALLING | {"falling": True}
    for norm in NORMS:
        run = trained(Attention(norm=norm), data, seeds=FALLING_SEEDS[norm], checkpoints=300, **options)
        curves = {"loss": run.loss, "accuracy": run.accuracy, "angle": turned(run)}
        rows.append(
            {"norm": norm, "seeds": [*range(FALLING_SEEDS[norm])], "batch": FALLING_BATCH}
            | FALLING
            | {f"to_{share}": reached(run, share / 100) for share in (50, 90, 99)}
            | {f"end_{name}": np.round(each[:, -1], 4).tolist() for name, each in curves.items()}
        )
        write_table("majority_falling", rows)


def turned(film: Film) -> np.ndarray:
    """The mean angle (S, T) of the queries to 1, in degrees."""
    return to_mean_line(film.network.queries(film.weights.astype(float))).mean(-1)


def reached(film: Film, accuracy: float) -> list[int | None]:
    return [None if np.isnan(step) else int(step) for step in film.steps_to(accuracy)]


def kept(film: Film) -> Film:
    """The film with every third of 32 checkpoints along its loss and its time, as it will be stored."""
    film = at(film, thinned(film.loss.T, 32))
    film = at(film, np.unique([*range(0, len(film.steps), 3), len(film.steps) - 1]))
    return stored(film, film.data, half=True)


def at(film: Film, keep: np.ndarray) -> Film:
    """The film with these of its checkpoints alone."""
    parts = {name: getattr(film, name)[:, keep] for name in ("weights", "loss", "accuracy")}
    return replace(film, steps=film.steps[keep], **parts)
