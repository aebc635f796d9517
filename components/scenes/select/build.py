"""The recipe of the scene `select`: keys, and which of them a query can select, at each step of a norm.

A query q selects the key k with the largest score ⟨q, k⟩. Coordinates are rotated so that the last one is
along 𝟏 and the others span the hyperplane; this changes no score. The picture shows the first three; for d =
4 these are the hyperplane.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from components.language.cloud import Cloud, LargestWeight, Row, SoftmaxWeight, rows
from components.language.marks import (
    Average,
    BestQuery,
    Carry,
    Color,
    Drag,
    Follow,
    Followed,
    Highest,
    Hull,
    HullFaces,
    Line,
    Mark,
    Points,
    Selectable,
    Support,
    SupportDisc,
    Unselectable,
    WeightCurve,
    WeightLimit,
    WeightNow,
)
from components.language.recipe import Count, Facts, Fate, Number, Parameter, Recipe, View
from components.language.scene import Choices, WrongValue
from components.language.typed_vectors import parse_vectors
from components.scenes.scenery import (
    Look,
    Part,
    Rows,
    draw,
    fitted,
    globe,
    graph,
    mean_line,
    space,
    split,
    square,
)
from geometry import Affine, Entries, Normalize, Pipeline, Placed, clouds
from geometry.centering import hyperplane_basis, upright_basis
from geometry.hull import vertices

# the keys in the text field at first; fitted to any dimension until the reader changes them
OWN_KEYS_EXAMPLE = "5 8 2; 1 0 1; -2 1 4; 1 3 2"
KEYS = {
    "gaussian": "Gaussian",
    "inside": "One inside the others",
    "ring": "On a ring",
    "equal": "Two of them equal",
    "own": "My own",
}
NORMS = {
    "layernorm": "LayerNorm: centring and scaling",
    "rmsnorm": "RMSNorm: scaling alone",
    "centre": "centring alone",
}
TITLE = "hollow: can never win; colour: %s"
COLORS = {"largest": "the largest weight it can get", "attention": "its weight now", "score": "its score now"}
SUBSCRIPTS, MAX_KEYS, MAX_QUERY_LENGTH, ROUNDING = "₁₂₃₄", 200, 10.0, 1e-12
# (from, to, width): the line to a key whose weight in an average is in this range has this width.
AVERAGE_LINE_WIDTHS = ((0.002, 0.02, 1.0), (0.02, 0.1, 2.5), (0.1, 1.01, 6.0))
BETA_VALUES = np.array([0.5, -0.4, 0.3, 0.2])
Steps = tuple[Affine | Normalize, ...]


def build(choices: Choices) -> Recipe:
    d, norm = int(choices["d"]), choices["norm"]
    turn = upright_basis(d)
    x = sample(choices, d) @ turn.T
    x[np.abs(x) < ROUNDING * np.linalg.norm(x, axis=1, keepdims=True)] = 0  # a constant key has no direction
    steps, stages = pipeline(turn, norm), names(norm)
    reach = 1.1 * float(max(np.abs(x[:, :3]).max(), 1.2 * np.sqrt(d)))
    flat, places = d == 2, [(f"x{k}", f"y{k}") for k in range(len(x))]
    place = Pipeline((Placed(places),) if flat else ())
    moving = [
        Parameter(name, f"{'across' if j == 0 else 'up'}, key {k}", v, -2 * reach, 2 * reach, quiet=True)
        for k, own in enumerate(places if flat else ())
        for j, (name, v) in enumerate(zip(own, x[k].tolist(), strict=True))
    ]
    score, show = query(d), rows(np.eye(min(d, 3), d))
    color = colors(choices["color"], score, float(np.linalg.norm(x, axis=1).max()))
    keys = Cloud("keys", x, Pipeline(steps), place)
    guide_clouds, around = split(*guides(x, d, norm, turn, reach))
    hand_clouds, arrow = split(*arrows(d, show))
    layers = (
        *around,
        *picture(show, color, score, reach, Carry(places) if flat else Follow(), few=len(x) <= 100),
        *arrow,
    )
    views = [square("keys", "", layers, reaching=True) if flat else space("keys", "", layers, reaching=True)]
    if not flat:
        views.append(above(d, score, reach))
    views.append(replace(curves(score), strip=flat))
    return Recipe(
        stages=stages,
        parameters=(*sliders(d, norm), *moving),
        clouds=(keys, *guide_clouds, *hand_clouds),
        views=tuple(views),
        formula=r"\frac{e^{\langle q, k \rangle}}{\sum_j e^{\langle q, k_j \rangle}} \le \frac{1}{1 + e^{H}}"
        r"\;\; \text{inside the hull}",
        readouts=(
            Count("Keys that can never win", "keys", Unselectable()),
            Fate("The followed key", "keys"),
            Number("Weight of the red key now", "keys", SoftmaxWeight(score), Followed(), digits=4),
        ),
        facts=facts(x, keys, stages, norm),
        follow=nearly(x),
    )


def sample(choices: Choices, d: int) -> np.ndarray:
    """The keys (n, d) that the choices describe. Raises `WrongValue` if the reader's keys are not usable."""
    corners = 1.6 * np.vstack([np.eye(d), -1.2 * np.eye(d)[:1] - 0.5])
    match choices["keys"]:
        case "own":
            try:
                text = choices["vectors"]
                own = parse_vectors(text, d=3 if text == OWN_KEYS_EXAMPLE else d, most=MAX_KEYS, largest=1e3)
                keys = fitted(own, d)
            except ValueError as wrong:
                raise WrongValue("vectors", str(wrong), {"a line": f"{d} numbers"}) from None
            if len(keys) < 2:
                words = "one key always wins: give two or more"
                raise WrongValue("vectors", words, {"lines": f"2 to {MAX_KEYS}"})
            return keys
        case "inside":
            return np.vstack([corners, [0.25 * corners[0] + 0.1 * corners[1]]])
        case "equal":
            return np.vstack([corners, corners[:1], [0.1 * corners[0] + 0.2 * corners[1]]])
        case "ring":
            up, u = np.ones(d) / np.sqrt(d), hyperplane_basis(d)
            side = 0.8 * u[1] + 0.6 * up if d > 2 else up
            return clouds.ring(choices["n"], u[0], side, radius=1.4, center=0.4 * up)
    return clouds.gaussian(choices["n"], d, seed=choices["seed"])


def names(norm: str) -> tuple[str, ...]:
    """The names of the stages with this `norm`."""
    steps = {"layernorm": ("centre", "sphere"), "rmsnorm": ("sphere",), "centre": ("centre",)}[norm]
    return ("x", *steps, "⊙ γ", "+ β")


def pipeline(turn: np.ndarray, norm: str, d: int | None = None) -> Steps:
    """The steps centre → sphere → ⊙ γ → + β in rotated coordinates; steps that `norm` lacks are left out.

    turn: the orthogonal matrix of the rotation. d: the number of rotated coordinates that points have; None
    for all.
    """
    whole = len(turn)
    d = d or whole
    flat = np.eye(whole)[:, :d].T @ np.diag([*np.ones(whole - 1), 0]) @ np.eye(whole)[:, :d]
    gain = [(turn[:, [i]] @ turn[:, [i]].T)[:d, :d] for i in range(whole)]
    eps = Entries(0.0, {"eps": float(whole)})  # σ² + ε times d
    steps: list[Affine | Normalize] = [] if norm == "rmsnorm" else [Affine(flat)]
    if norm != "centre":
        steps.append(Normalize(radius=np.sqrt(whole), eps=eps))
    stretch = Affine(Entries(sum(gain[2:], np.zeros((d, d))), {"gamma1": gain[0], "gamma2": gain[1]}))
    return (*steps, stretch, Affine(np.eye(d), BETA_VALUES[:d]))


def sliders(d: int, norm: str) -> tuple[Parameter, ...]:
    """The sliders for the query, for ε if the norm divides, and for γ₁ and γ₂.

    γ₁ and γ₂ are the gains of the first two usual coordinates, those before the rotation.
    """
    group, values = "Query q", (1.4, 0.9, 0.5)
    across = ["q ⊥ 𝟏"] if d == 2 else [f"q ⊥ 𝟏, {which}" for which in ("first", "second", "third")[: d - 1]]
    labels = [*across, "q along 𝟏"][:3]
    parameters = [
        Parameter(f"q{i + 1}", label, values[i], -6, 6, 0.05, group=group, folded=True)
        for i, label in enumerate(labels)
    ]
    if norm != "centre":
        about = "added under the root"
        parameters.append(
            Parameter("eps", "ε", 0, 1e-8, 10, scale="log", group="Norm", about=about, folded=True)
        )
    gains = [
        Parameter(f"gamma{i}", f"γ{SUBSCRIPTS[i - 1]}", 1, -2, 2, 0.05, group="Norm", folded=True)
        for i in (1, 2)
    ]
    return (*parameters, *gains)


def query(d: int) -> Row:
    """The query q as a `Row`, whose value for a key k is the score ⟨q, k⟩.

    The sliders set the first three coordinates of q; all others are 0.
    """
    return Row(Entries(np.zeros(d), {f"q{i + 1}": np.eye(d)[i] for i in range(min(d, 3))}))


def colors(which: str, score: Row, size: float) -> Color:
    """The colour scale of the keys, by largest possible weight, by current weight, or by score.

    `which` is a key of COLORS; `size` is the length of the longest key, which sets the ends of the scale of
    scores.
    """
    if which == "largest":
        return Color("weight", 0, 0.5, of=LargestWeight(), title=TITLE % "the largest weight it can get")
    if which == "attention":
        return Color("weight", 0, 0.5, of=SoftmaxWeight(score), title=TITLE % "its softmax weight now")
    return Color("height", -1.5 * size, 1.5 * size, of=score, title=TITLE % "its score ⟨q, k⟩")


def picture(
    show: Rows, color: Color, score: Row, reach: float, hand: Carry | Follow, *, few: bool
) -> tuple[Mark, ...]:
    """Marks of the keys, of the key with the highest score, and of a proof about the followed key.

    Through the key with the highest score goes a line perpendicular to the query (in 3D a disc). All keys lie
    on one side of it. The proof shows that a query can give the followed key the highest score, or that this
    key is an average of others. Keys that no query can select are hollow.

    score: the row that computes scores. hand: the action of a drag or click on a key. reach: about half the
    side of the picture; line, disc and the proof's arrow are in proportion to it. few: whether there are so
    few keys that they can be drawn larger.
    """
    solid, look = len(show) > 2, Look(radius=0.33 * reach)
    own = Look(color=color, size=8 if few else 6, hand=hand)
    touch: list[Mark] = [Support("keys", "query", show, query=score, size=3, opacity=0.8, **look)]
    if solid:
        touch.append(SupportDisc("keys", "query", show, query=score, opacity=0.14, **look))
    lines = [
        Average(
            "keys",
            "other",
            show,
            "keys whose average the red key is" if high > 1 else "",
            span=(low, high),
            size=size,
        )
        for low, high, size in AVERAGE_LINE_WIDTHS
    ]
    return (
        *touch,
        *lines,
        Support("keys", "other", show, query=None, size=2.5, dash="dash", opacity=0.9, **look),
        BestQuery(
            "keys", "other", show, "best query of the red key", reach=0.65 * reach, arrow=0.06 * reach, size=4
        ),
        Points(
            "keys", "input", show, "can win", only=Selectable(), **own | {"color": replace(color, title="")}
        ),
        Points("keys", "input", show, "can never win", only=Unselectable(), glyph="ring", **own),
        Points("keys", "query", show, "wins now", only=Highest(score), glyph="ring", size=18),
        Points("keys", "followed", show, "followed", only=Followed(), size=10),
    )


def guides(x: np.ndarray, d: int, norm: str, turn: np.ndarray, reach: float) -> list[Part]:
    """The convex hull of the keys, the line along 𝟏 if d < 4, and the sphere of radius √d if there is one.

    x: the keys, rotated by the orthogonal matrix `turn` so that 𝟏 points up. reach: about half the side of
    the picture.

    For d = 4 the picture contains the whole hull only from the stage `centre` on. So the hull is drawn only
    from that stage on, and not at all for RMSNorm, which has no such stage.
    """
    show, n, last = rows(np.eye(min(d, 3), d)), len(x), len(names(norm)) - 1
    hull, whole, fade = "keys", show, None
    parts: list[Part] = []
    if d == 4:
        hull, whole, fade = "shadow", rows(np.eye(3)), [0.0, *[1.0] * last]
        shadow = Cloud("shadow", x[:, :3], Pipeline(pipeline(turn, norm, 3)))
        parts = [] if norm == "rmsnorm" else [(shadow,)]
    if d < 4 or norm != "rmsnorm":
        edges = Hull(hull, "meeting", whole, "the convex hull", size=2.5, opacity=0.55, fade=fade)
        faces = HullFaces(hull, "sphere", whole, count=n, opacity=0.12, fade=fade)
        parts.append((edges, faces) if d > 2 else (edges,))
    if d < 4:
        parts += mean_line(rows(turn), d, 0.62 * reach, 0.69 * reach, size=2, opacity=0.6)
    if norm == "centre":
        return parts
    at = names(norm).index("sphere")
    appear = [1.0 if k == at else 0.2 for k in range(last + 1)]
    if d == 2:
        circle = clouds.circle(128, *np.sqrt(2) * np.eye(2))
        return [*parts, draw("circle", Line, "sphere", show, circle, size=2, fade=appear)]
    mesh, net = ([strength * a for a in appear] for strength in (0.05, 0.25))
    return [*parts, *globe(rows(np.eye(3)), np.sqrt(d) * np.eye(3), mesh=mesh, net=net)]


def arrows(d: int, show: Rows) -> list[Part]:
    """The query q as an arrow from the origin, and its tip.

    If d = 2, the tip can be dragged. Otherwise it can be dragged only in the small view (`above`).
    """
    q = Affine(Entries(np.zeros((d, 1)), {f"q{i + 1}": np.eye(d)[:, [i]] for i in range(min(d, 3))}))
    look: dict[str, Any] = {"hand": Drag("q1", "q2"), "hint": "drag it"} if d == 2 else {}
    return [
        draw("query", Line, "query", show, np.array([[0.0], [1]]), place=(q,), size=6, arrow=0.25),
        draw("tip", Points, "query", show, np.array([[1.0]]), "the query q", place=(q,), size=7, **look),
    ]


def above(d: int, score: Row, reach: float) -> View:
    """The small view of the first two coordinates, in which the query can be dragged.

    score: the row that computes the scores of keys. The axes of the view go from −`reach` to `reach`, and
    become longer if sliders move points out of this range.
    """
    show = rows(np.eye(2, d))
    layers = (
        Points("keys", "input", show, only=Selectable(), size=5, hand=Follow()),
        Points("keys", "input", show, only=Unselectable(), size=5, glyph="ring", hand=Follow()),
        Points("keys", "query", show, only=Highest(score), glyph="ring", size=14),
        Points("keys", "followed", show, only=Followed(), size=8),
        Line("query", "query", show, size=5, arrow=0.3),
        Points("tip", "query", show, "q", size=5, hand=Drag("q1", "q2"), hint="drag it"),
    )
    return square("above", "From above", layers, reach, reaching=True)


def curves(score: Row) -> View:
    """Graph of the followed key's attention weight against the length of the query.

    It has a curve for the query's present direction, one for the key's best query, a line for the largest
    weight that the key can get, and a point for the present weight. score: the row that computes scores.
    """
    span = (0.0, MAX_QUERY_LENGTH)
    layers = (
        WeightLimit("keys", "other", (), "the largest weight it can get", span=span, size=2.5, dash="dash"),
        WeightCurve(
            "keys", "other", (), "along the best query of the red key", query=None, span=span, size=4
        ),
        WeightCurve("keys", "query", (), "along q", query=score, span=span, size=4),
        WeightNow("keys", "followed", (), "now", query=score, size=10),
    )
    x, y = ("length of the query", *span), ("weight", 0.0, 1.04)
    return graph("curve", "Weight of the red key", layers, x, y)


def never(keys: np.ndarray) -> int:
    """Number of keys that no query selects: keys that equal another key or are no corner of the hull."""
    _, copies, count = np.unique(keys.round(9), axis=0, return_inverse=True, return_counts=True)
    alone = np.isin(np.arange(len(keys)), vertices(keys)) & (count[copies.ravel()] == 1)
    return int(len(keys) - alone.sum())


def nearly(x: np.ndarray) -> int:
    """Index of the key to follow at first: a key that is no corner of the convex hull, but nearly one.

    Of all keys that are no corners, it is the one farthest from the mean of all keys. If all keys are
    corners, the index is 0.
    """
    inside = np.setdiff1d(np.arange(len(x)), vertices(x))
    return int(inside[np.argmax(np.linalg.norm(x[inside] - x.mean(0), axis=1))]) if len(inside) else 0


def facts(x: np.ndarray, keys: Cloud, stages: tuple[str, ...], norm: str) -> Facts:
    """Table of the number of keys that no query can select, at each stage, with ε = 0 and γ = 1.

    Unless `norm` is "centre", a second row has one number, at the stage "sphere": the smallest ε that
    makes more keys unselectable than ε = 0 does (see `breaks`). x: the keys (n, d). keys: the cloud with the
    steps of the norm. stages: the names of its stages.
    """
    params = {"eps": 0.0, "gamma1": 1.0, "gamma2": 1.0}
    moving = Cloud("keys", x, keys.pipeline)
    counts = [str(never(stage)) for stage in moving.stages(params)]
    table = [("can never win", *counts)]
    if norm != "centre":
        at = stages.index("sphere")
        words = ["" for _ in stages]
        words[at] = breaks(Cloud("sphere", x, Pipeline(keys.pipeline.steps[:at])))
        table.append(("smallest ε that loses more keys", *words))
    placed = ", before any is moved" if x.shape[1] == 2 else ""
    return Facts(f"Keys that can never win, of {len(x)}{placed}, for ε = 0 and γ = 1", ("", *stages), table)


def breaks(sphere: Cloud) -> str:
    """The smallest ε, as text, that makes at least one more key on the sphere unselectable than ε = 0 does.

    It is found by bisection, to within 4 %. The text is "—" if no ε up to 10 does this.
    """

    def more(eps: float) -> bool:
        return never(sphere.stages({"eps": eps})[-1]) > least

    least = never(sphere.stages({"eps": 0.0})[-1])
    high = next((e for e in np.geomspace(1e-12, 10, 14) if more(e)), None)
    if high is None:
        return "—"
    low = high / 10
    for _ in range(6):
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if more(middle) else (middle, high)
    return f"{high:.2g}"
