"""The recipe of a network on points of the plane: how they fold, its decision, the curves of its seeds."""

import numpy as np

from components.networks import assembled, field
from components.recipe import Recipe
from components.scene import Choices, Training, WrongValue
from components.trained import builder, seed_of
from geometry.datasets import DataSet, blobs, parse, rings, spiral
from geometry.film import Film
from geometry.network import Network

NOISE = {"spiral": 0.0, "rings": 0.05, "blobs": 0.15}


def task(choices: Choices) -> tuple[Network, DataSet]:
    """The network that the choices describe, and what it learns."""
    return Network(2, choices["width"], choices["depth"], 1, choices["middle"]), data(choices)


def data(choices: Choices) -> DataSet:
    n = choices["n"]
    match choices["data"]:
        case "spiral":
            return spiral(n, turns=float(choices["turns"]), noise=NOISE["spiral"], seed=0)
        case "rings":
            return rings(n, noise=NOISE["rings"], seed=0)
        case "blobs":
            return blobs(n, noise=NOISE["blobs"], seed=0)
    return own(choices["points"])


def own(text: str) -> DataSet:
    """The user's points, moved and scaled to the unit disc; "; " ends a line, as links have it."""
    try:
        found = parse(text.replace("; ", "\n"))
        if found.points.shape[1] != 2:
            raise ValueError("this scene has points of the plane: two numbers and a label")
    except ValueError as problem:
        raise WrongValue("points", f"points: {problem}", "x, y, label on each line") from None
    centred = found.points - found.points.mean(0)
    return DataSet(centred / max(np.linalg.norm(centred, axis=-1).max(), 1e-6), found.labels, 2, "own")


def show(choices: Choices, film: Film) -> Recipe:
    seed = seed_of(choices, film)
    return assembled(film, seed, field(film, seed), choices["curve"])


TRAINING = Training(task, show)
build = builder(TRAINING, "spiral", "spiral_15")
