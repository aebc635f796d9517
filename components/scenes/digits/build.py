"""The recipe of a network that classifies handwritten digits, and the test accuracies of other networks.

The picture shows the network's last hidden layer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from components.language.cloud import Cloud, rows
from components.language.marks import Color, Follow, Labels, Line, Points
from components.language.recipe import Facts, Recipe, View
from components.language.scene import Choices, File
from components.scenes.curves import FLAT, curves
from components.scenes.networks import CAMERA, SPHERE_VIEW_REACH, clock, network
from components.scenes.scenery import draw, followed, globe, graph, space, split
from geometry import Affine, Entries, Pipeline, Track, clouds, to_sphere
from learning.film import Film, from_npz, json_table
from learning.network import MIDDLES

BESIDE = {
    "depth": "accuracy against depth",
    "accuracy": "accuracy in training",
    "loss": "loss in training",
    "both": "loss and accuracy in training",
}
ROLES = {"u_eps": "sphere", "layer_norm": "series-1", "tanh": "series-2", "relu": "series-3", "none": "axis"}
DASHES = {"u_eps": "solid", "layer_norm": "dash", "tanh": "dot", "relu": "dashdot", "none": "longdash"}
SHOW = rows(np.eye(3))
CHECKPOINTS = 14
DATA_FILES = (File("digits.npz", from_npz), File("digits.json", json_table))
Rows = Sequence[Mapping[str, Any]]
LINE_OFFSET = 0.05  # offset, along the axis of depth, between the lines of two kinds of network
NUMERAL_RADIUS = 1.18  # distance of the numerals from the centre of the unit sphere


def build(choices: Choices, film: Film, accuracy_rows: Rows) -> Recipe:
    film = thinned(film)
    view, shown = sphere(film)
    what = choices["beside"]
    beside, more = depths(accuracy_rows) if what == "depth" else curves(film, 0, what, shown=1)
    return Recipe(
        stages=("last linear layer", MIDDLES["u_eps"]),
        parameters=clock(film),
        clouds=(*shown, *more),
        views=(view, replace(beside, strip=True)),
        facts=table(film, accuracy_rows),
        progress=1,
        clock="step",
    )


def thinned(film: Film) -> Film:
    """The stored training `film` with at most CHECKPOINTS of its checkpoints, to make the recipe small.

    They are evenly spaced by index.
    """
    kept = np.unique(np.linspace(0, len(film.steps) - 1, CHECKPOINTS).astype(int))
    parts = {name: getattr(film, name)[:, kept] for name in ("weights", "loss", "accuracy")}
    return replace(film, steps=film.steps[kept], **parts)


def sphere(film: Film) -> tuple[View, tuple[Cloud, ...]]:
    """The view of the last hidden layer, and its clouds.

    The pictures of the test set are points on the sphere. The numeral of each digit stands in the direction
    of the mean of the digit's points.
    """
    steps, data = network(film, 0).steps, film.data
    names = [f"picture {i}: a {label}" for i, label in enumerate(data.labels)]
    points = data.points.astype(float)
    digits = Cloud("digits", points, Pipeline(steps[-2:-1]), Pipeline(steps[:-2]), names, data.images)
    stand = (Affine(Entries(np.zeros((3, 10)), tracks={"step": Track(film.steps, middles(film, digits))})),)
    numerals = draw("numerals", Labels, "ink", SHOW, np.eye(10), place=stand, labels=list("0123456789"))
    guides, around = split(*globe(SHOW, np.eye(3), "unit sphere", mesh=0.06, net=0.2), numerals)
    color = Color("cyclic", 0, 10, data.labels.astype(float))
    shown = Points("digits", "input", SHOW, "a test picture", color=color, size=4, hand=Follow())
    layers = (*around, shown, *followed("digits", SHOW, trail=0))
    return space("sphere", "", layers, camera=CAMERA, reach=SPHERE_VIEW_REACH), (digits, *guides)


def middles(film: Film, digits: Cloud) -> np.ndarray:
    """Positions (T, 3, 10) of the ten numerals at T checkpoints, just outside the sphere.

    The position of a numeral is in the direction of the mean of this digit's points. (The point to which the
    network maps a digit's mean picture can be nearer to another digit.) digits: the cloud of the pictures of
    the test set, whose last stage is the last hidden layer.
    """
    last = [digits.stages({"step": step})[-1] for step in film.steps]
    means = [[points[film.data.labels == k].mean(0) for k in range(10)] for points in last]
    return to_sphere(np.array(means), radius=NUMERAL_RADIUS).swapaxes(1, 2)


def accuracies(found: Rows, last: int) -> dict[str, np.ndarray]:
    """Test accuracies (depths, random starts), by the name of the function between the layers.

    found: the rows of the table of trainings. Only networks with `last` neurons in their last hidden layer
    count.
    """
    lists: dict[str, list[list[float]]] = {}
    for row in found:
        if row["last"] == last:
            lists.setdefault(row["middle"], []).append(row["accuracies"])
    return {name: np.array(shares) for name, shares in lists.items()}


def depths(found: Rows) -> tuple[View, tuple[Cloud, ...]]:
    """Graph of median test accuracy against depth, and its clouds: a curve for each function between layers.

    Vertical bars show the range over random starts.
    """
    parts, all_of = [], accuracies(found, 32)
    for k, (name, shares) in enumerate(all_of.items()):
        at = np.arange(1, 1 + len(shares)) + LINE_OFFSET * (k - (len(all_of) - 1) / 2)
        shape, title = (
            (np.stack([at, np.median(shares, -1)], -1), np.arange(len(at))),
            MIDDLES[name] or "nothing",
        )
        ends = np.stack([np.stack([at, end], -1) for end in (shares.min(-1), shares.max(-1))], 1)
        parts.append(draw(name, Line, ROLES[name], FLAT, shape, title, size=4, dash=DASHES[name]))
        parts.append(draw(f"{name} starts", Line, ROLES[name], FLAT, clouds.segments(ends), size=1.5))
    guides, layers = split(*parts)
    return graph("depths", "", layers, ("depth", 0.7, 4.3), ("test accuracy", 0.94, 0.99)), guides


def table(film: Film, accuracy_rows: Rows) -> Facts:
    """Table of median test accuracies, with a column for each depth.

    Each row is for networks with one function between the layers, and one width (32 or 3) of the last hidden
    layer. accuracy_rows: the stored results of the trainings, from which the medians are computed.
    """
    rows_of = [
        [
            f"{MIDDLES[name] or 'nothing'}, last layer {last} wide",
            *(f"{share:.1%}" for share in np.median(shares, -1)),
        ]
        for last in (32, 3)
        for name, shares in accuracies(accuracy_rows, last).items()
    ]
    title = (
        "Test accuracy by depth (600 steps, median of three seeds); "
        f"the network shown (best of four seeds, {film.steps[-1]:,} steps): {film.accuracy[0, -1]:.1%}"
    )
    return Facts(title, ("", "1", "2", "3", "4"), rows_of)
