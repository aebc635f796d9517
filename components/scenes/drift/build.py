"""Recipe of the scene `drift`: the vectors of sixteen letters as a window slides over a text.

The vectors have four coordinates. The large picture shows the hyperplane Σx = 0, which has three. The small
picture shows the vectors from the side: upwards the height over this hyperplane, to the right the direction
of the hyperplane in which the letters spread most.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from components.language.cloud import Cloud, Row, rows
from components.language.marks import Follow, Followed, Highest, Line, Mark, Points, Way
from components.language.recipe import Facts, Letters, Number, Parameter, Recipe, Table, View
from components.language.scene import Choices, File
from components.scenes.blocks import around, sphere_in_steps
from components.scenes.scenery import draw, graph, space, split, square
from geometry import Affine, Entries, Pipeline, Track
from geometry.centering import hyperplane_basis
from learning.drift import streams_as_window_slides
from learning.film import json_table
from learning.language import Shape, from_file, gain_and_shift, layer_norm_of

Array = np.ndarray
Found = Sequence[Mapping[str, Any]]

MODELS = {"language": "LayerNorm", "language_centred": "centring alone", "language_unnormed": "no norm"}
WINDOWS = {"32": "32 letters", "64": "64 letters", "256": "256 letters"}
FORGETTING_LABELS = {
    "places": "re-read, new positions",
    "past": "re-read, fixed positions",
    "kept": "key–value cache",
}
LAYERS = {str(k): f"layer {k}" for k in range(1, 5)}
BELOW = {"distance": "distance from the start", "loss": "loss", "size": "size of the stream"}
MODEL_LOOKS = {
    "language": ("sphere", "solid"),
    "language_centred": ("hyperplane", "dash"),
    "language_unnormed": ("ellipsoid", "dot"),
}
PART_LABELS = {
    "stream": ("x", "input", "solid"),
    "across": ("centred", "hyperplane", "dash"),
    "reads": ("what attention reads", "sphere", "dot"),
}
PHRASE = "carry no meaning"  # the letters that are shown; the text before them and after them is as it is
# number of coordinates; distance of the farthest letter at first; half the width of the side view
D, START_REACH, REACH = 4, 2.5, 2.6
SHOW, UP = hyperplane_basis(D), np.full(D, D**-0.5)


def files(choices: Choices) -> tuple[File, File, File]:
    """The files of the chosen model, of the measurements of all models, and of a text new to the models."""
    model = File(f"{choices['model']}.safetensors", from_file)
    return model, File("drift.json", json_table), File("language.txt", text)


def text(data: bytes) -> str:
    return data.decode("utf-8")


def build(choices: Choices, model: tuple[Shape, Mapping[str, Array]], table: Found, words: str) -> Recipe:
    shape, weights = model
    slid = slide(choices, shape, weights, table, words)
    drawn, clouds = slid.clouds(shape)
    guides, scenery = split(*around(drawn, before=0.05))
    stops = np.arange(len(slid.stream), dtype=float)
    below, curves = under(choices, slid, stops, table)
    aside, plane = from_the_side(slid, stops)
    return Recipe(
        stages=(
            *(("x", "centre") if shape.normed else ("x",)),
            *(("sphere",) if shape.normed and shape.scaled else ()),
            "⊙ γ",
            "+ β",
        ),
        parameters=(
            Parameter(
                "slide",
                "letters read after the phrase",
                float(len(stops) // 2),
                0,
                stops[-1],
                1,
                about="how many places the window has moved",
            ),
        ),
        clouds=(*clouds, *guides, *plane, *curves),
        views=(space("space", "", (*scenery, *marks(rows(SHOW), stops))), aside, below),
        formula=formula(shape),
        table=Table("true", columns=("components", "mean", "norm")),
        readouts=(
            Letters("farthest from its start now, after centring", "ways", Highest(pick(DISTANCE + 1))),
            *(
                Number(label, "ways", pick(PATH_LENGTH + k), Followed(), digits=2)
                for k, label in enumerate(LABELS)
            ),
        ),
        facts=facts(choices, table),
        clock="slide",
        follow=PHRASE.index("m"),
    )


# --- the letters


NOW, DISTANCE, PATH_LENGTH = (0, 1, 4)  # indices of a letter's numbers: step, distances, path lengths
LABELS = tuple(
    f"Path of the followed letter ÷ spread, {part}" for part in ("at x", "centred", "as attention reads it")
)


def pick(k: int) -> Row:
    """Row that reads number `k` of the seven that `Slid.numbers` gives for each letter."""
    return Row(tuple(np.eye(PATH_LENGTH + len(PART_LABELS))[k].tolist()))


@dataclass(frozen=True)
class Slid:
    """The vectors of all letters at the input of one layer, at each step of the sliding window.

    stream: the residual stream (steps, letters, d). reads: the vectors that attention reads, of the same
    shape: the stream after the layer's norm. gamma, beta: the gain and shift (d,) of the norm; models without
    a norm have a gain and shift instead of a norm. spreads: for each of PART_LABELS, the root mean square
    distance of the vectors of many letters from their mean.
    """

    stream: Array
    reads: Array
    spreads: Array
    gamma: Array
    beta: Array

    @property
    def unit(self) -> float:
        """The number by which vectors are divided for the picture.

        It gives the longest centred vector the length START_REACH.
        """
        return float(np.linalg.norm(self.stream @ SHOW.T, axis=-1).max()) / START_REACH

    @property
    def looks(self) -> list[Array]:
        """The stream, the centred stream, and what attention reads (in the order of PART_LABELS).

        The centred stream has three coordinates, those within the hyperplane Σx = 0; the others have d.
        """
        return [self.stream, self.stream @ SHOW.T, self.reads]

    def numbers(self) -> Array:
        """Seven numbers for each step and letter, (steps, letters, 7).

        Number 0 is the step. Numbers 1 to 3 are distances of the letter's vector from its vector at the first
        step: in the stream, in the centred stream, and in what attention reads (PART_LABELS). Numbers 4 to 6
        are the lengths of its paths so far in these three. Distances and lengths are divided by `spreads`.
        """
        t = np.broadcast_to(np.arange(len(self.stream), dtype=float)[:, None], self.stream.shape[:2])
        looks = [x / spread for x, spread in zip(self.looks, self.spreads, strict=True)]
        far = [np.linalg.norm(x - x[0], axis=-1) for x in looks]
        gone = [
            np.pad(np.linalg.norm(np.diff(x, axis=0), axis=-1).cumsum(0), ((1, 0), (0, 0))) for x in looks
        ]
        return np.stack([t, *far, *gone], axis=-1)

    def clouds(self, shape: Shape) -> tuple[Sequence[Any], list[Cloud]]:
        """The steps of the norm for vectors divided by `unit`, and three clouds with a point for each letter.

        "letters" has the vectors divided by `unit`, "true" the vectors themselves, and "ways" the `numbers`.
        shape: says which of these steps the model has.
        """
        options = {"scaled": shape.scaled, "normed": shape.normed}
        drawn = sphere_in_steps(self.gamma, self.beta, self.unit, **options)
        true = sphere_in_steps(self.gamma, self.beta, **options)
        names = list(PHRASE.replace(" ", "␣"))
        drawings = {
            "letters": (self.stream / self.unit, drawn),
            "true": (self.stream, true),
            "ways": (self.numbers(), ()),
        }
        return drawn, [
            Cloud(
                name,
                np.eye(len(names)),
                Pipeline(steps),
                Pipeline((tracked(x),)),
                list(PHRASE) if name == "ways" else names,
            )
            for name, (x, steps) in drawings.items()
        ]


def slide(choices: Choices, shape: Shape, weights: Mapping[str, Array], table: Found, words: str) -> Slid:
    """The vectors of the letters of PHRASE at the input of the chosen layer, as the window slides.

    words: a text with PHRASE. The window slides from PHRASE at its end to PHRASE at its start. table: the
    measurements of all models. The `spreads` of the result come from this table; they were measured on the
    letters of six passages.
    """
    window, layer = int(choices["window"]), int(choices["layer"]) - 1
    start = words.index(PHRASE) + len(PHRASE) - window
    tokens = shape.tokens(words[start : start + 2 * window])
    stream = streams_as_window_slides(
        shape, weights, tokens, window=window, letters=len(PHRASE), depths=layer + 1, kind=choices["kind"]
    )[layer]
    norm = layer_norm_of if shape.normed else gain_and_shift
    reads = norm(weights, f"h.{layer}.ln_1", stream, scaled=shape.scaled)
    gamma, beta = (weights[f"h.{layer}.ln_1.{part}"] for part in ("weight", "bias"))
    kind = "places" if choices["kind"] == "kept" else choices["kind"]
    first = next(row for row in table if row["model"] == choices["model"])
    spreads = [first[kind][choices["window"]][part]["spread"][layer] for part in PART_LABELS]
    return Slid(stream, reads, np.array(spreads), gamma, beta)


def tracked(x: Array) -> Affine:
    """The map from the unit vector eᵢ to the vector of letter i at the slider's step.

    x (steps, letters, d) has these vectors.
    """
    each = np.swapaxes(x, 1, 2).astype(np.float32)
    return Affine(Entries(np.zeros(each.shape[1:]), tracks={"slide": Track(np.arange(len(x)), each)}))


# --- the views


def marks(show: tuple[Row, ...], stops: Array, *, size: float = 9) -> tuple[Mark, ...]:
    """Marks of all letters and their paths.

    All paths are drawn whole. The path of the followed (selected) letter is thicker up to the slider's step.

    stops: the values of the slider at which paths are computed. size: the size of the letters' points.
    """
    way: dict[str, Any] = {"parameter": "slide", "stops": stops}
    return (
        Way("letters", "trail", show, **way, whole=True, size=1.5, opacity=0.8),
        Way("letters", "followed", show, **way, only=Followed(), whole=True, size=1.5, opacity=0.45),
        Way("letters", "followed", show, "its path so far", **way, only=Followed(), size=3),
        Points("letters", "input", show, "a letter", size=size, hand=Follow()),
        Points("letters", "followed", show, "the followed letter", only=Followed(), size=size + 3),
    )


def from_the_side(slid: Slid, stops: Array) -> tuple[View, tuple[Cloud, ...]]:
    """View from the side, and its clouds: the height along 𝟏 against a direction in the hyperplane Σx = 0.

    The direction is the one in which the letters spread most. stops: the slider's values at which paths are
    computed.
    """
    flat = (slid.stream @ SHOW.T).reshape(-1, D - 1) / slid.unit
    along = np.linalg.svd(flat - flat.mean(0), full_matrices=False)[2][0] @ SHOW
    show = rows(np.stack([along, UP]))
    reach = max(REACH, 1.1 * float(np.abs(slid.stream @ UP).max()) / slid.unit)
    ends = 0.98 * reach * np.stack([-along, along])
    clouds, level = split(
        draw("level", Line, "hyperplane", show, ends, "the hyperplane", size=1.5, opacity=0.8)
    )
    return square(
        "side", "From the side: the height along 𝟏", (*level, *marks(show, stops, size=6)), reach
    ), clouds


def under(choices: Choices, slid: Slid, stops: Array, found: Found) -> tuple[View, tuple[Cloud, ...]]:
    """The lower view and its clouds, as the choice "below" says.

    With "distance" it is a graph about the followed (selected) letter: the distance of its vector from its
    vector at the first step, against the step of the window. There is a curve for each of PART_LABELS (the
    stream, the centred stream, what attention reads); the unit is the spread. There are no further clouds.

    With "loss" or "size" the view shows the loss, or the size of the vectors, along a long text (`along`).
    stops: the steps at which the curves are computed. found: the table of measurements, a row for each model.
    """
    if choices["below"] != "distance":
        return along(choices["below"], choices["model"], found)
    way: dict[str, Any] = {"parameter": "slide", "stops": stops, "only": Followed()}
    layers: list[Mark] = []
    for k, (title, role, dash) in enumerate(PART_LABELS.values()):
        show = (pick(NOW), pick(DISTANCE + k))
        layers += [
            Way("ways", role, show, title, **way, whole=True, size=2, dash=dash),
            Points("ways", role, show, only=Followed(), size=9),
        ]
    top = 1.08 * max(float(slid.numbers()[..., DISTANCE:PATH_LENGTH].max()), 0.5)
    y = ("spreads", 0.0, top)
    return graph(
        "below",
        "Distance from where it started",
        layers,
        ("letters read after the phrase", 0.0, float(stops[-1])),
        y,
    ), ()


def along(what: str, chosen: str, found: Found) -> tuple[View, tuple[Cloud, ...]]:
    """Graph of `what` ("loss" or "size") in eleven windows of text, and its clouds.

    Each kind of model (a key of MODELS) has two lines of medians over its models: one for text that the
    models read, and a fainter one for text that they wrote. The lines of the kind `chosen` are thick. found:
    the table of measurements, a row for each model.
    """
    number = ("loss", "size").index(what)
    parts, top, low = [], 0.0, np.inf
    for name, (role, dash) in MODEL_LOOKS.items():
        for source in ("read", "written"):
            values = np.median([row[source][number] for row in found if row["model"] == name], axis=0)
            points = np.stack([np.arange(len(values)), values], axis=-1)
            title = MODELS[name] if source == "read" else ""
            look: dict[str, Any] = {
                "size": 4 if name == chosen else 2,
                "dash": dash,
                "opacity": 1 if source == "read" else 0.5,
            }
            parts.append(draw(f"{name}, {source}", Line, role, rows(np.eye(2)), points, title, **look))
            top, low = max(top, values.max()), min(low, values.min())
    titles = {"loss": "The loss in a window", "size": "The size of the stream into layer 4"}
    y = ("nats a letter", 0.95 * low, 1.05 * top) if what == "loss" else ("length", 0.0, 1.05 * top)
    clouds, layers = split(*parts)
    return graph("below", titles[what], layers, ("windows read", 0.0, 10.0), y), clouds


# --- numbers and words


def facts(choices: Choices, found: Found) -> Facts:
    """Table of path lengths by layer, in units of the spread: medians over the models of one kind.

    There is a row for each kind of model (a key of MODELS) and each of PART_LABELS, such as the stream. The
    last column is the median loss of the kind. found: the table of measurements, a row for each model.
    """
    lines = []
    for name, label in MODELS.items():
        models = [row for row in found if row["model"] == name]
        loss = f"{np.median([row['loss'] for row in models]):.2f}"
        for part, (called, _, _) in PART_LABELS.items():
            lines.append(
                [f"{label}: {called}", *path_lengths(choices, models, part), loss if part == "stream" else ""]
            )
    columns = ("", *LAYERS.values(), "loss")
    places = int(choices["window"]) - len(PHRASE)
    title = f"Path lengths while the window moves {places} places, divided by the spread: medians"
    return Facts(title, columns, lines)


def path_lengths(choices: Choices, models: Found, part: str) -> list[str]:
    """Cells of a table row: for each layer the median over `models` of a path length, as text.

    It is the length of the path of one `part`, a key of PART_LABELS, in units of the spread. models: the
    measurements of each model. If the choice "kind" is "kept", all cells are "0": the model keeps what it has
    computed for a letter, so nothing moves.
    """
    if choices["kind"] == "kept":
        return ["0"] * len(LAYERS)
    each = [row[choices["kind"]][choices["window"]][part] for row in models]
    return [f"{w:.1f}" for w in np.median([np.divide(e["path"], e["spread"]) for e in each], axis=0)]


def formula(shape: Shape) -> str:
    over = r"\class{stage-1 role-hyperplane}{x_t - \mu 𝟏}"
    if not shape.normed:
        return r"k_t = \class{stage-1}{\gamma \odot} x_t \class{stage-2 role-shift}{+ \beta}"
    if not shape.scaled:
        return rf"k_t = \class{{stage-2}}{{\gamma \odot}} ({over}) \class{{stage-3 role-shift}}{{+ \beta}}"
    unit = rf"\class{{stage-2 role-sphere}}{{\frac{{{over}}}{{\sqrt{{\sigma^2 + \varepsilon}}}}}}"
    gain = r"\class{stage-3 role-ellipsoid}{\gamma \odot}"
    return rf"k_t = {gain} {unit} \class{{stage-4 role-shift}}{{+ \beta}}"
