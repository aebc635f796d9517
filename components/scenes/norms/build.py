"""The recipe of the norms: one cloud through two of them, and the numbers that each of them averages.

Most norms cut the axes into k blocks of m = d/k, take the mean off each block or not, and normalise each to
√m: their images are products of k spheres. Where such a product is a torus in a 3-sphere, it is shown from
there by a stereographic projection, whose pole lies off the torus and at right angles to 1.
"""

from __future__ import annotations

from itertools import combinations, product
from math import sqrt
from typing import Any

import numpy as np
from scipy import special

from components.recipe import Cloud, Color, Facts, Layer, Parameter, Recipe, Residual, Row, Table, View, rows
from components.scene import Choices
from geometry import Affine, Entries, Normalize, Pipeline, Pointwise, clouds, norms
from geometry.centering import centering_matrix, hyperplane_basis

CENTRED, OVER = r"\class{stage-1 role-hyperplane}{x_i - \mu_G}", r"\class{stage-2 role-sphere}{\sigma_G}"
TITLES = {
    "layernorm": "LayerNorm",
    "rmsnorm": "RMSNorm",
    "groupnorm": "GroupNorm",
    "blockrms": "RMS on blocks",
    "instancenorm": "InstanceNorm",
    "batchnorm": "BatchNorm",
    "weightnorm": "WeightNorm",
    "dyt": "DyT",
}
CENTERED, NO_SPHERE = ("layernorm", "groupnorm", "instancenorm"), ("batchnorm", "dyt")
BLOCKS = {"groupnorm": {4: 2, 6: 2}, "blockrms": {4: 2, 6: 2}, "instancenorm": {4: 2, 6: 3}}
AVERAGED = {
    "groupnorm": "one block",
    "blockrms": "one block",
    "instancenorm": "one channel",
    "batchnorm": "one feature",
    "weightnorm": "one neuron",
    "dyt": "nothing",
}
TORI = (("groupnorm", 6), ("blockrms", 4))
MEAN, SPREAD, CUT = 0.3, 0.6, 0.05  # of the cloud; the share that is cut from each tail keeps it off the pole
REACH, ZOOM, ROWS = 3.3, 1.2, 5
Parts = list[tuple[Cloud, Layer]]
SAME, FLAT, STEP = 1e-9, 1e-6, 1e-4  # rounding; a direction that a norm forgets; of the differences


def build(choices: Choices) -> Recipe:
    d, chosen = int(choices["d"]), {side: choices[side] for side in ("left", "right")}
    share = np.random.default_rng(choices["seed"]).uniform(CUT, 1 - CUT, (choices["n"], d))
    x = MEAN + SPREAD * special.ndtri(share)
    move = Affine(Entries(np.zeros((d, d)), {"c": np.eye(d)}), Entries(np.zeros(d), {"b": np.ones(d)}))
    pipelines = {side: pipeline(norm, x) for side, norm in chosen.items()}
    around = {side: scenery(norm, d, side, pipelines[side]) for side, norm in chosen.items()}
    cells = [part for side, norm in chosen.items() for part in tensor(norm, d, side)]
    pictures = [space(norm, side, around[side], x) for side, norm in chosen.items()]
    paper = ((0.3, 2 * d + 3.7), (-ROWS - 1.4, -0.3))
    sheet = View(
        "tensor", "A row is a point; red goes together", tuple(layer for _, layer in cells), paper, 2
    )
    sliders = (
        Parameter("b", "shift b", 0, -0.5, 0.5, about="added to every number of every point"),
        Parameter("c", "scale c", 1, 0.25, 1.25, about="times every number of every point"),
        Parameter("g", "length g", 1.5, 0.5, 2.5, about="of every weight vector in WeightNorm"),
        Parameter("alpha", "DyT α", 1, 0.1, 4, about="the slope of DyT at 0"),
    )
    wanted = {"b", "c"}.union(*(p.parameters for p in pipelines.values()))
    return Recipe(
        stages=("x", "centre", "normalise"),
        parameters=tuple(p for p in sliders if p.name in wanted),
        clouds=(
            *(Cloud(side, x, pipelines[side], Pipeline((move,))) for side in chosen),
            *(cloud for parts in (*around.values(), cells) for cloud, _ in parts),
        ),
        views=(*pictures, sheet),
        formula=rf"y_i = \frac{{{CENTRED}}}{{{OVER}}}, \quad i \in G",
        table=Table("left", columns=("components", "mean", "std", "norm")),
        readouts=(Residual("Largest distance between the two results", "left", "right"),),
        facts=facts(tuple(chosen.values()), x),
        progress=2,
    )


def blocks(norm: str, d: int) -> int:
    return BLOCKS.get(norm, {}).get(d, 1)


def pipeline(norm: str, x: np.ndarray) -> Pipeline:
    """Two steps each. BatchNorm has the statistics of the cloud: one affine map for all points."""
    d, k = x.shape[1], blocks(norm, x.shape[1])
    if norm == "batchnorm":
        return Pipeline((Affine(np.eye(d), -x.mean(0)), Affine(np.diag(1 / x.std(0)))))
    if norm == "dyt":
        return Pipeline((Affine(Entries(np.zeros((d, d)), {"alpha": np.eye(d)})), Pointwise("tanh")))
    centre = np.kron(np.eye(k), centering_matrix(d // k)) if norm in CENTERED else np.eye(d)
    radius = Entries(0.0, {"g": 1.0}) if norm == "weightnorm" else sqrt(d // k)
    return Pipeline((Affine(centre), Normalize(radius, groups=np.arange(d).reshape(k, -1).tolist())))


def apply(norm: str, x: np.ndarray) -> np.ndarray:
    """The same norm by its formula, for the table of facts; BatchNorm as in training."""
    cut = x.reshape(len(x), blocks(norm, x.shape[1]), -1)
    return {
        "layernorm": lambda: norms.layer_norm(x, eps=0.0),
        "rmsnorm": lambda: norms.rms_norm(x, eps=0.0),
        "groupnorm": lambda: norms.group_norm(x, groups=cut.shape[1], eps=0.0),
        "blockrms": lambda: norms.rms_norm(cut, eps=0.0).reshape(x.shape),
        "instancenorm": lambda: norms.instance_norm(cut, eps=0.0).reshape(x.shape),
        "batchnorm": lambda: norms.batch_norm(x, eps=0.0),
        "weightnorm": lambda: norms.weight_norm(x, g=1.5),
        "dyt": lambda: norms.dyt(x, alpha=1.0),
    }[norm]()


def surface(norm: str, d: int) -> str:
    """What the points land on: a product of k spheres."""
    k = blocks(norm, d)
    sphere = d // k - 1 - (norm in CENTERED)
    if norm in NO_SPHERE:
        return "inside a cube" if norm == "dyt" else "still a cloud"
    if sphere == 0:
        return f"{2**k} points"
    one = "a circle" if sphere == 1 else "a sphere" if sphere == 2 else f"a {sphere}-sphere"
    return one if k == 1 else "a torus" if sphere == 1 else "sphere × sphere"


def display(norm: str, d: int) -> tuple[np.ndarray, Row | None]:
    """Three directions of the picture, and for a torus what they are divided by, √d + the fourth."""
    up = [np.vstack([hyperplane_basis(m), np.ones(m) / sqrt(m)]) for m in (2, 3)]
    if (norm, d) in TORI:
        a, b = np.kron(np.eye(2)[:, None], up[1][:2] if d == 6 else up[0][::-1])
        return ZOOM * np.vstack([a, b[:1]]), Row(tuple(b[1]), offset=sqrt(d))
    if d == 3:
        return up[1], None
    if (norm, d) == ("blockrms", 6):
        return np.eye(3, 6), None
    differences = np.kron(np.eye(d // 2), up[0][0])
    return (differences if d == 6 else np.vstack([differences, [0.5, 0.5, -0.5, -0.5]])), None


def scenery(norm: str, d: int, side: str, through: Pipeline) -> Parts:
    """The surface, as a cloud through the norm's own last step; in d = 3 the axes and the direction 1."""
    show, over = rows(display(norm, d)[0]), display(norm, d)[1]
    found: Parts = []

    def add(
        kind: str, role: str, points: Any, order: Any = None, place: Any = Pipeline(()), **look: Any
    ) -> None:
        name = f"{side} {role} {kind}"
        cloud = Cloud(name, points, place=place, labels=look.pop("labels", None))
        found.append((cloud, Layer(name, kind, role, show, order=order, over=over, **look)))

    if d == 3:
        one, ends = np.ones((1, 3)), np.arange(2)
        axes, order = clouds.segments(np.stack([0 * np.eye(3), 1.9 * np.eye(3)], 1))
        add("line", "axis", axes, order, size=1.5, opacity=0.6)
        add("labels", "axis", 2.05 * np.eye(3), labels=["x₁", "x₂", "x₃"])
        add("line", "mean-direction", 1.45 * np.vstack([-one, one]), ends, size=3, opacity=0.6)
        add("labels", "mean-direction", 1.6 * one, labels=["𝟏"])
    if norm == "dyt" and d == 3:
        corners = list(product((-1.0, 1.0), repeat=3))
        edges = [(p, q) for p, q in combinations(corners, 2) if np.dot(p, q) == 1]
        add("line", "sphere", *clouds.segments(np.array(edges)), size=3)
    if norm in NO_SPHERE:
        return found
    k, last = blocks(norm, d), Pipeline(through.steps[-1:])
    m = d // k
    basis = hyperplane_basis(m) if norm in CENTERED else np.eye(m)
    if len(basis) == 1:
        signs = np.array(list(product((-1.0, 1), repeat=k)))
        add("points", "meeting", np.kron(signs, basis), place=last, size=16, hollow=True, opacity=0.9)
    elif len(basis) == 2:
        t = np.linspace(0, 2 * np.pi, 65)
        circle = np.stack([np.cos(t), np.sin(t)], -1) @ basis
        if k == 1:
            add("line", "meeting", circle, np.arange(65), last, size=5)
        else:
            torus = np.concatenate(np.broadcast_arrays(circle[:, None], circle[None]), -1)
            add("mesh", "sphere", torus.reshape(-1, d), clouds.grid_mesh(65, 65), last, opacity=0.14)
            lines = np.concatenate([torus[::4].reshape(-1, d), torus[:, ::4].swapaxes(0, 1).reshape(-1, d)])
            add("line", "sphere", lines, clouds.joined(34, 65), last, size=1, opacity=0.5)
    if d == 3 or len(basis) > 2:
        ball, triangles = clouds.sphere_mesh()
        net, order = clouds.graticule()
        add("mesh", "sphere", ball @ display(norm, d)[0], triangles, last, opacity=0.1)
        add("line", "sphere", net @ display(norm, d)[0], order, last, size=1, opacity=0.35)
    return found


def space(norm: str, side: str, around: Parts, x: np.ndarray) -> View:
    d = x.shape[1]
    show, over = rows(display(norm, d)[0]), display(norm, d)[1]
    first = x[:, :2] if d == 4 else x[:, :3] @ hyperplane_basis(3).T
    words = "direction in the plane ⟂ 𝟏" if d == 3 else "direction in the first block"
    color = Color("cyclic", -np.pi, np.pi, np.arctan2(first[:, 1], first[:, 0]), title=words)
    size = 5 if len(x) <= 1500 else 2.5
    few = np.linspace(0, len(x) - 1, 5).astype(int).tolist()
    layers = (
        *(layer for _, layer in around),
        Layer(side, "points", "input", show, "a point", color=color, over=over, size=size, pick=True),
        Layer(side, "trail", "trail", show, only=few, over=over, size=2, opacity=0.7),
        Layer(side, "points", "followed", show, only="followed", over=over, size=11),
        Layer(side, "trail", "followed", show, only="followed", over=over, size=4),
    )
    return View(side, f"{TITLES[norm]}: {surface(norm, d)}", layers, ((-REACH, REACH),) * 3)


def tensor(norm: str, d: int, side: str) -> Parts:
    """Rows are points, columns their numbers, in blocks; marked are those that share one mean or length."""
    k, left = blocks(norm, d), 1 + (d + 2) * (side == "right")
    i, j = np.indices((ROWS, d)).reshape(2, -1)
    group = {"batchnorm": j == 0, "dyt": (i == 1) & (j == 0)}.get(norm, (i == 1) & (j < d // k))
    x = left + j + 0.4 * (j // (d // k) - (k - 1) / 2)
    cells, show = np.column_stack([x, -i - 1.7]), rows(np.eye(2))
    title = Cloud(f"{side} title", np.array([[left + (d - 1) / 2, -0.8]]), labels=[TITLES[norm]])
    return [
        (Cloud(f"{side} cells", cells), Layer(f"{side} cells", "points", "axis", show, size=9, opacity=0.45)),
        (Cloud(f"{side} group", cells[group]), Layer(f"{side} group", "points", "followed", show, size=15)),
        (title, Layer(title.name, "labels", "ink", show)),
    ]


def facts(chosen: tuple[str, ...], x: np.ndarray) -> Facts:
    """What each norm keeps and loses, measured at the first point of the cloud."""
    x = x[:40]

    def at_first(norm: str, first: np.ndarray, others: float = 1.0) -> np.ndarray:
        return apply(norm, np.vstack([first, others * x[1:]]))[0]

    def stays(norm: str, *change: Any) -> str:
        return "stays" if np.abs(at_first(norm, *change) - at_first(norm, x[0])).max() < SAME else "moves"

    def dimension(norm: str) -> str:
        nudges = STEP * np.eye(x.shape[1])
        slopes = [(at_first(norm, x[0] + e) - at_first(norm, x[0] - e)) / (2 * STEP) for e in nudges]
        return str(int(np.sum(np.linalg.svd(np.array(slopes))[1] > FLAT)))

    def picture(norm: str) -> str:
        d = x.shape[1]
        return f"all {d}" if d == 3 else "stereographic" if (norm, d) in TORI else f"3 of {d}"

    lines = {
        "averaged": lambda norm: AVERAGED.get(norm, "one point"),
        "for x + 0.7·𝟏": lambda norm: stays(norm, x[0] + 0.7),
        "for 1.7·x": lambda norm: stays(norm, 1.7 * x[0]),
        "others doubled": lambda norm: stays(norm, x[0], 2.0),
        "dimensions left": dimension,
        "lands on": lambda norm: surface(norm, x.shape[1]),
        "picture": picture,
    }
    table = [(words, *(measure(norm) for norm in chosen)) for words, measure in lines.items()]
    return Facts(
        "Measured on this cloud: does the result of x stay?", ("", *(TITLES[norm] for norm in chosen)), table
    )
