"""The choices (settings) shared by scenes that show a trained network: shape, seed, curve, stored result.

The module also checks two choices: the reader's own points, and the seed.
"""

from __future__ import annotations

import numpy as np

from components.language.scene import Choice, Choices, Result, Whole, WrongValue
from learning.datasets import DataSet, parse
from learning.film import Film
from learning.network import MIDDLES

SEEDS = 32  # networks that a scene can show
TRAINED = ("middle", "width", "depth")
BETWEEN = {name: label or "nothing" for name, label in MIDDLES.items()}
MIDDLE = Choice("middle", "between the linear layers", "u_eps", BETWEEN, folded=True)
CURVES = {"loss": "loss", "accuracy": "accuracy", "both": "both", "gradient": "gradient, fold"}
CURVE = Choice("curve", "curves", "loss", CURVES)
OWN_POINTS = {  # by dimension: what a scene's points are, and the format of a line
    2: ("points of the plane: two numbers and a label", "x, y, label"),
    3: ("points in space: three numbers and a label", "x, y, z, label"),
}


def shape(depth: int) -> tuple[Choice, Whole, Whole]:
    """The choices for a network's architecture: the step between its linear layers, width, and depth.

    The default depth is `depth`, the default width 3.
    """
    return MIDDLE, Whole("width", "width", 3, 2, 8, folded=True), Whole("depth", "depth", depth, 1, 6)


def shown(seed: int) -> tuple[Whole, Choice]:
    """The choices for what a scene shows of a training: a seed (`seed` by default), and which curves."""
    return Whole("seed", "seed shown", seed, 0, SEEDS - 1), CURVE


def results(*of: str) -> tuple[Result, Result]:
    """The choices for the result of training: the key of a stored run, or one network that the link contains.

    of: the names of the choices that determine the training. If a reader changes one, the result is dropped.
    """
    return Result("run", "stored run", of=of), Result("net", "network", of=of)


def own(text: str, d: int) -> DataSet:
    """The data set written as `text`: points with d coordinates, centred and scaled to the unit ball.

    Each line of `text` has the coordinates and the label of a point; "; " can separate lines, as in links.
    Raises `WrongValue` if `text` has another format.
    """
    wanted, line = OWN_POINTS[d]
    try:
        found = parse(text.replace("; ", "\n"))
        if found.points.shape[1] != d:
            raise ValueError(f"this scene has {wanted}")
    except ValueError as problem:
        raise WrongValue("points", f"points: {problem}", f"{line} on each line") from None
    centred = found.points - found.points.mean(0)
    return DataSet(centred / max(np.linalg.norm(centred, axis=-1).max(), 1e-6), found.labels, 2, "own")


def seed_of(choices: Choices, film: Film) -> int:
    """The index of the seed to show, which is 0 if the choice "net" has a network.

    Raises `WrongValue` if `film` does not contain the chosen seed.
    """
    if choices["net"]:
        return 0
    if choices["seed"] >= film.seeds:
        allowed = {"min": 0, "max": film.seeds - 1, "whole": True}
        words = f"seed={choices['seed']}, but this training has {film.seeds} seeds, numbered from 0"
        raise WrongValue("seed", words, allowed)
    return int(choices["seed"])
