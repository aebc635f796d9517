"""The choices of a scene with a network, and the film that they name: a run, one network, or one shipped."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from components.language.recipe import Recipe
from components.language.scene import Choice, Choices, Result, Training, Whole, WrongValue
from components.training import runs
from learning.datasets import DataSet, parse
from learning.film import Film, FilmError, score, shipped
from learning.models import Model
from learning.network import MIDDLES
from learning.weights import network_of

SEEDS = 32  # networks that a scene can show
TRAINED = ("middle", "width", "depth")
BETWEEN = {name: label or "nothing" for name, label in MIDDLES.items()}
MIDDLE = Choice("middle", "between the Linears", "u_eps", BETWEEN)
CURVES = {"loss": "loss", "accuracy": "accuracy", "both": "both", "gradient": "gradient, fold"}
CURVE = Choice("curve", "curves", "loss", CURVES)
OWN = {  # the points that a scene has, by their dimension, and a line of a user's
    2: ("points of the plane: two numbers and a label", "x, y, label"),
    3: ("points in space: three numbers and a label", "x, y, z, label"),
}


def shape(depth: int) -> tuple[Choice, Whole, Whole]:
    """The choices that describe a network, of three neurons a layer and so many layers by default."""
    return MIDDLE, Whole("width", "width", 3, 2, 8), Whole("depth", "depth", depth, 1, 6)


def shown(seed: int) -> tuple[Whole, Choice]:
    """The choices of what is seen of a training: a seed, and which curve."""
    return Whole("seed", "seed shown", seed, 0, SEEDS - 1), CURVE


def results(*of: str) -> tuple[Result, Result]:
    """The choices that hold what was trained for other choices: a stored run, or one network in the link."""
    return Result("run", "stored run", of), Result("net", "network", of)


def own(text: str, d: int) -> DataSet:
    """The user's points (N, d), moved and scaled to the unit ball; "; " ends a line, as links have it."""
    wanted, line = OWN[d]
    try:
        found = parse(text.replace("; ", "\n"))
        if found.points.shape[1] != d:
            raise ValueError(f"this scene has {wanted}")
    except ValueError as problem:
        raise WrongValue("points", f"points: {problem}", f"{line} on each line") from None
    centred = found.points - found.points.mean(0)
    return DataSet(centred / max(np.linalg.norm(centred, axis=-1).max(), 1e-6), found.labels, 2, "own")


def builder(training: Training, *films: str) -> Callable[[Choices], Recipe]:
    """choices → recipe: of the run or network that they name, else of a shipped film, else untrained."""
    return lambda choices: training.show(choices, film_for(choices, *training.task(choices), films))


def film_for(choices: Choices, network: Model, data: DataSet, films: Sequence[str]) -> Film:
    if choices["run"]:
        return fitting("run", runs.load(choices["run"]), network, data)
    if choices["net"]:
        return fitting("net", _carried(choices["net"], data), network, data)
    fits = (film for film in map(shipped, films) if _same(film, network, data))
    return next(fits, None) or at_rest(network, data, network.initial(range(SEEDS)))


def _carried(text: str, data: DataSet) -> Film:
    try:
        network, flat = network_of(text)
        return at_rest(network, data, flat[None, :])
    except (FilmError, ValueError) as problem:
        raise WrongValue("net", f"net: {problem}", "what a link with a network has") from None


def fitting(name: str, film: Film, network: Model, data: DataSet) -> Film:
    """The film, if it is one of these. Raises WrongValue."""
    if not _same(film, network, data):
        words = f"{name} was trained for other choices than those of this link"
        raise WrongValue(name, words, "the choices that it was trained for")
    return film


def _same(film: Film, network: Model, data: DataSet) -> bool:
    same = np.array_equal(film.data.points, data.points) and np.array_equal(film.data.labels, data.labels)
    return film.network == network and same


def at_rest(network: Model, data: DataSet, weights: np.ndarray) -> Film:
    """A film of one checkpoint: networks (S, P) as they are, with their loss and accuracy."""
    points = data.points.astype(float)
    labels, weight = network.answers(points, data.labels, np.ones(len(points)))
    with np.errstate(all="ignore"):  # what is not finite, the film refuses
        logits = network.logits(network.parts(weights.astype(float)), points)
        loss, right = np.transpose([score(each, labels, weight) for each in logits])
    words = ("",) * len(weights)
    return Film(network, data, np.array([0]), weights[:, None], loss[:, None], right[:, None], words)


def seed_of(choices: Choices, film: Film) -> int:
    """The seed to show; a single network has no choice of it."""
    if choices["net"]:
        return 0
    if choices["seed"] >= film.seeds:
        allowed = {"min": 0, "max": film.seeds - 1, "whole": True}
        words = f"seed={choices['seed']}, but this training has {film.seeds}, from 0 on"
        raise WrongValue("seed", words, allowed)
    return int(choices["seed"])
