"""The input space of a network as a sheet, which the layers move, stretch and fold together with the points.

The colour of the sheet at each place is the network's output for it. Grid lines on the sheet show how it is
stretched, compressed and folded. Source: winsor2022.
"""

from __future__ import annotations

import numpy as np

from components.language.cloud import Cloud, Row, rows
from components.language.marks import Color, Line, Sheet
from components.scenes.networks import SATURATED_LOGIT, input_half_side, network, projection
from components.scenes.scenery import Part
from geometry import Branches, Pipeline
from geometry.clouds import grid_lines, lattice, sphere_mesh
from learning.film import Film

SHEET_SIDE = 65  # vertices along each side of a flat sheet
MERIDIANS, PARALLELS = 96, 48  # circles of longitude and latitude on the spherical sheet
LINE_DISTANCE = 8  # vertices between two lines of the grid
SHEET_OPACITY, LINE_OPACITY = 0.55, 0.25  # of the sheet, and of the lines of its grid


def flat_sheet(film: Film, seed: int) -> Part:
    """The input sheet of a network with two inputs: a square, of the same size as in `networks.field`."""
    points = lattice(SHEET_SIDE**2, 2, half=input_half_side(film))
    return _sheet(film, seed, points, (SHEET_SIDE, SHEET_SIDE), "the input plane")


def round_sheet(film: Film, seed: int) -> Part:
    """The input sheet of a network with three inputs: the unit sphere."""
    points, _ = sphere_mesh(meridians=MERIDIANS, parallels=PARALLELS)
    return _sheet(film, seed, points, (PARALLELS + 1, MERIDIANS + 1), "the input sphere")


def _sheet(film: Film, seed: int, points: np.ndarray, grid: tuple[int, int], title: str) -> Part:
    """Cloud and marks of a sheet whose vertices are `points`, arranged in a `grid` of (rows, columns)."""
    *hidden, last = network(film, seed).steps
    # append the network's logit to the point, which thus stays in the last hidden layer, where it is drawn
    with_logit = Branches((Pipeline(()), Pipeline((last,))), "concat")
    logit = Row((*[0.0] * film.network.dimensions[-2], 1.0), stage=len(hidden) + 1)
    color = Color("diverging", -SATURATED_LOGIT, SATURATED_LOGIT, of=logit)
    show, lines = rows(projection(film, seed)), grid_lines(*grid, apart=LINE_DISTANCE)
    return (
        Cloud("sheet", points, Pipeline((*hidden, with_logit))),
        # the same role for flat and round sheets: `color` gives the colours
        Sheet("sheet", "sphere", show, grid=grid, color=color, opacity=SHEET_OPACITY),
        Line("sheet", "ink", show, title, order=lines, size=1, opacity=LINE_OPACITY),
    )
