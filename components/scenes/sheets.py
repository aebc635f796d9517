"""The space from which a network's points come, as a sheet that goes with them and folds.

Each of its places has the colour of what the network answers there, wherever that place is now; the lines of
a grid on it show how it is stretched, pressed and folded. Source: winsor2022.
"""

from __future__ import annotations

import numpy as np

from components.language.cloud import Cloud, Row, rows
from components.language.marks import Color, Line, Sheet
from components.scenes.networks import CERTAIN, network, projection, reach
from components.scenes.scenery import Part
from geometry import Branches, Pipeline
from geometry.clouds import grid_lines, lattice, sphere_mesh
from learning.film import Film

SIDE = 65  # vertices along each side of a flat sheet
MERIDIANS, PARALLELS = 96, 48  # pieces around a round one, and from pole to pole
APART = 8  # from line to line, in vertices
CLOTH, THREAD = 0.55, 0.25  # opacity of a sheet, and of the lines on it


def flat_sheet(film: Film, seed: int) -> Part:
    """The square of the plane that `field` shows."""
    return _sheet(film, seed, lattice(SIDE**2, 2, half=reach(film)), (SIDE, SIDE), "the input plane")


def round_sheet(film: Film, seed: int) -> Part:
    """The unit sphere of space."""
    points, _ = sphere_mesh(meridians=MERIDIANS, parallels=PARALLELS)
    return _sheet(film, seed, points, (PARALLELS + 1, MERIDIANS + 1), "the input sphere")


def _sheet(film: Film, seed: int, points: np.ndarray, grid: tuple[int, int], title: str) -> Part:
    """A grid of places on the way of the data, as a surface and every so-many-th of its lines."""
    *hidden, last = network(film, seed).steps
    answered = Branches((Pipeline(()), Pipeline((last,))), "concat")  # stay, and add what the network answers
    logit = Row((*[0.0] * film.network.sizes[-2], 1.0), stage=len(hidden) + 1)
    color, show = Color("diverging", -CERTAIN, CERTAIN, of=logit), rows(projection(film, seed))
    return (
        Cloud("sheet", points, Pipeline((*hidden, answered))),
        Sheet("sheet", "sphere", show, grid=grid, color=color, opacity=CLOTH),
        Line("sheet", "ink", show, title, order=grid_lines(*grid, apart=APART), size=1, opacity=THREAD),
    )
