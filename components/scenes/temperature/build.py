"""Recipe of the scene `temperature`: days as points of the circle, classified by one threshold on x.

Before the threshold, u_ε(t·x, y) is applied to find hot days, and u_ε(a·x + t, y) to find extreme days. A day
with z °C more than the mean of the year is the point (z/DEGREES_PER_UNIT, wind), normalised. Its wind is 1 or
−1.
"""

import numpy as np

from components.language.cloud import Cloud, Row, rows
from components.language.marks import Follow, Followed, Histogram, Line, Mark, Points, Threshold, Trail
from components.language.recipe import Accuracy, Number, Parameter, Recipe, View
from components.language.scene import Choices
from components.scenes.circle import BEFORE, EPS_SLIDER, NOW, affine, formula
from components.scenes.scenery import EPS, Axis, Look, draw, each_class, followed, graph, square
from geometry import Normalize, Pipeline, clouds, to_sphere

WEATHER = ((14, 205), (-2, 75), (30, 85))  # mean °C and number of days: usual, cold spells, heat waves
TEMPERATURE_STD = 3.0  # °C, within a kind of day
DEGREES_PER_UNIT = 5.0  # °C that are one unit of x, before normalising
SHOW, AFTER, DEGREES = rows(np.eye(2)), Row((1, 0), stage=2), Row((1,))
STRETCH = Parameter("stretch", "t", 3, 0, 5, symbol="t", about="factor on x")
SHRINK = Parameter("shrink", "a", 0.3, 0, 1, symbol="a", about="factor on x")
SHIFT = Parameter("shift", "t", 1, 0, 2, symbol="t", about="shift of x")
MARGIN = "x that nine of ten hot days exceed, {} the layer"


def build(choices: Choices) -> Recipe:
    hot = choices["task"] == "hot"
    degrees, points = days(choices["seed"])
    classes = (points[:, 0] > 0 if hot else np.arange(len(points)) >= WEATHER[0][1]).astype(int)
    step = affine("stretch", None) if hot else affine("shrink", "shift")
    above = np.flatnonzero(points[:, 0] > 0)
    edge = int(above[np.argsort(points[above, 0])[len(above) // 10]])  # nine of ten hot days are hotter
    circle, ring = draw("circle", Line, "sphere", SHOW, clouds.circle(128, *np.eye(2)), size=2, opacity=0.6)
    moving = Cloud("days", points, Pipeline((step, Normalize(eps=EPS))))
    when = {"before": BEFORE, "after": AFTER}
    margins = (Number(MARGIN.format(word), "days", row, edge) for word, row in when.items())
    return Recipe(
        stages=("days", "× t" if hot else "a x + t", "normalised"),
        parameters=(STRETCH, EPS_SLIDER) if hot else (SHRINK, SHIFT, EPS_SLIDER),
        clouds=(moving, Cloud("degrees", degrees), circle),
        views=(
            plane(ring, classes, hot=hot),
            counts("Before", "degrees", DEGREES, classes, ("temperature in °C", -15, 45), 55, bins=40),
            counts("After", "days", AFTER, classes, ("x after", -1.04, 1.04), 100, bins=80),
        ),
        formula=formula("tx" if hot else "ax + t"),
        readouts=(
            Accuracy("Correct with one threshold, after the layer", "days", AFTER, classes),
            Accuracy("Correct with one threshold, before the layer", "days", BEFORE, classes),
            Number("Temperature of the red day", "degrees", DEGREES, Followed(), " °C"),
            *(margins if hot else ()),
        ),
        progress=2,
        follow=edge if hot else WEATHER[0][1] + 3,
    )


def days(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The days of a made-up year: their temperatures (n, 1) in °C, and their points (n, 2) on the circle."""
    rng = np.random.default_rng(seed)
    mean = np.repeat(*np.array(WEATHER).T)
    degrees = mean + TEMPERATURE_STD * rng.standard_normal(len(mean))
    wind = rng.choice([-1.0, 1.0], len(mean))
    return degrees[:, None], to_sphere(np.stack([(degrees - degrees.mean()) / DEGREES_PER_UNIT, wind], -1))


def plane(ring: Mark, classes: np.ndarray, *, hot: bool) -> View:
    """View of the days in the plane, with the best threshold on x at each stage.

    ring: the mark of the unit circle, on which the days lie at the start. classes: the class of each day, 0
    or 1. hot: whether class 1 has the hot days and class 0 the cold days; otherwise class 1 has the extreme
    days and class 0 the typical days. If `hot`, the layer first moves all days to a long ellipse, to which
    the axes are fitted. At the last stage the axes are fitted to the circle again, and the long trails are
    hidden.
    """
    words = ("cold day", "hot day") if hot else ("typical day", "extreme day")
    way = Look(fade=[1.0, 1.0, 0.0] if hot else None)
    cut = Look(span=(-1.4, 1.4), classes=classes, size=3, dash="dash")
    layers = (
        ring,
        Trail("days", "trail", SHOW, only=list(range(8, len(classes), 24)), size=2, opacity=0.6, **way),
        *each_class("days", Points, SHOW, classes, words, size=6, opacity=0.75, hand=Follow()),
        Threshold("days", "ink", (NOW,), "best single threshold", **cut),
        Trail("days", "followed", SHOW, only=Followed(), size=3, **way),
        *followed("days", SHOW, trail=0),
    )
    return square("plane", "", layers, reaching=hot)


def counts(title: str, cloud: str, row: Row, classes: np.ndarray, x: Axis, high: float, bins: int) -> View:
    """A graph with the histograms of both classes, and the best threshold between the classes.

    The histograms count the values of `row` at the points of `cloud`, in `bins` equal bins; `classes` has the
    class of each point. `x` has the title and the ends of the horizontal axis, `high` is the upper end of the
    vertical one. If `row` is AFTER, the histograms are faint before the last stage.
    """
    look = Look(fade=[0.25, 0.25, 1.0] if row is AFTER else None, size=3.5)
    layers = (
        *each_class(cloud, Histogram, (row,), classes, span=x[1:], bins=bins, **look),
        Threshold(cloud, "ink", (row,), span=(0, high), classes=classes, dash="dash", **look),
    )
    return graph(title.lower(), title, layers, x, ("days", 0, high))
