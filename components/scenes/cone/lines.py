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

HANDS = 0.8  # coordinates of the handles on the sheet: even the corners (0.8, 0.8) are inside its edge


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


def two_ways() -> np.ndarray:
    """Points (N, 3) of a path: (t, 1, 0) with t from 1 to 0, then (t, 0, 1) with t from 0 to 1."""
    t = np.linspace(0, 1, 81)
    there, back = np.ones_like(t), np.zeros_like(t)
    return np.concatenate([np.stack([t, there, back], -1)[::-1], np.stack([t, back, there], -1)[1:]])


def to_edge(ways: Entries, start: Entries) -> tuple[Step, ...]:
    """(t, a, b) ↦ a point of the sheet between `start` (2,), where t = 0, and the edge, where t = 1.

    The direction from `start` to the edge is the matrix `ways` (2, 3) times (t, a, b). In a direction u of
    length 1, the edge is at the distance −p + √(p² + RADIUS² − ‖start‖²), with p = ⟨start, u⟩.
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


def straight() -> tuple[Step, ...]:
    """Steps that map the path of `two_ways` to the line x₁ = a on the sheet; the slider "a" moves it."""
    return to_edge(Entries([[0.0, 0, 0], [0, -1, 1]]), Entries([0.0, 0], {"a": [1.0, 0]}))


def bent() -> tuple[Step, ...]:
    """Steps that map the path of `two_ways` to a bent line, whose slope changes from 0 to w at (u, v)."""
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
        draw("line", Line, "input", SHOW, two_ways(), one, place=straight(), steps=norm, size=6),
        draw("bent line", Line, "other", SHOW, two_ways(), other, place=bent(), steps=norm, size=6),
    ]


def great_circle_plane() -> Part:
    """The plane through the origin and the straight line, drawn as the great circle where the line lands."""
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
    """The two ends of `half_great_circle`: the limits of the norm as a point of the line goes to infinity."""
    return draw("far ends", Points, "input", SHOW, np.array([[0.0, -1, 0], [0, 1, 0]]), size=7)


# --- from above


def lines_on_sheet() -> list[Part]:
    """The edge of the sheet, the two lines before the norm, and a handle on each."""
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
