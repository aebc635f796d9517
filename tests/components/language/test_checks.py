"""Each mistake in a recipe raises an error with one helpful line; valid recipes are accepted."""

import re
from dataclasses import fields, replace

import numpy as np
import pytest

from components.language.cloud import Cloud, LargestWeight, Row, rows
from components.language.finish import finished
from components.language.marks import (
    Carry,
    Cells,
    Choose,
    Color,
    Disc,
    Drag,
    Field,
    Gated,
    Highest,
    Histogram,
    Labels,
    Line,
    Mesh,
    Open,
    Points,
    Relocate,
    Replay,
    SemiAxes,
    Sheet,
    Support,
    Threshold,
    Trail,
    Turn,
    Way,
)
from components.language.recipe import (
    Accuracy,
    Fate,
    Lengths,
    Letters,
    Number,
    Parameter,
    Pieces,
    Recipe,
    Residual,
    Sheets,
    Table,
    View,
    Zeros,
)
from components.language.refusal import WrongRecipe
from geometry import Affine, Entries, Orbit, Pipeline
from tests.components.recipes import recipe

SHOW, FLAT = rows(np.eye(3)), rows(np.eye(2))
X = recipe(3).cloud("x")
N = len(X.points)


def with_mark(mark, d=3):
    """A function that returns the small test recipe `recipe(d)` with one more mark. d: 2 or 3."""
    small = recipe(d)
    [view] = small.views
    return lambda: replace(small, views=(replace(view, layers=(*view.layers, mark)),))


def changed(d=3, **parts):
    return lambda: replace(recipe(d), **parts)


def view(**parts):
    return lambda: replace(recipe(3), views=(replace(recipe(3).views[0], **parts),))


def cloud(**parts):
    return lambda: replace(recipe(3), clouds=(*recipe(3).clouds, Cloud("more", **parts)))


NEW = Affine(Entries(np.eye(3), {"speed": np.eye(3)}))
COLOR = Color("diverging", -1, 1, of=Row((1,)))
PARAMETER = recipe(3).parameters[0]
WIDE = Cloud(
    "wide", np.eye(3), Pipeline((Affine(np.ones((53, 3))), *recipe(3).cloud("x").pipeline.steps[:1]))
)
ONLY_WIDE = View("v", "", (Points("wide", "input", SHOW, only=Gated("apart", 0, np.eye(3))),), ((-1, 1),) * 3)


def gate(fate="apart", before=1, basis=np.eye(3)):  # noqa: B008
    return Gated(fate, before, basis)


def iterated(mark):
    """A function without arguments: it returns the recipe of `with_mark(mark)`, with one more cloud `i`.

    A step `Orbit` iterates the points of this cloud.
    """
    orbit = Cloud("i", np.eye(3), Pipeline((Orbit(Pipeline((Affine(np.eye(3)),)), 3),)))
    small = with_mark(mark)
    return lambda: replace(small(), clouds=(*recipe(3).clouds, orbit))


def replaying(clock=PARAMETER.name, **parts):
    """A function that returns a recipe in which a click on a point plays a part of the clock's range.

    clock: the name of the clock. parts: fields of `Replay` that replace valid ones.
    """
    low, n = PARAMETER.min, np.zeros(N, int)
    fine = {"spans": np.full((N, 2), low), "follow": n, "progress": n}
    mark = Points("x", "input", SHOW, hand=Replay(**fine | parts))
    small = recipe(3)
    views = (replace(small.views[0], layers=(*small.views[0].layers, mark)),)
    return lambda: replace(small, views=views, clock=clock)


def relocating(slots):
    """A function that returns a recipe with a clock and a mark whose hand is `Relocate(slots)`."""
    small = with_mark(Points("x", "input", SHOW, hand=Relocate(slots)))
    return lambda: replace(small(), clock=PARAMETER.name)


MISTAKES = {
    "a cloud that is not there": (with_mark(Points("y", "input", SHOW)), "Points of 'y'.*no cloud 'y'.*'x'"),
    "a role": (with_mark(Points("x", "inptu", SHOW)), "no role 'inptu'.*'input'"),
    "two rows in space": (with_mark(Points("x", "input", FLAT)), "2 rows; take 3"),
    "three rows in the plane": (with_mark(Points("x", "input", SHOW), 2), "3 rows; take 2"),
    "a row's stage": (with_mark(Points("x", "input", rows(np.eye(3), stage=3))), "no stage 3; take 0 to 2"),
    "a row too wide": (with_mark(Points("x", "input", rows(np.eye(3, 4)))), "4 weights .* 3 coordinates"),
    "what divides": (with_mark(Points("x", "input", rows(np.eye(3), over=Row((1,), stage=9)))), "no stage 9"),
    "a weight that is no number": (with_mark(Points("x", "input", rows(np.nan * np.eye(3)))), "not finite"),
    "a fade too short": (with_mark(Points("x", "input", SHOW, fade=[1, 0])), "fade has 2 entries; take 3"),
    "an opacity": (with_mark(Points("x", "input", SHOW, opacity=2)), "opacity is 2; take 0 to 1"),
    "only, beyond the points": (with_mark(Points("x", "input", SHOW, only=[N])), "only.*from 0 to 19"),
    "only, below 0": (with_mark(Trail("x", "input", SHOW, only=[-1])), "only.*from 0 to 19"),
    "only, no index": (with_mark(Points("x", "input", SHOW, only=[0.5])), "only.*whole numbers"),
    "a way of nothing": (with_mark(Way("x", "input", SHOW, parameter="gian", stops=np.ones(1))), "no parameter 'gian'"),
    "a way of the pipeline": (
        with_mark(Way("x", "input", SHOW, parameter="gain", stops=np.ones(1))),
        "'gain' moves the pipeline of 'x'",
    ),
    "a way of an iteration": (iterated(Way("i", "input", SHOW, parameter="gain", stops=np.ones(1))), "without an Orbit"),
    "a table of an iteration": (lambda: replace(iterated(Points("i", "input", SHOW))(), table=Table("i")), "without an Orbit"),
    "a way to and fro": (
        with_mark(Way("x", "input", SHOW, parameter="gain", stops=np.array([0.0, 1.0, 0.5]))),
        "stops are .* increase",
    ),
    "an order": (with_mark(Line("x", "input", SHOW, order=np.array([0, N]))), "order.*from -1 to 19"),
    "triangles": (with_mark(Mesh("x", "input", SHOW, triangles=np.array([[0, 1, N]]))), "triangles.*0 to 19"),
    "triangles of four": (with_mark(Mesh("x", "input", SHOW, triangles=np.zeros((1, 4), int))), r"\(F, 3\)"),
    "a glyph": (with_mark(Points("x", "input", SHOW, glyph="star")), "no glyph 'star'.*'ring'"),
    "a dash": (with_mark(Line("x", "input", SHOW, dash="dots")), "no dash 'dots'.*'dot'"),
    "a scale": (with_mark(Points("x", "input", SHOW, color=replace(COLOR, scale="hot"))), "no scale 'hot'"),
    "an empty scale": (with_mark(Points("x", "input", SHOW, color=replace(COLOR, low=1))), "low < high"),
    "colours too few": (with_mark(Points("x", "input", SHOW, color=replace(COLOR, of=np.ones(3)))), "take 20"),
    "a sheet that is no grid": (with_mark(Sheet("x", "input", SHOW, grid=(4, 6))), "20 points are not a grid of 4 rows"),
    "a sheet of one row": (with_mark(Sheet("x", "input", SHOW, grid=(1, 20))), "at least 2 of each"),
    "labels of none": (with_mark(Labels("x", "input", SHOW)), "no labels"),
    "cells that are no grid": (with_mark(Cells("grid", "input", FLAT, columns=7, color=COLOR), 2), "not a grid"),
    "links for other points": (with_mark(Points("x", "input", SHOW, hand=Open(["fold"]))), "links to open has 1 entries"),
    "a link that leads elsewhere": (
        with_mark(Points("x", "input", SHOW, hand=Open(["//example.org"] * N))),
        "not a scene with its state",
    ),
    "a field that is no grid": (with_mark(Field("grid", "input", (), columns=7, color=COLOR), 2), "not a grid"),
    "a disc of points": (with_mark(Disc("x", "input", SHOW, radius=1)), "one number at the origin"),
    "an ellipsoid of a point": (with_mark(SemiAxes("one", "input", SHOW)), "no cloud 'one'"),
    "classes": (
        with_mark(Threshold("x", "input", FLAT[:1], span=(0, 1), classes=np.ones(3)), 2),
        "classes has 3 entries; take 20",
    ),
    "a histogram of two": (with_mark(Histogram("x", "input", FLAT, span=(0, 1), bins=2), 2), "2 rows; take 1"),
    "pairs to carry": (with_mark(Points("x", "input", FLAT, hand=Carry([("eps", "gain")])), 2), "take 20"),
    "to carry in space": (with_mark(Points("x", "input", SHOW, hand=Carry(N * [("eps", "gain")]))), "2D views"),
    "to carry by nothing": (
        with_mark(Points("x", "input", FLAT, hand=Carry(N * [("eps", "x")])), 2),
        "no parameter 'x'",
    ),
    "to relocate without a clock": (
        with_mark(Points("x", "input", SHOW, hand=Relocate([("eps", "gain", *3 * ["eps"])]))),
        "no clock",
    ),
    "to relocate by too little": (relocating([("eps", "gain", "eps", "eps")]), "give 5 names for each"),
    "to relocate by no slot": (relocating([]), "give 5 names for each"),
    "to relocate by nothing": (relocating([("eps", "gain", "eps", "x", "eps")]), "no parameter 'x'"),
    "a query too wide": (
        with_mark(Support("x", "input", SHOW, query=Row((1,) * 4), radius=1)),
        "4 weights .* 3 coordinates",
    ),
    "a colour's stage": (
        with_mark(Points("x", "input", SHOW, color=replace(COLOR, of=LargestWeight(7)))),
        "no stage 7; take 0 to 2",
    ),
    "keys too many": (
        lambda: replace(
            recipe(3),
            clouds=(*recipe(3).clouds, Cloud("keys", np.zeros((257, 3)))),
            readouts=(Fate("its fate", "keys"),),
        ),
        "257 points; take 1 to 256 keys",
    ),
    "a fate that is none": (with_mark(Points("x", "input", SHOW, only=gate("gone"))), "no fate 'gone'.*'apart'"),
    "gates behind no Affine": (with_mark(Points("x", "input", SHOW, only=gate(before=0))), "step 0 .* not an Affine; .*1"),
    "gates of a space that is not there": (
        with_mark(Points("x", "input", SHOW, only=gate(basis=2 * np.eye(3)))),
        r"shape \(3, 3\); take orthonormal rows of 3",
    ),
    "gates of a cloud that is not there": (
        with_mark(Points("x", "input", SHOW, only=replace(gate(), of="y"))),
        "no cloud 'y'",
    ),
    "gates of fewer points": (
        with_mark(Points("x", "input", SHOW, only=replace(gate(), of="frame"))),
        "'frame' has 4 entries; take 20",
    ),
    "gates too many": (
        lambda: replace(recipe(3), clouds=(WIDE,), views=(ONLY_WIDE,), table=None),
        "53 neurons; take at most 52",
    ),
    "pieces of a sphere": (changed(readouts=(Pieces("p", "x", 1, np.eye(3), 1.0),)), "3 dimensions.*a circle has 2"),
    "pieces of a point": (changed(readouts=(Pieces("p", "x", 1, np.eye(2, 3), 0.0),)), "radius of 0.0"),
    "sheets in three dimensions": (changed(readouts=(Sheets("s", "x"),)), "step 0 of 'x' is no Affine of the plane"),
    "zeros at a stage": (changed(readouts=(Zeros("z", "x", 3),)), "'z'.*no stage 3; take 0 to 2"),
    "a fate of nothing": (changed(readouts=(Fate("its fate", "keys"),)), "no cloud 'keys'"),
    "numbers to choose": (
        with_mark(Points("x", "input", SHOW, hand=Choose("seed", np.ones(3, int)))),
        "numbers to choose has 3 entries; take 20",
    ),
    "spans to play": (replaying(spans=np.zeros((3, 2))), "spans to play has 3 entries; take 20"),
    "spans that go back": (replaying(spans=np.tile([1.0, 0.0], (N, 1))), "its spans are not pairs"),
    "spans beyond the clock": (replaying(spans=np.tile([0.0, 1e9], (N, 1))), "its spans leave the range"),
    "a stage to play": (replaying(progress=np.full(N, 99)), "there is no stage 99"),
    "nothing that runs": (replaying(clock=""), "the recipe has none"),
    "a turn in space": (with_mark(Points("x", "input", SHOW, hand=Turn("gain"))), "2D views only"),
    "a drag in space": (
        with_mark(Points("x", "input", SHOW, hand=Drag("gain", "gain"))),
        "sets 2 parameters in a view of 3 dimensions",
    ),
    "a drag out of the plane": (
        with_mark(Points("x", "input", FLAT, hand=Drag("gain", "gain", "gain")), 2),
        "sets 3 parameters in a view of 2 dimensions",
    ),
    "a drag of nothing in space": (
        with_mark(Points("x", "input", SHOW, hand=Drag("gain", "gain", "u"))),
        "no parameter 'u'",
    ),
    "a drag of nothing": (with_mark(Points("x", "input", FLAT, hand=Drag("gain", "u")), 2), "no parameter 'u'"),
    "a readout's cloud": (changed(readouts=(Residual("far", "x", "y"),)), "'far'.*no cloud 'y'"),
    "lengths of nothing": (changed(readouts=(Lengths("long", "y"),)), "'long'.*no cloud 'y'"),
    "a readout's row": (changed(readouts=(Number("n", "x", Row((1,), stage=7)),)), "'n'.*no stage 7"),
    "a readout's point": (changed(readouts=(Number("n", "x", Row((1,)), N),)), "index.*from 0 to 19"),
    "a readout's classes": (changed(readouts=(Accuracy("a", "x", Row((1,)), np.ones(2)),)), "take 20"),
    "letters of no labels": (changed(readouts=(Letters("l", "x", Highest(Row((1,)))),)), "'x' has no labels"),
    "letters of a stage": (
        changed(readouts=(Letters("l", "names", Highest(Row((1,))), 7),)),
        "'l': there is no stage 7",
    ),
    "clouds of other sizes": (changed(readouts=(Residual("far", "x", "names"),)), "one for each point of 'x'"),
    "too many coordinates": (changed(readouts=(Residual("far", "x", "x", 4),)), "coordinates=3 or fewer"),
    "a table's cloud": (changed(table=Table("y")), "table: there is no cloud 'y'"),
    "a table's column": (changed(table=Table("x", columns=("components", "median"))), "no column 'median'"),
    "a table's surface": (changed(table=Table("x", "names")), "other stages"),
    "a stage of a formula": (changed(formula=r"\class{stage-3}{x}"), "no class stage- '3'"),
    "a role of a formula": (changed(formula=r"\class{stage-1 role-shpere}{x}"), "no class role- 'shpere'"),
    "a class of a formula": (changed(formula=r"\class{stgae-1}{x}"), "no class 'stgae-1'"),
    "a symbol": (changed(parameters=(replace(PARAMETER, symbol="g"), *recipe(3).parameters[1:])), "'g' is not a letter of the formula"),
    "LaTeX": (changed(formula=r"\vareps + x"), r"\\vareps is not known LaTeX"),
    "braces": (changed(formula=r"\frac{x}{y"), "formula"),
    "a parameter that nothing sets": (cloud(points=X.points, pipeline=Pipeline((NEW,))), "no parameter 'speed'"),
    "points that a step cannot take": (cloud(points=np.ones((2, 2)), pipeline=Pipeline((Affine(np.eye(3)),))), "'more'.*got 2"),
    "points that are no matrix": (cloud(points=np.ones(3)), r"take \(N, d\)"),
    "points that are not finite": (cloud(points=np.full((1, 3), np.inf)), "not finite"),
    "labels too few": (cloud(points=X.points, labels=["a"]), "labels has 1 entries; take 20"),
    "two clouds of a name": (changed(clouds=(X, *recipe(3).clouds)), "cloud 'x': there are 2"),
    "two views of a name": (changed(views=recipe(3).views * 2), "view 'view': there are 2"),
    "two parameters of a name": (changed(parameters=(PARAMETER,) * 2), "'gain': there are 2"),
    "a value outside": (changed(parameters=(replace(PARAMETER, value=9),)), "'gain': its value 9 is outside"),
    "an empty slider": (changed(parameters=(replace(PARAMETER, min=3),)), "'gain'.*not a slider"),
    "a clock": (changed(clock="step"), "clock: there is no parameter 'step'"),
    "a stage that nothing reaches": (changed(stages=("a", "b", "c", "d")), "more than 2 steps; give 3 names"),
    "a progress": (changed(progress=2.5), "progress: 2.5 .* take 0 to 2"),
    "a followed point": (changed(follow=N), "no point 20; take 0 to 19"),
    "ranges": (view(ranges=((-1, 1),) * 2), "2 ranges for 3 dimensions"),
    "no rows": (view(rows=0), "0 rows; a view has one or more"),
    "zooms": (view(zooms=((1.0, 0, 0, 0), (2.0, 0, 0, 0))), "zooms for 2 stages"),
    "a graph that reaches": (
        view(reaching=True, dims=2, axes=("x", "y"), ranges=((-1, 1),) * 2),
        "it is reaching.*no numbers",
    ),
    "a zoom of 0": (view(zooms=((1.0, 0, 0, 0), (0.0, 0, 0, 0), (1.0, 0, 0, 0))), "a factor above 0"),
    "an empty range": (view(ranges=((1, 1),) * 3), "is empty"),
    "titles of axes in space": (view(axes=("x", "y")), "titles of axes"),
    "an edge": (view(edge="plain"), "no cloud 'plain'"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_helpful_line(name):
    make, message = MISTAKES[name]
    with pytest.raises(WrongRecipe) as refused:
        finished(make())
    text = str(refused.value)
    assert re.search(message, text) and "\n" not in text and len(text) < 300, text
    assert re.fullmatch(".+: .+; .+", text), "the part, what is wrong, what would do"


def test_the_recipe_itself_is_fine():
    for d in (2, 3):
        assert isinstance(recipe(d), Recipe)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("field", ["value", "min", "max", "step"])
def test_a_slider_has_finite_numbers(field, value):
    assert {"value", "min", "max", "step"} <= {f.name for f in fields(Parameter)}
    with pytest.raises(WrongRecipe, match="not finite"):
        finished(changed(parameters=(replace(PARAMETER, **{field: value}),))())


def test_a_view_has_two_dimensions_or_three():
    with pytest.raises(WrongRecipe, match="take dims 2 or 3"):
        finished(replace(recipe(3), views=(View("v", "", (), ((-1, 1),), dims=1),)))


def test_a_camera_is_an_eye_or_an_eye_and_what_it_looks_at():
    with pytest.raises(WrongRecipe, match="a camera of 4 numbers"):
        finished(replace(recipe(3), views=(View("v", "", (), ((-1, 1),) * 3, camera=(1, 1, 1, 0)),)))


def test_a_camera_with_a_target_needs_ranges():
    """A camera with a target is refused if its view has no ranges; with ranges, the camera stays as it is.

    Without ranges, framing would centre the points and lose the target.
    """
    there = (1.0, 1, 1, 0.2, 0, 0)
    with pytest.raises(WrongRecipe, match="a camera with a target, and no ranges"):
        finished(replace(recipe(3), views=(replace(recipe(3).views[0], ranges=(), camera=there),)))
    given = replace(recipe(3).views[0], ranges=((-1, 1),) * 3, camera=there)
    assert finished(replace(recipe(3), views=(given,))).views[0].camera == there
