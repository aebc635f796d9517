"""Recipes of the scene `heads`: the axes of LayerNorm's sphere divided among heads, and the shuffle test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from components.language.recipe import Recipe
from components.language.scene import Choices, File
from components.scenes.heads.cut import cut
from components.scenes.heads.shuffle import shuffle_test
from learning.film import json_table

PICTURES = {"cut": "the cut", "test": "the shuffle test"}
HEADS = {"2": "2, with two axes each", "4": "4, with one axis each"}
WINDOWS = {"box": "box", "triangle": "triangle", "sine": "sine"}
LAYERS = {"1": "layer 1", "2": "layer 2"}
MEASURES = {"loss": "the loss", "guesses": "the predictions"}
DATA_FILES = (File("heads.json", json_table),)


def build(choices: Choices, table: Sequence[Mapping[str, Any]]) -> Recipe:
    if choices["picture"] == "cut":
        return cut(int(choices["heads"]), choices["window"])
    return shuffle_test(table, int(choices["layer"]) - 1, choices["measure"])
