"""The differential equation of tokens that attention moves: the velocity, for each placement of the norm.

A point is the state y of a token, and x = y/‖y‖ is the token's direction. With post-LN and nGPT, ‖y‖ stays 1.
"""

from collections.abc import Sequence

import numpy as np

from components.language.cloud import Row
from components.language.recipe import Parameter
from geometry import (
    Affine,
    Attention,
    Branches,
    Derivative,
    Entries,
    Flow,
    Normalize,
    Pipeline,
    Pointwise,
    Product,
    Put,
    Track,
    clouds,
)
from geometry.pipeline import Step

PLACEMENTS = {
    "post": "after the sum (post-LN)",
    "pre": "before attention (pre-LN)",
    "peri": "before and after (peri-LN)",
    "ngpt": "on branch output and sum (nGPT)",
}
LENGTHENING = ("pre", "peri")  # the placements that do not normalise y itself
FIRST, LAST = -1.0, 2.0  # log₁₀ of the first and last time that the slider can have
STOPS = np.linspace(FIRST, LAST, 61)  # log₁₀ of the times for which curves have values
LONGEST_STEP, GROWTH = 1.0, 1.1  # largest Runge–Kutta step; steps grow by this factor, from 0.1
PUTS = 4  # largest number of recorded moves; a further move replaces the oldest
SHARP = 200.0  # β of the attention that counts clusters: tokens nearer than some 5 degrees count as one
TINY = 1e-6  # added in `hue`, which is 0/0 at (−1, 0) otherwise; too small to be visible elsewhere
DEGREES = np.arange(-180.0, 181.0, 3.0)


def times() -> np.ndarray:
    """The times of the Runge–Kutta steps, from 0 to 10^LAST; steps grow from 0.1 to at most LONGEST_STEP."""
    found, step = [0.0], 10**FIRST
    while found[-1] < 10**LAST:
        found.append(min(found[-1] + step, 10**LAST))
        step = min(GROWTH * step, LONGEST_STEP)
    return np.array(found)


def sliders() -> tuple[Parameter, ...]:
    turn = "in degrees; in the plane, 180 is the matrix −1"
    return (
        Parameter("beta", "β", 9, 0.1, 40, scale="log", symbol="β", about="how sharply attention chooses"),
        Parameter("values", "turn of V", 0, -180, 180, 3, symbol="V", about=turn, folded=True),
        Parameter("scores", "turn of K", 0, -180, 180, 3, symbol="K", about=turn, folded=True),
        Parameter("time", "log₁₀ of the time", 0.6, FIRST, LAST, 0.01, about="how long attention has acted"),
    )


def average() -> str:
    """The formula (TeX) of what attention computes for token i: a weighted average of the values V xⱼ."""
    return r"\sum_j \mathrm{softmax}_j (β \langle Q x_i, K x_j \rangle)\, V x_j"


def unit_start(n: int, d: int, seed: int) -> np.ndarray:
    """Initial states (n, d) of tokens: random directions, length 1."""
    start = clouds.gaussian(n, d, seed=seed)
    return start / np.linalg.norm(start, axis=1, keepdims=True)


def rotations(d: int) -> np.ndarray:
    """Rotations (T, d, d) of the first two coordinates, one for each angle in DEGREES."""
    c, s = np.cos(np.radians(DEGREES)), np.sin(np.radians(DEGREES))
    turns = np.tile(np.eye(d), (len(DEGREES), 1, 1))
    turns[:, :2, :2] = np.array([[c, -s], [s, c]]).transpose(2, 0, 1)
    return turns


def attention_update(d: int, causal: bool, placement: str) -> Pipeline:
    """y ↦ what attention adds to a token: the average of the values Vx, with x the tokens' directions.

    If the `placement` of the norm is peri-LN or nGPT, this average is normalised. causal: whether a token
    attends only to itself and earlier tokens.
    """
    blank, eye = np.zeros((len(DEGREES), d, d)), np.eye(d)
    sees = Entries(
        np.zeros((3 * d, d)),
        {"beta": np.vstack([eye, 0 * eye, 0 * eye])},
        {
            "scores": Track(DEGREES, np.concatenate([blank, rotations(d), blank], 1)),
            "values": Track(DEGREES, np.concatenate([blank, blank, rotations(d)], 1)),
        },
    )
    normed = (Normalize(),) if placement in ("peri", "ngpt") else ()
    return Pipeline((Normalize(), Affine(sees), Attention(d, causal), Affine(np.eye(d, d + 1)), *normed))


def velocity(d: int, update: Pipeline, placement: str) -> Pipeline:
    """The pipeline y ↦ dy/dt, in which `update` computes what attention adds to y.

    If the placement normalises y itself (post-LN, nGPT), the update is multiplied by the norm's Jacobian,
    which projects it to the tangent plane of the sphere.
    """
    if placement in LENGTHENING:
        return update
    pair = Branches((Pipeline(()), update), "concat")
    return Pipeline((pair, Derivative(Pipeline((Normalize(),))), Affine(np.eye(d, 2 * d, d))))


def flow(d: int, update: Pipeline, placement: str) -> Flow:
    """The step that moves all tokens from their start to the time of the slider `time`.

    A reader can drag a token to another direction at a time of the flow (`put`). When the flow reaches this
    time, it turns the token to this direction. update: the pipeline from a token's state to what attention
    adds to it. placement: the placement of the norm.
    """
    puts = [put(names) for names in slots(d)]
    return Flow(velocity(d, update, placement), times(), time_from_log10("time"), puts)


def time_from_log10(name: str) -> Entries:
    """The time whose log₁₀ is the parameter `name`, interpolated linearly between the times at STOPS."""
    return Entries(0.0, tracks={name: Track(STOPS, 10**STOPS)})


def slots(d: int) -> list[tuple[str, ...]]:
    """Names of parameters for PUTS moves of tokens by readers: for each move, a tuple of 2 + d names.

    A move is one change of a token's direction, which a reader makes by dragging the token (`put`). Its
    parameters are the index of the token, log₁₀ of the time, and each of the token's new coordinates.
    """
    return [(f"who{k}", f"when{k}", *(f"to{k}{axis}" for axis in "xyz"[:d])) for k in range(PUTS)]


def put(names: Sequence[str]) -> Put:
    """The change `Put` of a `Flow` that turns one token to another direction, as a reader has dragged it.

    names: the names of the parameters that describe it, an entry of `slots`. They are the index of the token,
    log₁₀ of the time, and the token's new coordinates.
    """
    who, when, *place = names
    there = Entries(np.zeros(len(place)), dict(zip(place, np.eye(len(place)), strict=True)))
    return Put(Entries(0.0, {who: 1.0}), time_from_log10(when), there)


def put_parameters(d: int, n: int) -> list[Parameter]:
    """The parameters of all moves that `slots` names, which readers set by dragging a token.

    d: the dimension. n: the number of tokens. The first parameter of a move is the index of the moved token;
    its default is −1, for no token.
    """
    found = []
    for k, (who, when, *place) in enumerate(slots(d), start=1):
        found += [
            Parameter(who, f"token of move {k}", -1, -1, n - 1, 1, quiet=True),
            Parameter(when, f"log₁₀ of the time of move {k}", FIRST, FIRST, LAST, 0.01, quiet=True),
            *(
                Parameter(name, f"{axis}, move {k}", float(axis == "x"), -1, 1, 0.001, quiet=True)
                for name, axis in zip(place, "xyz", strict=False)
            ),
        ]
    return found


# --- what is measured of a token


def token_number(d: int, which: int, stage: int | None = None) -> Row:
    """Row that reads number `which` of a token's further numbers.

    They come after the token's direction and what a layer adds to it, which have d numbers each. The row
    reads the number at the given `stage`, or, if this is None, at the current progress.
    """
    return Row((*[0.0] * (2 * d + which), 1.0), stage)


def relative_update(d: int, update: Pipeline, placement: str) -> Pipeline:
    """Pipeline y ↦ a/‖y‖, where `a` is what attention adds to a token with the state y.

    update: the pipeline y ↦ a. With post-LN and nGPT it is returned unchanged, because ‖y‖ is 1.
    """
    if placement not in LENGTHENING:
        return update
    length: tuple[Step, ...] = (
        Product([(i, i) for i in range(d)]),
        Affine(np.ones((1, d))),
        Pointwise("sqrt"),
        Pointwise("reciprocal"),
    )
    both = Branches((update, Pipeline(length)), "concat")
    return Pipeline((both, Product([(i, d) for i in range(d)])))


def alone(d: int, sees: Entries | np.ndarray) -> tuple[Step, ...]:
    """Steps from the tokens' directions x to one number each: the attention weight of the token to itself.

    `sees` (2d + 1, d) maps x to its query, its key and one value that is not used.
    """
    return Affine(sees), Attention(d), Affine([[0.0, 1.0]])


def hue(d: int) -> tuple[Step, ...]:
    """x ↦ the angle of its first two coordinates, computed as 2·arctan(x₂/(√(x₁² + x₂²) + x₁)).

    At (−1, 0) that quotient is 0/0; tiny constants are added so that the angle is π there.
    """
    length = Pipeline((Product([(0, 0), (1, 1)]), Affine([[1, 1]]), Pointwise("sqrt")))
    below = Pipeline(
        (Branches((Pipeline((Affine([[1.0, 0.0]], [TINY**2]),)), length)), Pointwise("reciprocal"))
    )
    both = Branches((Pipeline((Affine([[0.0, 1.0]], [TINY]),)), below), "concat")
    return Affine(np.eye(2, d)), both, Product([(0, 1)]), Pointwise("arctan"), Affine([[2.0]])
