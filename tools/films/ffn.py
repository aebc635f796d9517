"""Train feed-forward networks whose inputs are outputs of a norm, for the scene `ffn`."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from geometry import gates, softmax
from learning.datasets import SPACES, largest
from learning.film import Film
from learning.network import Network
from learning.training import trained
from tools.films.store import stored, write, write_table

TRAINING_POINTS = {"layer_norm": 240, "rms_norm": 600}
EXPANSIONS = range(1, 5)  # widths of the hidden layer, as multiples of the input's width


def ffn() -> None:
    """Train networks to find which coordinate has the largest magnitude, by norm, activation and expansion.

    Writes a film (weights at checkpoints of training) for each setting, and the table "ffn". The table has a
    row per film: the final accuracy and, before and after training, the measures of `transmission`, each as a
    list over seeds.
    """
    rows = []
    for norm, function, k in product(TRAINING_POINTS, ("relu", "gelu"), EXPANSIONS):
        network = Network(3, 3 * k, 1, 3, function)
        options: dict[str, Any] = {"seeds": 8, "steps": 2000, "checkpoints": 24}
        film = trained(network, largest(TRAINING_POINTS[norm], norm=norm), **options)
        film = stored(film, film.data, half=True)
        row: dict[str, Any] = {"norm": norm, "function": function, "expansion": k, "steps": 2000, "lr": 0.01}
        row |= {"accuracy": [round(float(a), 4) for a in film.accuracy[:, -1]]}
        for name, at in (("start", 0), ("end", -1)):
            each = [transmission(film, SPACES[norm], seed, at) for seed in range(film.seeds)]
            row |= {f"{part}_{name}": [round(one[part], 4) for one in each] for part in each[0]}
        rows.append(row)
        write(f"ffn_{norm}_{function}_{k}", film, half=True)
    write_table("ffn", rows)


def transmission(film: Film, basis: np.ndarray, seed: int, at: int) -> dict[str, float]:
    """Measure how much of its inputs y passes the first Linear and the activation of one trained network.

    seed, at: the index of the network in the film, and of the checkpoint. basis: an orthonormal basis, as
    rows, of the space of the norm's outputs y, which lie on a circle or sphere in it. Returns by name:

    off       the share of pre-activations (outputs of the first Linear) that are not positive
    bits      the entropy of the pre-activations' sign patterns, in bits
    lost      the share of inputs that are not APART (`geometry.gates`): the first Linear and ReLU map them to
              the same vector as another point of this circle or sphere. ReLU is taken whatever the
              network's activation is
    back      the error of the best affine map from the hidden layer back to y, relative to the spread of y
    hidden    the difference of the hidden vectors h(y) and h(−y), relative to the spread of h(y)
    answer    the difference of the predicted probabilities p(y) and p(−y), relative to the spread of p(y)

    The size of an error or a difference is its root mean square distance from its mean (`spread`).
    """
    (A, b), last = film.network.unflatten(film.weights[seed, at].astype(float))
    net, y = film.network.pipeline([(A, b), last]), film.data.points.astype(float)
    here, across = ([*net.stages(x), softmax(net.stages(x)[-1])] for x in (y, -y))
    known = np.column_stack([here[2], np.ones(len(y))])
    missed = y - known @ np.linalg.lstsq(known, y)[0]
    return {
        "off": float(np.mean(here[1] <= 0)),
        "bits": gates.pattern_entropy(here[1] > 0)[1],
        "lost": float(np.mean(gates.fates(A @ basis.T, b, y @ basis.T) != gates.APART)),
        "back": spread(missed) / spread(y),
        "hidden": spread(here[2] - across[2]) / spread(here[2]),
        "answer": spread(here[4] - across[4]) / spread(here[4]),
    }


def spread(x: np.ndarray) -> float:
    """The root mean square distance of the vectors x (N, d) from their mean."""
    return float(np.sqrt(((x - x.mean(0)) ** 2).sum(-1).mean()))
