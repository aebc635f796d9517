"""The recipe of a network that learns classes of points in the plane.

It shows how the network's layers fold the plane, its output, and training curves of all seeds.
"""

from components.language.recipe import Recipe
from components.language.scene import Choices, Training
from components.scenes.networks import assembled, field
from components.scenes.sheets import flat_sheet
from components.scenes.trained import own, seed_of
from learning.datasets import DataSet, blobs, rings, spiral
from learning.film import Film
from learning.network import Network

NOISE = {"spiral": 0.0, "rings": 0.05, "blobs": 0.15}


def task(choices: Choices) -> tuple[Network, DataSet]:
    """The network that the choices describe, and the data set that it learns."""
    return Network(2, choices["width"], choices["depth"], 1, choices["middle"]), data(choices)


def data(choices: Choices) -> DataSet:
    """The chosen data set: spiral, rings, blobs, or the reader's own points."""
    n = choices["n"]
    match choices["data"]:
        case "spiral":
            return spiral(n, turns=float(choices["turns"]), noise=NOISE["spiral"], seed=0)
        case "rings":
            return rings(n, noise=NOISE["rings"], seed=0)
        case "blobs":
            return blobs(n, noise=NOISE["blobs"], seed=0)
    return own(choices["points"], 2)


def build(choices: Choices, film: Film) -> Recipe:
    seed = seed_of(choices, film)
    return assembled(film, seed, flat_sheet(film, seed), field(film, seed), choices["curve"])


TRAINING = Training(task, films=lambda choices: ("spiral", "spiral_15"))
