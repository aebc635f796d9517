"""The `Choice` settings shared by scenes that show a trained network: shape, seed, curve and stored result.

Also the checks of two of their values: the user's own points, and the seed.
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
    """The choices that describe a network. By default it has `depth` layers of three neurons."""
    return MIDDLE, Whole("width", "width", 3, 2, 8, folded=True), Whole("depth", "depth", depth, 1, 6)


def shown(seed: int) -> tuple[Whole, Choice]:
    """The choices that select what is shown: the seed and the training curve."""
    return Whole("seed", "seed shown", seed, 0, SEEDS - 1), CURVE


def results(*of: str) -> tuple[Result, Result]:
    """The settings that hold the result of a training: a stored run, or one network written in the link."""
    return Result("run", "stored run", of), Result("net", "network", of)


def own(text: str, d: int) -> DataSet:
    """The data set of the user's points (N, d), centred and scaled to the unit ball.

    Raises `WrongValue` if `text` has another format. Lines of `text` may be separated by "; ", as in links.
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
    """The seed to show: 0 for a network from the link. Raises `WrongValue` if the film has no such seed."""
    if choices["net"]:
        return 0
    if choices["seed"] >= film.seeds:
        allowed = {"min": 0, "max": film.seeds - 1, "whole": True}
        words = f"seed={choices['seed']}, but this training has {film.seeds} seeds, numbered from 0"
        raise WrongValue("seed", words, allowed)
    return int(choices["seed"])
