"""Graph of the number of strands in trained networks, a dot for each network, with the upper bound.

The number of strands is the largest number of points of the input that a network's norms map to the same
direction.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from components.language.cloud import Cloud, rows
from components.language.marks import Line, Points
from components.language.recipe import View
from components.language.scene import File
from components.scenes.scenery import draw, graph, split
from learning.film import json_table

Found = Sequence[Mapping[str, Any]]

DATA_FILES = (File("sheets.json", json_table),)
APART = 0.022  # between neighbouring dots of a row
PLANE = rows(np.eye(2))


def networks_view(found: Found) -> tuple[tuple[Cloud, ...], View]:
    """Clouds and graph of each network's number of strands (log₂), against its number of norms."""
    dots = np.concatenate([dot_rows(row["norms"], row["sheets"]) for row in found])
    medians = np.array([[row["norms"], np.log2(np.median(row["sheets"]))] for row in found])
    bound = np.array([[row["norms"], np.log2(row["bound"])] for row in found])
    parts, marks = split(
        draw("networks", Points, "trail", PLANE, dots, "a network", size=4),
        draw("bound", Line, "sphere", PLANE, bound, "the bound", size=2.5),
        draw("medians", Line, "query", PLANE, medians, "median", size=2.5, dash="dash"),
    )
    axes = ("norms", 1.3, 6.7), ("log₂ of strands", -0.4, 5.9)
    return parts, graph("networks", "Strands in trained networks", marks, *axes)


def dot_rows(at: float, counts: Sequence[int]) -> np.ndarray:
    """A point (x, log₂ count) for each count, (N, 2); equal counts stand side by side around x = `at`."""
    out = []
    for count in sorted(set(counts)):
        many = counts.count(count)
        x = at + APART * (np.arange(many) - (many - 1) / 2)
        out.append(np.stack([x, np.full(many, np.log2(count))], -1))
    return np.concatenate(out)
