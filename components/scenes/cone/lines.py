"""The recipe of a straight line and a bent line, which the norm maps to arcs of great circles."""

import numpy as np

from components.language.cloud import rows
from components.language.marks import Drag, Line, Points, Rim, Sheet
from components.language.recipe import Parameter, Recipe
from components.scenes.cone.sheet import (
    AROUND,
    HEIGHT,
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
from components.scenes.scenery import Look, Part, draw, split, square
from geometry import Affine, Branches, Entries, Normalize, Pipeline, Pointwise, Product, clouds
from geometry.pipeline import Step

HANDS = 0.8  # largest coordinate of a handle on the sheet: even the corner (0.8, 0.8) is inside its edge


def lines() -> Recipe:
    in_space, marks = split(
        *unit_sphere(), *lines_in_space(), great_circle_plane(), half_great_circle(), far_ends()
    )
    on_sheet, marks_on_sheet = split(*lines_on_sheet())
    return Recipe(
        stages=STAGES,
        parameters=(
            Parameter("a", "place of the line", 0.4, -HANDS, HANDS, about="its x₁"),
            Parameter("s", "place of its handle", 0.6, -HANDS, HANDS, quiet=True),
            Parameter("u", "kink across", -0.3, -HANDS, HANDS, about="x₁ of the kink"),
            Parameter("v", "kink up", -0.6, -HANDS, HANDS, about="x₂ of the kink"),
            Parameter("w", "slope", 1, -3, 3, about="of the bent line after the kink; before it 0"),
        ),
        clouds=(*in_space, *on_sheet),
        views=(space_view(marks), square("above", "On the sheet", marks_on_sheet, REACH)),
        formula=r"x \mapsto \frac{x}{\lVert x \rVert}",
    )


# --- the two lines


def two_halves() -> np.ndarray:
    """Points of a line from edge to edge of the sheet, as numbers (t, a, b) that `to_edge` takes: (N, 3).

    The halves of the line begin at one point of the sheet, and end at the edge. t is the distance from that
    point, as a share of the length of the half: it falls from 1 to 0, then rises to 1. (a, b) says in which
    half a point is: (1, 0) in the first, (0, 1) in the second.
    """
    t = np.linspace(0, 1, 81)
    one, zero = np.ones_like(t), np.zeros_like(t)
    return np.concatenate([np.stack([t, one, zero], -1)[::-1], np.stack([t, zero, one], -1)[1:]])


def to_edge(directions: Entries, start: Entries) -> tuple[Step, ...]:
    """(t, a, b) ↦ a point (3,) of the sheet: above `start` (2,) if t = 0, on the edge if t = 1.

    directions: a matrix (2, 3), whose first column is 0. The other two are directions from `start` to the
    point: the second column if (a, b) = (1, 0), the third if (a, b) = (0, 1). Let u be this direction, scaled
    to length 1, and p = ⟨start, u⟩. Then the edge is −p + √(p² + RADIUS² − ‖start‖²) away from `start`.
    """
    same = Pipeline(())
    direction = Pipeline((Affine(directions), Normalize()))
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


def straight() -> tuple[Step, ...]:
    """Steps that map the points of `two_halves` to the line x₁ = a on the sheet, with the slider a."""
    return to_edge(Entries([[0.0, 0, 0], [0, -1, 1]]), Entries([0.0, 0], {"a": [1.0, 0]}))


def bent() -> tuple[Step, ...]:
    """Steps that map the points of `two_halves` to a bent line on the sheet.

    At the kink (u, v), the slope of the line changes from 0 to w. u, v and w are sliders.
    """
    return to_edge(
        Entries([[0.0, -1, 1], [0, 0, 0]], {"w": [[0.0, 0, 0], [0, 0, 1]]}),
        Entries([0.0, 0], {"u": [1.0, 0], "v": [0, 1.0]}),
    )


# --- in space


def lines_in_space() -> list[Part]:
    """The sheet and the two lines on it, which the norm maps to the sphere."""
    norm, grid = NORM.steps, (RINGS, AROUND)
    sheet, one, other = "the sheet", "a straight line", "a bent line"
    return [
        draw("sheet", Sheet, "hyperplane", SHOW, sheet_grid(), sheet, steps=norm, grid=grid, opacity=0.25),
        draw("line", Line, "input", SHOW, two_halves(), one, place=straight(), steps=norm, size=6),
        draw("bent line", Line, "other", SHOW, two_halves(), other, place=bent(), steps=norm, size=6),
    ]


def great_circle_plane() -> Part:
    """The plane through the origin and the straight line, drawn as its great circle on the unit sphere."""
    height = Affine(Entries([[HEIGHT, 0, 0]], {"a": [[0, 0, -1.0]]}))
    return plane_cloud((height,)), Rim("plane", "input", SHOW, radius=1.0, size=2, dash="dot", opacity=0.7)


def half_great_circle() -> Part:
    """The upper half of the great circle on which the straight line lands."""
    angle = np.linspace(-np.pi / 2, np.pi / 2, AROUND)
    upwards = Affine(Entries([[0.0, 0], [0, 1], [HEIGHT, 0]], {"a": [[1.0, 0], [0, 0], [0, 0]]}))
    points = np.stack([np.cos(angle), np.sin(angle)], -1)
    title, place = "half of its great circle", (upwards, Normalize())
    return draw("half", Line, "input", SHOW, points, title, place=place, size=2.5)


def far_ends() -> Part:
    """The two ends of `half_great_circle`: the limits of x/‖x‖ as x goes to infinity along the line."""
    return draw("far ends", Points, "input", SHOW, np.array([[0.0, -1, 0], [0, 1, 0]]), size=7)


# --- from above


def lines_on_sheet() -> list[Part]:
    """The edge of the sheet, the two lines before the norm, and a handle on each line."""
    start, edge = rows(np.eye(2, 3), stage=0), clouds.circle(96, *RADIUS * np.eye(3)[:2])
    held = Affine(np.zeros((3, 1)), Entries([0, 0, HEIGHT], {"a": [1.0, 0, 0], "s": [0, 1.0, 0]}))
    kink = Affine(np.zeros((3, 1)), Entries([0, 0, HEIGHT], {"u": [1.0, 0, 0], "v": [0, 1.0, 0]}))

    def handle(name: str, role: str, title: str, place: Affine, hand: Drag) -> Part:
        look: Look = {"size": 9, "hand": hand, "hint": "drag it"}
        return draw(name, Points, role, start, np.ones((1, 1)), title, place=(place,), **look)

    return [
        draw("edge", Line, "hyperplane", rows(np.eye(2, 3)), edge, size=1.5),
        (Line("line", "input", start, size=3), Line("bent line", "other", start, size=3)),
        handle("held", "input", "the line", held, Drag("a", "s")),
        handle("kink", "other", "the kink", kink, Drag("u", "v")),
    ]
