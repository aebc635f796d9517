"""The recipe of a plane that separates two classes after the norm.

The plane is ⟨n, z⟩ = cos α. Before the norm the classes are separated by a cone around n with the half-angle
α: the norm maps all its points to the circle in which the plane cuts the unit sphere. Sliders turn n in the
plane of x₁ and x₃, and set α; n can also be dragged. Inputs are shown on a sheet: a level disc above the
origin.
"""

import numpy as np

from components.language.cloud import Cloud, Row, rows
from components.language.marks import Color, Disc, Field, Line, Points, Sheet, Turn
from components.language.recipe import Number, Parameter, Recipe, View
from components.scenes.cone.sheet import (
    AROUND,
    HEIGHT,
    LONGEST,
    NORM,
    RADIUS,
    REACH,
    RINGS,
    SHOW,
    STAGES,
    plane_cloud,
    sheet_grid,
    space_view,
    unit_sphere,
)
from components.scenes.scenery import Part, draw, split
from geometry import Affine, Branches, Entries, Normalize, Pipeline, Pointwise, Product, Track, clouds
from geometry.pipeline import Step

SIDE = 90  # points of the field along one side
RIM_POINTS = 4 * (AROUND - 1) + 1  # many, so that the border ends near the edge of the sheet
ROUNDING = 1e-6  # points that are less below the sheet are on it
STEEP = 0.01  # the absolute score at and above which a colour is fully saturated
ANGLES = np.arange(0.0, 181.0)  # degrees at which cosines are exact; between them, they are interpolated


def cut() -> Recipe:
    moving, marks = split(*unit_sphere(), cone_part(), scored_sheet(), sheet_edge(), rim(), plane_part())
    field, above = view_from_above()
    side_clouds, side_marks = split(*side_view())
    return Recipe(
        stages=STAGES,
        parameters=(
            Parameter(
                "axis", "direction of n", 75, 20, 160, 1, symbol="n", about="in degrees; 90 is upright"
            ),
            Parameter(
                "opening", "opening α", 45, 10, 60, 1, symbol="α", about="of the cone, in degrees from n"
            ),
        ),
        clouds=(*moving, field, *side_clouds, eccentricity()),
        views=(
            space_view(marks),
            View("side", "From the side", side_marks, ((-REACH, REACH),) * 2, 2),
            above,
        ),
        formula=r"\langle n, \tfrac{x}{\lVert x \rVert} \rangle = \cos α",
        readouts=(Number("Eccentricity", "eccentricity", Row((1.0,)), digits=2),),
    )


# --- steps that the sliders for n and α move


def wave(of_cosine: np.ndarray, of_sine: np.ndarray) -> Track:
    """A `Track` over the angles θ in ANGLES, in degrees: at each angle, the array a·cos θ + b·sin θ.

    of_cosine, of_sine: the arrays a and b, of the same shape.
    """
    angle = np.radians(ANGLES)[(...,) + (None,) * of_cosine.ndim]
    return Track(ANGLES, np.cos(angle) * of_cosine + np.sin(angle) * of_sine)


def score() -> tuple[Step, ...]:
    """z ↦ ⟨n, z⟩ − cos α, whose sign is the class: n from the slider `axis`, α from `opening`."""
    n = wave(np.array([[1.0, 0, 0]]), np.array([[0, 0, 1.0]]))
    level = wave(np.array([-1.0]), np.array([0.0]))
    return (Affine(Entries(np.zeros((1, 3)), tracks={"axis": n}), Entries([0.0], tracks={"opening": level})),)


def along_n() -> Affine:
    """t ↦ t·n, with n from the slider `axis`."""
    n = wave(np.array([[1.0], [0], [0]]), np.array([[0], [0], [1.0]]))
    return Affine(Entries(np.zeros((3, 1)), tracks={"axis": n}))


def cut_circle() -> tuple[Step, ...]:
    """(1, cos φ, sin φ) ↦ the point at the angle φ of the circle in which the plane cuts the unit sphere.

    The plane is ⟨n, z⟩ = cos α, with n from the slider `axis` and α from `opening`.
    """
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
    """(1, cos φ, sin φ, t) ↦ the point of the cone at the angle φ: its apex if t = 0, on the sheet if t = 1.

    A ray of the cone that misses the sheet ends at the distance LONGEST.
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


def eccentricity() -> Cloud:
    """Cloud of one number: the eccentricity |cos θ|/cos α of the conic in which the cone meets the sheet.

    θ is the angle of the slider `axis`, α that of `opening`. Below 1 the conic is an ellipse, at 1 a
    parabola, above 1 a hyperbola.
    """
    one = np.array([[1.0]])
    axis = Affine(Entries([[0.0]], tracks={"axis": wave(one, 0 * one)}))
    level = Affine(Entries([[0.0]], tracks={"opening": wave(one, 0 * one)}))
    both = Branches(
        (Pipeline((axis, Pointwise("abs"))), Pipeline((level, Pointwise("reciprocal")))), "concat"
    )
    return Cloud("eccentricity", one, place=Pipeline((both, Product([(0, 1)]))))


# --- in space


def ring(t: float, count: int = AROUND) -> np.ndarray:
    """Points (1, cos φ, sin φ, t) with φ from 0 to 2π, which `cone` maps to a closed curve on the cone."""
    phi = np.linspace(0, 2 * np.pi, count)
    return np.stack([np.ones_like(phi), np.cos(phi), np.sin(phi), np.full(count, t)], -1)


def cone_part() -> Part:
    return draw(
        "cone",
        Sheet,
        "ellipsoid",
        SHOW,
        np.vstack([ring(0.0), ring(1.0)]),
        "the cone",
        place=cone(),
        steps=NORM.steps,
        grid=(2, AROUND),
        opacity=0.3,
    )


def rim() -> Part:
    """The curve in which the cone meets the sheet, and later the circle or arc to which the norm sends it."""
    on_sheet = Row((0.0, 0.0, 1.0), offset=ROUNDING - HEIGHT, stage=0)
    return draw(
        "rim",
        Line,
        "meeting",
        SHOW,
        ring(1.0, RIM_POINTS),
        "where the decision changes",
        place=cone(),
        steps=NORM.steps,
        where=on_sheet,
        size=5,
    )


def scored() -> Pipeline:
    """x ↦ the score ⟨n, x/‖x‖⟩ − cos α, whose sign is the class of x."""
    return Pipeline((*NORM.steps, *score()))


def score_color(score: Row) -> Color:
    return Color("diverging", -STEEP, STEEP, score)


def scored_sheet() -> Part:
    """The sheet, coloured by the score."""
    place = Pipeline((Branches((Pipeline(()), scored()), "concat"),))
    color = score_color(Row((0.0, 0.0, 0.0, 1.0), stage=0))
    return (
        Cloud("sheet", sheet_grid(), Pipeline((Normalize(groups=((0, 1, 2),)),)), place),
        Sheet("sheet", "hyperplane", rows(np.eye(3, 4)), grid=(RINGS, AROUND), color=color, opacity=0.55),
    )


def sheet_edge() -> Part:
    """The edge of the sheet as a faint line, so that no title of a mark is placed across it."""
    edge = sheet_grid()[-AROUND:]
    return draw("edge", Line, "axis", SHOW, edge, steps=NORM.steps, size=1.5, opacity=0.5)


def plane_part() -> Part:
    disc = Disc("plane", "hyperplane", SHOW, "the plane", radius=1.0, opacity=0.4, fade=[0.0, 1.0])
    return plane_cloud(score()), disc


# --- from above and from the side


def view_from_above() -> tuple[Cloud, View]:
    """A square grid of points on the flat sheet above the origin, and the view that colours them by score.

    The score of a point x is ⟨n, x/‖x‖⟩ − cos α: its sign is the class.
    """
    x, y = np.meshgrid(*[np.linspace(-RADIUS, RADIUS, SIDE)] * 2)
    points = np.stack([x, y, np.full_like(x, HEIGHT)], -1).reshape(-1, 3)
    field = Field("field", "hyperplane", (), columns=SIDE, color=score_color(Row((1.0,))), opacity=0.8)
    view = View("above", "On the sheet", (field,), ((-RADIUS, RADIUS),) * 2, 2, ("x₁", "x₂"))
    return Cloud("field", points, place=scored()), view


def side_view() -> list[Part]:
    """Clouds and marks seen from the side: circle, sheet (a line), draggable arrow n, edges of the cone."""
    flat = rows(np.eye(3)[[0, 2]])
    level = np.array([[-RADIUS, 0, HEIGHT], [RADIUS, 0, HEIGHT]])
    edges = np.array([[1.0, 1, 0, 0], [1, 1, 0, 1], [1, -1, 0, 0], [1, -1, 0, 1]])
    circle = Pipeline((Affine(np.eye(3, 4)), *cut_circle(), Affine(LONGEST * np.eye(3))))
    rays = Branches((circle, Pipeline((Affine(np.eye(4)[3:]),))), "concat")
    tip = draw(
        "tip",
        Points,
        "query",
        flat,
        np.array([[1.0]]),
        "n",
        place=(along_n(),),
        size=9,
        hand=Turn("axis"),
        hint="drag it",
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
        draw("arrow", Line, "query", flat, np.array([[0.0], [1.0]]), place=(along_n(),), size=4, arrow=0.15),
        tip,
    ]
