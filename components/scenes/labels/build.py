"""The recipe of a network that learned random labels, and a table of how many networks learn all labels."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from components.language.recipe import Facts, Recipe
from components.language.scene import Choices, File, Training
from components.scenes.networks import assembled, field
from components.scenes.sheets import flat_sheet
from components.scenes.trained import seed_of
from learning.datasets import FILMED_LABELLING, DataSet, filmed_xor, random_labels
from learning.film import Film, json_table
from learning.network import Network

SETS = {"8": "of 8 points", "16": "of 16 points", "32": "of 32 points", "xor": "XOR"}
DEPTHS = range(1, 7)
Rows = Sequence[Mapping[str, Any]]


def film_name(choices: Choices) -> str:
    """The name of the stored training with the chosen labels and depth. For XOR there is only depth 1."""
    return "xor" if choices["data"] == "xor" else f"labels_{choices['data']}_{choices['depth']}"


def task(choices: Choices) -> tuple[Network, DataSet]:
    """The network and the data set that the choices describe, as they are to be trained."""
    if choices["data"] == "xor":
        return Network(2, 3, 1, 1), filmed_xor()
    return Network(2, 3, choices["depth"], 1), random_labels(int(choices["data"]), seed=FILMED_LABELLING)


def build(choices: Choices, film: Film, found: Rows) -> Recipe:
    """The recipe of the reader's own training, or else of the first seed of the stored training.

    film: the reader's own training if the choices name one, else the stored training. found: the rows of the
    table of all trainings, which is shown beside the figure.
    """
    film = film if choices["run"] or choices["net"] else first(film)
    seed = seed_of(choices, film)
    shown = assembled(film, seed, flat_sheet(film, seed), field(film, seed), choices["curve"])
    return replace(shown, facts=shares(found))


def first(film: Film) -> Film:
    """A copy of the stored training `film` with the network of its first seed only."""
    parts = {name: getattr(film, name)[:1] for name in ("weights", "loss", "accuracy", "ended")}
    return replace(film, **parts)


def shares(found: Rows) -> Facts:
    """Table of how many networks learned all labels, by number of points and depth, from the rows `found`."""
    counts = {(row["m"], row["depth"]): row for row in found}
    sizes, depths = (sorted({pair[k] for pair in counts}) for k in (0, 1))
    rows = [[f"{m} points", *(counted(counts[m, depth]) for depth in depths)] for m in sizes]
    return Facts("Networks that fit every label, by depth", ("", *map(str, depths)), rows)


def counted(row: Mapping[str, Any]) -> str:
    """The number of networks of this row that learned all labels, as text such as "3 of 10"."""
    return f"{round(row['fitted'] * row['networks'])} of {row['networks']}"


TRAINING = Training(task, films=lambda choices: (film_name(choices),))
DATA_FILES = (File("labels.json", json_table),)
