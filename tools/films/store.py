"""Write films (weights of networks at checkpoints of training), language models and tables to films/."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from learning.datasets import DataSet
from learning.film import Film, score, to_npz
from learning.language import Shape, to_file
from learning.shipped import FOLDER


def stored(film: Film, data: DataSet, *, half: bool) -> Film:
    """The film with its weights rounded as in a file, and its loss and accuracy measured anew on `data`.

    They are measured with the rounded weights; test accuracies are dropped. half: round to half precision
    instead of single precision.
    """
    network, weights = (
        film.network,
        film.weights.astype(np.float16 if half else np.float32).astype(np.float32),
    )
    labels, weight = network.answers(data.points, data.labels, np.ones(len(data.points)))
    scores = [
        [score(network.logits(network.parts(flat), data.points), labels, weight) for flat in seed]
        for seed in weights
    ]
    loss, accuracy = np.moveaxis(np.array(scores), -1, 0)
    return replace(film, weights=weights, data=data, loss=loss, accuracy=accuracy, test_accuracy=None)


def digits_of(values: np.ndarray, digits: int = 4) -> list[float]:
    """The values rounded to this number of significant digits."""
    return [float(f"{value:.{digits}g}") for value in values]


def write(name: str, film: Film, *, half: bool = False, words: str = "") -> None:
    """Write a film to films/NAME.npz, and print a line on it that ends with `words`.

    half: store weights in half precision.
    """
    data = to_npz(film, half=half)
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{name}.npz").write_bytes(data)
    best, solved = film.accuracy[film.best(), -1], int(film.solved().sum())
    print(f"{name}: accuracy {best:.3f}, {solved} of {film.seeds} pass 0.99, {len(data) >> 10} kB {words}")


def texts(*names: str) -> list[str]:
    """The contents of the text files with these names in films/."""
    return [(FOLDER / f"{name}.txt").read_text("utf-8") for name in names]


def write_model(name: str, shape: Shape, weights: Mapping[str, np.ndarray], about: str, steps: int) -> None:
    """Write a language model that was trained with seed 0 to films/NAME.safetensors.

    about: a description of the model. steps: the number of steps of its training.
    """
    file = to_file(shape, weights, about=about, seed="0", steps=str(steps))
    (FOLDER / f"{name}.safetensors").write_bytes(file)


def write_table(name: str, rows: list[dict[str, Any]]) -> None:
    """Write a table to films/NAME.json, with one row per line, so that diffs are readable."""
    text = ",\n".join(json.dumps(row) for row in rows)
    (FOLDER / f"{name}.json").write_text(f"[\n{text}\n]\n", encoding="utf-8")
