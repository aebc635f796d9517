"""The recipe of the same tokens under four placements of the norm, side by side on one clock.

Each placement has its own cloud, which integrates the placement's equation from the same start. For each
token it computes the direction, what one layer adds to it, a hue, and numbers that all tokens of the cloud
share.
"""

from dataclasses import replace

import numpy as np

from components.language.cloud import Cloud, rows
from components.language.framing.paper import eye
from components.language.marks import Color, Followed, Labels, Line, Mark, Mesh, Points, Relocate, Trail, Way
from components.language.recipe import Number, Recipe, View
from components.scenes.particles.motion import (
    FIRST,
    LAST,
    LENGTHENING,
    SHARP,
    STOPS,
    alone,
    attention_update,
    average,
    flow,
    hue,
    put_parameters,
    relative_update,
    sliders,
    slots,
    token_number,
    unit_start,
)
from components.scenes.scenery import Look, Part, Rows, draw, graph, space, split, square
from geometry import Affine, Attention, Branches, Entries, Normalize, Pipeline, Pointwise, Track, clouds

Drawn = tuple[np.ndarray, np.ndarray]  # points, and their order or triangles
LOOKS = {  # name, role and dash of the curve
    "post": ("post-LN", "series-3", "dashdot"),
    "pre": ("pre-LN", "series-1", "solid"),
    "peri": ("peri-LN", "series-2", "dash"),
    "ngpt": ("nGPT", "series-4", "dot"),
}
CORNERS = {
    kind: np.array(at)
    for kind, at in {"post": (-1, 1), "pre": (1, 1), "peri": (-1, -1), "ngpt": (1, -1)}.items()
}
APART = 1.4  # half the distance between two neighbouring centres
REACH = {2: 2.95, 3: 2.35}  # half the side of the picture, by d
CAMERA = (0.75, -1.15, 0.55)
# indices of a token's numbers, which follow its direction x (d numbers) and what a layer adds (d numbers)
HUE, LOG_TIME, LOG_OWN, TIME, COUNT, LOG_COUNT = range(6)
OWN_AXIS = ("log₁₀ of the norm's own time", FIRST - 0.05, LAST)
TOP = 0.1  # free height in the graphs below the smallest and above the largest log₁₀ number


def side_by_side(d: int, n: int, causal: bool, seed: int) -> Recipe:
    """The recipe that compares four placements of the norm, with tokens on circles (d = 2) or spheres (3).

    n: the number of tokens. causal: whether a token attends only to itself and earlier tokens. seed: the seed
    of the tokens' random start.
    """
    start = unit_start(n, d, seed)
    tokens = [Cloud(kind, start, layer(d), place(d, n, causal, kind)) for kind in LOOKS]
    guides, around = split(surface(d), *names(d))
    return Recipe(
        stages=("tokens", "+ ½ attention", "norm"),
        parameters=(*sliders(), *put_parameters(d, n)),
        clouds=(*tokens, *guides),
        views=(
            picture(d, n, around),
            curves("clusters", "Clusters", d, n, LOG_TIME, ("log₁₀ time", FIRST, LAST)),
            curves("own", "Clusters, each norm with its own clock", d, n, LOG_OWN, OWN_AXIS),
        ),
        formula=rf"a_i = {average()}",
        readouts=(
            Number("Time", "post", token_number(d, TIME), digits=1),
            *(
                Number(f"Clusters, {name}", kind, token_number(d, COUNT), digits=1)
                for kind, (name, _, _) in LOOKS.items()
            ),
        ),
        clock="time",
    )


# --- what is measured


def place(d: int, n: int, causal: bool, kind: str) -> Pipeline:
    """Steps from a token's start to its state at the slider's time.

    The state holds the token's direction, what a layer adds to it, and further numbers, such as its hue and
    the number of clusters. Their indices, counted from 2d, are the constants HUE, LOG_TIME and so on. n: the
    number of tokens. causal: whether a token attends only to itself and earlier tokens. kind: the placement
    of the norm.
    """
    update = attention_update(d, causal, kind)
    own = Branches(
        (
            Pipeline((Normalize(),)),
            relative_update(d, update, kind),
            Pipeline((Normalize(), *hue(d))),
            Pipeline((Affine(np.zeros((1, d)), Entries([0.0], {"time": [1.0]})),)),
            shared(d, np.log10(own_time(10**STOPS, kind))),
            shared(d, 10**STOPS),
            Pipeline((Normalize(), *alone(d, np.eye(2 * d + 1, d, -d) + SHARP * np.eye(2 * d + 1, d)))),
        ),
        "concat",
    )
    # the sum of the last number over all tokens is the number of clusters
    eye = np.eye(2 * d + 5)
    count = Pipeline((Affine(n * eye[[-1]]), Attention(0), Affine(np.eye(1, 2))))
    log = Pipeline((*count.steps, Pointwise("log10")))
    numbers = Branches((Pipeline((Affine(eye[:-1]),)), count, log), "concat")
    return Pipeline((flow(d, update, kind), own, numbers))


def own_time(time: np.ndarray, kind: str) -> np.ndarray:
    """The time ∫dt/‖y‖ that a token experiences under the placement `kind`, at each `time`.

    The length ‖y‖ of a token is taken as 1 + t for the placements in LENGTHENING, and as 1 for the others.
    """
    return np.log1p(time) if kind in LENGTHENING else time


def shared(d: int, values: np.ndarray) -> Pipeline:
    """Pipeline y ↦ one number that is the same for all tokens and follows the slider `time`.

    It is `values[k]` if the slider is at STOPS[k], and is interpolated linearly in between. d: the number of
    coordinates of y, which are ignored.
    """
    return Pipeline(
        (Affine(np.zeros((1, d)), Entries([0.0], tracks={"time": Track(STOPS, values[:, None])})),)
    )


def layer(d: int) -> Pipeline:
    """Pipeline of one layer: half of its update a is added to the token x, giving (x + a/2)/‖x + a/2‖.

    A point consists of x, a and six other numbers, 2d + 6 in all. The pipeline changes x only.
    """
    add = np.eye(2 * d + 6)
    add[:d, d : 2 * d] = np.eye(d) / 2
    return Pipeline((Affine(add), Normalize(groups=(range(d),))))


# --- what is shown


def across(d: int) -> np.ndarray:
    """Unit vectors (2, d) that point right and up in the picture, for d = 3 as the initial camera sees it."""
    if d == 2:
        return np.eye(2)
    ahead = np.array(eye(CAMERA)) / np.linalg.norm(eye(CAMERA))
    right = np.cross([0, 0, 1], ahead)
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(ahead, right)])


def centres(d: int) -> dict[str, np.ndarray]:
    """For each placement, by name, the centre (d,) of its circle or sphere in the picture."""
    return {kind: APART * corner @ across(d) for kind, corner in CORNERS.items()}


def moved(d: int, kind: str) -> Rows:
    """Display coordinates of the tokens of a placement: a token's direction plus the placement's centre.

    The centre is that of the circle or sphere on which they are drawn. kind: the placement of the norm.
    """
    own = zip(rows(np.eye(d, 2 * d)), centres(d)[kind].tolist(), strict=True)
    return tuple(replace(row, offset=at) for row, at in own)


def four(d: int, shape: Drawn, *, faces: bool = False) -> Drawn:
    """Four copies of a shape, each moved to the centre of one placement.

    `shape` is a tuple (points, order). `order` has the indices of the points along a line, with −1 for gaps;
    if `faces`, it has three indices for each triangle. The result is such a tuple.
    """
    points, order = shape
    at = list(centres(d).values())
    turns = [np.where(order < 0, -1, order + k * len(points)) for k in range(len(at))]
    joined = np.concatenate(turns if faces else [np.append(turn, -1) for turn in turns])
    return np.concatenate([points + centre for centre in at]), joined


def surface(d: int) -> Part:
    show = rows(np.eye(d))
    if d == 2:
        return draw("sphere", Line, "sphere", show, four(2, clouds.circle(128, *np.eye(2))), size=2)
    return (
        *draw("sphere", Mesh, "sphere", show, four(3, clouds.sphere_mesh(), faces=True), opacity=0.1),
        *draw("graticule", Line, "sphere", show, four(3, clouds.graticule()), size=1, opacity=0.3),
    )


def names(d: int) -> list[Part]:
    """The name of each placement: in the middle of its circle, or above its sphere."""
    show = rows(np.eye(d))
    shift = np.zeros(2) if d == 2 else 1.1 * across(3)[1]
    return [
        draw(f"name {kind}", Labels, role, show, (centres(d)[kind] + shift)[None], labels=[name], guide=True)
        for kind, (name, role, _) in LOOKS.items()
    ]


def picture(d: int, n: int, around: tuple[Mark, ...]) -> View:
    size = (7 if n <= 64 else 5) - 2 * (d == 3)
    marks: list[Mark] = [*around]
    for kind, (name, _, _) in LOOKS.items():
        show, tint = moved(d, kind), Color("cyclic", -np.pi, np.pi, token_number(d, HUE, stage=0))
        marks += [
            Trail(kind, "trail", show, size=1.5, opacity=0.5),
            Points(kind, "input", show, f"a token, {name}", color=tint, size=size, hand=Relocate(slots(d))),
            Points(kind, "followed", show, only=Followed(), size=size + 6, glyph="ring"),
        ]
    if d == 2:
        return square("plane", "", marks, REACH[2])
    return space("space", "", marks, camera=CAMERA, reach=REACH[3])


def curves(name: str, title: str, d: int, n: int, along: int, axis: tuple[str, float, float]) -> View:
    """Graph of the number of clusters against time, with a curve for each placement of the norm.

    `along` is the index of the wanted time (LOG_TIME or LOG_OWN) among a token's numbers. `axis` has the
    title and the ends of the horizontal axis.
    """
    look: Look = {"parameter": "time", "stops": STOPS, "only": [0], "whole": True, "size": 3}
    marks: list[Mark] = []
    for kind, (label, role, dash) in LOOKS.items():
        show = token_number(d, along), token_number(d, LOG_COUNT)
        marks += [Way(kind, role, show, label, dash=dash, **look), Points(kind, role, show, only=[0], size=8)]
    return graph(name, title, marks, axis, ("log₁₀ number", -TOP, float(np.log10(n)) + TOP))
