"""The recipe of the shear: a sphere and a cube, their shadows, and the map of the plane that a shadow makes.

The shear slides the coordinate `onto` by s times the coordinate `by`. The light falls along `by`, so the
shadow has the two others: the sheared one, u, against the one that stays, v. What the light hides is
h = ±√(r² − u² − v²), and the shadow's map is (u, v) ↦ (u + s·h, v). Shapes are made as (u, v, h) on the unit
sphere and turned to (x, y, z).
"""

import numpy as np

from components.recipe import Cloud, Layer, Parameter, Recipe, Residual, Table, View, rows
from components.scene import Choices
from components.scenery import Rows, axes, draw, followed, graph, lines, scaled, seen, slider, split, wall
from geometry import Affine, Normalize, Pipeline, clouds
from geometry.shear import shadow_coordinates, shadow_steps, shear_step

AXES, ONE = "xyz", np.eye(3)
REACH, WALL, FRAME, CUBE = 2.2, 1.7, 1.5, 0.75
FAR = (-1, 1, -1)  # the side of each axis that is away from the camera
CAMERA = (0.95, -1.0, 0.5)
SPACE, START = rows(ONE), rows(ONE, stage=0)
DASHES = {"upper": "solid", "lower": "dash"}  # in the map, where nothing but the colour would tell them apart
HALVES = {"upper": (1, "input"), "lower": (-1, "other")}  # sign of h, role
CORNERS = np.array([[-1, -1, 0], [-1, 1, 0], [1, 1, 0], [1, -1, 0]])
NET, CURVED = clouds.graticule(parallels=8, fine=64), {"rim": clouds.circle(96, *ONE[:2])}
CURVED |= {"net": NET, "sphere": clouds.sphere_mesh()}
CURVED |= {f"{k} grid": clouds.half_net(sign) for k, (sign, _) in HALVES.items()}
STRAIGHT = {f"{k} face": clouds.face_net(CUBE, sign) for k, (sign, _) in HALVES.items()}
STRAIGHT |= {"edges": clouds.segments(CUBE * (CORNERS[:, None] + np.outer((-1, 1), ONE[2])))}
RADIUS = Parameter("r", "radius r", 1.2, 0.4, 1.4, about="of the sphere; the cube grows with it")
MAP = "The shadow as a map of the plane"
RESIDUAL = Residual("Largest distance between the sheared points and the formula", "sheared", "formula")


def build(choices: Choices) -> Recipe:
    onto, by = (AXES.index(name) for name in choices["pair"].split("-"))
    place = [onto, 3 - onto - by, by]
    turn, (u, v, h) = ONE[place], (AXES[i] for i in place)
    halves = [k for k in HALVES if choices["branch"] in (k, "both")]
    dots = clouds.half_lattice([HALVES[k][0] for k in halves])
    shadow = wall(SPACE, by, FAR[by] * WALL)
    edge = (FRAME * CORNERS @ turn, clouds.closed(4))
    frame = draw("frame", "line", "axis", shadow, edge, size=2, opacity=0.5)
    guides, around = split(*axes(SPACE, AXES, -1.5, 1.5, 1.65, names=("axes", "names")), frame)
    cubic = tuple((at - REACH, at + REACH) for at in 0.35 * FAR[by] * ONE[by])  # with the wall in the picture
    image = rf"{u} \pm s\sqrt{{r^2 - {u}^2 - {v}^2}}"
    title = f"The sphere, and its shadow on the {u}{v}-plane"
    slides = f"how far {u} slides for each unit of {h}"
    ways = flat(halves, turn[:2], some=list(range(0, len(dots), 2)))
    return Recipe(
        stages=("sphere", "sheared", "re-normalised"),
        parameters=(Parameter("s", "shear s", 0.8, -1.2, 1.2, about=slides), RADIUS),
        clouds=(*moving(turn, shear_step("s", onto=onto, by=by), dots), *guides),
        views=(
            View("sphere", title, (*around, *sphere(h, shadow)), cubic, camera=CAMERA),
            View("cube", "A cube under the same shear", (*around, *cube(shadow)), cubic, camera=CAMERA),
            graph("map", MAP, ways, (u, -REACH, REACH), (v, -1.6, 1.6), equal=True),
        ),
        formula=rf"({u}, {v}) \mapsto \class{{stage-1 role-formula}}{{\left({image},\; {v}\right)}}",
        table=Table("dots", columns=("components", "norm")),
        readouts=(RESIDUAL,),
        progress=1,
        follow=len(dots) // len(halves) // 2,  # the middle
    )


def moving(turn: np.ndarray, shear: Affine, dots: np.ndarray) -> list[Cloud]:
    """What is sheared; what is curved goes back to the sphere. And the formula, without the shear."""
    grown, back = Pipeline((scaled(3, "r"),)), Pipeline((shear, Normalize(radius=slider("r"))))
    curved = {name: points for name, (points, _) in CURVED.items()} | {"dots": dots}
    straight = {name: points for name, (points, _) in STRAIGHT.items()} | {"sheared": dots}
    formula = Pipeline((*shadow_steps(s="s", r="r"), Affine(turn.T)))
    return [
        *(Cloud(name, x @ turn, back, grown) for name, x in curved.items()),
        *(Cloud(name, x @ turn, Pipeline((shear,)), grown) for name, x in straight.items()),
        Cloud("formula", shadow_coordinates(dots), place=formula),
    ]


def sphere(h: str, shadow: Rows) -> tuple[Layer, ...]:
    """The sphere with its graticule in two colours, and their shadows, now and before."""
    net = [
        Layer("net", "line", role, SPACE, f"{h} {'≥≤'[sign < 0]} 0", order=clouds.side(NET, 2, sign), size=3)
        for sign, role in HALVES.values()
    ]
    return (
        Layer("sphere", "mesh", "sphere", SPACE, order=CURVED["sphere"][1], opacity=0.1),
        *net,
        *seen(net, shadow, title="", size=2, opacity=0.75),
        *seen(lines({"rim": "axis"}, START, CURVED, title="the shadow before", size=4), shadow),
        *followed("dots", SPACE, size=9),
        *followed("dots", shadow, size=9),
    )


def cube(shadow: Rows) -> tuple[Layer, ...]:
    """The cube's two faces and their shadows."""
    faces = lines({f"{k} face": role for k, (_, role) in HALVES.items()}, SPACE, STRAIGHT, size=3)
    return (*faces, *seen(faces, shadow, size=2), *lines({"edges": "sphere"}, SPACE, STRAIGHT, size=3))


def flat(halves: list[str], plane: np.ndarray, some: list[int]) -> tuple[Layer, ...]:
    """The grid before, and where each half takes it; some points with their ways, and the formula."""
    now, before = rows(plane), rows(plane, stage=0)
    return (
        *lines({"rim": "axis"}, before, CURVED, size=3),
        *lines({"upper grid": "axis"}, before, CURVED, size=1.5, opacity=0.35),
        *(
            layer
            for k in halves
            for layer in lines({f"{k} grid": HALVES[k][1]}, now, CURVED, size=3, opacity=0.8, dash=DASHES[k])
        ),
        Layer("dots", "points", "trail", before, size=5, pick=True),
        Layer("dots", "trail", "ink", now, "where a point goes", only=some, size=2.5, opacity=0.8, arrow=0.2),
        Layer("formula", "points", "formula", now, "the formula", size=9, hollow=True, fade=[0, 1, 0]),
        *followed("dots", now, size=9),
    )
