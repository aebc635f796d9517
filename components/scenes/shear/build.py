"""Recipe of the scene `shear`: a sphere and a cube, their shadows, and the shadow as a mapping of the plane.

The shear adds s times the coordinate `by` to the coordinate `onto`. The light falls along `by`, so the shadow
keeps the two other coordinates: u = `onto`, which the shear changes, and v, which it does not. The third, h =
`by`, is ±√(r² − u² − v²) on the sphere and is lost in the shadow. The shear maps the shadow by (u, v) ↦ (u +
s·h, v). Shapes are made with coordinates (u, v, h) on the unit sphere; then the coordinates are permuted to
(x, y, z).
"""

import numpy as np

from components.language.cloud import Cloud, rows
from components.language.marks import Follow, Line, Mark, Mesh, Points, Trail
from components.language.recipe import Parameter, Recipe, Residual, Table, View
from components.language.scene import Choices
from components.scenes.scenery import Rows, axes, followed, graph, lines, scaled, seen, slider, split, wall
from components.scenes.shear import shapes
from geometry import Affine, Normalize, Pipeline, clouds
from geometry.shear import shadow_coordinates, shadow_steps, shear_step

AXES, IDENTITY = "xyz", np.eye(3)
U_HALF, V_HALF, WALL_AT, WALL_HALF, CUBE_HALF = 2.2, 1.45, 1.5, 1.3, 0.7  # U, V: of the map
FAR_SIDES = (-1, 1, -1)  # the side of each axis that is away from the camera
CAMERA = (0.95, -1.0, 0.5)
SPACE, START = rows(IDENTITY), rows(IDENTITY, stage=0)
HALVES = {"upper": (1, "input", "solid"), "lower": (-1, "other", "dash")}  # sign of h, role, dash in the map
BARS = clouds.segments(CUBE_HALF * np.array([[[a, b, -1], [a, b, 1]] for a in (-1, 1) for b in (-1, 1)]))
NET, RIM = clouds.graticule(parallels=8, fine=64), clouds.circle(96, *IDENTITY[:2])
SHAPES = {"sphere": clouds.sphere_mesh(), "net": NET, "rim": RIM, "edges": BARS}
SHAPES |= {f"{k} grid": shapes.half_net(sign) for k, (sign, *_) in HALVES.items()}
SHAPES |= {f"{k} face": shapes.face_net(CUBE_HALF, sign) for k, (sign, *_) in HALVES.items()}
STAY_SHEARED = ("edges", "upper face", "lower face", "sheared")  # not normalised at the last stage
RADIUS = Parameter("r", "radius r", 1.2, 0.4, 1.4, symbol="r", about="of the sphere; the cube grows with it")
RESIDUAL = Residual("Largest distance to the formula", "sheared", "formula")


def build(choices: Choices) -> Recipe:
    onto, by = (AXES.index(name) for name in choices["pair"].split("-"))
    turn, (shadow, edge) = (
        IDENTITY[[onto, 3 - onto - by, by]],
        wall(SPACE, by, FAR_SIDES[by] * WALL_AT, WALL_HALF),
    )
    u, v, h = (AXES[i] for i in turn.argmax(-1))
    halves = [k for k in HALVES if choices["branch"] in (k, "both")]
    dots = shapes.half_lattice([HALVES[k][0] for k in halves])
    guides, around = split(*axes(SPACE, AXES, -1.4, 1.4, 1.52, names=("axes", "names")), edge)
    slides, image = f"how far {u} slides for each unit of {h}", rf"{u} \pm s\sqrt{{r^2 - {u}^2 - {v}^2}}"
    title, plane = (
        f"The sphere, and its shadow on the {u}{v}-plane",
        ((u, -U_HALF, U_HALF), (v, -V_HALF, V_HALF)),
    )
    return Recipe(
        stages=("sphere", "sheared", "re-normalised"),
        parameters=(Parameter("s", "shear s", 0.8, -1.2, 1.2, symbol="s", about=slides), RADIUS),
        clouds=(*moving(turn, shear_step("s", onto=onto, by=by), dots), *guides),
        views=(
            View("sphere", title, (*around, *sphere(h, shadow)), camera=CAMERA),
            View("cube", "A cube under the same shear", (*around, *cube(shadow)), camera=CAMERA),
            graph("map", "The shadow as a map", flat(halves, turn[:2]), *plane, equal=True),
        ),
        formula=rf"({u}, {v}) \mapsto \class{{stage-1 role-formula}}{{\left({image},\; {v}\right)}}",
        table=Table("dots", columns=("components", "norm")),
        readouts=(RESIDUAL,),
        progress=1,
        follow=len(dots) // len(halves) // 2,  # the middle
    )


def moving(turn: np.ndarray, shear: Affine, dots: np.ndarray) -> list[Cloud]:
    """Clouds of all shapes under the shear, and of the points (u + s·h, v) that the formula gives for `dots`.

    A last step normalises the shapes back to the sphere, except those in STAY_SHEARED. turn: a matrix (3, 3),
    whose rows are the directions of the axes u, v and h. dots: points (N, 3) in the coordinates (u, v, h).
    """
    points = {name: shape[0] for name, shape in SHAPES.items()} | {"dots": dots, "sheared": dots}
    grown, once = Pipeline((scaled(3, "r"),)), Pipeline((shear,))
    back = Pipeline((shear, Normalize(radius=slider("r"))))
    formula = Pipeline((*shadow_steps(s="s", r="r"), Affine(turn.T)))
    sheared = (Cloud(k, x @ turn, once if k in STAY_SHEARED else back, grown) for k, x in points.items())
    return [*sheared, Cloud("formula", shadow_coordinates(dots), place=formula)]


def sphere(h: str, shadow: Rows) -> tuple[Mark, ...]:
    """Marks of the sphere and of its shadow now, and of the outline that the shadow had before the shear.

    The sphere's two halves differ in colour; `h` is the name of the axis between them.
    """
    net = [
        Line("net", role, SPACE, f"{h} {'≥≤'[sign < 0]} 0", order=shapes.side(NET, 2, sign), size=3)
        for sign, role, _ in HALVES.values()
    ]
    return (
        Mesh("sphere", "sphere", SPACE, triangles=SHAPES["sphere"][1], opacity=0.1),
        *net,
        *seen(net, shadow, title="", size=2, opacity=0.75),
        *seen(lines({"rim": "axis"}, START, SHAPES, title="the shadow before", size=4), shadow),
        *followed("dots", SPACE, size=9),
        *followed("dots", shadow, size=9),
    )


def cube(shadow: Rows) -> tuple[Mark, ...]:
    """Marks of the cube's edges, of two opposite faces, and of the shadows of these faces."""
    faces = lines({f"{k} face": role for k, (_, role, _) in HALVES.items()}, SPACE, SHAPES, size=3)
    return (*faces, *seen(faces, shadow, size=2), *lines({"edges": "sphere"}, SPACE, SHAPES, size=3))


def flat(halves: list[str], plane: np.ndarray) -> tuple[Mark, ...]:
    """Marks that show how the shear maps the shadow of the sphere in the plane.

    They are the grid before and after the shear, arrows from some points to their images, and these images as
    the formula (u + s·h, v) gives them. halves: the names of the halves of the sphere to show. plane: the
    weights (2, 3) of the display rows, which are the two axes of the plane.
    """
    now, before = rows(plane), rows(plane, stage=0)
    some, ways = range(0, 37 * len(halves), 2), "a path"
    found, look = ((f"{k} grid", *HALVES[k]) for k in halves), {"size": 3, "opacity": 0.8}
    grids = [x for name, _, role, dash in found for x in lines({name: role}, now, SHAPES, dash=dash, **look)]
    return (
        *lines({"rim": "axis"}, before, SHAPES, size=3),
        *lines({"upper grid": "axis"}, before, SHAPES, size=1.5, opacity=0.35),
        *grids,
        Points("dots", "trail", before, size=5, hand=Follow()),
        Trail("dots", "ink", now, ways, only=some, size=2.5, opacity=0.8, arrow=0.2),
        Points("formula", "formula", now, "the formula", size=9, glyph="ring", fade=[0, 1, 0]),
        *followed("dots", now, size=9),
    )
