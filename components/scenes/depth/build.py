"""Recipe of the scene `depth`: the residual stream through a stack of transformer blocks, with curves.

The tokens have four coordinates. The picture shows the hyperplane Σx = 0, which has three. The curves show
medians of random draws against depth, from a table that `make films` writes. The table has medians for some
sizes of the branches; for other sizes they are interpolated.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from components.language.cloud import Cloud, Row, rows
from components.language.marks import Follow, Followed, Line, Mark, Points, Trail
from components.language.recipe import Facts, Number, Parameter, Recipe, Table, View
from components.language.scene import Choices, File
from components.scenes import blocks
from components.scenes.blocks import Steps, sphere, together
from components.scenes.scenery import axes, followed, globe, graph, rest, space, split
from geometry import Affine, Branches, Entries, Of, Pipeline, Pointwise, Track
from geometry.centering import centering_matrix, hyperplane_basis
from learning.film import json_table
from learning.stack import drawn, streams

Array = np.ndarray
Found = Mapping[str, Any]

NORM_LABELS = {"layer_norm": "LayerNorm", "rms_norm": "RMSNorm", "post_ln": "post-LN", "none": "none"}
BELOW = {"turn": "angle turned", "gradient": "the gradient"}
WIDTHS = {"64": "d = 64", "4": "d = 4"}
NORM_LOOKS = {  # the role and dash of the curves
    "layer_norm": ("series-1", "solid"),
    "rms_norm": ("series-2", "dash"),
    "post_ln": ("series-3", "dashdot"),
    "none": ("series-4", "dot"),
}
MAX_DEPTH, TOKENS, SEED = 12, 6, 1
# sizes of the branches at which the axes are fitted to the tokens
FRAMED_GAINS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.2, 1.4, 1.6, 1.8, 1.9, 1.95)
TRACK_POINTS = 39  # sizes of the branches, 0.05 apart
FIRST_BLOCKS = 3  # blocks at the opening: the stream has begun to leave the sphere, which is still large
D = 4
SHOW = hyperplane_basis(D)
DATA_FILES = (File("depth.json", json_table),)


def build(choices: Choices, found: Sequence[Found]) -> Recipe:
    kind, count, width = choices["norm"], choices["blocks"], int(choices["width"])
    made, x = drawn(D, count, TOKENS, SEED)
    stream, reads, under = stack(kind, made, x)
    own = [row for row in found if row["width"] == width]
    names = ("x", *map(str, range(1, count + 1)))
    reach = 1.05 * max(float(np.abs(each @ SHOW.T).max()) for each in streams(kind, made, x))
    hero, around = space_view(kind, max(reach, 2.3))
    sizes, upper = curve_view("size", "Size of the stream", own, kind, count, ("log₁₀ size", -0.3, 3.0))
    ends = {"turn": ("degrees", 0.0, 90.0), "gradient": ("log₁₀ of the gradient", -1.0, 4.0)}
    title = {"turn": "How far each block turns a token", "gradient": "The gradient at each place"}
    below = choices["below"]
    lower_view, lower = curve_view(below, title[below], own, kind, count, ends[below])
    return Recipe(
        stages=names,
        parameters=(
            Parameter(
                "gain", "size of the branches", 1, 0.1, 2, symbol="g", about="multiplies what a branch adds"
            ),
        ),
        clouds=(*under, stream, reads, *around, *upper, *lower),
        views=(hero, sizes, lower_view),
        formula=FORMULAS[kind],
        table=Table("stream", columns=("mean", "norm")),
        readouts=(Number("Size of the stream, median", "size now", size_of(own, kind, count), digits=2),),
        facts=facts(own, count),
        progress=float(min(FIRST_BLOCKS, count)),
        follow=0,
    )


FORMULAS = {
    "none": r"x \leftarrow x + g\, f(x)",
    "rms_norm": r"x \leftarrow x + g\, f(\class{role-sphere}{\mathrm{RMSNorm}}(x))",
    "layer_norm": r"x \leftarrow x + g\, f(\class{role-hyperplane}{\mathrm{LN}}(x))",
    "post_ln": r"x \leftarrow \class{role-hyperplane}{\mathrm{LN}}(x + g\, f(x))",
}


# --- the stream


def normed(kind: str) -> Steps:
    """The steps of the norm `kind` without gain and shift. For "none" there are no steps."""
    centre = () if kind == "rms_norm" else (Affine(centering_matrix(D)),)
    return () if kind == "none" else (*centre, sphere(D))


def stack(kind: str, made: Sequence[Mapping[str, Array]], x: Array) -> tuple[Cloud, Cloud, list[Cloud]]:
    """The clouds "stream" and "reads", and the list of all clouds that their steps need.

    "stream" holds the residual stream, and "reads" the stream after a norm. The branches of a block read the
    stream after the norm, except with post-LN, where they read the stream itself. The list has the streams
    before the first block and after each block, and the keys and values of each block. kind: "none",
    "rms_norm", "layer_norm" or "post_ln". made: the weights of each block. x: the tokens.
    """
    before, after = ((), normed(kind)) if kind == "post_ln" else (normed(kind), ())
    here = Cloud("stream 0", x)
    under, streams, steps = [here], [here], []
    for k, matrices in enumerate(made, 1):
        start = Affine(Of(here, transposed=True))  # the unit vector i becomes token i
        own = named(matrices)
        attention = blocks.attention(own, np.eye(TOKENS), (start, *before), name=f"{k}: ")
        first = *before, attention.step, written(matrices["out"])
        second = *before, Affine(matrices["first"].T), Pointwise("gelu"), written(matrices["second"])
        steps.append(together(blocks.added(*first), *after, blocks.added(*second), *after))
        here = Cloud(f"stream {k}", np.eye(TOKENS), place=Pipeline((start, steps[-1])))
        under += [*attention.clouds, here]
        streams.append(here)
    stream = Cloud("stream", x, Pipeline(steps), labels=[f"token {name}" for name in "abcdef"])
    return stream, reading(kind, streams), under


def reading(kind: str, streams: Sequence[Cloud]) -> Cloud:
    """The cloud with the name "reads": pairs (norm(x), eᵢ) for the tokens x of the residual stream.

    The unit vector eᵢ says that x is token i; only norm(x) is drawn. kind: the norm. streams: clouds of the
    residual stream before the first block and after each block. Each step of the cloud leads from one of
    these streams to the next.
    """
    first, *later = (
        Branches((Pipeline((Affine(Of(x, transposed=True)), *normed(kind))), Pipeline(())), "concat")
        for x in streams
    )
    own = Affine(np.eye(D + TOKENS)[D:])
    steps = [together(own, step) for step in later]
    return Cloud("reads", np.eye(TOKENS), Pipeline(steps), Pipeline((first,)))


def named(matrices: Mapping[str, Array]) -> dict[str, Array]:
    """A block's attention weights under GPT-2's names: q, k and v side by side with a bias of 0, and W_O."""
    every = np.hstack([matrices[name] for name in ("query", "key", "value")])
    return {
        "attn.c_attn.weight": every,
        "attn.c_attn.bias": np.zeros(3 * D),
        "attn.c_proj.weight": matrices["out"],
    }


def written(matrix: Array) -> Affine:
    """The last linear layer of a branch, x ↦ g·x @ matrix, with g the slider for the branches' size."""
    return Affine(Entries(np.zeros(matrix.T.shape), {"gain": matrix.T}))


def space_view(kind: str, reach: float) -> tuple[View, tuple[Cloud, ...]]:
    """View of the tokens' paths through the blocks, and the clouds of its axes and its sphere.

    If `kind` is "layer_norm" or "rms_norm", it also shows the vectors that the branches read. It shows a
    sphere of radius 2 if `kind` is "layer_norm" or "post_ln", and the origin if it is "none". reach: the
    length of each drawn axis.
    """
    show = rows(SHOW)
    guides, lines = split(
        *axes(show, [f"x{s}" for s in "₁₂₃₄"], -0.5 * reach, 0.5 * reach, 0.55 * reach, opacity=0.35)
    )
    around, ball = split(*globe(show, 2 * SHOW, "a sphere of radius 2", mesh=0.1, net=0.25))
    layers: list[Mark] = [*lines, *(() if kind in ("none", "rms_norm") else ball)]
    layers += [Trail("stream", "trail", show, "path", size=2, opacity=0.7)]
    if kind in ("rms_norm", "layer_norm"):
        layers.append(Points("reads", "hyperplane", show, "what the branches read", size=6, hand=Follow()))
    layers += [
        Points("stream", "input", show, "a token", size=9, hand=Follow()),
        *followed("stream", show, "the followed token", size=12),
    ]
    if kind in ("rms_norm", "layer_norm"):
        layers.append(Points("reads", "followed", show, only=Followed(), size=10, glyph="square"))
    if kind == "none":  # tokens leave together; showing the origin makes the axes widen evenly with them
        around = (*around, Cloud("origin", np.zeros((1, D))))
        layers.append(Points("origin", "axis", show, "the origin", size=6))
    return space("space", "", layers, reaching=True, between={"gain": FRAMED_GAINS}), (*guides, *around)


# --- the curves


def curve_view(
    what: str, title: str, runs: Sequence[Found], kind: str, count: int, side: tuple[str, float, float]
) -> tuple[View, tuple[Cloud, ...]]:
    """Graph of medians of `what` by block, with a curve for each norm; and its clouds.

    `what` is "size", "turn" or "gradient". The curve of the norm `kind` is thick and has a mark at the
    current block. `runs` are the rows of the table, `count` is the number of blocks. side: title, lower end
    and upper end of the vertical axis.
    """
    start = 1 if what == "turn" else 0  # turns are those of blocks; the others are between blocks
    n = count + 1 - start
    places = Cloud(what, np.eye(n))
    ahead = [*rest(n, start), *(Affine(np.eye(n, k=-1)),) * (n - 1)]  # from one place to the next
    now = Cloud(f"{what} now", np.eye(1, n), Pipeline(ahead))
    layers: list[Mark] = []
    for name, (role, dash) in NORM_LOOKS.items():
        own = name == kind
        show = curve(what, [row for row in runs if row["kind"] == name], count, start)
        layers.append(Line(what, role, show, NORM_LABELS[name], size=5 if own else 2, dash=dash))
        if own:
            layers.append(Points(now.name, role, show, size=11))
    return graph(what, title, layers, ("block", 0.0, count + 0.25), side), (places, now)


def curve(what: str, found: Sequence[Found], count: int, start: int) -> tuple[Row, Row]:
    """Two rows of a curve: they map the i-th unit vector to block `start + i` and to its height (`values`).

    The height, from the medians of `what`, depends on the slider for the size of the branches. found: the
    rows of the table for one norm. count: the number of the last block. i counts from 0.
    """
    each = sorted(found, key=lambda row: row["gain"])
    heights = np.array([values(what, row, count) for row in each])
    track = Track([row["gain"] for row in each], heights)
    numbers = np.arange(start, count + 1.0)
    return Row(tuple(numbers.tolist())), Row(Entries(np.zeros(len(numbers)), tracks={"gain": track}))


def size_of(found: Sequence[Found], kind: str, count: int) -> Row:
    """Row that maps the k-th unit vector to the median size of the stream after k blocks, k = 0 … count.

    found: the rows of a table, which has the sizes for some gains. kind: the norm. The size follows the
    slider `gain`: at a gain between two of the table, the logarithm of the size is interpolated linearly.
    """
    each = sorted((row for row in found if row["kind"] == kind), key=lambda row: row["gain"])
    gains, logs = [row["gain"] for row in each], np.log([row["size"][: count + 1] for row in each])
    fine = np.linspace(gains[0], gains[-1], TRACK_POINTS)
    sizes = np.exp([np.interp(fine, gains, log) for log in logs.T]).T
    return Row(Entries(np.zeros(count + 1), tracks={"gain": Track(fine, sizes)}))


def values(what: str, row: Found, count: int) -> Array:
    """The heights of the curve of `what` that belongs to a row of the table, for `count` blocks.

    "turn" has an angle in degrees for each block. "size" and "gradient" have log₁₀ of a value before the
    first block, and log₁₀ of a value after each block.
    """
    if what == "turn":
        return np.array(row["turn"][:count])
    each = row["size"][: count + 1] if what == "size" else row["gradient"][count - 1]
    return np.log10(each)


def rounded(x: float) -> str:
    """The number as text with three significant digits; from 100 on, with all digits before the point."""
    return f"{x:,.0f}" if x >= 100 else f"{x:#.3g}".removesuffix(".")


def facts(found: Sequence[Found], count: int) -> Facts:
    """Table with a row for each norm, for `count` blocks with branches of size 1.

    It has medians over random draws: the size of the stream at the end, the angle by which the last block
    turns it, and the gradient at the start.
    """
    lines = []
    for kind, label in NORM_LABELS.items():
        (row,) = (each for each in found if (each["kind"], each["gain"]) == (kind, 1))
        size, turn, gradient = row["size"][count], row["turn"][count - 1], row["gradient"][count - 1][0]
        lines.append([label, rounded(size), f"{turn:.0f}°", rounded(gradient)])
    columns = ("", "size at the end", "angle at the last block", "gradient at the start")
    return Facts(f"Medians of 20 draws, with {count} blocks and branches of size 1", columns, lines)
