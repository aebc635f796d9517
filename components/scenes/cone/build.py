"""The recipe of the norm as a central projection: cones, conic sections and great circles.

A flat round sheet of points lies above the origin, and the norm maps it to a part of the sphere. After
the norm, a plane ⟨n, z⟩ = cos α separates two classes; a slider turns n in the plane of x₁ and x₃.
"""

import numpy as np

from components.language.cloud import Cloud, Row, rows
from components.language.marks import Color, Disc, Drag, Field, Line, Points, Rim, Sheet, Turn
from components.language.recipe import Number, Parameter, Recipe, View
from components.language.scene import Choices
from components.scenes.cone.layers import layers
from components.scenes.cone.networks import Found
from components.scenes.scenery import Look, Part, draw, globe, space, split, square
from geometry import Affine, Branches, Entries, Normalize, Pipeline, Pointwise, Product, Track, clouds
from geometry.pipeline import Step

HEIGHT, RADIUS = 0.6, 1.15  # of the sheet
LONGEST = float(np.hypot(HEIGHT, RADIUS))  # from the origin to the edge of the sheet
RINGS, AROUND, SIDE = 14, 65, 90  # of the sheet; points of the field along one side
REACH = 1.23
HANDS = 0.8  # coordinates of the handles on the sheet: even the corners (0.8, 0.8) are inside its edge
STEEP = 0.01  # the value from which on a colour is fully saturated
CAMERA = (0.65, -1.15, 0.6)
SHOW = rows(np.eye(3))
ANGLES = np.arange(0.0, 181.0)  # where cosines are exact; interpolated linearly between them
NORM = Pipeline((Normalize(),))


def build(choices: Choices, found: Found = ()) -> Recipe:
    if choices["what"] == "layers":
        return layers(found)
    return cut() if choices["what"] == "cut" else lines()


def wave(of_cosine: np.ndarray, of_sine: np.ndarray) -> Track:
    """A track of a·cos θ + b·sin θ over the ANGLES θ in degrees; a = `of_cosine`, b = `of_sine`."""
    angle = np.radians(ANGLES)[(...,) + (None,) * of_cosine.ndim]
    return Track(ANGLES, np.cos(angle) * of_cosine + np.sin(angle) * of_sine)


def sheet_grid() -> np.ndarray:
    """Points (N, 3) of the sheet, the disc at HEIGHT, on rings around its centre."""
    r, angle = np.meshgrid(np.linspace(0, RADIUS, RINGS), np.linspace(0, 2 * np.pi, AROUND), indexing="ij")
    return np.stack([r * np.cos(angle), r * np.sin(angle), np.full_like(r, HEIGHT)], -1).reshape(-1, 3)


# --- a plane after the norm


def score() -> tuple[Step, ...]:
    """z ↦ ⟨n, z⟩ − cos α, whose sign is the class: n from the slider "axis", α from "opening"."""
    n = wave(np.array([[1.0, 0, 0]]), np.array([[0, 0, 1.0]]))
    level = wave(np.array([-1.0]), np.array([0.0]))
    return (Affine(Entries(np.zeros((1, 3)), tracks={"axis": n}), Entries([0.0], tracks={"opening": level})),)


def cut_circle() -> tuple[Step, ...]:
    """(1, cos φ, sin φ) ↦ the point of the circle of the cut at φ."""
    spread = wave(np.diag([1.0, 0, 0]), np.diag([0, 1.0, 1.0]))
    turned = wave(
        np.array([[1.0, 0, 0], [0, 0, 0], [0, -1, 0]]), np.array([[0, 1.0, 0], [0, 0, 0], [1, 0, 0]])
    )
    across = np.zeros((3, 3))
    across[1, 2] = 1
    return (
        Affine(Entries(np.zeros((3, 3)), tracks={"opening": spread})),
        Affine(Entries(across, tracks={"axis": turned})),
        Normalize(),
    )


def cone() -> tuple[Step, ...]:
    """(1, cos φ, sin φ, t) ↦ t times the ray through the circle at φ, up to the sheet.

    A ray that misses the sheet ends at the distance LONGEST.
    """
    eye = np.eye(4)
    circle = Pipeline((Affine(eye[:3]), *cut_circle()))
    least = HEIGHT / LONGEST
    length = (
        Affine([[0, 0, 1.0]], [-least]),
        Pointwise("relu"),
        Affine([[1 / HEIGHT]], [least / HEIGHT]),
        Pointwise("reciprocal"),
    )
    whole = Branches((circle, Pipeline((*circle.steps, *length)), Pipeline((Affine(eye[3:]),))), "concat")
    return (whole, Product([(i, 3, 4) for i in range(3)]))


def cut() -> Recipe:
    phi = np.linspace(0, 2 * np.pi, AROUND)
    ring = np.stack([np.ones_like(phi), np.cos(phi), np.sin(phi)], -1)
    both = np.vstack([np.column_stack([ring, np.full(AROUND, t)]) for t in (0.0, 1.0)])
    value = Pipeline((*NORM.steps, *score()))
    valued = (Branches((Pipeline(()), value), "concat"),)
    keep = Pipeline((Normalize(groups=((0, 1, 2),)),))
    color = Color("diverging", -STEEP, STEEP, Row((0.0, 0.0, 0.0, 1.0), stage=0))
    x, y = np.meshgrid(*[np.linspace(-RADIUS, RADIUS, SIDE)] * 2)
    square_grid = np.stack([x, y, np.full_like(x, HEIGHT)], -1).reshape(-1, 3)
    shown, marks = split(
        *globe(SHOW, np.eye(3), mesh=0.12, net=0.3),
        draw(
            "cone",
            Sheet,
            "ellipsoid",
            SHOW,
            both,
            "the cone",
            place=cone(),
            steps=NORM.steps,
            grid=(2, AROUND),
            opacity=0.3,
        ),
        (
            Cloud("sheet", sheet_grid(), keep, Pipeline(valued)),
            Sheet("sheet", "hyperplane", rows(np.eye(3, 4)), grid=(RINGS, AROUND), color=color, opacity=0.55),
        ),
        draw(
            "rim",
            Line,
            "meeting",
            SHOW,
            both[AROUND:],
            "where the decision changes",
            place=cone(),
            steps=NORM.steps,
            size=5,
        ),
        (
            Cloud("plane", np.vstack([np.zeros(3), np.eye(3)]), place=Pipeline(score())),
            Disc("plane", "hyperplane", SHOW, "the plane", radius=1.0, opacity=0.4, fade=[0.0, 1.0]),
        ),
    )
    field = Cloud("field", square_grid, place=value)
    from_above = Field(
        "field",
        "hyperplane",
        (),
        columns=SIDE,
        color=Color("diverging", -STEEP, STEEP, Row((1.0,))),
        opacity=0.8,
    )
    side_clouds, side = split(*side_view())
    return Recipe(
        stages=("before the norm", "normalised"),
        parameters=(
            Parameter(
                "axis", "direction of n", 75, 20, 160, 1, symbol="n", about="in degrees; 90 is upright"
            ),
            Parameter(
                "opening", "opening α", 45, 10, 60, 1, symbol="α", about="of the cone, in degrees from n"
            ),
        ),
        clouds=(*shown, field, *side_clouds, eccentricity()),
        views=(
            space("space", "", marks, camera=CAMERA, reach=REACH),
            View("side", "From the side", side, ((-REACH, REACH),) * 2, 2),
            View("above", "On the sheet", (from_above,), ((-RADIUS, RADIUS),) * 2, 2, ("x₁", "x₂")),
        ),
        formula=r"\langle n, \tfrac{x}{\lVert x \rVert} \rangle = \cos α",
        readouts=(Number("Eccentricity", "eccentricity", Row((1.0,)), digits=2),),
    )


def eccentricity() -> Cloud:
    """|cos of the axis' angle| / cos α: below 1 an ellipse, 1 a parabola, above it a hyperbola."""
    one = np.array([[1.0]])
    axis = Affine(Entries([[0.0]], tracks={"axis": wave(one, 0 * one)}))
    level = Affine(Entries([[0.0]], tracks={"opening": wave(one, 0 * one)}))
    both = Branches(
        (Pipeline((axis, Pointwise("abs"))), Pipeline((level, Pointwise("reciprocal")))), "concat"
    )
    return Cloud("eccentricity", one, place=Pipeline((both, Product([(0, 1)]))))


def side_view() -> list[Part]:
    """Marks of the circle, the sheet as a line, the draggable arrow n, and the two edges of the cone."""
    flat = rows(np.eye(3)[[0, 2]])
    tip = Pipeline(
        (
            Affine(
                Entries(
                    np.zeros((3, 1)),
                    tracks={"axis": wave(np.array([[1.0], [0], [0]]), np.array([[0], [0], [1.0]]))},
                )
            ),
        )
    )
    level = np.array([[-RADIUS, 0, HEIGHT], [RADIUS, 0, HEIGHT]])
    edges = np.array([[1.0, 1, 0, 0], [1, 1, 0, 1], [1, -1, 0, 0], [1, -1, 0, 1]])
    long = Affine(LONGEST * np.eye(3))
    rays = Branches(
        (Pipeline((Affine(np.eye(3, 4)), *cut_circle(), long)), Pipeline((Affine(np.eye(4)[3:]),))), "concat"
    )
    return [
        draw("side circle", Line, "sphere", flat, clouds.circle(96, *np.eye(3)[[0, 2]]), size=2),
        draw("side sheet", Line, "hyperplane", flat, level, "the sheet", size=4),
        draw(
            "edges",
            Line,
            "ellipsoid",
            flat,
            (edges, np.array([0, 1, -1, 2, 3])),
            "edges of the cone",
            place=(rays, Product([(0, 3), (1, 3), (2, 3)])),
            size=3,
        ),
        draw("arrow", Line, "query", flat, np.array([[0.0], [1.0]]), place=tip.steps, size=4, arrow=0.15),
        draw(
            "tip",
            Points,
            "query",
            flat,
            np.array([[1.0]]),
            "n",
            place=tip.steps,
            size=9,
            hand=Turn("axis"),
            hint="drag it",
        ),
    ]


# --- lines before the norm


def two_ways() -> np.ndarray:
    """Points (N, 3) of a path: (t, 1, 0) with t from 1 to 0, then (t, 0, 1) with t from 0 to 1."""
    t = np.linspace(0, 1, 81)
    there, back = np.ones_like(t), np.zeros_like(t)
    return np.concatenate([np.stack([t, there, back], -1)[::-1], np.stack([t, back, there], -1)[1:]])


def to_edge(ways: Entries, start: Entries) -> tuple[Step, ...]:
    """(t, a, b) ↦ the start + t times the way to the edge of the sheet in the direction ways·(t, a, b).

    In a direction u of length 1 the edge is −p + √(p² + RADIUS² − ‖start‖²) away, p = ⟨start, u⟩. start (2,):
    a point of the sheet; ways: (2, 3).
    """
    same = Pipeline(())
    direction = Pipeline((Affine(ways), Normalize()))
    along = Pipeline((Product([(1, 3), (2, 4)]), Affine([[-1.0, -1]])))
    root = Pipeline(
        (Product([(5, 5), (3, 3), (4, 4)]), Affine([[1.0, -1, -1]], [RADIUS**2]), Pointwise("sqrt"))
    )
    length = np.eye(6, 7)
    length[5, 6] = 1
    return (
        Branches(
            (Pipeline((Affine(np.eye(1, 3)),)), direction, Pipeline((Affine(np.zeros((2, 3)), start),))),
            "concat",
        ),
        Branches((same, along), "concat"),
        Branches((same, root), "concat"),
        Affine(length),
        Product([(0, 5, 1), (0, 5, 2), (3,), (4,)]),
        Affine([[1.0, 0, 1, 0], [0, 1, 0, 1], [0, 0, 0, 0]], [0, 0, HEIGHT]),
    )


def lines() -> Recipe:
    straight = to_edge(Entries([[0.0, 0, 0], [0, -1, 1]]), Entries([0.0, 0], {"a": [1.0, 0]}))
    bent = to_edge(
        Entries([[0.0, -1, 1], [0, 0, 0]], {"w": [[0.0, 0, 0], [0, 0, 1]]}),
        Entries([0.0, 0], {"u": [1.0, 0], "v": [0, 1.0]}),
    )
    angle = np.linspace(-np.pi / 2, np.pi / 2, AROUND)
    whole = Affine(Entries([[0.0, 0], [0, 1], [HEIGHT, 0]], {"a": [[1.0, 0], [0, 0], [0, 0]]}))
    held = Affine(np.zeros((3, 1)), Entries([0, 0, HEIGHT], {"a": [1.0, 0, 0], "s": [0, 1.0, 0]}))
    kink = Affine(np.zeros((3, 1)), Entries([0, 0, HEIGHT], {"u": [1.0, 0, 0], "v": [0, 1.0, 0]}))
    through = Affine(Entries([[HEIGHT, 0, 0]], {"a": [[0, 0, -1.0]]}))
    top, one = rows(np.eye(2, 3), stage=0), np.ones((1, 1))
    look: Look = {"steps": NORM.steps}
    shown, marks = split(
        *globe(SHOW, np.eye(3), mesh=0.12, net=0.3),
        draw(
            "sheet",
            Sheet,
            "hyperplane",
            SHOW,
            sheet_grid(),
            "the sheet",
            grid=(RINGS, AROUND),
            opacity=0.25,
            **look,
        ),
        draw("line", Line, "input", SHOW, two_ways(), "a straight line", place=straight, size=6, **look),
        draw("bent line", Line, "other", SHOW, two_ways(), "a bent line", place=bent, size=6, **look),
        (
            Cloud("plane", np.vstack([np.zeros(3), np.eye(3)]), place=Pipeline((through,))),
            Rim("plane", "input", SHOW, radius=1.0, size=2, dash="dot", opacity=0.7),
        ),
        draw(
            "half",
            Line,
            "input",
            SHOW,
            np.stack([np.cos(angle), np.sin(angle)], -1),
            "half of its great circle",
            place=(whole, Normalize()),
            size=2.5,
        ),
        draw("far ends", Points, "input", SHOW, np.array([[0.0, -1, 0], [0, 1, 0]]), size=7),
    )
    handles, over = split(
        draw(
            "edge",
            Line,
            "hyperplane",
            rows(np.eye(2, 3)),
            clouds.circle(96, *RADIUS * np.eye(3)[:2]),
            size=1.5,
        ),
        (Line("line", "input", top, size=3), Line("bent line", "other", top, size=3)),
        *(
            draw(name, Points, role, top, one, title, place=(step,), size=9, hand=hand, hint="drag it")
            for name, role, title, step, hand in (
                ("held", "input", "the line", held, Drag("a", "s")),
                ("kink", "other", "the kink", kink, Drag("u", "v")),
            )
        ),
    )
    return Recipe(
        stages=("before the norm", "normalised"),
        parameters=(
            Parameter("a", "place of the line", 0.4, -HANDS, HANDS, about="its x₁"),
            Parameter("s", "where it is held", 0.6, -HANDS, HANDS, quiet=True),
            Parameter("u", "kink across", -0.3, -HANDS, HANDS, about="x₁ of the kink"),
            Parameter("v", "kink up", -0.6, -HANDS, HANDS, about="x₂ of the kink"),
            Parameter("w", "slope", 1, -3, 3, about="of the bent line after the kink; before it 0"),
        ),
        clouds=(*shown, *handles),
        views=(
            space("space", "", marks, camera=CAMERA, reach=REACH),
            square("above", "On the sheet", over, REACH),
        ),
        formula=r"x \mapsto \frac{x}{\lVert x \rVert}",
    )
