"""Marks: the ways to draw a point cloud. Each is a class with its own fields, and a function in marks.mjs.

A mark computes the points to draw at a moment, in display coordinates. Its attribute `draws` names the
primitive that draws them: points, line, mesh, labels, field or cells. Code that draws knows only these
primitives. The class also says whether its points count for the ranges of the axes (`Mark.counts_for_axes`
and the attributes after it), and its method `check` validates its fields.
"""

from components.language.marks.attention import (
    Average,
    BestQuery,
    Support,
    SupportDisc,
    WeightCurve,
    WeightLimit,
    WeightNow,
)
from components.language.marks.hands import Carry, Choose, Drag, Follow, Hand, Open, Relocate, Replay, Turn
from components.language.marks.mark import DASHES, GLYPHS, Color, Mark, Stroke, color_of, hand_of
from components.language.marks.measures import Cells, Field, Histogram, Profile, Threshold
from components.language.marks.selections import (
    ConstantSize,
    Followed,
    Gated,
    Highest,
    Only,
    PropertySelection,
    Selectable,
    Unselectable,
    indices,
)
from components.language.marks.shapes import (
    Disc,
    Hull,
    HullFaces,
    Labels,
    Line,
    Mesh,
    Points,
    Rim,
    SemiAxes,
    Sheet,
    Trail,
    Way,
)

SHAPES = (Points, Line, Trail, Way, SemiAxes, Rim, Hull, Mesh, Sheet, HullFaces, Disc, Labels)
MEASURES = (Histogram, Profile, Threshold, Field, Cells)
ATTENTION = (Average, BestQuery, Support, SupportDisc, WeightCurve, WeightLimit, WeightNow)
MARKS = SHAPES + MEASURES + ATTENTION

__all__ = [
    "ATTENTION",
    "DASHES",
    "GLYPHS",
    "MARKS",
    "MEASURES",
    "SHAPES",
    "Average",
    "BestQuery",
    "Carry",
    "Cells",
    "Choose",
    "Color",
    "ConstantSize",
    "Disc",
    "Drag",
    "Field",
    "Follow",
    "Followed",
    "Gated",
    "Hand",
    "Highest",
    "Histogram",
    "Hull",
    "HullFaces",
    "Labels",
    "Line",
    "Mark",
    "Mesh",
    "Only",
    "Open",
    "Points",
    "Profile",
    "PropertySelection",
    "Relocate",
    "Replay",
    "Rim",
    "Selectable",
    "SemiAxes",
    "Sheet",
    "Stroke",
    "Support",
    "SupportDisc",
    "Threshold",
    "Trail",
    "Turn",
    "Unselectable",
    "Way",
    "WeightCurve",
    "WeightLimit",
    "WeightNow",
    "color_of",
    "hand_of",
    "indices",
]
