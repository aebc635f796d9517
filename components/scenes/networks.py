"""Views and readouts of the scenes with trained networks.

A `Film` holds the networks of several seeds at all checkpoints of their training. The points go through the
layers of one of them, with the weights at the training step that the slider `step` selects. Training moves
the plane of the last linear layer until it separates the classes. Source: winsor2022.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from components.language.cloud import Cloud, Row, rows
from components.language.marks import Color, Disc, Field, Follow, Mark, Points, Rim
from components.language.recipe import Accuracy, Facts, Number, Parameter, Recipe, View
from components.scenes.curves import curves, folds, snapping, spans
from components.scenes.scenery import Part, each_class, followed, globe, rest, space, split
from geometry import Affine, Entries, Pipeline, Track
from geometry.plane import along, edge_on
from learning.events import plateaus
from learning.film import Film
from learning.network import stage_names

Seen = tuple[View, tuple[Cloud, ...]]  # a view and the clouds that it shows
LOGIT, SPACE = Row((1,)), rows(np.eye(3))
CLASSES = ("class-0", "class-1")
FIELD_SIDE = 100  # points of a field along one side
SATURATED_LOGIT = 4.0  # the logit with the most saturated colour: odds of e⁴, 98 %
CAMERA = (1.1, -1.1, 0.6)
SPHERE_VIEW_REACH = 1.2  # shows the unit sphere large; points may leave the picture on their way
CAMERA_CANDIDATES = 24  # directions that are tried for a view of a plane edge on
MIN_CAMERA_HEIGHT, MAX_CAMERA_HEIGHT = 0.2, 0.8  # height of the camera, as a share of its distance
PLANE_RADIUS = 1.2  # radius of the separating plane as it is drawn


def network(film: Film, seed: int) -> Pipeline:
    """The layers of the network of `seed`, with the weights at the training step of the slider `step`.

    If `film` has only one checkpoint, the weights do not depend on a slider.
    """
    return film.pipeline(seed) if len(film.steps) > 1 else film.network.pipeline(film.weights[seed, 0])


def clock(film: Film) -> tuple[Parameter, ...]:
    """The slider `step`, which starts at the last training step; () if there is only step 0."""
    last = float(film.steps[-1])
    about = "of the optimiser; between two checkpoints the weights are interpolated"
    return (Parameter("step", "training step", last, 0.0, last, 1.0, about=about),) if last else ()


def stages(film: Film) -> list[str]:
    """Names of the stages of the view `folding`; short if there are many layers.

    At the last stage, "plane", the separating plane appears, if it can be drawn.
    """
    names = stage_names(film.network)[:-1]
    short = [name.replace("Linear ", "L") for name in names] if len(names) > 6 else names
    return [*short, "plane"]


# --- the points that fold


def folding(film: Film, seed: int, sheet: Part = (), marked: Sequence[int] = ()) -> Seen:
    """3D view of the data as they pass through the layers of the network of `seed`, and the view's clouds.

    The separating plane is shown if it can be drawn (`_flat`). The unit sphere is shown if the network
    normalises its hidden layers with u_ε and the widest of them has three neurons. sheet: cloud and marks of
    the input space, which the layers move too. marked: the indices of points to emphasise. Their legend says
    that they turn by over 90° during a drop of the loss.
    """
    net, show = network(film, seed), rows(projection(film, seed))
    waits = rest(film.network.dimensions[-2], 1)  # while the plane appears
    hidden = Pipeline((*net.steps[:-1], *waits))
    end = [0.0] * len(hidden.steps) + [1.0]
    data = Cloud("data", film.data.points, hidden)
    guide_clouds, layers = split(*_sphere(film), sheet, *_plane(film, net, end))
    shown = (*layers, *classes(film, show), *_marks(show, marked), *followed("data", show, trail=0))
    view = space("folding", "", shown, camera=CAMERA, reach=SPHERE_VIEW_REACH)
    if _flat(film):
        view = replace(view, edge="plane", camera=_camera(view, film, seed))
    return view, (data, *guide_clouds)


def _camera(view: View, film: Film, seed: int) -> Sequence[float]:
    """A camera position from which `view` shows the separating plane edge-on, as a line.

    Several such positions all around the vertical axis are compared. The result is the one from which the
    data spread most along the line. Positions that are too high or too low count only if there are no others:
    height / distance should be between MIN_CAMERA_HEIGHT and MAX_CAMERA_HEIGHT.

    If the accuracy after training is below 1, the result is the camera that `view` has.
    """
    if film.accuracy[seed, -1] < 1:
        return view.camera
    end, sides = {"step": film.steps[-1]}, np.diff(view.ranges)[:, 0]
    *hidden, last = network(film, seed).steps
    plane = last.apply(_corners(film), end)[:, 0]
    points = Pipeline(hidden).stages(film.data.points.astype(float), end)[-1] @ projection(film, seed).T
    eyes = [edge_on(plane, eye) for eye in _around(view.camera * sides)]

    def spread(eye: np.ndarray) -> float:
        across = np.cross(along(plane)[1], eye)
        return float(np.std(points @ across) / np.linalg.norm(across))

    good = [eye for eye in eyes if MIN_CAMERA_HEIGHT < eye[2] / np.linalg.norm(eye) < MAX_CAMERA_HEIGHT]
    return tuple(np.round(max(good or eyes, key=spread) / sides, 3).tolist())


def _around(eye: np.ndarray) -> np.ndarray:
    """Camera positions (n, 3) that result from turning `eye` around the vertical axis in equal steps."""
    level, n = np.hypot(*eye[:2]), CAMERA_CANDIDATES
    turn = np.arctan2(eye[1], eye[0]) + 2 * np.pi * np.arange(n) / n
    return np.stack([level * np.cos(turn), level * np.sin(turn), np.full(n, eye[2])], -1)


def _corners(film: Film) -> np.ndarray:
    """The origin and the unit vectors, at which the last linear layer is evaluated to find its plane."""
    width = film.network.dimensions[-2]
    return np.vstack([np.zeros(width), np.eye(width)])


def classes(film: Film, show: tuple[Row, ...], *, size: float = 5) -> tuple[Mark, ...]:
    """Marks of the data points: circles for class 0, squares for class 1. show: the display rows."""
    titles = ("class 0", "class 1")
    return each_class("data", Points, show, film.data.labels, titles, roles=CLASSES, size=size, hand=Follow())


def _marks(show: tuple[Row, ...], marked: Sequence[int]) -> tuple[Mark, ...]:
    look: dict[str, Any] = {"only": list(marked), "size": 10, "glyph": "square", "opacity": 0.4}
    return (Points("data", "drop", show, "turn by over 90° during the drop", **look),) if marked else ()


def projection(film: Film, seed: int) -> np.ndarray:
    """Matrix (3, width) that projects the points of the hidden layers to three dimensions for display.

    It is computed for the network of `seed`. If no hidden layer has more than three neurons, coordinates
    are kept as they are. Otherwise the first row is the direction of the last linear layer's weights. The
    other two are the directions, orthogonal to it, in which the points in the last hidden layer vary most
    after training. Raises ValueError if a hidden layer has more than three neurons and the last hidden
    layer is not the widest.
    """
    widths = film.network.hidden_widths or (3,)
    if max(widths) <= 3:
        return np.eye(3, max(widths))
    if widths[-1] < max(widths):
        raise ValueError(f"the last hidden layer must be the widest to be projected: got widths {widths}")
    last = film.network.unflatten(film.weights[seed, -1].astype(float))[-1][0][0]
    points = Pipeline(network(film, seed).steps[:-1]).stages(
        film.data.points.astype(float), {"step": film.steps[-1]}
    )[-1]
    first = last / max(np.linalg.norm(last), 1e-12)
    centred = (points - points.mean(0)) @ (np.eye(len(first)) - np.outer(first, first))
    return np.vstack([first, np.linalg.svd(centred, full_matrices=False)[2][:2]])


def _sphere(film: Film) -> list[Part]:
    if film.network.middle != "u_eps" or max(film.network.hidden_widths, default=0) != 3:
        return []
    return globe(SPACE, np.eye(3), "unit sphere", mesh=0.06, net=0.22)


def _flat(film: Film) -> bool:
    """Whether the separating plane can be drawn: one output, and no earlier layer with over three neurons."""
    return film.network.outputs == 1 and max(film.network.hidden_widths, default=film.network.inputs) <= 3


def _plane(film: Film, net: Pipeline, fade: Sequence[float]) -> list[Part]:
    if not _flat(film):
        return []
    plane = Cloud("plane", _corners(film), place=Pipeline(net.steps[-1:]))
    look: dict[str, Any] = {"fade": fade, "radius": PLANE_RADIUS, "guide": True}
    return [
        (
            plane,
            Disc("plane", "hyperplane", SPACE, "separating plane", opacity=0.35, **look),
            Rim("plane", "hyperplane", SPACE, size=2, **look),
        )
    ]


# --- the field over the plane


def input_half_side(film: Film) -> float:
    """Half the side of the square that shows the input plane: 1.15 times the data's largest coordinate.

    It is 1 if all points are at the origin.
    """
    return 1.15 * float(abs(film.data.points).max()) or 1.0  # all points may be the origin


def field(film: Film, seed: int) -> Seen:
    """View of the output of the network of `seed` over its 2D input, with the data points; and its cloud."""
    half = input_half_side(film)
    side = np.linspace(-half, half, FIELD_SIDE)
    grid = np.stack(np.meshgrid(side, side), -1).reshape(-1, 2)
    show = rows(np.eye(2), stage=0)
    color = Color("diverging", -SATURATED_LOGIT, SATURATED_LOGIT, of=LOGIT)
    grid_field = Field("grid", "hyperplane", (), color=color, columns=FIELD_SIDE, opacity=0.6)
    layers = (grid_field, *classes(film, show), *followed("data", show, trail=0))
    view = View("field", "the decision over the input", layers, ((-half, half),) * 2, 2)
    return view, (Cloud("grid", grid, place=network(film, seed)),)


# --- the numbers


def readouts(film: Film, seed: int) -> tuple[tuple[Accuracy | Number, ...], tuple[Cloud, ...]]:
    """Readouts of the accuracy and loss of the network of `seed` at the current step, and their clouds.

    There is no readout of the loss if `film` has only one checkpoint.
    """
    logit = Cloud("logit", film.data.points, place=network(film, seed))
    accuracy = Accuracy(f"Accuracy of seed {seed}", "logit", LOGIT, film.data.labels, threshold=0.0)
    if len(film.steps) == 1:
        return (accuracy,), (logit,)
    track = Entries(np.zeros(1), tracks={"step": Track(film.steps, film.loss[seed][:, None])})
    loss = Cloud("loss", np.zeros((1, 1)), place=Pipeline((Affine(np.zeros((1, 1)), track),)))
    return (accuracy, Number("Its loss", "loss", LOGIT)), (logit, loss)


def facts(film: Film, seed: int) -> Facts | None:
    """Table of the training run: numbers over all seeds, and the plateaus and drops of `seed`.

    None if `film` has only one checkpoint.
    """
    if len(film.steps) == 1:
        return None
    to, solved = film.steps_to(0.99), int(film.solved().sum())
    median = f"{np.nanmedian(to):,.0f}" if solved else "none"
    lines = [
        ("seeds that solve it (accuracy ≥ 0.99)", f"{solved} of {film.seeds}"),
        ("steps to solve it, median", median),
        ("parameters of each network", f"{film.network.parameter_count}"),
        (f"plateaus of seed {seed}, steps", spans(plateaus(film.steps, film.loss[seed]))),
        (f"sudden drops of seed {seed}, steps", folds(film, seed)),
    ]
    ended = [f"seed {k} {word}" for k, word in enumerate(film.ended) if word]
    return Facts("The run", ("", ""), [*lines, *([("ended early", "; ".join(ended))] if ended else [])])


def assembled(film: Film, seed: int, sheet: Part, decision: Seen, curve: str) -> Recipe:
    """The recipe of a scene that shows the trained network of `seed`.

    It has three views: the network's layers, which fold the input space (`folding`; `sheet` draws this
    space); the network's output (`decision`); and the training curves that `curve` names.
    """
    numbers, more = readouts(film, seed)
    marked = snapping(film, seed) if curve == "gradient" else ()
    names, seen = stages(film), (folding(film, seed, sheet, marked), decision, curves(film, seed, curve))
    return Recipe(
        stages=names,
        parameters=clock(film),
        clouds=(*(cloud for _, made in seen for cloud in made), *more),
        views=tuple(view for view, _ in seen),
        readouts=numbers,
        facts=facts(film, seed),
        progress=len(names) - 1,
        clock="step" if len(film.steps) > 1 else "",
    )
