"""Recipe of the scene `block`: one pre-LN transformer block, whose two branches add to the residual stream.

The tokens have four coordinates. The picture shows the three-dimensional hyperplane Σx = 0: the projection of
the stream to it, and LayerNorm's results before the gain, which lie in it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np

from components.language.cloud import Cloud, Row, rows
from components.language.marks import (
    Cells,
    Color,
    Follow,
    Followed,
    Labels,
    Line,
    Mark,
    Points,
    Profile,
    Trail,
)
from components.language.recipe import Facts, Number, Parameter, Recipe, Residual, View
from components.language.scene import Choices, File, WrongValue
from components.scenes import blocks
from components.scenes.blocks import Own, Steps, added, feed_forward, layer_norm, linear, own_of, together
from components.scenes.scenery import Look, Part, axes, draw, followed, globe, graph, rest, space, split
from geometry import Affine, Branches, Entries, Of, Pipeline, Pointwise
from geometry.centering import hyperplane_basis
from geometry.pipeline import Step
from learning.language import Shape, forward, from_file

Array = np.ndarray

WEIGHT_LABELS = {"drawn": "drawn at random", "trained": "a trained model"}
HEADS = {"1": "1", "2": "2"}
LAYERS = {str(k): f"layer {k}" for k in range(1, 5)}
TEXT, MIN_TOKENS = "the keys", 4
NAMES = "abcdefgh"  # labels of the random tokens
D, INNER = 4, 16  # widths of the stream, and of the hidden layer between W₁ and W₂
MIN_REACH = 2.6  # least value of `reach_of`
MAX_LETTER_REACH = 4.0  # letters are raised above their points in proportion to `reach_of`, up to this value
SHOW = hyperplane_basis(D)
STAGES = ("x", "centre", "sphere", "γ, β", "q, k, v", "Σ p v", "Wₒ", "add", "LN₂", "MLP", "add")
SPHERE, GAIN, QKV, OUT, ADD, NORM, MLP, LAST = 2, 3, 4, 6, 7, 8, 9, 10  # numbers of stages


def files(choices: Choices) -> tuple[File, ...]:
    """The file of the trained model, if the choices show trained weights; otherwise none."""
    return (File("language.safetensors", from_file),) if choices["weights"] == "trained" else ()


def build(choices: Choices, model: tuple[Shape, Own] | None = None) -> Recipe:
    own, x, names = trained(choices, *model) if model else drawn(choices)
    heads, function = (1, "gelu_tanh") if model else (int(choices["heads"]), "gelu")
    points = np.column_stack([x, np.arange(len(x)) == len(x) - 1]).astype(float)
    whole = BlockClouds(own, points, moved(), heads, function)
    stream = stream_of(whole, names)
    hero, around = space_view(whole, stream)
    matrices, cells = matrix_view(whole, names)
    inner, hidden = hidden_view(whole)
    compared = comparisons(whole, stream)
    return Recipe(
        stages=STAGES,
        parameters=parameters(),
        clouds=(
            *whole.attention.clouds,
            stream,
            *around,
            *whole.attention.weights,
            *cells,
            hidden,
            *compared,
        ),
        views=(hero, matrices, inner),
        formula=FORMULA,
        readouts=(
            Residual("Change in earlier tokens when the last one is removed", "earlier", "alone"),
            Residual("Change in the first update, from the scale and mean of x", "update", "as it was", D),
            Number(
                "Mean of the followed token before the block",
                "stream",
                Row((1 / D,) * D, 0),
                Followed(),
                digits=3,
            ),
            Number(
                "Mean of the followed token after the block",
                "stream",
                Row((1 / D,) * D, LAST),
                Followed(),
                digits=3,
            ),
        ),
        facts=facts(len(x), heads),
        progress=GAIN,
        follow=len(x) - 2,
    )


FORMULA = (
    r"y = x + \class{stage-6}{W_O}\, \class{stage-4 stage-5}{\mathrm{Att}}("
    r"\class{stage-1 stage-2 stage-3 role-hyperplane}{\mathrm{LN}_1}(x)), \quad "
    r"z = y + \class{stage-9}{W_2\, \mathrm{GELU}}(\class{stage-9}{W_1}\, "
    r"\class{stage-8 role-hyperplane}{\mathrm{LN}_2}(y))"
)


# --- weights and tokens


def drawn(choices: Choices) -> tuple[Own, Array, Sequence[str]]:
    """Random weights of a block, random tokens, and the tokens' labels.

    The choice `n` is the number of tokens. The weights and token k depend on the seed, but not on `n`.
    """
    rng = np.random.default_rng(choices["seed"])
    tokens = 1.1 * rng.normal(size=(len(NAMES), D)) + 0.8 * rng.normal(size=(len(NAMES), 1))

    def matrix(m: int, n: int, size: float = 1.0) -> Array:
        return size * rng.normal(size=(m, n)) / sqrt(m)

    own: dict[str, Array] = {}
    for name in ("ln_1", "ln_2"):
        own |= {f"{name}.weight": 1 + rng.uniform(-0.4, 0.4, D), f"{name}.bias": rng.uniform(-0.3, 0.3, D)}
    own["attn.c_attn.weight"] = np.hstack([matrix(D, 2 * D, 1.4), matrix(D, D)])
    own["attn.c_proj.weight"] = matrix(D, D, 1.2)
    own["mlp.c_fc.weight"], own["mlp.c_proj.weight"] = matrix(D, INNER), matrix(INNER, D, 1.3)
    for name, size in (("attn.c_attn", 3 * D), ("attn.c_proj", D), ("mlp.c_fc", INNER), ("mlp.c_proj", D)):
        own[f"{name}.bias"] = rng.uniform(-0.3, 0.3, size)
    return own, tokens[: choices["n"]], NAMES[: choices["n"]]


def trained(choices: Choices, shape: Shape, weights: Own) -> tuple[Own, Array, Sequence[str]]:
    """The weights of the chosen layer, the residual stream that enters it, and the labels of the tokens.

    The stream is that of the reader's text. Raises `WrongValue` if the text is too short or contains
    characters that the model does not know.
    """
    text, layer = choices["text"], int(choices["layer"]) - 1
    if len(text) < MIN_TOKENS:
        words = f"text is {len(text)} long: take {MIN_TOKENS} or more characters"
        raise WrongValue("text", words, {"fewest": MIN_TOKENS})
    if unknown := sorted(set(text) - set(shape.characters)):
        known = shape.characters.replace("\n", "")
        raise WrongValue("text", f"text: the model has never read {' '.join(unknown)}", known)
    stream = forward(shape, weights, shape.tokens(text)).blocks[layer].stream
    return own_of(weights, layer), stream, text.replace(" ", "␣")


def parameters() -> tuple[Parameter, ...]:
    return (
        Parameter("scale", "scale of x", 1, 0.1, 2, scale="log", about="multiplies every token"),
        Parameter("mean", "mean of x", 0, -3, 3, about="added to every coordinate of every token"),
        Parameter("last", "the last token", 0, -3, 3, about="how far it is moved"),
    )


def moved() -> Steps:
    """Steps that apply the sliders `last`, `scale` and `mean` to the coordinates of a token.

    `last` moves the last token along the first display axis. A point has the coordinates of its token, and
    then 1 if this is the last token, otherwise 0. The steps drop that number.
    """
    last = np.column_stack([np.zeros((D, D)), SHOW[0]])
    scale, mean = Entries(np.zeros((D, D)), {"scale": np.eye(D)}), Entries(np.zeros(D), {"mean": np.ones(D)})
    return Affine(Entries(np.eye(D, D + 1), {"last": last})), Affine(scale, mean)


# --- the block as clouds


def side_by_side(*each: Sequence[Step]) -> Branches:
    """The step that sends x through several pipelines, given by their steps, and concatenates the results."""
    return Branches([Pipeline(steps) for steps in each], "concat")


def pick(start: int, width: int) -> Affine:
    """The map that takes the D coordinates from index `start` on, of a point with `width` coordinates."""
    return Affine(np.eye(width)[start : start + D])


def kept(*steps: Step) -> Branches:
    """(b, x) ↦ (f(b), x): apply the `steps` f to the branch's vector b, and leave the stream's vector x."""
    return side_by_side((pick(0, 2 * D), *steps), (pick(D, 2 * D),))


BOTH = side_by_side((), ())  # x ↦ (x, x): the branch leaves the stream
SUM = Affine(np.hstack([np.eye(D), np.eye(D)]))  # (b, x) ↦ b + x


@dataclass(frozen=True)
class BlockClouds:
    """The weights `own` of a block and its tokens, and methods that give its steps and its clouds.

    points: the tokens (T, D + 1), whose last coordinate says whether a token is the last (1) or not (0).
    moved: the steps that apply the sliders and drop this coordinate. heads: the number of attention heads.
    function: the activation of the feed-forward network. name: a prefix for the names of attention's clouds.
    """

    own: Own
    points: Array
    moved: Steps
    heads: int
    function: str
    name: str = ""

    @cached_property
    def attention(self) -> blocks.AttentionClouds:
        reads = (*self.moved, *layer_norm(self.own, "ln_1"))
        return blocks.attention(self.own, self.points, reads, self.heads, self.name)

    @property
    def first(self) -> Steps:
        """Steps from a token to what attention adds to it: LayerNorm, the heads, and W_O."""
        return *layer_norm(self.own, "ln_1"), self.attention.step, linear(self.own, "attn.c_proj")

    @property
    def second(self) -> Steps:
        """Steps from y, a token after attention's sum, to what the feed-forward network adds to it."""
        return *layer_norm(self.own, "ln_2"), *feed_forward(self.own, self.function)

    def cloud(self, name: str, *steps: Step, then: Sequence[Step] = (), **more: Any) -> Cloud:
        """Cloud of the tokens after `steps`, with the pipeline `then`. more: other fields of `Cloud`."""
        return Cloud(name, self.points, Pipeline(then), Pipeline((*self.moved, *steps)), **more)


def stream_of(block: BlockClouds, names: Sequence[str]) -> Cloud:
    """Cloud of a block's residual stream, labelled with `names`. It moves only when a branch is added."""
    waits = rest(D, ADD - 1), rest(D, LAST - ADD - 1)
    steps: Steps = (*waits[0], added(*block.first), *waits[1], added(*block.second))
    return block.cloud("stream", then=steps, labels=list(names))


def branch_of(block: BlockClouds) -> Cloud:
    """Cloud of pairs (b, x): the vector b in the branch of each token, and the token x in the stream.

    The first sum replaces x by y = x + b, the token after attention. Views draw b.
    """
    centre, sphere, gain = layer_norm(block.own, "ln_1")
    out, again = linear(block.own, "attn.c_proj"), Affine(np.tile(np.eye(D), (2, 2)))
    normed_first = kept(centre), kept(sphere), kept(gain)
    first: Steps = (*normed_first, *rest(2 * D, 1), kept(block.attention.step), kept(out), again)
    normed = together(*layer_norm(block.own, "ln_2"))
    mlp = together(*feed_forward(block.own, block.function))
    return block.cloud("branch", BOTH, then=(*first, kept(normed), kept(mlp), SUM))


def values_of(block: BlockClouds) -> Cloud:
    """Cloud of a block's tokens: LayerNorm moves them, and at the stage `q, k, v` they become the values."""
    steps = *layer_norm(block.own, "ln_1"), linear(block.own, "attn.c_attn", slice(2 * D, 3 * D))
    return block.cloud("v", then=steps)


def arrows(
    name: str, block: BlockClouds, steps: Sequence[Step], before: Sequence[Step], stage: int
) -> list[Cloud]:
    """Two clouds for arrows that show what a branch adds to each of T tokens.

    before: the steps from the block's input to a token x. steps: the steps of the branch, from x to b, which
    the block adds to x. The cloud `name` has the pair (b, x) of each token. The cloud "`name` arrows" holds
    the arrows: points 0 … T − 1 are their tails, T … 2T − 1 their tips. Before `stage`, an arrow starts at
    the origin; from then on, at its token.
    """
    source = block.cloud(name, *before, BOTH, kept(*steps))
    n = len(block.points)
    here, heads = np.hstack([np.eye(n), np.eye(n)]), np.hstack([np.zeros((n, n)), np.eye(n)])
    of = Affine(Of(source, transposed=True))
    parts = side_by_side((Affine(heads), of, pick(0, 2 * D)), (Affine(here), of, pick(D, 2 * D)))
    moves = Pipeline((*rest(2 * D, stage - 1), SUM))
    return [source, Cloud(f"{name} arrows", np.eye(2 * n), moves, Pipeline((parts,)))]


def comparisons(block: BlockClouds, stream: Cloud) -> tuple[Cloud, ...]:
    """Clouds that two readouts compare, preceded by the keys and values from which they are computed.

    The first readout measures how much the last token changes the block's results for the earlier tokens. The
    second measures how much the sliders for scale and mean change what attention adds.
    """
    n = len(block.points)
    every = Affine(Of(stream, transposed=True))
    earlier = Cloud("earlier", np.eye(n)[:-1], place=Pipeline((every,)))
    short = replace(block, points=block.points[:-1], name="alone ")
    alone = short.cloud("alone", added(*short.first), added(*short.second))
    still = replace(block, moved=block.moved[:1], name="still ")
    was = still.cloud("as it was", *still.first)
    return *short.attention.clouds, *still.attention.clouds, earlier, alone, was


# --- views


def space_view(block: BlockClouds, stream: Cloud) -> tuple[View, tuple[Cloud, ...]]:
    """View of the stream and its branches in the hyperplane, and the view's clouds except `stream`."""
    branch, values, show = branch_of(block), values_of(block), rows(SHOW)
    updates = arrows("update", block, block.first, (), ADD)
    seconds = arrows("second", block, block.second, (added(*block.first),), LAST)
    reach = reach_of(stream, branch)
    n = len(block.points)

    def during(*stages: int, dim: float = 0.0) -> list[float]:
        return [1.0 if k in stages else dim for k in range(LAST + 1)]

    segments = np.array([[k, n + k, -1] for k in range(n)]).reshape(-1)
    guides, lines = split(*surroundings(block, reach))
    tip: Look = {"order": segments, "size": 3, "arrow": 0.05 * reach}
    layers: tuple[Mark, ...] = (
        *lines,
        Line("update arrows", "shift", show, "what is added", fade=during(OUT, ADD), **tip),
        Line("second arrows", "shift", show, fade=during(MLP, LAST), **tip),
        Points("stream", "trail", rows(SHOW, stage=0), size=7, glyph="ring", fade=during(ADD)),
        Points("stream", "trail", rows(SHOW, stage=ADD), size=7, glyph="ring", fade=during(LAST)),
        Trail("branch", "trail", show, size=1.5, fade=during(1, SPHERE, GAIN)),
        Points("stream", "input", show, "a token in the stream", size=9, hand=Follow()),
        Labels("stream", "ink", over(show, 0.05 * min(reach, MAX_LETTER_REACH))),
        Points("v", "sphere", show, "a value", size=6, glyph="ring", fade=during(QKV, QKV + 1)),
        Points("branch", "hyperplane", show, "its copy in the branch", size=7, fade=away(), hand=Follow()),
        *followed("stream", show, "the followed token", size=12, trail=0),
        Trail("branch", "followed", show, only=Followed(), size=3, fade=during(*range(1, ADD))),
        Points("branch", "followed", show, only=Followed(), size=10, glyph="square", fade=away()),
    )
    clouds = (branch, values, *updates, *seconds, *guides)
    return space("space", "", layers, reaching=True), clouds


def away() -> list[float]:
    """Opacity of the branch's points at each stage: 0 at the first and the last stage, else 1."""
    return [0.0 if k in (0, LAST) else 1.0 for k in range(LAST + 1)]


def over(show: Sequence[Row], height: float) -> tuple[Row, ...]:
    """The display rows `show`, with `height` as the offset of the third row, in units of the picture."""
    return *show[:2], replace(show[2], offset=height)


def reach_of(stream: Cloud, branch: Cloud) -> float:
    """The largest coordinate in the picture, in absolute value, of stream and branch; at least MIN_REACH.

    It is taken with the default sliders, over all stages but the last. The lengths of axes and arrowheads,
    and the height of letters above their points, are in proportion to it. It does not set the view's ranges.
    """
    values = {"scale": 1.0, "mean": 0.0, "last": 0.0}
    each = [*stream.stages(values)[:LAST], *branch.stages(values)[:LAST]]
    far = max(float(np.abs(x[:, :D] @ SHOW.T).max()) for x in each)
    return max(far, MIN_REACH)


def surroundings(block: BlockClouds, reach: float) -> list[Part]:
    """The axes, and for each LayerNorm the sphere to which it maps tokens. γ and β make it an ellipsoid."""
    parts = axes(rows(SHOW), [f"x{s}" for s in "₁₂₃₄"], -0.6 * reach, 0.6 * reach, 0.73 * reach, opacity=0.35)
    for name, arrival, gain in (("ln_1", SPHERE, GAIN), ("ln_2", NORM, NORM)):
        (last,) = layer_norm(block.own, name)[2:]
        mesh = [0.12 if arrival <= k <= gain + (gain > arrival) else 0.0 for k in range(LAST + 1)]
        moves = (*rest(D, gain - 1), last)
        title = "where LayerNorm puts them" if name == "ln_1" else ""
        parts += globe(
            rows(SHOW),
            sqrt(D) * SHOW,
            title,
            mesh=mesh,
            net=[2 * m for m in mesh],
            steps=moves,
            names=(f"{name} sphere", f"{name} net"),
        )
    return parts


def matrix_view(block: BlockClouds, names: Sequence[str]) -> tuple[View, tuple[Cloud, ...]]:
    """View of the attention weights, and its clouds: a matrix per head, with a row for each query token."""
    n, flat = len(names), (Row((1.0, 0.0)), Row((0.0, 1.0)))
    clouds: list[Cloud] = []
    layers: list[Mark] = []
    for head, weights in enumerate(block.attention.weights):
        left = head * (n + 1.2)
        grid = cells(f"cells {head + 1}", weights, left)
        color = Color("sequential", 0, 1, Row((0.0, 0.0, 1.0)), "" if head else "weight")
        where = tuple(Row(tuple(each)) for each in np.eye(3)[:2])
        across = np.column_stack([left + np.arange(n), np.full(n, 0.95)])
        columns, above = draw(f"columns {head + 1}", Labels, "soft", flat, across, labels=list(names))
        clouds += [grid, columns]
        layers += [Cells(grid.name, "sphere", where, columns=n, color=color), above]
    rows_of, at_left = draw(
        "lines", Labels, "soft", flat, np.column_stack([np.full(n, -1.0), -np.arange(n)]), labels=list(names)
    )
    clouds.append(rows_of)
    layers += [
        at_left,
        Points("lines", "input", flat, size=20, glyph="square", opacity=0, hand=Follow()),
        Points("lines", "followed", flat, only=Followed(), size=22, glyph="ring"),
    ]
    wide = left + n
    ranges = ((-1.7, wide - 0.3), (0.3 - n, 1.6))
    title = "Attention weights" + (", two heads" if len(block.attention.weights) == 2 else "")
    return View("attention", title, tuple(layers), ranges, 2), tuple(clouds)


def cells(name: str, weights: Cloud, left: float) -> Cloud:
    """Cloud with a point (column, −row, p) for each entry p of the matrix `weights`, the bottom row first.

    `left` is added to the columns.
    """
    # p_ij is computed as the sum over k of relu(p_ik + δ_jk − 1), where δ_jk is 1 if j = k, else 0. As no
    # weight exceeds 1, the term for k = j is p_ij, and all others are 0.
    n = len(weights.points)
    pairs = np.array([[i, j] for i in reversed(range(n)) for j in range(n)])
    points = np.hstack([np.eye(n)[pairs[:, 0]], np.eye(n)[pairs[:, 1]]])
    first, second = np.eye(n, 2 * n), np.eye(n, 2 * n, n)
    number = np.arange(n)
    place = Affine(np.vstack([number @ second, -number @ first]), (left, 0.0))
    row = Affine(first), Affine(Of(weights, transposed=True))
    chosen = Branches((Pipeline(row), Pipeline((Affine(second, -np.ones(n)),))))
    weight = chosen, Pointwise("relu"), Affine(np.ones((1, n)))
    return Cloud(name, points, place=Pipeline((side_by_side((place,), weight),)))


def hidden_view(block: BlockClouds) -> tuple[View, Cloud]:
    """Graph of the hidden layer between W₁ and W₂, and its cloud: a curve over the neurons for each token."""
    opened, bend, _ = feed_forward(block.own, block.function)
    steps = *rest(INNER, MLP - 1), bend
    cloud = block.cloud("hidden", added(*block.first), *layer_norm(block.own, "ln_2"), opened, then=steps)
    start = cloud.stages({"scale": 1.0, "mean": 0.0, "last": 0.0})[0]
    high = float(np.abs(start).max()) * 1.05
    layers = (
        Profile("hidden", "input", (), "every token", size=1.5, opacity=0.35),
        Profile("hidden", "followed", (), "the followed token", only=Followed(), size=3),
    )
    sides = ("coordinate", 0.5, INNER + 0.5), ("value", -high, high)
    return graph("hidden", "Between W₁ and W₂", layers, *sides), cloud


def facts(n: int, heads: int) -> Facts:
    """Table of the shapes of a block's arrays, in general and with n tokens and these heads."""
    size, h = D // heads, f"{heads} × " if heads > 1 else ""
    lines = [
        ("x, y, z", "T × d", f"{n} × {D}"),
        ("LN₁(x), LN₂(y)", "T × d", f"{n} × {D}"),
        ("q, k, v", "H × T × d/H", f"{h}{n} × {size}"),
        ("weights p", "H × T × T", f"{h}{n} × {n}"),
        ("Σ p v", "T × d", f"{n} × {D}"),
        ("after W₁", "T × 4d", f"{n} × {INNER}"),
        ("the other matrices W", "d × d", f"{D} × {D}"),
        ("W₁", "d × 4d", f"{D} × {INNER}"),
        ("W₂", "4d × d", f"{INNER} × {D}"),
    ]
    return Facts("Shapes of the arrays", ("", "shape", "here"), lines)
