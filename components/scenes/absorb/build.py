"""Recipe of the scene `absorb`: a transformer block with LayerNorm, rewritten into one with RMSNorm.

The direction 𝟏 is drawn upright, so centring moves points straight down or up to the hyperplane Σx = 0.
Tokens have three coordinates in a block drawn at random. In the trained model they have four, of which the
picture shows three: it leaves out one direction of the hyperplane.
"""

from collections.abc import Callable, Sequence
from math import sqrt

import numpy as np

from components.language.cloud import Cloud, rows
from components.language.marks import Follow, Followed, Line, Mark, Mesh, Points, Trail
from components.language.recipe import Facts, Parameter, Recipe, Residual, View
from components.language.scene import Choices, File
from components.scenes import blocks
from components.scenes.blocks import Own, Steps, added, feed_forward, layer_norm, linear, norm_alone, own_of
from components.scenes.scenery import Look, Part, draw, followed, globe, mean_line, rest, space, split, square
from geometry import Affine, Branches, Entries, Pipeline, clouds
from geometry.centering import centering_matrix, hyperplane_basis, upright_basis
from learning import absorb
from learning.language import Shape, forward, from_file

Array = np.ndarray

WEIGHT_LABELS = {"drawn": "drawn at random", "trained": "a trained model"}
LAYERS = {str(k): f"layer {k}" for k in (1, 2)}
DATA_FILES = (File("language.safetensors", from_file),)
TEXT = "the model says"  # read by the trained model
TOKENS, DRAWN_D = 8, 3  # number of drawn tokens, and their coordinates
STAGES = ("original", "β absorbed", "γ absorbed", "centred", "RMSNorm")
LAST = len(STAGES) - 1


def build(choices: Choices, model: tuple[Shape, Own]) -> Recipe:
    shape, weights = model
    if choices["weights"] == "trained":
        layer = int(choices["layer"]) - 1
        x = forward(shape, weights, shape.tokens(TEXT)).blocks[layer].stream
        block_weights, function, labels = own_of(weights, layer), "gelu_tanh", [*TEXT.replace(" ", "␣")]
    else:
        block_weights, x = drawn(choices["seed"])
        function, labels = "gelu", [f"token {name}" for name in "abcdefgh"]
    under, to_stages = rewritten(block_weights, x, function)
    stream, reads, says = (cloud_by_stage(name, x, each, labels) for name, each in to_stages.items())
    first, last = (Cloud(f"says {k}", x, place=Pipeline(to_stages["says"][k])) for k in (0, LAST))
    third = Cloud("says 3", x, place=Pipeline(to_stages["says"][3]))
    hero, around = space_view(block_weights, x)
    beside, circle = says_view(x.shape[-1])
    return Recipe(
        stages=STAGES,
        parameters=(
            Parameter("mean", "leftover mean", 0, -3, 3, about="added to every coordinate of the stream"),
        ),
        clouds=(*under, stream, reads, says, first, third, last, *around, *circle),
        views=(hero, beside),
        formula=FORMULA,
        readouts=(
            Residual("Change in the output, LayerNorm absorbed", "says 0", "says 3"),
            Residual("Change in the output, RMSNorm", "says 0", f"says {LAST}"),
        ),
        facts=facts(shape, weights),
        progress=0.0,
        follow=len(x) - 1,
    )


FORMULA = (
    r"W(\class{stage-2}{\gamma \odot} \mathrm{LN}(x) \class{stage-1 role-shift}{+ \beta}) + b"
    r"\allowbreak = \class{stage-2}{(W \mathrm{diag}\,\gamma)}\, \class{stage-4 role-sphere}{\mathrm{RMS}}"
    r"(\class{stage-3 role-hyperplane}{\Pi x}) + \class{stage-1 role-shift}{(b + W \beta)}"
)


def drawn(seed: int) -> tuple[dict[str, Array], Array]:
    """Random weights of a block by name, and random tokens (TOKENS, 3), both from the same `seed`."""
    rng, d = np.random.default_rng(seed), DRAWN_D
    x = rng.normal(size=(TOKENS, d)) + 0.9 * rng.normal(size=(TOKENS, 1)) + 0.5
    block_weights: dict[str, Array] = {}
    for name, (m, n) in {
        "attn.c_attn": (d, 3 * d),
        "attn.c_proj": (d, d),
        "mlp.c_fc": (d, 4 * d),
        "mlp.c_proj": (4 * d, d),
    }.items():
        block_weights |= {
            f"{name}.weight": rng.normal(size=(m, n)) / sqrt(m),
            f"{name}.bias": 0.3 * rng.normal(size=n),
        }
    for name in ("ln_1", "ln_2"):
        block_weights |= {
            f"{name}.weight": rng.uniform(0.5, 1.7, d),
            f"{name}.bias": rng.uniform(-0.8, 0.8, d),
        }
    return block_weights, x


# --- the block after each step


def rewritten(block_weights: Own, x: Array, function: str) -> tuple[list[Cloud], dict[str, list[Steps]]]:
    """A block at each stage of its rewriting: its clouds of keys and values, and steps from the tokens x.

    The steps lead to three results: "stream" is the residual stream at the block's input, "reads" the vectors
    that attention reads, and "says" what the next block reads (the block's output after a norm without gain).
    They are returned as a dict: for each result by name, a list whose item k has the steps at stage k.
    block_weights: the original block. x: (n, d). function: the activation of the feed-forward network.
    """
    d = x.shape[-1]
    shifts = absorb.shifts_absorbed(block_weights)
    gains = absorb.gains_absorbed(shifts)
    each = [block_weights, shifts, gains, *2 * [absorb.centred(gains)]]
    level = Entries(np.zeros(d), {"mean": np.ones(d)})
    plain = {"next.weight": np.ones(d), "next.bias": np.zeros(d)}
    under: list[Cloud] = []
    to_stages: dict[str, list[Steps]] = {"stream": [], "reads": [], "says": []}
    for k, weights in enumerate(each):
        norm = norm_alone if k == LAST else layer_norm
        start = Affine(np.eye(d) if k < 3 else centering_matrix(d), level)
        reads = (start, *norm(weights, "ln_1"))
        attention = blocks.attention(weights, x, reads, name=f"{k}: ")
        first = added(*norm(weights, "ln_1"), attention.step, linear(weights, "attn.c_proj"))
        second = added(*norm(weights, "ln_2"), *feed_forward(weights, function))
        under += attention.clouds
        to_stages["stream"].append((start,))
        to_stages["reads"].append(reads)
        to_stages["says"].append((start, first, second, *norm({**weights, **plain}, "next")))
    return under, to_stages


def cloud_by_stage(name: str, x: Array, to_stages: Sequence[Steps], labels: Sequence[str]) -> Cloud:
    """Cloud whose points at stage k are the results of the steps `to_stages[k]`, applied to x (n, d).

    So each stage is computed from x, not from the stage before. To make this possible, a point stores its
    results at all K stages side by side, in K·d coordinates, and only the first d are drawn. Each step of the
    cloud moves the coordinates d places forward, so that the next result becomes the first. name, labels: the
    cloud's name, and a text for each point.
    """
    d, n = x.shape[-1], len(to_stages)
    beside = Branches([Pipeline(steps) for steps in to_stages], "concat")
    step = Affine(np.eye(n * d, k=d))
    return Cloud(name, x, Pipeline((step,) * (n - 1)), Pipeline((beside,)), labels)


# --- views


def frame(d: int) -> Array:
    """Display axes (3, d): two directions of the hyperplane Σx = 0, and the direction 𝟏, which is upright."""
    basis = upright_basis(d)
    return basis[[0, 1, -1]]


def space_view(block_weights: Own, x: Array) -> tuple[View, tuple[Cloud, ...]]:
    """3D view of the tokens, and the clouds of its surroundings, such as the hyperplane Σx = 0.

    The view also draws the clouds "stream", the tokens x in the residual stream, and "reads", the vectors
    that attention reads. These two are not returned. A circle (for d = 3) or a sphere (for d = 4) shows where
    the norm puts tokens. Until γ and β are merged into other weights, it is an ellipse or ellipsoid instead.
    """
    d = x.shape[-1]
    show, u = rows(frame(d)), hyperplane_basis(d)
    gamma, beta = block_weights["ln_1.weight"], block_weights["ln_1.bias"]
    reach = 1.05 * max(float(np.abs(x @ frame(d).T).max()), 1.2 * sqrt(d) * float(np.abs(gamma).max()), 2.4)
    back = (Affine(np.eye(d), -beta), Affine(np.diag(1 / gamma)), *rest(d, LAST - 2))
    put = Affine(np.diag(gamma), beta)
    flat = clouds.turned(clouds.disc_mesh(), 0.8 * reach * frame(d)[:2])
    parts: list[Part] = [
        *mean_line(show, d, 0.85 * reach, 0.92 * reach, size=2.5),
        draw("hyperplane", Mesh, "hyperplane", show, flat, "the hyperplane Σx = 0", opacity=0.12, guide=True),
    ]
    moves: Look = {"place": (put,), "steps": back}
    title = "where the norm puts tokens"
    if d == 3:
        ring = clouds.circle(96, *u, radius=sqrt(d))
        parts.append(draw("surface", Line, "sphere", show, ring, title, size=5, **moves))
    else:
        parts += globe(show, sqrt(d) * u, title, mesh=0.12, net=0.3, **moves)
    around, guides = split(*parts)
    layers: tuple[Mark, ...] = (
        *guides,
        Trail("stream", "trail", show, size=1.5, opacity=0.7),
        Points("stream", "input", show, "a token in the stream", size=8, hand=Follow()),
        Points("reads", "sphere", show, "what attention reads", size=7, hand=Follow()),
        *followed("stream", show, "the followed token", size=11),
        Points("reads", "followed", show, only=Followed(), size=10, glyph="square"),
    )
    return space("space", "", layers, reaching=True), around


def says_view(d: int) -> tuple[View, tuple[Cloud, ...]]:
    """2D view of what the next block reads, and the cloud of a circle of radius √d.

    The view shows what the next block reads after the original block, and what it reads after the rewritten
    block. The axes are two directions of the hyperplane.
    """
    show = rows(frame(d)[:2])
    points, order = clouds.circle(96, *frame(d)[:2])
    edge = Cloud("edge", sqrt(d) * points)
    layers: tuple[Mark, ...] = (
        Line("edge", "sphere", show, order=order, size=2, opacity=0.5),
        Points("says 0", "ink", show, "original", size=15, glyph="ring"),
        Points("says", "meeting", show, "rewritten", size=7, hand=Follow()),
        Points("says", "followed", show, only=Followed(), size=9),
    )
    return square("says", "What the next block reads", layers, 1.25 * sqrt(d), strip=True), (edge,)


def facts(shape: Shape, weights: Own) -> Facts:
    """Table: the largest absolute change of a logit of the whole trained model, after each step of rewriting.

    It is computed in double and in single precision. shape, weights: those of the trained model.
    """
    whole = absorb.untied(weights)
    shifts = absorb.shifts_absorbed(whole)
    gains = absorb.gains_absorbed(shifts)
    centred = absorb.centred(gains)
    steps = [(shifts, None), (gains, None), (centred, None), (centred, absorb.rms)]
    tokens = shape.tokens(TEXT)

    def largest_change(changed: Own, norm: Callable[..., Array] | None, kind: type) -> str:
        original, changed_logits = (
            forward(shape, {name: w.astype(kind) for name, w in each.items()}, tokens, norm=its_norm).logits
            for each, its_norm in ((weights, None), (changed, norm))
        )
        return f"{np.abs(changed_logits - original).max():.0e}"

    lines = [
        [name, *(largest_change(changed, norm, kind) for kind in (np.float64, np.float32))]
        for name, (changed, norm) in zip(STAGES[1:], steps, strict=True)
    ]
    title = "Whole trained model, four layers: largest change in its logits"
    return Facts(title, ("", "double precision", "single precision"), lines)
