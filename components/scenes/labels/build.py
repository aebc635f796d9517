"""The recipe of a network that has learnt labels drawn by lot, and how often networks of each depth can."""

from dataclasses import replace
from typing import Any

from components.language.recipe import Facts, Recipe
from components.language.scene import Choices, Training
from components.scenes.networks import assembled, field
from components.training.trained import film_for, seed_of
from learning.datasets import DataSet
from learning.film import Film, shipped, table
from learning.network import Network

SETS = {"8": "of 8 points", "16": "of 16 points", "32": "of 32 points", "xor": "XOR"}
DEPTHS = range(1, 7)


def film_name(choices: Choices) -> str:
    """The shipped film of these labels; that of XOR has one layer, which is enough."""
    return "xor" if choices["data"] == "xor" else f"labels_{choices['data']}_{choices['depth']}"


def task(choices: Choices) -> tuple[Network, DataSet]:
    """The network and the labels of the shipped film, to learn anew."""
    film = shipped(film_name(choices))
    return film.network, film.data


def build(choices: Choices) -> Recipe:
    """Of the run or network that the choices name, else of the first seed that is shipped."""
    if choices["run"] or choices["net"]:
        return show(choices, film_for(choices, *task(choices), ()))
    return show(choices, first(shipped(film_name(choices))))


def show(choices: Choices, film: Film) -> Recipe:
    seed = seed_of(choices, film)
    return replace(assembled(film, seed, field(film, seed), choices["curve"]), facts=shares())


def first(film: Film) -> Film:
    """Of its first seed alone."""
    parts = {name: getattr(film, name)[:1] for name in ("weights", "loss", "accuracy", "ended")}
    return replace(film, **parts)


def shares() -> Facts:
    """How many networks fit all labels, by number of points and depth, as `make films` found it."""
    found = {(row["m"], row["depth"]): row for row in table("labels")}
    sizes, depths = (sorted({pair[k] for pair in found}) for k in (0, 1))
    rows = [[f"{m} points", *(counted(found[m, depth]) for depth in depths)] for m in sizes]
    return Facts("Networks that fit every label, by depth", ("", *map(str, depths)), rows)


def counted(row: dict[str, Any]) -> str:
    return f"{round(row['fitted'] * row['networks'])} of {row['networks']}"


TRAINING = Training(task, show)
