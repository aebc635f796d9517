"""The recipe of the shear: a sphere and a cube, their shadows, and the map of the plane that a shadow makes.

The shear slides the coordinate `onto` by s times the coordinate `by`. The light falls along `by`, so the
shadow has the two others: the sheared one, u, against the one that stays, v. What the light hides is
h = ±√(r² − u² − v²), and the shadow's map is (u, v) ↦ (u + s·h, v). Clouds are made as (u, v, h) on the unit
sphere and turned to (x, y, z).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from components.recipe import Cloud, Layer, Parameter, Recipe, Residual, Row, Table, View, rows
from components.scene import Choices
from geometry import Affine, Entries, Normalize, Pipeline, Pointwise, clouds

AXES, ONE = "xyz", np.eye(3)
REACH, WALL, FRAME, CUBE = 2.2, 1.7, 1.5, 0.75
FAR = (-1, 1, -1)  # the side of each axis that is away from the camera
MAP = ((-REACH, REACH), (-1.6, 1.6))
CAMERA = (0.95, -1.0, 0.5)
HALVES = {"upper": (1, "input"), "lower": (-1, "other")}  # the sign of h, and a role
AXIS_ENDS, AXIS_ORDER = clouds.segments(1.5 * np.stack([-ONE, ONE], 1))
ROUNDING = 1e-9  # of the equator's height
RESIDUAL = "Largest distance between the sheared points and the formula"


def build(choices: Choices) -> Recipe:
    onto, by = (AXES.index(name) for name in choices["pair"].split("-"))
    stays = 3 - onto - by
    turn, (u, v, h) = ONE[[onto, stays, by]], (AXES[i] for i in (onto, stays, by))
    space, plane = rows(ONE), rows(ONE[[onto, stays]])
    wall = tuple(Row((0.0,), offset=FAR[by] * WALL) if i == by else row for i, row in enumerate(space))
    shear = Affine(Entries(ONE, {"s": np.outer(ONE[onto], ONE[by])}))
    back = Normalize(radius=Entries(0.0, {"r": 1.0}))
    halves = [name for name in HALVES if choices["branch"] in (name, "both")]
    dots, signs = lattice([HALVES[name][0] for name in halves])
    lines = {
        "rim": (clouds.ring(96, *ONE[:2]), clouds.closed(96)),
        "net": clouds.graticule(parallels=8, fine=64),
    }
    for name, (sign, _) in HALVES.items():
        lines |= {f"{name} grid": half_circles(sign), f"{name} face": face(sign)}
    edges = [[[a, b, -1], [a, b, 1]] for a in (-1, 1) for b in (-1, 1)]
    lines["edges"] = clouds.segments(CUBE * np.array(edges))
    heads = np.column_stack([np.hypot(*dots[:, :2].T), signs, dots[:, :2]])
    ball, triangles = clouds.sphere_mesh()

    def cloud(name: str, points: np.ndarray) -> Cloud:
        """Of (u, v, h); a cube and the points that the formula is compared with are sheared only."""
        steps = (shear,) if name.endswith(("face", "edges", "sheared")) else (shear, back)
        return Cloud(name, points @ turn, Pipeline(steps), Pipeline((Affine(Entries(0 * ONE, {"r": ONE})),)))

    def line(name: str, role: str, at: tuple[Row, ...], **look: Any) -> Layer:
        return Layer(name, "line", role, at, **({"order": lines[name][1]} | look))

    net, order = lines["net"]
    image = rf"{u} \pm s\sqrt{{r^2 - {u}^2 - {v}^2}}"
    half = {name: np.where(sign * net[order, 2] > -ROUNDING, order, -1) for name, (sign, _) in HALVES.items()}
    titles = {"upper": f"{h} ≥ 0", "lower": f"{h} ≤ 0"}
    around = (
        Layer("axes", "line", "axis", space, order=AXIS_ORDER, size=1.5, opacity=0.5),
        Layer("names", "labels", "axis", space),
        Layer("frame", "line", "axis", wall, order=clouds.closed(4), size=2, opacity=0.5),
    )
    hero = (
        *around,
        Layer("sphere", "mesh", "sphere", space, order=triangles, opacity=0.1),
        *(line("net", HALVES[k][1], space, title=titles[k], order=half[k], size=3) for k in HALVES),
        *(line("net", HALVES[k][1], wall, order=half[k], size=2, opacity=0.75) for k in HALVES),
        line("rim", "axis", before(wall), title="the shadow before", size=4),
        *(layer for at in (space, wall) for layer in followed(at)),
    )
    straight = (
        *around,
        *(
            line(f"{k} face", HALVES[k][1], at, size=size)
            for k in HALVES
            for at, size in ((space, 3), (wall, 2))
        ),
        line("edges", "sphere", space, size=3),
    )
    flat = (
        line("rim", "axis", before(plane), size=3),
        line("upper grid", "axis", before(plane), size=1.5, opacity=0.35),
        *(line(f"{name} grid", HALVES[name][1], plane, size=3, opacity=0.8) for name in halves),
        Layer("dots", "trail", "trail", plane, size=3),
        Layer("dots", "points", "trail", plane, "where a point goes", size=6, pick=True),
        Layer("formula", "points", "formula", plane, "the formula", size=11, hollow=True, fade=[0, 1, 0]),
        *followed(plane),
    )
    sink = 0.35 * FAR[by] * ONE[by]  # the wall belongs in the picture too
    cubic = tuple((at - REACH, at + REACH) for at in sink)
    return Recipe(
        stages=("sphere", "sheared", "re-normalised"),
        parameters=(
            Parameter("s", "shear s", 0.8, -1.2, 1.2, about=f"how far {u} slides for each unit of {h}"),
            Parameter("r", "radius r", 1.2, 0.4, 1.4, about="of the sphere; the cube grows with it"),
        ),
        clouds=(
            *(cloud(name, points) for name, (points, _) in lines.items()),
            *(cloud(name, points) for name, points in (("sphere", ball), ("dots", dots), ("sheared", dots))),
            Cloud("formula", heads, place=closed_form(turn)),
            Cloud("frame", FRAME * np.array([[-1, -1, 0], [-1, 1, 0], [1, 1, 0], [1, -1, 0]]) @ turn),
            Cloud("axes", AXIS_ENDS),
            Cloud("names", 1.65 * ONE, labels=AXES),
        ),
        views=(
            View("sphere", f"The sphere, and its shadow on the {u}{v}-plane", hero, cubic, camera=CAMERA),
            View("cube", "A cube under the same shear", straight, cubic, camera=CAMERA),
            View("map", "The shadow as a map of the plane", flat, MAP, dims=2, axes=(u, v)),
        ),
        formula=rf"({u}, {v}) \mapsto \class{{stage-1 role-formula}}{{\left({image},\; {v}\right)}}",
        table=Table("dots", columns=("components", "norm")),
        readouts=(Residual(RESIDUAL, "sheared", "formula"),),
        progress=1,
        follow=len(dots) // len(halves) // 2,  # the middle
    )


def before(at: tuple[Row, ...]) -> tuple[Row, ...]:
    """The same rows before anything has moved."""
    return tuple(replace(row, stage=0) for row in at)


def followed(at: tuple[Row, ...]) -> list[Layer]:
    kinds = (("trail", 4), ("points", 9))
    return [Layer("dots", kind, "followed", at, only="followed", size=size) for kind, size in kinds]


def closed_form(turn: np.ndarray) -> Pipeline:
    """(ρ, ±1, u, v) → (u + s·h, v, h) turned; h by angles: sin(arcsin ρ ± π/2) = ±√(1 − ρ²)."""
    add = np.array([[0.0, 0, 1, 0], [0, 0, 0, 1], [1, 1, 0, 0]])
    slide = Affine(Entries(ONE, {"s": np.outer(ONE[0], ONE[2])}))
    grow = Affine(Entries(0 * ONE, {"r": ONE}))
    return Pipeline((Pointwise("arcsin"), Affine(add), Pointwise("sin"), grow, slide, Affine(turn.T)))


def lattice(signs: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Points (u, v, h) of the unit sphere over a lattice in the disc, on each half; and their signs."""
    flat = 0.29 * clouds.lattice(49, 2, half=3)
    flat = flat[(flat**2).sum(-1) < 0.9]
    sign, flat = np.repeat(signs, len(flat)), np.tile(flat, (len(signs), 1))
    return np.column_stack([flat, sign * np.sqrt(1 - (flat**2).sum(-1))]), sign


def half_circles(sign: int) -> tuple[np.ndarray, np.ndarray]:
    """The half of the unit sphere over the lines u = k and v = k of a grid in the disc."""
    k, t = np.meshgrid(np.linspace(-0.87, 0.87, 7), np.linspace(-np.pi / 2, np.pi / 2, 49), indexing="ij")
    along, h = np.sqrt(1 - k**2) * np.sin(t), sign * np.sqrt(1 - k**2) * np.cos(t)
    points = np.stack([np.stack([k, along, h], -1), np.stack([along, k, h], -1)])
    return points.reshape(-1, 3), clouds.joined(2 * len(k), k.shape[1])


def face(sign: int) -> tuple[np.ndarray, np.ndarray]:
    """The grid lines of the face h = ±CUBE of a cube."""
    k = np.linspace(-1, 1, 7)
    ends = np.stack(np.broadcast_arrays(k[:, None], [-1, 1], sign), -1)
    return clouds.segments(CUBE * np.concatenate([ends, ends[..., [1, 0, 2]]]))
