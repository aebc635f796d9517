"""The recipe of a network that has learnt labels drawn by lot, and how often networks of each depth can."""

from dataclasses import replace

from components.networks import assembled, field
from components.recipe import Facts, Recipe
from components.scene import Choices
from geometry.film import Film, shipped, table

SETS = {"8": "8 points, by lot", "16": "16 points, by lot", "32": "32 points, by lot", "xor": "XOR"}


def build(choices: Choices) -> Recipe:
    name = "xor" if choices["data"] == "xor" else f"labels_{choices['data']}_{choices['depth']}"
    film = first(shipped(name))
    return replace(assembled(film, 0, field(film, 0), choices["curve"]), facts=shares())


def first(film: Film) -> Film:
    """The film of its first seed alone."""
    parts = {name: getattr(film, name)[:1] for name in ("weights", "loss", "accuracy", "ended")}
    return replace(film, **parts)


def shares() -> Facts:
    """The share of networks that fit all labels, by number of points and depth, as `make films` found it."""
    found = {(row["m"], row["depth"]): row["fitted"] for row in table("labels")}
    sizes, depths = (sorted({pair[k] for pair in found}) for k in (0, 1))
    rows = [[f"{m} points", *(f"{found[m, depth]:.0%}" for depth in depths)] for m in sizes]
    return Facts("Networks that fit every label, by depth", ("", *map(str, depths)), rows)
