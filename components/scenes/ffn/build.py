"""Recipe of the scene `ffn`: a norm's circle or sphere goes through W₁, ReLU or GELU, and W₂.

For the circle, the second view shows the neurons' values against the angle. For the sphere it is an
equal-area map.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

import numpy as np

from components.language.cloud import Cloud, Row, rows
from components.language.marks import Follow, Gated, Line, Mark, Mesh, Points, Trail
from components.language.recipe import (
    Count,
    Facts,
    Number,
    Parameter,
    Patterns,
    Pieces,
    Ranks,
    Readout,
    Recipe,
    Residual,
    Table,
    View,
    Zeros,
)
from components.language.scene import Choices, File
from components.scenes.networks import clock
from components.scenes.scenery import Look, Part, Rows, axes, draw, followed, graph, rest, space, split
from geometry import Affine, Branches, Entries, Pipeline, Pointwise, Softmax, Track, clouds, gates
from geometry.pipeline import Step
from learning.datasets import SPACES, normed
from learning.film import Film, from_npz, json_table

NORMS = {"layer_norm": "LayerNorm", "rms_norm": "RMSNorm"}
WEIGHTS = {"hand": "by hand", "mirrored": "mirrored pairs", "drawn": "random", "trained": "trained"}
BY_HAND = ("hand", "mirrored")
FUNCTIONS = {"relu": "ReLU", "gelu": "GELU"}
SEEDS, EXPANSIONS, MAX_NEURONS = 8, range(1, 5), 12
RADIUS = np.sqrt(3)
POINT_COUNTS = {"layer_norm": 480, "rms_norm": 1000}
FOLLOWED_POINT = {"layer_norm": 80, "rms_norm": 517}
SHOW = rows(np.eye(3))
ROLES = {"apart": "input", "shared": "other", "collapsed": "ink"}
TITLES = {"apart": "kept apart", "shared": "shares its image with others", "collapsed": "all in one point"}
NEURONS = ("series-1", "series-2", "series-3")  # roles of the three neurons that are drawn as planes in space
CAMERA = (1.25, 0.66, 0.66, 0.03, 0.03, 0.04)
PROBABILITY_SCALE = 6  # by which the probabilities of trained networks are multiplied when drawn
REACH = 1.75  # length of the drawn axes for weights set by hand; a little more than RADIUS
TILT = Parameter(
    "tilt", "tilt", 25, 0, 90, 1, about="in degrees: turns the surface before it meets the planes"
)
SHIFT = Parameter("shift", "shift b", -0.6, -1.5, 1.5, symbol="b", about="added to every neuron")
DEGREES = np.arange(0.0, 91)


def rotation_from_ones(degrees: float) -> np.ndarray:
    """The rotation matrix (3, 3) that turns the direction 𝟏 by `degrees` towards the third axis.

    At 54.74° the direction is along that axis.
    """
    across = np.array([[0, 0, -1], [0, 0, -1], [1, 1, 0]]) / np.sqrt(2)
    angle = np.radians(degrees)
    return np.eye(3) + np.sin(angle) * across + (1 - np.cos(angle)) * across @ across


ROTATIONS = np.array([rotation_from_ones(degrees) for degrees in DEGREES])


@dataclass(frozen=True)
class Layers:
    """A feed-forward network: its steps `first` (W₁) and `last` (W₂), and the sliders of its weights."""

    first: Affine
    last: Step
    parameters: tuple[Parameter, ...] = ()


def files(choices: Choices) -> Sequence[File]:
    """For trained weights: the stored training of the chosen network, and the table of all trainings.

    For other weights there are no files.
    """
    if choices["weights"] != "trained":
        return ()
    name = f"ffn_{choices['norm']}_{choices['function']}_{choices['expansion']}.npz"
    return (File(name, from_npz), File("ffn.json", json_table))


def build(choices: Choices, film: Film | None = None, table: Sequence[Mapping[str, Any]] = ()) -> Recipe:
    norm, function = choices["norm"], choices["function"]
    y, net = normed(POINT_COUNTS[norm], norm=norm), layers(choices, film)
    through = Pipeline((net.first, Pointwise(function), net.last))
    points = Cloud("points", y, through)
    values = {p.name: p.value for p in net.parameters}
    reach = REACH if choices["weights"] in BY_HAND else reach_of(points.stages(values))
    gate = Gated("apart", 0, SPACES[norm]) if function == "relu" else None
    beside, view = around_circle(y, net, function, reach) if norm == "layer_norm" else mapped(y, gate)
    drawn, around = split(*guides(net, through, norm, reach))
    numbers, more = readouts(choices, film)
    return Recipe(
        stages=(
            "y",
            "W₁y + b",
            FUNCTIONS[function],
            f"{PROBABILITY_SCALE} · softmax(W₂h)" if film else "W₂h",
        ),
        parameters=net.parameters,
        clouds=(points, beside, Cloud("y", y), *drawn, *more),
        views=(
            space("space", "", (*around, *picture(gate, norm)), camera=CAMERA, reaching=True),
            replace(view, strip=True),
        ),
        formula=formula(function),
        table=Table("points", columns=("components",)),
        readouts=numbers,
        facts=of_trained(table, choices) if film else of_drawn(choices, y),
        progress=2,
        follow=FOLLOWED_POINT[norm],
        clock="step" if film else "",
    )


# --- weights


def layers(choices: Choices, film: Film | None) -> Layers:
    """The network with the weights that the choices name: set by hand, random, or trained.

    `film` is the stored training of the network, or None if its weights are not trained ones.
    """
    if film is not None:
        first, last = ordered(film, choices["seed"])
        larger = Affine(PROBABILITY_SCALE * np.eye(3))
        return Layers(first, Branches((Pipeline((last, Softmax(), larger)),)), clock(film))
    if choices["weights"] in BY_HAND:
        return by_hand(choices["weights"] == "mirrored")
    y = normed(POINT_COUNTS[choices["norm"]], norm=choices["norm"])
    W = drawn_weights(choices["seed"])[: 3 * choices["expansion"]]
    return Layers(Affine(W), least_squares_readout(Pipeline((Affine(W), Pointwise(choices["function"]))), y))


def ordered(film: Film, seed: int) -> tuple[Affine, Affine]:
    """The two linear layers of the network of `seed`, with the weights at the slider's training step.

    Neurons are sorted by the variance of their activations over the data at the end of training, the largest
    first.
    """
    hidden = film.network.pipeline(film.weights[seed, -1].astype(float)).stages(
        film.data.points.astype(float)
    )[2]
    order = np.argsort(-hidden.var(0))
    A, b, last, c = (track.values for entries in film.entries(seed) for track in entries.tracks.values())
    kept = (A[:, order], b[:, order], last[:, :, order], c)
    entries = [Entries(np.zeros(each.shape[1:]), tracks={"step": Track(film.steps, each)}) for each in kept]
    return Affine(*entries[:2]), Affine(*entries[2:])


def by_hand(mirrored: bool) -> Layers:
    """Hand-set layers: W₁ has three neurons along the axes, rotated and shifted; W₂ undoes these motions.

    Sliders set the rotation (TILT) and the shift. W₂ recovers the input y of W₁ where ReLU leaves all three
    neurons as they are. If `mirrored`, W₁ also has the three opposite neurons. Then W₂ subtracts opposite
    neurons from each other, and does not undo the shift. So if the shift is 0, it recovers every y.
    """
    signs = np.kron([[1], [-1]] if mirrored else [[1]], np.eye(3))
    first = Track(DEGREES, signs @ ROTATIONS)
    turn = Entries(np.zeros_like(signs), tracks={"tilt": first})
    shift = Entries(np.zeros(len(signs)), {"shift": np.ones(len(signs))})
    off = Affine(signs.T) if mirrored else Affine(np.eye(3), Entries(np.zeros(3), {"shift": -np.ones(3)}))
    back = Affine(Entries(np.zeros((3, 3)), tracks={"tilt": Track(DEGREES, ROTATIONS.mT)}))
    return Layers(Affine(turn, shift), Branches((Pipeline((off, back)),)), (TILT, SHIFT))


def drawn_weights(seed: int) -> np.ndarray:
    """Random weights W₁ (MAX_NEURONS, 3), a row for each neuron; narrower layers take the first rows.

    At each point of the norm's circle or sphere, the value of a neuron has the variance 1 over the draws.
    """
    return np.random.default_rng(seed).normal(size=(MAX_NEURONS, 3)) / RADIUS


def least_squares_readout(hidden: Pipeline, y: np.ndarray) -> Affine:
    """The affine map that recovers the points y (N, d) from hidden(y) with the least squared error.

    hidden: the steps from y to the hidden layer.
    """
    known = np.column_stack([hidden.stages(y)[-1], np.ones(len(y))])
    found = np.linalg.lstsq(known, y)[0]
    return Affine(found[:-1].T, found[-1])


def padded(first: Affine) -> Affine:
    """The affine map `first` for points with one more coordinate, which it ignores."""
    assert isinstance(first.A, Entries)

    def wider(values: Any) -> np.ndarray:
        return np.concatenate([values, np.zeros((*values.shape[:-1], 1))], axis=-1)

    tracks = {name: Track(track.at, wider(track.values)) for name, track in first.A.tracks.items()}
    return Affine(Entries(wider(first.A.base), tracks=tracks), first.b)


# --- what is seen


def reach_of(stages: Sequence[np.ndarray]) -> float:
    """The length of the axes that the 3D view draws.

    `stages` are the points at each stage. The length is 1.1 times their largest absolute coordinate after the
    activation, but at least 0.6 times the largest before it. Only the first three coordinates count.
    """
    before, after = (float(np.abs(stage[:, :3]).max()) for stage in stages[1:3])
    return max(1.1 * after, 0.6 * before)


def picture(gate: Gated | None, norm: str) -> tuple[Mark, ...]:
    """Marks of the points, a separate one for each fate: kept apart, sharing an image, or collapsed.

    `gate` selects the points by their fate in the layer. If it is None (with GELU), all points are kept
    apart, and have one mark. The mark of the followed point is added. `norm` decides the size of the points.
    """
    size = 5.5 if norm == "layer_norm" else 4.5
    return *by_fate("points", SHOW, gate, size), *followed("points", SHOW, trail=0)


def by_fate(cloud: str, show: Rows, gate: Gated | None, size: float) -> tuple[Mark, ...]:
    if gate is None:
        return (Points(cloud, "input", show, "the points", size=size, hand=Follow()),)
    whose = "" if cloud == "points" else "points"
    return tuple(
        Points(
            cloud,
            role,
            show,
            TITLES[fate],
            only=replace(gate, fate=fate, of=whose),
            size=2 * size if fate == "collapsed" and cloud == "points" else size,
            hand=Follow(),
        )
        for fate, role in ROLES.items()
    )


def guides(net: Layers, through: Pipeline, norm: str, reach: float) -> list[Part]:
    """The axes, three faces of the positive octant, and the circle or sphere to which the norm maps points.

    ReLU leaves the points of this octant unchanged. reach: the length of the axes and the side of the faces.

    If `norm` is "rms_norm", there is a sphere at each stage, and the steps of the network (`through`) deform
    it. Otherwise stages 0 and 3 show LayerNorm's circle itself, and stages 1 and 2 show the circle's image
    under the first layer (`net.first`), without the activation. At stage 2, trails show how the activation
    moves every fifth point of this image.
    """
    corners, end = reach * np.array([[0, 0], [1, 0], [0, 1], [1, 1]]), 1.08 * reach
    walls = np.concatenate([np.insert(corners, k, 0, axis=1) for k in range(3)])
    faces = np.concatenate([clouds.grid_mesh(2, 2) + 4 * k for k in range(3)])
    planes = draw("planes", Mesh, "axis", SHOW, (walls, faces), opacity=0.12, fade=[0.3, 1, 1, 0.3])
    around = [planes, *axes(SHOW, ["1", "2", "3"], 0, reach, end, opacity=0.8)]
    if norm == "rms_norm":
        sphere, look = RADIUS * np.eye(3), Look(steps=through.steps)
        ball = clouds.turned(clouds.sphere_mesh(meridians=24, parallels=12), sphere)
        net_of = clouds.turned(clouds.graticule(meridians=8, parallels=4), sphere)
        return [
            *around,
            draw("ball", Mesh, "sphere", SHOW, ball, opacity=0.08, **look),
            draw("net", Line, "sphere", SHOW, net_of, size=1, opacity=0.4, **look),
        ]
    circle, line = clouds.circle(160, *SPACES[norm], radius=RADIUS), Look(size=2.5)
    home, before = Look(dash="dot", fade=[0.5, 0, 0, 1]), Look(steps=(net.first,), fade=[0, 0.6, 0.6, 0])
    waits = rest(net.first.A.shape[0], 1)
    few = Cloud("ways", circle[0][::5], Pipeline((*waits, through.steps[1])), Pipeline((net.first,)))
    return [
        *around,
        draw("circle", Line, "sphere", SHOW, circle, "y, the norm’s circle", **line, **home),
        draw("before", Line, "sphere", SHOW, circle, "before the activation", **line, **before),
        (few, Trail("ways", "trail", SHOW, size=1.5, opacity=0.6, fade=[0, 0, 1, 0])),
    ]


def around_circle(y: np.ndarray, net: Layers, function: str, reach: float) -> tuple[Cloud, View]:
    """A cloud of the circle's points y with their angles, and a graph of each neuron's value by angle.

    The graph shows the values after the activation `function`; for the first three neurons, also the values
    before it. The vertical axis goes from −1.1 · `reach` to 1.1 · `reach`.
    """
    angles = 360 * (np.arange(len(y)) + 0.5) / len(y)
    steps = (padded(net.first), Pointwise(function))
    angle, each = Row((0, 0, 0, 1), stage=0), np.eye(net.first.A.shape[0])
    before, after = ([(angle, Row(tuple(one), stage=stage)) for one in each] for stage in (1, 2))
    late, thin = Look(fade=[0, 0, 1, 1]), Look(size=1.5, opacity=0.6)
    marks: list[Mark] = [Line("beside", "trail", show, **thin, **late) for show in after[3:]]
    for k, role in enumerate(NEURONS):
        title = f"h{'₁₂₃'[k]}, neuron {k + 1}"
        marks.append(Line("beside", role, before[k], size=1.5, fade=[0.5, 1, 0.6, 0.6]))
        marks.append(Line("beside", role, after[k], title, size=4, **late))
    marks += [mark for show in after[:3] for mark in followed("beside", show, size=8, trail=0, **late)]
    x_axis, y_axis = ("angle on the circle, °", 0.0, 360.0), ("value", -1.1 * reach, 1.1 * reach)
    view = graph("beside", "Each neuron around the circle", marks, x_axis, y_axis)
    return Cloud("beside", np.column_stack([y, angles]), Pipeline(steps)), view


def mapped(y: np.ndarray, gate: Gated | None) -> tuple[Cloud, View]:
    """The points y as a cloud on an equal-area map of the sphere, and the view of this map.

    The horizontal axis of the map is the longitude, its vertical axis the third coordinate. gate: selects the
    points by their fate in the layer; None if all points are kept apart.
    """
    show = rows(np.eye(2))
    marks = (*by_fate("beside", show, gate, 8), *followed("beside", show, size=12, trail=0))
    x_axis, y_axis = ("longitude, °", -180.0, 180.0), ("height", -1.02 * RADIUS, 1.02 * RADIUS)
    view = graph("beside", "The sphere, as an equal-area map", marks, x_axis, y_axis)
    return Cloud("beside", places(y)), view


def places(y: np.ndarray) -> np.ndarray:
    """The longitude in degrees and the height (third coordinate) of points, (N, 2)."""
    return np.column_stack([np.degrees(np.arctan2(y[:, 1], y[:, 0])), y[:, 2]])


# --- numbers


def readouts(choices: Choices, film: Film | None) -> tuple[tuple[Readout, ...], tuple[Cloud, ...]]:
    basis, function = SPACES[choices["norm"]], choices["function"]
    numbers: list[Readout] = [
        Zeros("Zeros per point, mean", "points", 2),
        Patterns("Sign patterns of the points", "points", 1),
    ]
    if choices["norm"] == "layer_norm":
        numbers.append(Pieces("Arcs between switching points", "points", 0, basis, RADIUS))
    if function == "relu":
        numbers.append(Ranks("Points, by rank of their linear piece", "points", 0, basis))
        lost = {fate: TITLES[fate].capitalize() for fate in ("shared", "collapsed")}
        numbers += [Count(title, "points", Gated(fate, 0, basis), 2) for fate, title in lost.items()]
    if film is None:
        return (*numbers, Residual("Largest distance from the output to y", "points", "y")), ()
    track = Track(film.steps, 100 * film.accuracy[choices["seed"]][:, None])
    right = Affine(np.zeros((1, 1)), Entries(np.zeros(1), tracks={"step": track}))
    numbers.append(Number("Accuracy", "right", Row((1,)), unit=" %", digits=0))
    return tuple(numbers), (Cloud("right", np.zeros((1, 1)), place=Pipeline((right,))),)


def formula(function: str) -> str:
    z = r"\class{stage-1 role-sphere}{W_1 y + b}"
    inner = rf"\max({z},\; 0)" if function == "relu" else rf"\mathrm{{GELU}}({z})"
    h = rf"\class{{stage-2 role-input}}{{{inner}}}"
    return rf"\mathrm{{FFN}}(y) = \class{{stage-3 role-formula}}{{W_2}}\,{h} + c"


def of_drawn(choices: Choices, y: np.ndarray) -> Facts | None:
    """Table for random weights with ReLU, with a column for each width; None for other choices.

    Its rows are the number of neurons; the number of linear pieces of the circle, or of sign patterns on the
    sphere; the entropy of the sign patterns in bits; and the percentage of points that are not kept apart.
    y: the points (N, 3).
    """
    if choices["weights"] != "drawn" or choices["function"] != "relu":
        return None
    basis, W = SPACES[choices["norm"]], drawn_weights(choices["seed"])
    flat = len(basis) == 2
    lines: dict[str, list[str]] = {
        "neurons": [],
        "pieces" if flat else "sign patterns": [],
        "entropy, bits": [],
        "lost, %": [],
    }
    for k in EXPANSIONS:
        on = W[: 3 * k] @ basis.T, np.zeros(3 * k)
        kept = gates.shares(*on, RADIUS) if flat else shares_of(gates.fates(*on, y @ basis.T))
        count, bits = gates.pattern_entropy(y @ W[: 3 * k].T > 0)
        pieces = len(gates.breaks(*on, RADIUS)) if flat else count
        for line, word in zip(
            lines.values(), (3 * k, pieces, f"{bits:.2f}", f"{100 * (1 - kept[0]):.1f}"), strict=True
        ):
            line.append(str(word))
    columns = ("", *(f"{k} ×" for k in EXPANSIONS))
    found = [(name, *line) for name, line in lines.items()]
    return Facts("These weights, by expansion factor", columns, found)


def shares_of(fates: np.ndarray) -> np.ndarray:
    """The fraction of the points with each of the three fates: apart, shared, collapsed."""
    return np.bincount(fates, minlength=3) / len(fates)


def of_trained(table: Sequence[Mapping[str, Any]], choices: Choices) -> Facts:
    """Table for trained networks, with a column per width: medians over seeds, before and after training."""
    of = {
        row["expansion"]: row
        for row in table
        if all(row[name] == choices[name] for name in ("norm", "function"))
    }

    def both(name: str, scale: float, digits: int) -> list[str]:
        ends = ([scale * median(of[k][f"{name}_{end}"]) for end in ("start", "end")] for k in EXPANSIONS)
        return [f"{start:.{digits}f} → {end:.{digits}f}" for start, end in ends]

    lost = [("lost, %", *both("lost", 100, 0))] if choices["function"] == "relu" else []
    lines = [
        ("accuracy after training, %", *(f"{100 * median(of[k]['accuracy']):.0f}" for k in EXPANSIONS)),
        ("neurons off, %", *both("off", 100, 0)),
        ("entropy of sign patterns, bits", *both("bits", 1, 2)),
        *lost,
        ("y from the hidden layer: error of the best affine map, %", *both("back", 100, 0)),
    ]
    return Facts("Medians of 8 seeds, before training → after", ("", *(f"{k} ×" for k in EXPANSIONS)), lines)
