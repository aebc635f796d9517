"""The recipe of the scene `shuffle`: measured costs of swapping axes of language models.

The axes are swapped within attention heads or across them.

Each dot is one shuffle, drawn at its cost. Each step shows the next kind of shuffle. The dot of its k-th
cheapest shuffle begins at the place of the k-th cheapest shuffle of the previous kind, and moves to its own
cost. So a dot has four coordinates: its cost at the start and at the end, and its height at the start and at
the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from components.language.cloud import Cloud, Row
from components.language.marks import Labels, Line, Points
from components.language.recipe import Facts, Number, Recipe, View
from components.language.scene import Choices, File
from components.scenes.scenery import Part, draw, rest, split
from geometry import Affine, Pipeline
from geometry.clouds import segments
from learning.film import json_table

Array = np.ndarray
Rows = Sequence[Mapping[str, Any]]

DATA_FILES = (File("heads.json", json_table),)

PLACES = {  # the places of `tools.films.shuffles`, from the top of the picture
    "read": "LayerNorm",
    "q": "queries",
    "v": "values",
    "concat": "before Wₒ",
    "qk": "queries, keys",
    "vo": "values, Wₒ",
}
SHUFFLE_LABELS = {"one": "within a single head", "each": "within every head", "across": "across heads"}
ROLES = {"one": "input", "each": "series-1", "across": "series-2"}
LAYERS = {"1": "layer 1", "2": "layer 2"}
MEASURES = {"loss": "the loss", "guesses": "the predictions"}
COSTS = {"loss": "loss added", "guesses": "divergence of the predictions"}
ARMS = {True: "trained", False: "untrained"}
KIND_DISTANCE, DOT_SPREAD = 0.28, 0.1  # vertical distances: between kinds, and of dots from their kind
NAME_WIDTH, MARGIN = 0.55, 0.06  # room for the names and at both sides, as fractions of the scale
MAX_TICK_STEPS = 4  # the range of costs is less than this many steps between ticks
NEXT_KIND = Affine(np.array([[0, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 1.0]]))
MOVING = (Row((1.0, 0.0, 0.0, 0.0)), Row((0.0, 0.0, 1.0, 0.0)))
STILL = (Row((1.0, 0.0)), Row((0.0, 1.0)))


def build(choices: Choices, found: Rows) -> Recipe:
    """The recipe of the shuffles in the chosen layer, from the table `found` of measured costs.

    The choice `measure` is the key of the cost: the increase of the loss, or the divergence of the
    predictions.
    """
    layer, measure = int(choices["layer"]) - 1, choices["measure"]
    of_layer = [row for row in found if row["layer"] == layer]
    shown = [row for row in of_layer if row["seed"] == 0]
    every = np.concatenate([row[f"{kind}_{measure}_all"] for row in shown for kind in SHUFFLE_LABELS])
    low, high = float(every.min()), float(every.max())
    arms = {arm: [row for row in of_layer if row["trained"] == arm] for arm in ARMS}
    drawn = {arm: split(*picture(rows, measure, ARMS[arm], (low, high))) for arm, rows in arms.items()}
    box = sides(low, high), (-0.15, len(PLACES) + 0.6)
    views = (
        View(
            ARMS[arm], f"{ARMS[arm].capitalize()}: {COSTS[measure]}", marks, box, 2, equal=False, beside=False
        )
        for arm, (_, marks) in drawn.items()
    )
    title, count = f"{COSTS[measure].capitalize()} at LayerNorm, trained", len(SHUFFLE_LABELS)
    now = Cloud("now", np.eye(1, count), Pipeline((Affine(np.eye(count, k=-1)),) * (count - 1)))
    mean = Row(tuple(float(means(arms[True], "read", kind, measure).mean()) for kind in SHUFFLE_LABELS))
    return Recipe(
        stages=tuple(SHUFFLE_LABELS.values()),
        parameters=(),
        clouds=(now, *(cloud for clouds, _ in drawn.values() for cloud in clouds)),
        views=tuple(views),
        formula=r"x'_i = x_{\pi(i)}, \qquad \pi = (a_1\, a_2)(a_3\, a_4)(a_5\, a_6)(a_7\, a_8)",
        readouts=(Number(title, now.name, mean, digits=3),),
        facts=facts(arms, layer, measure),
        progress=count - 1,
    )


def picture(rows: Rows, measure: str, name: str, ends: tuple[float, float]) -> list[Part]:
    """A dot for each shuffle of the first model, and a tick for the mean cost of each model.

    `rows` are the table's rows about the trained or about the untrained models, as `name` says; `ends` are
    the least and the largest cost.
    """
    levels = np.arange(len(PLACES), 0, -1.0)
    first = {row["place"]: row for row in rows if row["seed"] == 0}
    lost = {kind: [first[place][f"{kind}_{measure}_all"] for place in PLACES] for kind in SHUFFLE_LABELS}
    count = len(lost["one"][0])
    height = {
        kind: (levels + KIND_DISTANCE * (1 - k))[:, None] + DOT_SPREAD * scatter(count)
        for k, kind in enumerate(SHUFFLE_LABELS)
    }
    parts = frame(name, *ends, levels)
    for k, (before, kind) in enumerate(pairwise(["one", *SHUFFLE_LABELS])):
        dots = np.stack([lost[before], lost[kind], height[before], height[kind]], axis=-1).reshape(-1, 4)
        steps = (
            (*rest(4, k - 1), NEXT_KIND, *rest(4, len(SHUFFLE_LABELS) - 1 - k))
            if k
            else rest(4, len(SHUFFLE_LABELS) - 1)
        )
        fade = [float(stage >= k) for stage in range(len(SHUFFLE_LABELS))]
        look: dict[str, Any] = {"steps": steps, "fade": fade, "size": 4, "opacity": 0.45}
        parts.append(draw(f"{name} {kind}", Points, ROLES[kind], MOVING, dots, SHUFFLE_LABELS[kind], **look))
        ticks = [
            [
                [row[f"{kind}_{measure}"][0], y + KIND_DISTANCE * (1 - k) + end]
                for end in (-DOT_SPREAD, DOT_SPREAD)
            ]
            for place, y in zip(PLACES, levels, strict=True)
            for row in rows
            if row["place"] == place
        ]
        look = {"fade": fade, "size": 3, "opacity": 0.9}
        title = "the mean of a model" if kind == "across" else ""
        means = segments(np.array(ticks))
        parts.append(draw(f"{name} means {kind}", Line, "ink", STILL, means, title, **look))
    return parts


def scatter(n: int) -> Array:
    """n numbers in [−1, 1), in an order in which neighbours are far apart.

    They are heights for dots sorted by cost: they keep dots of similar cost from overlapping.
    """
    return 2 * (np.arange(n) * (5**0.5 - 1) / 2 % 1) - 1


def frame(name: str, low: float, high: float, levels: Array) -> list[Part]:
    """Labels of the places where axes are shuffled, lines between them, and the horizontal scale of costs.

    The costs go from `low` to `high`. `levels` are the heights of the places. `name` begins the names of the
    clouds.
    """
    bottom, top = 0.5, len(levels) + 0.5
    left, right = sides(low, high)
    at = np.column_stack([np.full(len(levels), left + NAME_WIDTH / 2 * (high - low)), levels])
    numbers = tick_values(low, high)
    upright = segments(np.array([[[x, bottom], [x, top]] for x in numbers]))
    level = segments(np.array([[[left, y - 0.5], [right, y - 0.5]] for y in levels[:-1]]))
    below = np.column_stack([numbers, np.full(len(numbers), 0.15)])
    zero = np.array([[0.0, bottom], [0.0, top]])
    return [
        draw(f"{name} scale", Line, "axis", STILL, upright, size=1, opacity=0.4),
        draw(f"{name} rules", Line, "axis", STILL, level, size=1, opacity=0.4),
        draw(f"{name} zero", Line, "axis", STILL, zero, size=2.5),
        draw(f"{name} places", Labels, "ink", STILL, at, labels=list(PLACES.values())),
        draw(
            f"{name} numbers",
            Labels,
            "soft",
            STILL,
            below,
            labels=[f"{x:g}".replace("-", "−") for x in numbers],
        ),
    ]


def sides(low: float, high: float) -> tuple[float, float]:
    """Ends of the horizontal axis: the costs from `low` to `high`, with room for names and margins."""
    size = high - low
    return low - (NAME_WIDTH + MARGIN) * size, high + MARGIN * size


def tick_values(low: float, high: float) -> Array:
    """A few round numbers from `low` to `high`, for the ticks of an axis."""
    steps = (factor * 10.0**power for power in range(-6, 6) for factor in (1, 2, 5))
    step = next(step for step in steps if (high - low) / step < MAX_TICK_STEPS)
    return step * np.arange(np.ceil(low / step), np.floor(high / step) + 1) + 0.0  # no −0


def facts(arms: Mapping[bool, Rows], layer: int, measure: str) -> Facts:
    """Table of the mean costs of shuffles by place and kind, with standard deviations between models.

    `arms` maps True to the rows about the trained models, False to those about the untrained ones; all are
    about the `layer`, which counts from 0. measure: the cost, a key of MEASURES.
    """
    count = len({row["seed"] for row in arms[True]})
    columns = ("", *(f"{name}, {kind}" for name in ARMS.values() for kind in SHUFFLE_LABELS.values()))
    lines = [
        [
            PLACES[place],
            *(spread(rows, place, kind, measure) for rows in arms.values() for kind in SHUFFLE_LABELS),
        ]
        for place in PLACES
    ]
    of = f"mean ± standard deviation of {count} models"
    title = f"Layer {layer + 1}, {COSTS[measure]} in nats a character: {of}"
    return Facts(title, columns, lines)


def means(rows: Rows, place: str, kind: str, measure: str) -> Array:
    """For each model the mean cost of its shuffles of a `kind` (such as "across" heads) at a `place`.

    measure: the cost, a key of MEASURES.
    """
    return np.array([row[f"{kind}_{measure}"][0] for row in rows if row["place"] == place])


def spread(rows: Rows, place: str, kind: str, measure: str) -> str:
    """The cost of a `kind` of shuffle at a `place`, as text "mean ± standard deviation" over the models.

    rows: rows of the table, one for each model and place. measure: the cost, a key of MEASURES.
    """
    of_models = means(rows, place, kind, measure)
    return f"{of_models.mean():.3f} ± {of_models.std(ddof=1):.3f}".replace("-", "−")
