"""The recipe of a token's path through blocks with their norm in four places.

The numbers come from a table that `make films` writes. The picture unrolls the path: a point has the length
of the token, and the sum of all turns so far as its angle.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from components.language.cloud import Cloud, Row
from components.language.marks import Line, Mark, Points, Way
from components.language.recipe import Number, Parameter, Recipe, View
from components.language.scene import Choices, File
from components.scenes.scenery import Look, Part, draw, graph, split, square
from geometry import Affine, Entries, Normalize, Pipeline, Track, clouds
from learning.film import rows as table

LABELS = {
    "pre": "before the branch (pre-LN)",
    "post": "after the sum (post-LN)",
    "peri": "before and after (peri-LN)",
    "ngpt": "on all (nGPT)",
}
SHORT = {"pre": "pre-LN", "post": "post-LN", "peri": "peri-LN", "ngpt": "nGPT"}
BELOW = {"turn": "angle turned", "gradient": "the gradient", "weight": "the largest weight"}
SIZES = {"1": "as drawn", "3": "three times as large"}
LOOKS = {  # the role and dash of the curves
    "pre": ("series-1", "solid"),
    "post": ("series-3", "dashdot"),
    "peri": ("series-2", "dash"),
    "ngpt": ("series-4", "dot"),
}
AXES = {
    "turn": ("How far a block turns the token", ("degrees", 0.0, 75.0)),
    "gradient": ("The gradient at each place", ("log₁₀ of the gradient", -3.5, 2.5)),
    "weight": ("The largest weight that it gives", ("weight", 0.0, 1.05)),
}
BLOCKS, REACH, LONGEST = 24, 7.6, 9.0
NEAR = 0.2  # how much of the picture is shown once all paths are on the circle
NORM = Normalize(groups=((0, 1),))
DATA_FILES = (File("placement.json", table),)

Array = np.ndarray
Found = Mapping[str, Any]


def build(choices: Choices, found: Sequence[Found]) -> Recipe:
    qk_norm, size = choices["qk"] == "yes", int(choices["size"])
    own = {row["kind"]: row for row in found if (row["qk_norm"], row["sharp"]) == (qk_norm, size)}
    kind, below = choices["norm"], choices["below"]
    title, side = AXES[below]
    path_clouds, path = path_view(own, kind)
    lengths = {name: np.array(row["length"]) for name, row in own.items()}
    upper_clouds, upper = curve_view(
        "length", "Length of the token", lengths, kind, ("length", 0.0, LONGEST), law=True
    )
    scale = np.log10 if below == "gradient" else np.asarray
    values = {name: scale(np.array(row[below])) for name, row in own.items()}
    lower_clouds, lower = curve_view(below, title, values, kind, side)
    return Recipe(
        stages=("stream", "norm"),
        parameters=(Parameter("block", "block", BLOCKS, 0, BLOCKS, 1, about="that the token has passed"),),
        clouds=(*path_clouds, *upper_clouds, *lower_clouds),
        views=(path, upper, lower),
        formula=FORMULAS[kind],
        readouts=(Number("Length now, this draw", "now", Row((0.0, 0.0, 1.0)), digits=2),),
        clock="block",
    )


FORMULAS = {
    "pre": r"x \leftarrow x + f(\class{role-sphere}{\mathrm{norm}}(x))",
    "post": r"x \leftarrow \class{role-sphere}{\mathrm{norm}}(x + f(x))",
    "peri": r"x \leftarrow x + \class{role-sphere}{\mathrm{norm}}(f(\class{role-sphere}{\mathrm{norm}}(x)))",
    "ngpt": r"x \leftarrow \class{role-sphere}{\mathrm{norm}}"
    r"(x + α\,(\class{role-sphere}{\mathrm{norm}}(f(x)) - x))",
}


def follows(values: Array, first: int = 0) -> Pipeline:
    """Steps to the row of values (K, d) at the current block; the first row belongs to the block `first`."""
    track = Track(np.arange(first, first + len(values), dtype=float), values)
    return Pipeline(
        (Affine(np.zeros((values.shape[1], 1)), Entries(np.zeros(values.shape[1]), tracks={"block": track})),)
    )


def unrolled(row: Found) -> Array:
    """The path of one draw (25, 3): x and y of the picture, and the length."""
    lengths, turns = map(np.array, row["path"])
    angles = np.radians(np.concatenate([[0.0], np.cumsum(turns)]))
    return np.stack([lengths * np.cos(angles), lengths * np.sin(angles), lengths], -1)


def path_view(own: Mapping[str, Found], kind: str) -> tuple[tuple[Cloud, ...], View]:
    """View of all paths around the origin; the chosen one ends at the current block."""
    flat = (Row((1.0,)), Row((0.0, 1.0)))
    ways = {name: unrolled(row) for name, row in own.items()}
    role = LOOKS[kind][0]
    parts: list[Part] = [
        draw(
            "sphere",
            Line,
            "axis",
            flat,
            clouds.circle(128, *np.eye(2)),
            "length 1: the sphere",
            size=2,
            guide=True,
        ),
        *(
            draw(
                name,
                Line,
                LOOKS[name][0],
                flat,
                way,
                SHORT[name],
                steps=(NORM,),
                size=1.5,
                dash=LOOKS[name][1],
                opacity=0.7,
            )
            for name, way in ways.items()
        ),
        draw(
            "now",
            Way,
            role,
            flat,
            np.ones((1, 1)),
            place=follows(ways[kind]).steps,
            steps=(NORM,),
            parameter="block",
            stops=np.arange(BLOCKS + 1.0),
            size=4,
        ),
        (Points(kind, role, flat, size=5), Points("now", "followed", flat, "the token", size=11)),
    ]
    found, marks = split(*parts)
    zooms = ((1.0, 0.0, 0.0), (NEAR, 0.0, 0.0))
    return found, replace(square("path", "", marks, REACH), zooms=zooms)


def curve_view(
    what: str,
    title: str,
    values: Mapping[str, Array],
    kind: str,
    side: tuple[str, float, float],
    *,
    law: bool = False,
) -> tuple[tuple[Cloud, ...], View]:
    """View of the medians of all placements; for the chosen one also the range of draws and current block."""
    first = BLOCKS + 1 - len(values[kind])
    places = np.arange(first, BLOCKS + 1.0)
    median, low, high = ((Row((1.0,)), Row((*[0.0] * k, 1.0))) for k in (1, 2, 3))
    found: list[Cloud] = []
    marks: list[Mark] = []
    for name, own in values.items():
        role, dash = LOOKS[name]
        cloud = Cloud(f"{what} {name}", np.column_stack([places, own]))
        found.append(cloud)
        marks.append(Line(cloud.name, role, median, SHORT[name], size=5 if name == kind else 2, dash=dash))
        if name == kind:
            look: Look = {"size": 1.5, "dash": "dot", "opacity": 0.8}
            marks += [
                Line(cloud.name, role, low, "smallest and largest", **look),
                Line(cloud.name, role, high, **look),
            ]
    if law:
        found.append(Cloud("law", np.column_stack([places, np.sqrt(1 + 2 * places)])))
        marks.append(Line("law", "formula", median, "√(1 + 2k)", size=1.5))
    found.append(
        Cloud(f"{what} now", np.ones((1, 1)), place=follows(np.column_stack([places, values[kind]]), first))
    )
    marks.append(Points(f"{what} now", LOOKS[kind][0], median, size=10))
    return tuple(found), graph(what, title, marks, ("block", 0.0, BLOCKS + 0.5), side)
