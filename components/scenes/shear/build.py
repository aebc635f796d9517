"""The recipe of the shear: a sphere and a cube, their shadows, and the map of the plane that a shadow makes.

The shear slides the coordinate `onto` by s times the coordinate `by`. The light falls along `by`, so the
shadow has the two others: the sheared one, u, against the one that stays, v. What the light hides is
h = ±√(r² − u² − v²), and the shadow's map is (u, v) ↦ (u + s·h, v). Clouds are made as (u, v, h) on the unit
sphere and turned to (x, y, z).
"""

from dataclasses import replace
from typing import Any

import numpy as np

from components.recipe import Cloud, Layer, Parameter, Recipe, Residual, Row, Table, View, rows
from components.scene import Choices
from components.scenery import axes, draw, followed, scaled, slider, split
from geometry import Affine, Entries, Normalize, Pipeline, Pointwise, clouds

AXES, ONE = "xyz", np.eye(3)
REACH, WALL, FRAME, CUBE = 2.2, 1.7, 1.5, 0.75
FAR = (-1, 1, -1)  # the side of each axis that is away from the camera
MAP = ((-REACH, REACH), (-1.6, 1.6))
CAMERA = (0.95, -1.0, 0.5)
SIGN, ROLE = {"upper": 1, "lower": -1}, {"upper": "input", "lower": "other"}  # of the halves
CORNERS = np.array([[-1, -1, 0], [-1, 1, 0], [1, 1, 0], [1, -1, 0]])
ROUNDING = 1e-9  # of the equator's height
RESIDUAL = "Largest distance between the sheared points and the formula"


def build(choices: Choices) -> Recipe:
    onto, by = (AXES.index(name) for name in choices["pair"].split("-"))
    stays = 3 - onto - by
    turn, (u, v, h) = ONE[[onto, stays, by]], (AXES[i] for i in (onto, stays, by))
    space, plane = rows(ONE), rows(ONE[[onto, stays]])
    wall = tuple(Row((0.0,), offset=FAR[by] * WALL) if i == by else row for i, row in enumerate(space))
    wall_before, plane_before = (tuple(replace(row, stage=0) for row in at) for at in (wall, plane))
    halves = [k for k in SIGN if choices["branch"] in (k, "both")]
    dots = clouds.half_lattice([SIGN[k] for k in halves])
    rim, net = clouds.circle(96, *ONE[:2]), clouds.graticule(parallels=8, fine=64)
    ball, triangles = clouds.sphere_mesh()
    height = net[0][net[1], 2]
    half = {k: np.where(sign * height > -ROUNDING, net[1], -1) for k, sign in SIGN.items()}
    grids = {k: clouds.half_net(sign) for k, sign in SIGN.items()}
    faces = {k: clouds.face_net(CUBE, sign) for k, sign in SIGN.items()}
    pillars = clouds.segments(CUBE * (CORNERS[:, None] + np.outer((-1, 1), ONE[2])))
    edge = (FRAME * CORNERS @ turn, clouds.closed(4))
    frame = draw("frame", "line", "axis", wall, edge, size=2, opacity=0.5)
    named = axes(space, AXES, -1.5, 1.5, 1.65, names=("axes", "names"))
    guide_clouds, around = split(*named, frame)
    titles = {"upper": f"{h} ≥ 0", "lower": f"{h} ≤ 0"}
    hero = (
        *around,
        Layer("sphere", "mesh", "sphere", space, order=triangles, opacity=0.1),
        *(Layer("net", "line", ROLE[k], space, titles[k], order=half[k], size=3) for k in SIGN),
        *(Layer("net", "line", ROLE[k], wall, order=half[k], size=2, opacity=0.75) for k in SIGN),
        Layer("rim", "line", "axis", wall_before, "the shadow before", order=rim[1], size=4),
        *(layer for at in (space, wall) for layer in followed("dots", at, size=9)),
    )
    sizes = [(k, at, size) for k in SIGN for at, size in ((space, 3), (wall, 2))]
    cube = (
        *around,
        *(Layer(f"{k} face", "line", ROLE[k], at, order=faces[k][1], size=size) for k, at, size in sizes),
        Layer("edges", "line", "sphere", space, order=pillars[1], size=3),
    )
    firm: Any = {"size": 3, "opacity": 0.8}
    flat = (
        Layer("rim", "line", "axis", plane_before, order=rim[1], size=3),
        Layer("upper grid", "line", "axis", plane_before, order=grids["upper"][1], size=1.5, opacity=0.35),
        *(Layer(f"{k} grid", "line", ROLE[k], plane, order=grids[k][1], **firm) for k in halves),
        Layer("dots", "trail", "trail", plane, size=3),
        Layer("dots", "points", "trail", plane, "where a point goes", size=6, pick=True),
        Layer("formula", "points", "formula", plane, "the formula", size=11, hollow=True, fade=[0, 1, 0]),
        *followed("dots", plane, size=9),
    )
    shear = Affine(Entries(ONE, {"s": np.outer(ONE[onto], ONE[by])}))
    back, grown = Normalize(radius=slider("r")), Pipeline((scaled(3, "r"),))
    curved = {"rim": rim[0], "net": net[0], "sphere": ball, "dots": dots}
    curved |= {f"{k} grid": points for k, (points, _) in grids.items()}
    straight = {f"{k} face": points for k, (points, _) in faces.items()}
    straight |= {"edges": pillars[0], "sheared": dots}
    heads = np.column_stack([np.hypot(*dots[:, :2].T), np.sign(dots[:, 2]), dots[:, :2]])
    image = rf"{u} \pm s\sqrt{{r^2 - {u}^2 - {v}^2}}"
    sink = 0.35 * FAR[by] * ONE[by]  # the wall belongs in the picture too
    cubic = tuple((at - REACH, at + REACH) for at in sink)
    return Recipe(
        stages=("sphere", "sheared", "re-normalised"),
        parameters=(
            Parameter("s", "shear s", 0.8, -1.2, 1.2, about=f"how far {u} slides for each unit of {h}"),
            Parameter("r", "radius r", 1.2, 0.4, 1.4, about="of the sphere; the cube grows with it"),
        ),
        clouds=(
            *(Cloud(name, x @ turn, Pipeline((shear, back)), grown) for name, x in curved.items()),
            *(Cloud(name, x @ turn, Pipeline((shear,)), grown) for name, x in straight.items()),
            Cloud("formula", heads, place=closed_form(turn)),
            *guide_clouds,
        ),
        views=(
            View("sphere", f"The sphere, and its shadow on the {u}{v}-plane", hero, cubic, camera=CAMERA),
            View("cube", "A cube under the same shear", cube, cubic, camera=CAMERA),
            View("map", "The shadow as a map of the plane", flat, MAP, dims=2, axes=(u, v)),
        ),
        formula=rf"({u}, {v}) \mapsto \class{{stage-1 role-formula}}{{\left({image},\; {v}\right)}}",
        table=Table("dots", columns=("components", "norm")),
        readouts=(Residual(RESIDUAL, "sheared", "formula"),),
        progress=1,
        follow=len(dots) // len(halves) // 2,  # the middle
    )


def closed_form(turn: np.ndarray) -> Pipeline:
    """(ρ, ±1, u, v) → (u + s·h, v, h) turned; h by angles: sin(arcsin ρ ± π/2) = ±√(1 − ρ²)."""
    add = np.array([[0.0, 0, 1, 0], [0, 0, 0, 1], [1, 1, 0, 0]])
    slide = Affine(Entries(ONE, {"s": np.outer(ONE[0], ONE[2])}))
    steps = (Pointwise("arcsin"), Affine(add), Pointwise("sin"), scaled(3, "r"), slide, Affine(turn.T))
    return Pipeline(steps)
