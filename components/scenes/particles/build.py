"""The recipe of tokens that attention moves on a circle or a sphere.

A point of the cloud is a token. The cloud's `place` integrates dx/dt = P(Σ softmax(β⟨Qx, Kx⟩) Vx) up to the
slider's time. For each token it computes the direction x, what one layer adds to it, a hue, and numbers that
all tokens share, such as the number of clusters.
"""

from collections.abc import Sequence

import numpy as np

from components.language.cloud import Cloud, rows
from components.language.marks import Carry, Color, Follow, Followed, Line, Mark, Points, Relocate, Trail, Way
from components.language.recipe import Number, Parameter, Recipe, View
from components.language.scene import Choices
from components.scenes.particles.compare import CAMERA, side_by_side
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
from components.scenes.scenery import Look, Part, Rows, draw, evenly, globe, graph, space, split, square
from geometry import (
    Affine,
    Attention,
    Branches,
    Entries,
    Normalize,
    Pipeline,
    Placed,
    Pointwise,
    Product,
    Track,
    clouds,
)
from geometry.pipeline import Step

MAX_CARRIED = 64  # most tokens for which starts can be dragged (two parameters each) and trails are drawn
RING = 0.4  # difference of the radii of rings that are a decade of time apart
REACH, REACH_3D = 1.55, 1.2  # half the side of the picture; in 3D the camera is farther away
OUTERMOST = 1 + RING * (LAST - FIRST)  # radius of the outermost ring
WAY: Look = {"parameter": "time", "stops": STOPS, "size": 1.5, "opacity": 0.6}
# indices of a token's numbers, which follow its direction x (d numbers) and what a layer adds (d numbers)
HUE, LOG_TIME, TIME, COUNT, ENERGY, LOG_COUNT, LOG_ENERGY, ACROSS, UP = range(9)


def build(choices: Choices) -> Recipe:
    d, n = int(choices["d"]), int(choices["n"])
    causal, placement = choices["mask"] == "causal", choices["placement"]
    if placement == "all":
        return side_by_side(d, n, causal, choices["seed"])
    start = unit_start(n, d, choices["seed"])
    carried = [(f"x{k}", f"y{k}") for k in range(n)] if d == 2 and n <= MAX_CARRIED else []
    placed = (Placed(carried), Normalize()) if carried else ()
    update = attention_update(d, causal, placement)
    place = Pipeline((*placed, flow(d, update, placement), *measured(d, n, update, placement)))
    tokens = Cloud("tokens", start, added(d), place)
    guides, around = split(*around_tokens(d))
    before = Cloud("start", start, place=Pipeline(placed))
    return Recipe(
        stages=("tokens", "+ ½ attention", "norm"),
        parameters=(*sliders(), *positions(carried, start), *put_parameters(d, n)),
        clouds=(tokens, before, *guides),
        views=(
            picture(d, n, around),
            *((rings(Carry(carried) if carried else None),) if d == 2 else ()),
            curves(d, n),
        ),
        formula=formula(placement),
        readouts=(
            Number("Clusters", "tokens", token_number(d, COUNT), digits=1),
            Number("Time", "tokens", token_number(d, TIME), digits=1),
        ),
        clock="time",
    )


def positions(names: Sequence[tuple[str, str]], start: np.ndarray) -> list[Parameter]:
    """Two quiet parameters for each token: its initial coordinates, which readers change by dragging it.

    `names` are the names of the two parameters of each token, `start` their default values (n, 2).
    """
    return [
        Parameter(name, f"{axis}, token {k}", value, -2, 2, quiet=True)
        for k, own in enumerate(names)
        for name, axis, value in zip(own, ("across", "up"), start[k].tolist(), strict=True)
    ]


def formula(placement: str) -> str:
    added = average()
    if placement in ("peri", "ngpt"):
        added = rf"\mathrm{{norm}} \Bigl({added}\Bigr)"
    if placement not in LENGTHENING:
        return rf"\frac{{dx_i}}{{dt}} = \mathrm{{P}}_{{x_i}} {added}"
    return rf"\frac{{dy_i}}{{dt}} = {added}, \quad x = y / \lVert y \rVert"


# --- what is measured


def measured(d: int, n: int, update: Pipeline, placement: str) -> tuple[Step, ...]:
    """Steps from the state y of a token to its direction x, what a layer adds to x, and further numbers.

    The further numbers are those of the token, such as its hue, and some that all tokens share, such as the
    number of clusters. Their indices are the constants HUE, LOG_TIME and so on. n: the number of tokens.
    update: the pipeline from y to what a layer adds. placement: the placement of the norm.
    """
    position = Pipeline((Affine(np.zeros((1, d)), Entries([0.0], {"time": [1.0]})),))
    time = Entries([0.0], tracks={"time": Track(STOPS, 10 ** STOPS[:, None])})
    queries, keys = np.eye(2 * d + 1, d), np.eye(2 * d + 1, d, -d)  # values 0, not used
    own = Branches(
        (
            Pipeline((Normalize(),)),
            relative_update(d, update, placement),
            Pipeline((Normalize(), *hue(d))),
            position,
            Pipeline((Affine(np.zeros((1, d)), time),)),
            Pipeline((Normalize(), *alone(d, Entries(keys, {"beta": queries})))),
            Pipeline((Normalize(), *alone(d, keys + SHARP * queries))),
        ),
        "concat",
    )
    # Let wᵢᵢ be the attention weight that token i gives itself. With the slider's β, the mean of 1/(n·wᵢᵢ) is
    # E/max E. With β = SHARP, the sum of wᵢᵢ is the number of clusters.
    width = 2 * d + 5
    eye = np.eye(width)
    inverse = Pipeline((Affine(eye[[width - 2]]), Pointwise("reciprocal"), Affine([[1 / n]])))
    both = Pipeline(
        (
            Branches((Pipeline((Affine(n * eye[[width - 1]]),)), inverse), "concat"),
            Attention(0),
            Affine(np.eye(2, 3)),
        )
    )
    logs = Pipeline((*both.steps, Pointwise("log10"), Affine(np.diag([1.0, -1.0]))))
    ring = Pipeline(
        (
            Affine(np.vstack([eye[:2], RING * eye[[2 * d + LOG_TIME]]]), [0, 0, 1 - RING * FIRST]),
            Product([(0, 2), (1, 2)]),
        )
    )
    kept = Pipeline((Affine(eye[: width - 2]),))
    return own, Branches((kept, both, logs, *([ring] if d == 2 else [])), "concat")


def added(d: int) -> Pipeline:
    """x ↦ norm(x + a/2), where `a` is what a layer adds to the token x. The point's other numbers stay."""
    width = 2 * d + (9 if d == 2 else 7)
    add = np.eye(width)
    add[:d, d : 2 * d] = np.eye(d) / 2
    return Pipeline((Affine(add), Normalize(groups=(range(d),))))


# --- what is shown


def tint(d: int) -> Color:
    """The colour of tokens: a hue for the angle of each token's direction at stage 0."""
    return Color("cyclic", -np.pi, np.pi, token_number(d, HUE, stage=0))


def picture(d: int, n: int, around: tuple[Mark, ...]) -> View:
    show, size = rows(np.eye(d, 2 * d)), 9 if n <= 64 else 6
    marks = (
        *around,
        Trail("tokens", "trail", show, size=1.5, opacity=0.5),
        *(
            [Way("tokens", "trail", rows(np.eye(d, 2 * d), stage=0), only=evenly(n, MAX_CARRIED), **WAY)]
            if d == 3
            else []
        ),
        Points(
            "tokens",
            "input",
            show,
            "a token, coloured by its direction",
            color=tint(d),
            size=size,
            hand=Relocate(slots(d)),
        ),
        Points("tokens", "followed", show, "followed", only=Followed(), size=size + 6, glyph="ring"),
    )
    return (
        square("plane", "", marks, REACH)
        if d == 2
        else space("space", "", marks, camera=CAMERA, reach=REACH_3D)
    )


def around_tokens(d: int) -> list[Part]:
    """The circle or sphere on which the tokens move."""
    if d == 3:
        return globe(rows(np.eye(3)), np.eye(3), mesh=0.1, net=0.3)
    return [draw("circle", Line, "sphere", rows(np.eye(2)), clouds.circle(128, *np.eye(2)), size=2)]


def rings(hand: Carry | None) -> View:
    """View of the tokens at all times in two dimensions, as concentric circles: the later, the larger.

    `hand` lets readers drag the starts of the tokens; None if they cannot be dragged.
    """
    out: Rows = tuple(token_number(2, which, stage=0) for which in (ACROSS, UP))
    marks = (
        Way("tokens", "trail", out, "where a token goes", whole=True, **WAY),
        Points("tokens", "input", out, color=tint(2), size=6, hand=Follow()),
        Points(
            "start",
            "trail",
            rows(np.eye(2)),
            "where it starts",
            size=7,
            glyph="ring",
            hand=hand,
            hint="drag it" if hand else "",
        ),
    )
    return square("rings", "Time outwards", marks, OUTERMOST + 0.15)


def curves(d: int, n: int) -> View:
    """Graph of the number of clusters against time, and of an estimate of this number.

    The estimate is the largest possible energy divided by the present energy. Both axes are logarithmic.
    """
    look: Look = WAY | {"only": [0], "whole": True, "size": 3, "opacity": 1.0}
    count, energy = ((token_number(d, LOG_TIME), token_number(d, each)) for each in (LOG_COUNT, LOG_ENERGY))
    marks = (
        Way("tokens", "formula", energy, "largest energy ÷ energy", dash="dash", **look),
        Way("tokens", "input", count, "clusters", **look),
        Points("tokens", "followed", count, "now", only=[0], size=9),
    )
    top = float(np.log10(n)) + 0.1
    return graph(
        "curves", "Clusters, and energy", marks, ("log₁₀ time", FIRST, LAST), ("log₁₀ number", -0.1, top)
    )
