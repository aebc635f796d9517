"""The recipe of the temperatures: days on the unit circle, u_ε(t·x, y) or u_ε(a·x + t, y), one threshold.

A day is the point (z / SCALE, wind) normalised: z °C away from the mean, its wind 1 or −1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from components.circle import BEFORE, EPS, EPS_SLIDER, NOW, affine
from components.recipe import Accuracy, Cloud, Layer, Number, Parameter, Recipe, Row, View, rows
from components.scene import Choices
from geometry import Normalize, Pipeline, clouds, to_sphere

KINDS = ((14, 205), (-2, 75), (30, 85))  # °C and number of days: usual, of cold spells, of heat waves
SPREAD, SCALE = 3.0, 5.0  # °C
AFTER = Row((1, 0), stage=2)
WORDS = {"hot": ("cold", "hot"), "extreme": ("typical", "extreme")}
ROLES = ("input", "other")
STRETCH = Parameter("stretch", "t", 3, 0, 5, about="factor on x")
SHRINK = Parameter("shrink", "a", 0.3, 0, 1, about="factor on x")
SHIFT = Parameter("shift", "t", 1, 0, 2, about="shift of x")
RIGHT = "Days that the best single threshold puts right: before"
MARGIN = "Nine hot days of ten have an x of at least: before"


def build(choices: Choices) -> Recipe:
    hot = choices["task"] == "hot"
    degrees, points = days(choices["seed"])
    ones = (points[:, 0] > 0 if hot else np.arange(len(points)) >= KINDS[0][1]).astype(int)
    step = affine("stretch", None) if hot else affine("shrink", "shift")
    moved = r"t\,x" if hot else r"a\,x + t"
    above = np.flatnonzero(points[:, 0] > 0)
    edge = int(above[np.argsort(points[above, 0])[len(above) // 10]])  # nine hot days of ten are hotter
    numbers = (
        Accuracy(RIGHT, "days", BEFORE, ones),
        Accuracy("after", "days", AFTER, ones),
        Number("The followed day", "degrees", NOW, "followed", " °C"),
        Number(MARGIN, "days", BEFORE, edge),
        Number("after", "days", AFTER, edge),
    )
    return Recipe(
        stages=("days", "× t" if hot else "a x + t", "u_ε"),
        parameters=((STRETCH,) if hot else (SHRINK, SHIFT)) + (EPS_SLIDER,),
        clouds=(
            Cloud("days", points, Pipeline((step, Normalize(eps=EPS)))),
            Cloud("degrees", degrees[:, None]),
            Cloud("circle", clouds.ring(128, *np.eye(2))),
        ),
        views=(
            plane(ones, WORDS[choices["task"]]),
            counts("before", "degrees", NOW, ones, ((-15, 45), (0, 55)), bins=40, axis="temperature in °C"),
            counts("after", "days", AFTER, ones, ((-1.04, 1.04), (0, 100)), bins=80, axis="x after u_ε"),
        ),
        formula=rf"u_\varepsilon(\class{{stage-1 role-ellipsoid}}{{{moved}}},\; y)",
        readouts=numbers if hot else numbers[:3],
        progress=2,
        follow=edge if hot else KINDS[0][1] + 3,
    )


def days(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A made-up year: °C (n,), and its days on the circle (n, 2)."""
    rng = np.random.default_rng(seed)
    mean = np.repeat(*np.array(KINDS).T)
    degrees = mean + SPREAD * rng.standard_normal(len(mean))
    wind = rng.choice([-1.0, 1.0], len(mean))
    return degrees, to_sphere(np.stack([(degrees - degrees.mean()) / SCALE, wind], -1))


def sides(ones: np.ndarray) -> list[tuple[str, list[int]]]:
    """The roles of both classes, and their days."""
    return [(role, np.flatnonzero(ones == k).tolist()) for k, role in enumerate(ROLES)]


def plane(ones: np.ndarray, words: tuple[str, str]) -> View:
    """The days in the plane, and the best threshold on x, wherever they are."""
    show, few = rows(np.eye(2)), list(range(8, len(ones), 24))
    look: dict[str, Any] = {"size": 6, "opacity": 0.75, "pick": True}
    cut: dict[str, Any] = {"span": (-2.0, 2.0), "classes": ones, "size": 3, "dash": "dash"}
    layers = (
        Layer("circle", "line", "sphere", show, order=clouds.closed(128), size=2, opacity=0.6),
        Layer("days", "trail", "trail", show, only=few, size=2, opacity=0.6),
        *(
            Layer("days", "points", role, show, f"{word} day", own, **look)
            for word, (role, own) in zip(words, sides(ones), strict=True)
        ),
        Layer("days", "threshold", "ink", (NOW,), "best single threshold", **cut),
        Layer("days", "trail", "followed", show, only="followed", size=3),
        Layer("days", "points", "followed", show, only="followed", size=11),
    )
    return View("plane", "", layers, ((-2.3, 2.3), (-2.3, 2.3)), dims=2)


def counts(name: str, cloud: str, row: Row, ones: np.ndarray, ranges: Any, *, bins: int, axis: str) -> View:
    """Histograms of both classes, with the best threshold."""
    look: dict[str, Any] = {"fade": [0.25, 0.25, 1.0] if name == "after" else None, "size": 3.5}
    heaps = (
        Layer(cloud, "histogram", r, (row,), only=own, span=ranges[0], bins=bins, **look)
        for r, own in sides(ones)
    )
    cut = Layer(cloud, "threshold", "ink", (row,), span=ranges[1], classes=ones, dash="dash", **look)
    return View(name, name.capitalize(), (*heaps, cut), ranges, 2, (axis, "days"), equal=False)
