"""Recipe of the scene `norms`: the same points after two normalisation layers, and what each layer averages.

Most of these layers divide the coordinates into k blocks of m = d/k. They may subtract the mean of each
block, and they scale each block to length √m. So the points land on a product of k spheres. If that is a
torus in a 3-sphere, it is drawn by stereographic projection, from a pole that is not on the torus and is
orthogonal to 𝟏.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from math import sqrt
from typing import Any

import numpy as np
from scipy import special

from components.language.cloud import Cloud, Row, rows
from components.language.marks import Labels, Line, Mark, Mesh, Points
from components.language.recipe import Facts, Parameter, Recipe, Residual, Table, View
from components.language.scene import Choices
from components.scenes.scenery import (
    Part,
    angle,
    axes,
    clickable_points,
    draw,
    globe,
    graph,
    mean_line,
    scaled,
    slider,
    space,
    split,
)
from geometry import Affine, Branches, Entries, Normalize, Pipeline, Pointwise, Product, clouds, norms
from geometry.centering import centering_matrix, hyperplane_basis, upright_basis
from geometry.differences import image_dimension
from geometry.pipeline import Step


@dataclass(frozen=True)
class Norm:
    """A normalisation layer of this scene. apply: the function that normalises points (n, d).

    formula: TeX of a component of the result. centered: whether the layer subtracts a mean of the point.
    blocks: maps some dimensions d to the number k of blocks into which the layer divides the coordinates. For
    such a layer, `apply` takes points as (n, k, d/k). averaged: what is averaged, in words. sphere: whether
    points land on spheres.
    """

    title: str
    apply: Callable[[np.ndarray], np.ndarray]
    formula: str
    averaged: str = "one point"
    blocks: Mapping[int, int] = field(default_factory=dict)
    centered: bool = False
    sphere: bool = True


LAYER, RMS = partial(norms.layer_norm, eps=0.0), partial(norms.rms_norm, eps=0.0)
INSTANCE, BATCH = partial(norms.instance_norm, eps=0.0), partial(norms.batch_norm, eps=0.0)
FRACTION = r"\frac{%s}{\class{stage-2 role-sphere}{%s}}"
CENTRED = FRACTION % (r"\class{stage-1 role-hyperplane}{x_i - \mu_G}", r"\sigma_G")
PLAIN, LENGTH = FRACTION % ("x_i", r"\mathrm{rms}_G"), FRACTION % (r"g\, x_i", r"\lVert x \rVert")
TANH = r"\class{stage-2 role-sphere}{\tanh(\alpha x_i)}"
NORMS = {
    "layernorm": Norm("LayerNorm", LAYER, CENTRED, centered=True),
    "rmsnorm": Norm("RMSNorm", RMS, PLAIN),
    "groupnorm": Norm("GroupNorm", LAYER, CENTRED, "one block", {4: 2, 6: 2}, centered=True),
    "blockrms": Norm("RMS on blocks", RMS, PLAIN, "one block", {4: 2, 6: 2}),
    "instancenorm": Norm("InstanceNorm", INSTANCE, CENTRED, "one channel", {4: 2, 6: 3}, centered=True),
    "batchnorm": Norm("BatchNorm", BATCH, CENTRED, "one feature", sphere=False),
    "weightnorm": Norm("WeightNorm", partial(norms.weight_norm, g=1.5), LENGTH, "nothing"),
    "dyt": Norm("DyT", partial(norms.dyt, alpha=1.0), TANH, "nothing", sphere=False),
}
THIRD_VIEWS = {"groups": "which numbers are averaged", "numbers": "output against input"}
TITLES = {name: norm.title for name, norm in NORMS.items()}
TORI = (("groupnorm", 6), ("blockrms", 4))
CLOUD_MEAN, CLOUD_STD = 0.3, 0.6  # of each coordinate, before its tails are cut
TAIL_SHARE = 0.05  # probability cut from each tail of a coordinate, which keeps points off the pole
TORUS_SCALE, TABLE_ROWS = 1.2, 5
SAME = 1e-9  # smaller differences are rounding errors
NUMBERED_POINTS, JOINED_POINTS = 120, 8  # in `numbers_view`: largest numbers of points, of joined points
CAMERA = (-0.55, 1.08, 0.3)  # the sphere is large, and the labels of the axes are apart
SLIDERS = (
    Parameter("b", "shift b", 0, -0.5, 0.5, about="added to every number of every point"),
    Parameter("c", "scale c", 1, 0.25, 1.25, about="multiplies every number of every point"),
    Parameter("g", "length g", 1.5, 0.5, 2.5, about="of every weight vector in WeightNorm", folded=True),
    Parameter("alpha", "DyT α", 1, 0.1, 4, about="the slope of DyT at 0", folded=True),
)


def build(choices: Choices) -> Recipe:
    both = [NORMS[choices[side]] for side in ("left", "right")]
    d, chosen = int(choices["d"]), {side: choices[side] for side in ("left", "right")}
    share = np.random.default_rng(choices["seed"]).uniform(TAIL_SHARE, 1 - TAIL_SHARE, (choices["n"], d))
    x = CLOUD_MEAN + CLOUD_STD * special.ndtri(share)
    move = Affine(Entries(np.zeros((d, d)), {"c": np.eye(d)}), Entries(np.zeros(d), {"b": np.ones(d)}))
    pipelines = {side: pipeline(norm, x) for side, norm in chosen.items()}
    moved = [Cloud(side, x, pipelines[side], Pipeline((move,))) for side in chosen]
    around = {side: guides(norm, d, side, pipelines[side]) for side, norm in chosen.items()}
    guide_clouds, _ = split(*around["left"], *around["right"])
    third, third_clouds = (
        numbers_view(chosen, x, pipelines) if choices["below"] == "numbers" else groups_view(chosen, d)
    )
    wanted = {"b", "c"}.union(*(p.parameters for p in pipelines.values()))
    return Recipe(
        stages=("x", "centre", "normalise"),
        parameters=tuple(p for p in SLIDERS if p.name in wanted),
        clouds=(*moved, *guide_clouds, *third_clouds),
        views=(*(picture(chosen[cloud.name], cloud, around[cloud.name]) for cloud in moved), third),
        formula=r", \quad ".join(map(equation, both)),
        table=Table("left", columns=("components", "mean", "std", "norm")),
        readouts=(Residual("Largest distance between the two results", "left", "right"),),
        facts=facts(tuple(chosen.values()), x),
        progress=2,
    )


def equation(norm: Norm) -> str:
    """TeX of a norm's title and formula. The index of μ, σ and rms says what the norm averages over."""
    group = norm.averaged.removeprefix("one ")
    return rf"\text{{{norm.title}: }} y_i = " + norm.formula.replace("_G", rf"_{{\text{{{group}}}}}")


def blocks(norm: str, d: int) -> int:
    """Number of blocks into which a norm divides d coordinates; 1 if it does not divide them."""
    return NORMS[norm].blocks.get(d, 1)


def pipeline(norm: str, x: np.ndarray) -> Pipeline:
    """The two steps of a normalisation layer: the first centres, the second scales.

    The first leaves points unchanged if the layer does not centre. BatchNorm's steps contain the means and
    standard deviations of the coordinates of the points x. The second step of DyT is tanh(α·x).
    """
    d, k = x.shape[1], blocks(norm, x.shape[1])
    if norm == "batchnorm":
        return Pipeline((Affine(np.eye(d), -x.mean(0)), Affine(np.diag(1 / x.std(0)))))
    if norm == "dyt":
        squash = Pipeline((scaled(d, "alpha"), Pointwise("tanh")))  # one step: α·x may be far outside
        return Pipeline((Affine(np.eye(d)), Branches((squash,))))
    centre = np.kron(np.eye(k), centering_matrix(d // k)) if NORMS[norm].centered else np.eye(d)
    radius = slider("g") if norm == "weightnorm" else sqrt(d // k)
    return Pipeline((Affine(centre), Normalize(radius, groups=np.arange(d).reshape(k, -1).tolist())))


def apply(norm: str, x: np.ndarray) -> np.ndarray:
    """The points x (n, d), normalised by a function of `geometry.norms` with ε = 0.

    BatchNorm is computed as in training, WeightNorm with g = 1.5, and DyT with α = 1; sliders have no effect.
    """
    cut = x.reshape(len(x), blocks(norm, x.shape[1]), -1) if NORMS[norm].blocks else x
    return NORMS[norm].apply(cut).reshape(x.shape)


def surface(norm: str, d: int) -> str:
    """The set in which a norm's output vectors lie, in words, such as "a sphere" or "8 points"."""
    k = blocks(norm, d)
    sphere = d // k - 1 - NORMS[norm].centered
    if not NORMS[norm].sphere:
        return "inside a cube" if norm == "dyt" else "still a cloud"
    if sphere == 0:
        return f"{2**k} points"
    one = "a circle" if sphere == 1 else "a sphere" if sphere == 2 else f"a {sphere}-sphere"
    return one if k == 1 else "a torus" if sphere == 1 else "sphere × sphere"


def display(norm: str, d: int) -> tuple[np.ndarray, Row | None]:
    """The directions (3, d) whose coordinates the picture shows, and a `Row` of divisors, or None.

    For a torus, the coordinates of each point are divided by the value of the row, √d + the fourth
    coordinate. This makes the projection stereographic. Otherwise the row is None.
    """
    up = [upright_basis(m) for m in (2, 3)]
    if (norm, d) in TORI:
        a, b = np.kron(np.eye(2)[:, None], up[1][:2] if d == 6 else up[0][::-1])
        return TORUS_SCALE * np.vstack([a, b[:1]]), Row(tuple(b[1]), offset=sqrt(d))
    if d == 3:
        return up[1], None
    if (norm, d) == ("blockrms", 6):
        return np.eye(3, 6), None
    differences = np.kron(np.eye(d // 2), up[0][0])
    return (differences if d == 6 else np.vstack([differences, [0.5, 0.5, -0.5, -0.5]])), None


def guides(norm: str, d: int, side: str, through: Pipeline) -> list[Part]:
    """The surface on which the points land, if there is one. If d = 3, also the axes and the line along 𝟏.

    DyT with d = 3 has the edges of a cube instead, because its points land inside the cube. side: "left" or
    "right"; the names of all clouds begin with it. through: the steps of the norm; the last of them is
    applied to the surface (but not to the cube), to give it the right size.
    """
    parts: list[Part] = []
    directions, over = display(norm, d)
    show = rows(directions, over=over)

    def add(kind: type[Mark], role: str, shape: Any, **look: Any) -> None:
        parts.append(draw(f"{side} {role} {kind.__name__.lower()}", kind, role, show, shape, **look))

    if d == 3:
        names = (f"{side} axis line", f"{side} axis labels")
        parts += axes(show, ["x₁", "x₂", "x₃"], 0, 1.9, 2.05, names=names, opacity=0.6)
        half, names = 1.45 * sqrt(3), (f"{side} mean-direction line", f"{side} mean-direction labels")
        parts += mean_line(show, 3, half, 1.6 * sqrt(3), names=names, size=3, opacity=0.6)
    if norm == "dyt" and d == 3:
        add(Line, "sphere", clouds.cube_edges(), size=3)
    if not NORMS[norm].sphere:
        return parts
    k, last = blocks(norm, d), through.steps[-1:]
    basis = hyperplane_basis(d // k) if NORMS[norm].centered else np.eye(d // k)
    if len(basis) == 1:
        points = np.kron(np.array(list(product((-1.0, 1), repeat=k))), basis)
        add(Points, "meeting", points, place=last, size=16, glyph="ring", opacity=0.9)
    if len(basis) == 2:
        t = np.linspace(0, 2 * np.pi, 65)
        circle = np.stack([np.cos(t), np.sin(t)], -1) @ basis
        if k == 1:
            add(Line, "meeting", (circle, np.arange(65)), place=last, size=5)
        else:
            torus = np.concatenate(np.broadcast_arrays(circle[:, None], circle[None]), -1)
            lines = np.concatenate([torus[::4].reshape(-1, d), torus[:, ::4].swapaxes(0, 1).reshape(-1, d)])
            mesh = (torus.reshape(-1, d), clouds.grid_mesh(65, 65))
            add(Mesh, "sphere", mesh, place=last, opacity=0.14)
            add(Line, "sphere", (lines, clouds.joined([65] * 34)), place=last, size=1, opacity=0.5)
    if d == 3 or len(basis) > 2:
        names = (f"{side} sphere mesh", f"{side} sphere line")
        parts += globe(show, directions, names=names, place=last)
    return parts


def picture(norm: str, cloud: Cloud, around: list[Part]) -> View:
    """The view of the cloud of points, and of the parts `around` them, which `guides` returns.

    Each point is coloured by an angle of its input. For d = 4 this is the polar angle of the first two
    coordinates. Otherwise the first three are projected to the plane orthogonal to (1, 1, 1), and the angle
    is measured there.
    """
    x, d = cloud.points, cloud.points.shape[1]
    directions, over = display(norm, d)
    first = x[:, :2] if d == 4 else x[:, :3] @ hyperplane_basis(3).T
    color = angle(first, "direction in the plane ⟂ 𝟏" if d == 3 else "direction in the first block")
    layers = (*split(*around)[1], *clickable_points(cloud, rows(directions, over=over), color))
    return space(cloud.name, f"{TITLES[norm]}: {surface(norm, d)}", layers, camera=CAMERA)


def groups_view(chosen: Mapping[str, str], d: int) -> tuple[View, tuple[Cloud, ...]]:
    """View of two small tables of numbers, one for each of the two normalisation layers.

    In each table one group is marked: numbers that the layer averages together. `chosen` maps each side of
    the scene, "left" and "right", to its normalisation layer.
    """
    found, cells = split(*(part for side, norm in chosen.items() for part in tensor(norm, d, side)))
    paper = ((0.5, 2 * d + 5.9), (-TABLE_ROWS - 1.4, -0.3))
    return View("tensor", "Rows are points; violet: one group", cells, paper, dims=2, strip=True), found


def numbers_view(
    chosen: Mapping[str, str], x: np.ndarray, pipelines: Mapping[str, Pipeline]
) -> tuple[View, tuple[Cloud, ...]]:
    """Graph of single numbers: each component of a point now, against the same component at the start.

    It shows the first NUMBERED_POINTS of the points `x`, for both norms. For the norm on the left, each of
    the first JOINED_POINTS has a line that joins its components. chosen, pipelines: the name of the norm on
    each side ("left" and "right"), and its steps.
    """
    some, d = x[:NUMBERED_POINTS], x.shape[1]
    show, few = rows(np.eye(2, 2 * d + 2)), range(min(len(some), JOINED_POINTS))
    order = np.array([k for i in few for k in (*(d * i + np.argsort(some[i])), -1)][:-1])
    made = [Cloud(f"{side} numbers", *numbers(some, pipelines[side].steps)) for side in chosen]
    left, right = (cloud.name for cloud in made)
    marks = (
        Points(left, "input", show, TITLES[chosen["left"]], size=3),
        Points(right, "other", show, TITLES[chosen["right"]], size=3, glyph="square"),
        Line(left, "ink", show, "one point", order=order, size=2),
    )
    sides = ("a number before", -1.4, 2.2), ("the same number now", -2.6, 2.6)
    return graph("numbers", "Output against input", marks, *sides), tuple(made)


def numbers(x: np.ndarray, steps: Sequence[Step]) -> tuple[np.ndarray, Pipeline, Pipeline]:
    """Points, pipeline and place of a cloud that has a point for each component of each vector of x (n, d).

    A given point is (v, eᵢ): a vector v of x, and the unit vector that selects component i. The place
    replaces v by c·v + b, with the parameters c and b, and extends the point to (start, now, v, eᵢ). `start`
    and `now` are component i of v. Each step is applied to v, and then `now` is computed again.
    """
    n, d = x.shape
    at = np.eye(2 * d + 2)
    picked = Pipeline((Product([(i, d + i) for i in range(d)]), Affine(np.ones((1, d)))))
    move = Affine(
        Entries(np.diag([*np.zeros(d), *np.ones(d)]), {"c": np.diag([*np.ones(d), *np.zeros(d)])}),
        Entries(np.zeros(2 * d), {"b": np.array([*np.ones(d), *np.zeros(d)])}),
    )

    def applied(step: Step) -> Branches:
        vector = Pipeline((Affine(at[2 : d + 2]), step))
        both = Branches((vector, Pipeline((Affine(at[d + 2 :]),))), "concat")
        now = Pipeline((both, Branches((picked, Pipeline(())), "concat")))
        return Branches((Pipeline((Affine(at[:1]),)), now), "concat")

    points = np.hstack([np.repeat(x, d, axis=0), np.tile(np.eye(d), (n, 1))])
    return (
        points,
        Pipeline(tuple(map(applied, steps))),
        Pipeline((move, Branches((picked, picked, Pipeline(())), "concat"))),
    )


def tensor(norm: str, d: int, side: str) -> list[Part]:
    """A table of dots, whose rows are points and whose columns are their coordinates, in blocks.

    One group of numbers that the norm averages together is marked. `side` is "left" or "right".
    """
    k, left = blocks(norm, d), 2.2 + (d + 2) * (side == "right")
    i, j = np.indices((TABLE_ROWS, d)).reshape(2, -1)
    group = {"batchnorm": j == 0, "dyt": (i == 1) & (j == 0)}.get(norm, (i == 1) & (j < d // k))
    x = left + j + 0.4 * (j // (d // k) - (k - 1) / 2)
    cells, show = np.column_stack([x, -i - 1.7]), rows(np.eye(2))
    middle = np.array([[left + (d - 1) / 2, -0.8]])
    return [
        draw(f"{side} cells", Points, "axis", show, cells, size=9, opacity=0.45),
        draw(f"{side} group", Points, "sphere", show, cells[group], size=15),
        draw(f"{side} title", Labels, "ink", show, middle, labels=[TITLES[norm]]),
    ]


def facts(chosen: tuple[str, ...], x: np.ndarray) -> Facts:
    """Table of what each layer in `chosen` averages over and ignores, and of the surface that it maps to.

    Some rows are measured at the first of the points `x` (n, d): whether its output stays the same if 0.7·𝟏
    is added to it, if it is scaled, or if the other points are doubled; and how many dimensions the outputs
    of the points near it have.
    """
    d = x.shape[1]

    def at_first(norm: str, first: np.ndarray, others: float = 1.0) -> np.ndarray:
        return apply(norm, np.vstack([first, others * x[1:]]))[0]

    def stays(norm: str, first: np.ndarray, others: float = 1.0) -> str:
        return (
            "stays" if np.abs(at_first(norm, first, others) - at_first(norm, x[0])).max() < SAME else "moves"
        )

    lines = {
        "averages over": lambda norm: NORMS[norm].averaged,
        "for x + 0.7·𝟏": lambda norm: stays(norm, x[0] + 0.7),
        "for 1.7·x": lambda norm: stays(norm, 1.7 * x[0]),
        "other points doubled": lambda norm: stays(norm, x[0], 2.0),
        "dimensions left": lambda norm: str(image_dimension(partial(at_first, norm), x[0])),
        "lands on": lambda norm: surface(norm, d),
        "coordinates drawn": lambda norm: (
            f"all {d}" if d == 3 else "stereographic" if (norm, d) in TORI else f"3 of {d}"
        ),
    }
    table = [(words, *(measure(norm) for norm in chosen)) for words, measure in lines.items()]
    title = "Measured at the first point x of this cloud: does its output stay the same?"
    return Facts(title, ("", *(TITLES[norm] for norm in chosen)), table)
