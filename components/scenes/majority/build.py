"""Recipe of the scene `majority`: keys and queries of attention that learns to find the most frequent class.

An input is a sequence of tokens, each of which belongs to one of several classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from components.language.cloud import Angle, Cloud, Row, rows
from components.language.marks import Disc, Follow, Followed, Line, Points, Profile, Rim, Trail
from components.language.recipe import Facts, Mean, Number, Readout, Recipe, View
from components.language.scene import Choices, File, Training
from components.scenes.curves import FLAT, of_seeds
from components.scenes.networks import clock
from components.scenes.scenery import Axis, Part, draw, followed, graph, mean_line, rest, space, split
from components.scenes.trained import seed_of
from geometry import Affine, Branches, Entries, Normalize, Of, Pipeline, Softmax, Track, softmax
from geometry.centering import centering_matrix
from learning.attention import AttentionClassifier
from learning.datasets import DataSet
from learning.film import Film, json_table
from learning.majority import BATCH_SEQUENCES, TEST_SEQUENCES, majority, mean_query_angle

NORMS = {
    "layer_norm": "LayerNorm",
    "rms_norm": "no projection, length √d",
    "short": "no projection, length 1/√d",
    "none": "none",
}
RATES = {"slow": "0.001", "fast": "0.01"}
CURVES = {"loss": "loss", "accuracy": "accuracy", "angle": "angle to 𝟏"}
CURVE_AXES: dict[str, Axis] = {
    "loss": ("log₁₀ loss", -1.5, 1.0),
    "accuracy": ("accuracy", 0.0, 1.03),
    "angle": ("angle to 𝟏, °", 0.0, 90.0),
}
NORM_LOOKS = {  # the role and dash of the medians
    "layer_norm": ("series-1", "solid"),
    "rms_norm": ("series-2", "dash"),
    "short": ("series-3", "dot"),
    "none": ("series-4", "dashdot"),
}
Rows = Sequence[Mapping[str, Any]]
NORM_LEGENDS = {  # names of the norms in the legend
    "layer_norm": "LayerNorm",
    "rms_norm": "length √d",
    "short": "length 1/√d",
    "none": "no norm",
}
CAMERA = (1.1, -1.1, 0.45)
MAX_SHOWN_WEIGHT = 0.3  # upper end of the axis of attention weights; an even share is 1/20
SHOWN_KEYS_QUANTILE = 0.99  # quantile of the keys' lengths: the picture has room for keys up to it


def film_name(choices: Choices) -> str:
    return f"majority_{choices['norm']}_{choices['rate']}"


def task(choices: Choices) -> tuple[AttentionClassifier, DataSet]:
    return AttentionClassifier(norm=choices["norm"]), majority(TEST_SEQUENCES, seed=0, batch=BATCH_SEQUENCES)


def build(choices: Choices, film: Film, found: Rows) -> Recipe:
    seed, shipped = seed_of(choices, film), not (choices["run"] or choices["net"])
    of_rate = [row for row in found if row["rate"] == choices["rate"]]
    keys, queries, attention = asked(film, seed)
    hero, guides = directions(film, seed, keys, queries)
    beside, even = profile(film)
    curve, lines = curves(film, seed, choices["curve"], of_rate if shipped else ())
    numbers, more = readouts(film, seed)
    return Recipe(
        stages=stages(film.network),
        parameters=clock(film),
        clouds=(keys, queries, attention, *guides, *even, *lines, *more),
        views=(hero, beside, curve),
        readouts=numbers,
        facts=facts(of_rate),
        progress=len(stages(film.network)) - 1,
        clock="step" if len(film.steps) > 1 else "",
    )


TRAINING = Training(task, films=lambda choices: (film_name(choices),))
DATA_FILES = (File("majority.json", json_table),)


# --- keys and queries


def stages(network: AttentionClassifier) -> list[str]:
    """The names of the stages: the embeddings, then one stage for each step of the norm, last the queries.

    The result of the norm is the keys. Without a norm the embeddings themselves are the keys.
    """
    made = len(network.steps())
    return [
        "embeddings" if made else "keys",
        *(["centred"] if made > 1 else []),
        *["keys"] * (made > 0),
        "queries",
    ]


def moved(film: Film, values: np.ndarray) -> Entries:
    """Entries of a matrix that follow the training step.

    `values` (T, m, n) has the matrix (m, n) at each of the T checkpoints of `film`.
    """
    if len(film.steps) == 1:
        return Entries(values[0])
    return Entries(np.zeros(values.shape[1:]), tracks={"step": Track(film.steps, values)})


def asked(film: Film, seed: int) -> tuple[Cloud, Cloud, Cloud]:
    """Three clouds: keys, queries and attention weights. Each has one point for each class of tokens.

    They belong to the network of `seed` and follow the slider for the training step. The key of a class
    with the embedding e is N(e), where N is the norm. The query is W_Kᵀ W_Q N(e)/√d, drawn with the
    length `reach`, because its true length is often too small to be seen. The weights are those on a
    sequence that contains each class once.
    """
    network = film.network
    of = {name: np.asarray(part, float) for name, part in network.named(film.weights[seed]).items()}
    classes, place = np.eye(network.classes), Pipeline((Affine(moved(film, of["embedding"].mT)),))
    names = [f"class {chr(ord('a') + k)}" for k in range(network.classes)]
    norm = network.steps()
    keys = Cloud("keys", classes, Pipeline((*norm, *rest(network.width, 1))), place, names)
    ask = (Affine(moved(film, of["query"])), Affine(moved(film, of["key"].mT / np.sqrt(network.width))))
    seen = Branches((Pipeline((*ask, Normalize(reach(film, seed)))),))
    queries = Cloud("queries", classes, Pipeline((*norm, seen)), place, names)
    paid = Pipeline((*place.steps, *norm, *ask, Affine(Of(keys)), Softmax()))
    return keys, queries, Cloud("attention", classes, place=paid, labels=names)


def reach(film: Film, seed: int) -> float:
    """The length at which all queries are drawn, about that of the longest keys of `seed` in training.

    It is the quantile SHOWN_KEYS_QUANTILE of the keys' lengths at all checkpoints.
    """
    network = film.network
    keys = network.keys(network.named(film.weights[seed].astype(float))["embedding"])
    return float(np.quantile(np.linalg.norm(keys, axis=-1), SHOWN_KEYS_QUANTILE))


def frame(film: Film, seed: int) -> np.ndarray:
    """Display axes (3, d): two directions orthogonal to 𝟏, and 𝟏 upright.

    The two are the directions in which the keys of the network of `seed` spread most at the end of training.
    """
    network = film.network
    keys = network.keys(network.named(film.weights[seed, -1].astype(float))["embedding"])
    across = (keys - keys.mean(0)) @ centering_matrix(network.width)
    wide = np.linalg.svd(across)[2][:2]
    return np.vstack([wide, np.ones(network.width) / np.sqrt(network.width)])


def directions(film: Film, seed: int, keys: Cloud, queries: Cloud) -> tuple[View, tuple[Cloud, ...]]:
    """View of the keys, as points, and of the queries, as arrows, with 𝟏 upright; and its clouds."""
    d, show = film.network.width, rows(frame(film, seed))
    end, far = [0.0] * len(keys.pipeline.steps) + [1.0], 1.1 * reach(film, seed)
    ray = np.vstack([np.zeros((d, d)), np.eye(d)])  # at first nothing, then the query
    arrows = Cloud(
        "arrows",
        queries.points,
        Pipeline((Affine(np.hstack([np.zeros((d, d)), np.eye(d)])),)),
        Pipeline((*queries.place.steps, *queries.pipeline.steps, Affine(ray))),
    )
    flat = Cloud("flat", np.array([[0.0], [0.0], [0.0], [1.0]]))  # the upright number
    plane: dict[str, Any] = {"radius": 0.85 * far, "guide": True}
    solid = rows(np.eye(3))
    guides, layers = split(
        *mean_line(show, d, 0.95 * far, 1.02 * far, size=2.5),
        (
            flat,
            Disc("flat", "hyperplane", solid, "the hyperplane ⊥ 𝟏", opacity=0.12, **plane),
            Rim("flat", "hyperplane", solid, size=1.5, opacity=0.6, **plane),
        ),
    )
    own: dict[str, Any] = {"fade": end, "size": 2.0}
    layers += (
        Trail("arrows", "query", show, "queries", opacity=0.8, arrow=0.06 * far, **own),
        Points("keys", "input", show, "a key", size=6, hand=Follow()),
        Points("queries", "query", show, size=5, glyph="square", fade=end, hand=Follow()),
        *followed("keys", show, "the followed class", trail=0),
        *followed("queries", show, size=9, trail=0, fade=end, glyph="square"),
    )
    return space("directions", "", layers, camera=CAMERA, reaching=True), (*guides, arrows)


# --- the tokens' attention weights


def profile(film: Film) -> tuple[View, tuple[Cloud, ...]]:
    """Graph of attention weights against the class of the key, with a line for each class of the query.

    A dashed line shows equal weights, 1/C for C classes. Returns the view, and the cloud of this line.
    """
    classes = film.network.classes
    ends = np.array([[0.5, 1 / classes], [classes + 0.5, 1 / classes]])
    even = draw("even", Line, "axis", FLAT, ends, "equal weights", dash="dash", size=2)
    guides, lines = split(even)
    layers = (
        Profile("attention", "query", (), "weights of each token", size=1.5, opacity=0.5),
        *lines,
        Profile("attention", "followed", (), only=Followed(), size=3),
    )
    axes = ("class of the key", 0.5, classes + 0.5), ("weight", 0.0, MAX_SHOWN_WEIGHT)
    return graph("attention", "", layers, *axes), guides


# --- the curves


def curves(film: Film, seed: int, what: str, medians: Rows) -> tuple[View, tuple[Cloud, ...]]:
    """Graph of `what` for all seeds during training, with the stored medians of each norm.

    `what` is "loss", "accuracy" or "angle" (the mean angle between queries and 𝟏). `medians` has the rows of
    the table, one for each norm; () if no medians are drawn.
    """
    values = {"loss": np.log10(np.maximum(film.loss, 1e-6)), "accuracy": film.accuracy}
    own = mean_query_angle(film) if what == "angle" else values[what]
    return of_seeds(film, seed, own, CURVE_AXES[what], under=[median(row, what) for row in medians])


def median(row: Mapping[str, Any], what: str) -> Part:
    """The curve of `what` for the norm of the table's row: stored medians over that norm's seeds."""
    role, dash = NORM_LOOKS[row["norm"]]
    heights = np.log10(row["loss"]) if what == "loss" else np.array(row[what])
    shape = (np.stack([row["at"], heights], -1), np.arange(len(heights)))
    return draw(
        f"median {row['norm']}", Line, role, FLAT, shape, NORM_LEGENDS[row["norm"]], size=2.5, dash=dash
    )


# --- the numbers


def readouts(film: Film, seed: int) -> tuple[tuple[Readout, ...], tuple[Cloud, ...]]:
    """Readouts of the shown seed: angle of the queries, accuracy, loss and mean largest attention weight."""
    values = np.stack([film.loss[seed], film.accuracy[seed], largest(film)[seed]], -1)
    numbers = Cloud("numbers", np.ones((1, 1)), place=Pipeline((Affine(moved(film, values[..., None])),)))
    loss, accuracy, weight = (Row(tuple(map(float, row))) for row in np.eye(3))
    return (
        Mean(f"Mean angle to 𝟏, seed {seed}", "queries", Angle(), unit="°", digits=1),
        Number(f"Accuracy of seed {seed}", "numbers", accuracy, digits=3),
        Number("Its loss", "numbers", loss, digits=3),
        Number("Largest attention weight of a token, mean", "numbers", weight, digits=3),
    ), (numbers,)


def largest(film: Film) -> np.ndarray:
    """The largest attention weight of each token, averaged over tokens: (S, T).

    There are S seeds and T checkpoints.
    """
    network, weights = film.network, film.weights.astype(float)
    keys = network.keys(network.named(weights)["embedding"])
    return softmax(network.queries(weights) @ keys.mT).max(-1).mean(-1)


def facts(found: Rows) -> Facts:
    """Table with a row for each norm. All numbers are medians over the seeds.

    They are the steps until 50, 90 and 99 % accuracy, then the final loss, the final accuracy, and the final
    angle between queries and the all-ones vector 𝟏.
    """
    first = found[0]
    count, rate = len(first["end_loss"]), f"learning rate {first['lr']:g}, {first['steps']:,} steps"
    title = f"Medians of {count} networks: {rate}"
    columns = (
        "",
        "steps to 50 % accuracy",
        "to 90 %",
        "to 99 %",
        "loss at the end",
        "accuracy",
        "angle to 𝟏",
    )
    return Facts(title, columns, [fact(row) for row in found])


def fact(row: Mapping[str, Any]) -> list[str]:
    """The cells of a norm's row in the table of `facts`: the norm's name, then medians over seeds.

    These are the steps until 50, 90 and 99 % accuracy, the final loss, accuracy, and angle to 𝟏.
    """
    to = [middle(row[f"to_{share}"]) for share in (50, 90, 99)]
    loss, accuracy, angle = (float(np.median(row[f"end_{name}"])) for name in CURVES)
    return [NORMS[row["norm"]], *to, f"{loss:.3f}", f"{accuracy:.3f}", f"{angle:.0f}°"]


def middle(steps: Sequence[int | None]) -> str:
    """The median number of steps as text; "never" if it is infinite.

    A None in `steps` is a seed that never reaches the accuracy; it counts as infinitely many steps.
    """
    found = float(np.median([np.inf if step is None else step for step in steps]))
    return f"{found:,.0f}" if np.isfinite(found) else "never"
