"""Every mark shows the same in the browser and in Python: random marks with all fields, and examples."""

from dataclasses import fields, replace
from functools import cache
from typing import get_type_hints

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from components.language.cloud import Cloud, LargestWeight, Row, SoftmaxWeight, rows
from components.language.marks import (
    ATTENTION,
    DASHES,
    GLYPHS,
    MARKS,
    Average,
    BestQuery,
    Cells,
    Color,
    Disc,
    Field,
    Follow,
    Followed,
    Gated,
    Highest,
    Histogram,
    Hull,
    HullFaces,
    Line,
    Mark,
    Points,
    Profile,
    Rim,
    Selectable,
    SemiAxes,
    Sheet,
    Support,
    Threshold,
    Trail,
    Unselectable,
    Way,
    WeightLimit,
    WeightNow,
)
from geometry import Affine, Entries, Normalize, Pipeline, Pointwise, Track
from geometry.gates import FATES
from geometry.plane import edge_on
from tests.assets.engine import DOUBLE, ONE_ROUNDING, bound_at, farthest, length, unpack
from tests.assets.test_engine import EXACT, EXAMPLES, FLOAT32, clouds, moments, recipe_of

NUMBER = st.integers(-128, 128).map(lambda k: k / 64)
QUERY = st.builds(Row, st.lists(NUMBER, min_size=1, max_size=2).map(tuple))
HEAD = 0.25


# --- a strategy for every field that any mark has


# Made once for each number of points and the widths of their stages, because making a strategy takes longer
# than drawing from it.


@cache
def row(widths):
    """A strategy for rows, each of the current points or of a fixed stage.

    Some rows have a weight that depends on the parameter p. Some are divided by another row, whose value is
    never near 0. widths: for each stage, the number of coordinates of a cloud's points.
    """

    def weights(stage):
        most = max(widths) if stage is None else widths[stage]
        return st.lists(NUMBER, min_size=1, max_size=most).map(tuple)

    def one(stage):
        offset, over = st.sampled_from([0, 0.5]), st.sampled_from([None, Row((1e-3,), offset=20.0)])
        return st.builds(Row, weights(stage) | moved, st.just(stage), offset, over)

    moved = NUMBER.map(lambda k: Entries(np.array([k]), {"p": np.array([0.5])}))
    return st.sampled_from([None, *range(len(widths))]).flatmap(cache(one))


def colors(n, widths):
    values = st.just(np.linspace(-1, 1, n))
    live = st.one_of(row(widths), st.builds(SoftmaxWeight, row(widths)))
    return st.builds(Color, st.just("diverging"), st.just(-1), st.just(1), st.one_of(live, values))


def indices(n, low=0):
    return st.lists(st.integers(low, n - 1), min_size=1, max_size=8)


FIELDS = {
    "title": lambda n, widths: st.sampled_from(["", "a title"]),
    "hint": lambda n, widths: st.sampled_from(["", "click to see it"]),
    "opacity": lambda n, widths: st.sampled_from([1.0, 0.5]),
    "guide": lambda n, widths: st.booleans(),
    "fade": lambda n, widths: st.none() | st.just(np.linspace(0, 1, len(widths)).tolist()),
    "only": lambda n, widths: st.none() | st.just(Followed()) | indices(n) | st.builds(Highest, row(widths)),
    "size": lambda n, widths: st.sampled_from([2.0, 9.0]),
    "glyph": lambda n, widths: st.sampled_from(GLYPHS),
    "dash": lambda n, widths: st.sampled_from(sorted(DASHES)),
    "color": lambda n, widths: st.none() | colors(n, widths),
    "hand": lambda n, widths: st.none() | st.just(Follow()),
    "order": lambda n, widths: st.none() | indices(n, -1).map(np.array),
    # far from 0, where rounding would decide
    "where": lambda n, widths: (
        st.none() | st.sampled_from([Row((1e-3,), offset=far) for far in (20.0, -20.0)])
    ),
    "arrow": lambda n, widths: st.sampled_from([0.0, HEAD]),
    "radius": lambda n, widths: st.sampled_from([0.5, 1.5]),
    "corners": lambda n, widths: st.sampled_from([3, 16]),
    "span": lambda n, widths: st.sampled_from([(-2.03, 2.01), (0.0, 1.0)]),
    "count": lambda n, widths: st.just(n),
    "query": lambda n, widths: (
        st.none() | st.builds(Row, st.lists(NUMBER, min_size=1, max_size=2).map(tuple))
    ),
    "reach": lambda n, widths: st.sampled_from([0.5, 3.0]),
    "bins": lambda n, widths: st.integers(1, 9),
    "classes": lambda n, widths: st.just(np.arange(n) % 2),
    "triangles": lambda n, widths: st.just(np.array([[0, n - 1, n // 2]])),
    "columns": lambda n, widths: st.just(2),
    "parameter": lambda n, widths: st.just("p"),
    "stops": lambda n, widths: st.sampled_from([np.array([0.25]), np.array([-1.0, 0.0, 0.3, 1.5])]),
    "whole": lambda n, widths: st.booleans(),
    "grid": lambda n, widths: st.just((2, n // 2)),
}


def own_fields(kind):
    return {f.name for f in fields(kind)} - {"cloud", "role", "rows"}


@cache
def fields_of(kind, n, widths):
    """Two strategies for a kind of mark of a cloud of n points: for its rows, and for its other fields.

    `widths` are the numbers of coordinates of the points, for each stage.
    """
    own = {name: FIELDS[name](n, widths) for name in own_fields(kind)}
    if kind in (Field, Cells):
        own["color"] = colors(n, widths)
    if kind is WeightNow:
        own["query"] = own["query"].filter(bool)
    still = (lambda r: not isinstance(r.weights, Entries)) if kind is Way else bool
    show = row(widths if kind.space is None else (kind.space,) * len(widths)).filter(still)
    count = st.sampled_from([2, 3] if kind.row_count is None else [kind.row_count])
    rows = count.flatmap(lambda k: st.tuples(*[show] * k))
    return rows, st.fixed_dictionaries(own)


@st.composite
def clouds_for(draw, kind):
    """A strategy for a cloud that a kind of mark accepts, values of parameters, and a progress.

    The progress may be beyond the cloud's last stage.
    """
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    bent = Affine(np.diag([1.0, -2, 0.5]))
    if kind in (Disc, Rim):  # the values of an affine function at the origin and at the unit vectors
        cloud = Cloud("plane", rng.permutation(np.float32([-1.0, 0.5, 2.0, 0.25]))[:, None])
    elif kind in ATTENTION:  # in general position: where keys are on an edge of their hull, rounding decides
        n, d = draw(st.integers(2, 12)), draw(st.sampled_from([2, 3]))
        step = Affine(np.diag([1.0, 2, 0.5][:d]))  # a reflection would make the keys flat on the way
        cloud = Cloud("keys", rng.normal(size=(n, d)).astype(np.float32), Pipeline((step,)))
    elif kind is Way:  # the parameter moves only the `place` of the points
        there = Affine(Entries(np.eye(3), {"p": np.diag([0.5, -0.25, 1.0])}))
        steps = Pipeline((bent, Affine(2 * np.eye(3))))
        cloud = Cloud("five", rng.normal(size=(5, 3)).astype(np.float32), steps, Pipeline((there,)))
    elif kind in (Field, Cells, Sheet, SemiAxes, Hull, HullFaces):
        cloud = Cloud("four", rng.normal(size=(4, 3)).astype(np.float32), Pipeline((bent,)))
    else:
        cloud = draw(clouds("any", least=2))
    return cloud, *draw(moments(len(cloud.pipeline.steps) + 1))


# --- tolerances


def allowed(cloud, params, progress):
    """A number: a bound of the rounding error in every point of a cloud, at each stage and at `progress`."""
    moments = (*range(len(cloud.pipeline.steps) + 1), min(progress, len(cloud.pipeline.steps)))
    sizes = [length(cloud.at(params, m)) for m in moments]
    bounds = [bound_at(cloud, params, m, unit=DOUBLE, rounding=ONE_ROUNDING) for m in moments]
    return np.max(bounds) + ONE_ROUNDING * np.max(sizes)


def reach(row):
    """An upper bound of |⟨weights, x⟩| for unit vectors x, where `weights` are those of a row.

    If the weights depend on p, as in the strategy `row`, the bound is for p from −2 to 2.
    """
    return length(row.weights.base) + 1 if isinstance(row.weights, Entries) else length(row.weights)


def assume_clear_winner(mark, at, off):
    """Skip a Hypothesis example if rounding decides which point is the highest (selection `Highest`).

    Nothing happens for a mark with another selection. at: the moment at which points are compared. off: a
    bound of the error of the points.
    """
    only = getattr(mark, "only", None)
    if isinstance(only, Highest):
        values = at.shown(mark.cloud, (only.row,))[:, 0]
        first = values[values >= np.max(values) - 2 * off * reach(only.row) - ONE_ROUNDING]
        assume(np.ptp(first) == 0)


def agree(got, want, bound):
    """Assert that two arrays have the same shape and gaps (NaN), and differ by at most `bound` elsewhere."""
    assert got.shape == want.shape and (np.isnan(got) == np.isnan(want)).all()
    assert np.all(np.nan_to_num(np.abs(got - want)) <= bound)


def near(mark, cloud, got, want, off):
    """Assert that the points `got` (by the browser) and `want` (by Python) of a mark agree.

    off: a bound of the error of the cloud's points.
    """
    agree(got, want, off * np.array([reach(r) for r in mark.rows]) + ONE_ROUNDING)


def near_with_heads(mark, cloud, got, want, off):
    """Assert that lines agree. An arrow head has a wider tolerance, which is the same in every coordinate.

    The barbs of a head are at an angle to the line, so an error in one coordinate of the line moves them in
    the others too; the shorter a segment, the more. got: the browser's points. want: Python's. off: a bound
    of the error of the cloud's points.
    """
    if not mark.arrow:
        return near(mark, cloud, got, want, off)
    legs = length(np.diff(want, axis=0)) if len(want) > 1 else np.ones(1)
    shortest = np.nanmin(legs, initial=1.0, where=legs > 0)
    agree(got, want, off * (1 + 8 * HEAD / shortest) * length([reach(r) for r in mark.rows]) + ONE_ROUNDING)


def near_axes(mark, cloud, got, want, off):
    """Compare the semi-axes of ellipsoids, by the sums of the outer products a aᵀ of all semi-axes a.

    Semi-axes of equal length may be rotated together, which leaves this sum unchanged.
    got: the browser's points. want: Python's. off: a bound of the error of the cloud's points.
    """
    scatter = []
    for points in (got, want):
        halves = np.diff(points.reshape(-1, 3, points.shape[-1])[:, :2], axis=1)[:, 0] / 2
        scatter.append(halves.T @ halves)
    np.testing.assert_allclose(*scatter, atol=100 * (off + FLOAT32))


def near_disc(mark, cloud, got, want, off):
    assert got.shape == want.shape
    weights = np.array([reach(r) for r in mark.rows])
    assert np.all(np.abs(got - want) <= FLOAT32 * (weights + 1))


def near_counts(mark, cloud, got, want, off):
    """Compare histograms, `got` by the browser and `want` by Python: places of bars, and totals of counts.

    Each count is compared only if `off`, a bound of the error of the cloud's points, is at most 1e-9. With
    larger errors, a value may be counted in either of two neighbouring bars.
    """
    np.testing.assert_allclose(got[:, 0], want[:, 0], atol=FLOAT32)
    assert got[:, 1].sum() == want[:, 1].sum()
    assert np.abs(np.cumsum(got[:, 1] - want[:, 1])).max() <= 2 * len(cloud.points) * (off > 1e-9)


def near_threshold(mark, cloud, got, want, off):
    """Assert that the line `got` of a mark `Threshold`, by the browser, is upright.

    Its ends must be as high as those of the line `want` by Python. `off` is not used.
    """
    assert got[:, 1].tolist() == pytest.approx(want[:, 1].tolist()) and got[0, 0] == got[1, 0]


def near_profile(mark, cloud, got, want, off):
    """Compare profiles: their indices of coordinates must be equal, their values nearly equal.

    got: the browser's points. want: Python's. off: a bound of the error of the cloud's points.
    """
    agree(got, want, off + ONE_ROUNDING)
    assert np.array_equal(got[:, 0], want[:, 0], equal_nan=True)


def near_edges(mark, cloud, got, want, off):
    """Compare the segments of outlines, in any order, by their lengths and each end's sum of coordinates.

    got: the browser's points. want: Python's. off: a bound of the error of the cloud's points.
    """
    assert got.shape == want.shape and (np.isnan(got) == np.isnan(want)).all()
    weights = np.array([reach(r) for r in mark.rows])
    joined = ~np.isnan(got[:-1, 0]) & ~np.isnan(got[1:, 0])
    ends = [(p[:-1][joined], p[1:][joined]) for p in (got, want)]
    sums = [np.concatenate(both).sum(axis=-1) for both in ends]
    lengths = [np.linalg.norm(start - end, axis=-1) for start, end in ends]
    for pair in (sums, lengths):
        assert np.allclose(*map(np.sort, pair), atol=4 * (off * weights.sum() + ONE_ROUNDING))


def near_faces(mark, cloud, got, want, off):
    """Compare the triangles of meshes, in any order, by the sum of the coordinates of all their corners.

    got: the browser's points. want: Python's. off: a bound of the error of the cloud's points.
    """
    assert got.shape == want.shape
    weights = np.array([reach(r) for r in mark.rows])
    middles = [np.sort(p.reshape(-1, 3, p.shape[-1]).sum(axis=(1, 2))) for p in (got, want)]
    assert np.allclose(*middles, atol=9 * (off * weights.sum() + ONE_ROUNDING))


def near_attention(mark, cloud, got, want, off):
    """Compare marks of attention, `got` by the browser and `want` by Python, up to single precision.

    Both runtimes compute them in double precision. `off` is not used.
    """
    size = 4 + np.nanmax(np.abs(want), initial=0) + sum(reach(r) for r in mark.rows)
    agree(got, want, FLOAT32 * size)


def no_points(mark, cloud, got, want, off):
    assert not got.size and not want.size


LAWS = {
    Field: no_points,
    Line: near_with_heads,
    Trail: near_with_heads,
    SemiAxes: near_axes,
    Hull: near_edges,
    HullFaces: near_faces,
    Disc: near_disc,
    Rim: near_disc,
    Histogram: near_counts,
    Profile: near_profile,
    Threshold: near_threshold,
    **dict.fromkeys(ATTENTION, near_attention),
}


def leaves(kind):
    """All classes below `kind` that have no subclasses; `kind` itself if it has none."""
    below = kind.__subclasses__()
    return set().union(*map(leaves, below)) if below else {kind}


def test_both_runtimes_have_the_same_marks(node):
    assert set(MARKS) == {kind for kind in leaves(Mark) if kind.__module__.startswith("components.")}
    assert sorted(kind.__name__ for kind in MARKS) == sorted(node.ask("marks"))


@pytest.mark.parametrize("kind", MARKS, ids=lambda kind: kind.__name__)
def test_every_field_of_every_mark_is_drawn(kind):
    own = own_fields(kind)
    assert own <= FIELDS.keys(), "a new field needs a strategy"
    assert get_type_hints(kind).keys() >= own and kind.draws in (
        "points",
        "line",
        "mesh",
        "labels",
        "field",
        "cells",
    )


@pytest.mark.parametrize("kind", MARKS, ids=lambda kind: kind.__name__)
@settings(max_examples=EXAMPLES // 4)
@given(data=st.data())
def test_a_mark_shows_the_same(node, kind, data):
    cloud, params, progress = data.draw(clouds_for(kind))
    show, own = fields_of(kind, len(cloud.points), tuple(cloud.widths))
    mark = kind(cloud.name, "input", data.draw(show), **data.draw(own))
    followed = data.draw(st.integers(0, 7))
    recipe = recipe_of(cloud)
    at = recipe.moment(params, progress, followed=followed)
    [answer] = node.run(recipe, [(params, progress, followed)], marks=[mark])
    [got], want = answer["marks"], mark.points(at)
    runs = [{**params, "p": stop} for stop in mark.stops] if kind is Way else []
    off = max(allowed(cloud, each, progress) for each in (params, *runs))
    assume_clear_winner(mark, at, off)
    LAWS.get(kind, near)(mark, cloud, unpack(got["points"], len(want)).reshape(want.shape), want, off)
    assert abs(got["opacity"] - mark.opacity_at(progress)) < EXACT
    if getattr(mark, "color", None):
        values = mark.values(at)
        of = mark.color.of
        size = reach(of) if isinstance(of, Row) else reach(of.row) if isinstance(of, SoftmaxWeight) else 0
        agree(unpack(got["values"], len(values))[:, 0], values, off * size + ONE_ROUNDING)


# --- by hand


@pytest.mark.parametrize(
    "w", [(1, 0, 0), (0, 0, 1), (0.2, -3, 0.5), (1, -1, 0), (2, -1.5, 1), (1, 2), (0, 0, 0)]
)
@pytest.mark.parametrize("b", [0.0, -0.7, 40.0])
def test_both_runtimes_see_a_plane_edge_on_from_the_same_place(node, b, w):
    eye, values = np.array([2.0, -1.5, 1.0]), np.concatenate([[b], b + np.array(w, float)])
    found, want = node.ask("edgeOn", values=values.tolist(), eye=eye.tolist()), edge_on(values, eye)
    np.testing.assert_allclose(eye if found is None else found, want, atol=1e-12)


def test_gaps_and_trails_by_hand(node):
    """In a line's `order`, −1 is a gap. A trail goes through stages to its point, and ends with a gap."""
    x = np.float32([[1, 0], [0, 1]])
    double = Cloud("x", x, Pipeline((Affine(2 * np.eye(2)), Affine(2 * np.eye(2)))))
    show, gap = rows(np.eye(2)), [np.nan, np.nan]
    line = Line("x", "input", show, order=np.array([0, -1, 1, 0]))
    trail = Trail("x", "input", show, only=Followed())
    [answer] = node.run(recipe_of(double), [({}, 1.5, 9)], marks=[line, trail])
    got = [unpack(a["points"], 4) for a in answer["marks"]]
    np.testing.assert_array_equal(got[0], [[3, 0], gap, [0, 3], [3, 0]])
    np.testing.assert_array_equal(got[1], [[0, 1], [0, 2], [0, 3], gap])


def test_a_way_by_hand(node):
    """A `Way` is a line through a point's positions for several values (stops) of a parameter.

    The line ends where the point is now, or at the last stop if `whole`. It is tested with the parameter
    at 0.5, between two stops, and at 3, beyond the last stop.
    """
    x = Cloud(
        "x",
        np.float32([[1, 0], [0, 1]]),
        Pipeline((Affine(2 * np.eye(2)),)),
        Pipeline((Affine(Entries(np.eye(2), {"p": np.eye(2)})),)),
    )
    show, gap, stops = rows(np.eye(2)), [np.nan, np.nan], np.array([0.0, 1.0, 2.0])
    way = Way("x", "input", show, parameter="p", stops=stops, only=[1])
    marks = [way, replace(way, whole=True), replace(way, only=Followed())]
    for p, ends in ((0.5, [1, 1.5, 1.5, 1.5]), (3.0, [1, 2, 3, 4])):
        [answer] = node.run(recipe_of(x), [({"p": p, "q": 0}, 1, 0)], marks=marks)
        far, whole, followed = (
            unpack(a["points"], n) for a, n in zip(answer["marks"], (5, 4, 5), strict=True)
        )
        np.testing.assert_array_equal(far, [*([0, 2 * y] for y in ends), gap])
        np.testing.assert_array_equal(whole, [*([0, 2 * y] for y in (1, 2, 3)), gap])
        np.testing.assert_array_equal(followed, far[:, ::-1])


def test_a_line_of_a_fixed_stage_shows_where_a_moving_or_adjustable_row_is_positive(node):
    x = Cloud("x", np.float32([[1], [-1]]), Pipeline((Affine(-2 * np.eye(1)),)))
    now, adjustable = Row((1.0,)), Row(Entries(np.eye(1)[0], {"p": np.array([-2.0])}), stage=0)
    lines = [Line("x", "input", (Row((1.0,), stage=0),), where=where) for where in (now, adjustable)]
    moments = [({"p": p, "q": 0}, progress, 0) for p, progress in ((0, 0), (0, 1), (1, 1))]
    shown = [
        [unpack(mark["points"], 2)[:, 0] for mark in a["marks"]]
        for a in node.run(recipe_of(x), moments, marks=lines)
    ]
    first, second = [1, np.nan], [np.nan, -1]
    np.testing.assert_array_equal(shown, [[first, first], [second, first], [second, second]])


MOVES = {"ordinary": 1.0, "along the third axis": np.diag([0.01, 0.01, 5, 1]), "not at all": 0.0}


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("progress", [0, 0.4, 1, 1.7])
@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES)
def test_arrows_have_the_same_heads(node, k, progress, move):
    """The browser and Python draw the same arrow heads on trails and on the pieces of a line.

    The last leg of a trail may have length 0, and one of the pieces is a single point.
    """
    x = np.float32(np.random.default_rng(2).normal(size=(6, 4)))
    steps = (Affine(np.eye(4) + move * np.eye(4)), Affine(np.eye(4), 0.25 * np.ones(4)))
    cloud, show = Cloud("x", x, Pipeline(steps)), rows(np.eye(k, 4))
    trail = Trail("x", "input", show, only=[0, 3, 5], arrow=0.2)
    line = Line("x", "input", show, order=np.array([0, 1, -1, 2, -1, 3, 4, 5]), arrow=0.2)
    for layer in (trail, line):
        got, want = shown(node, cloud, layer, progress)
        plain = shown(node, cloud, replace(layer, arrow=0.0), progress)[1]
        assert len(want) == len(plain) + 3 * (3 if k == 2 else 7)  # three pieces
        assert (np.isnan(got) == np.isnan(want)).all()
        np.testing.assert_allclose(got, want, atol=0.2 * FLOAT32 / 1e-3)


def shown(node, cloud, mark, progress, **params):
    """The points of a mark at `progress` and at parameters: by the browser's engine, and by Python."""
    recipe = recipe_of(cloud)
    [answer] = node.run(recipe, [(params, progress)], marks=[mark])
    want = mark.points(recipe.moment(params, progress))
    return unpack(answer["marks"][0]["points"], len(want)), want


@pytest.mark.parametrize("kind", [Disc, Rim])
@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("t", [-1.0, 0.25, 2.0])
def test_a_plane_that_follows_a_track_is_the_same_disc(node, kind, d, t):
    """The browser and Python draw the same disc of the plane b + ⟨w, x⟩ = 0, with w and b on a track.

    The disc is the plane's part in a ball, which the plane misses at t = −1. t = 2 is beyond the track.
    """
    rng = np.random.default_rng(d)
    track = {"p": Track([0.0, 1.0], rng.normal(size=(2, 1, d)))}
    shift = {"p": Track([0.0, 1.0], [[9.0], [0.2]])}
    function = Affine(Entries(np.zeros((1, d)), tracks=track), Entries(np.zeros(1), tracks=shift))
    cloud = Cloud("f", np.vstack([np.zeros(d), np.eye(d)]).astype(np.float32), place=Pipeline((function,)))
    layer = kind("f", "hyperplane", rows(np.eye(3)), radius=1.5, corners=16)
    got, want = shown(node, cloud, layer, 0, p=t)
    assert len(want) == 17 + (kind is Disc)
    np.testing.assert_allclose(got, want, atol=1e-4)  # b and w are sent in float32, and b is 9


@pytest.mark.parametrize("d", [2, 3, 4, 5])
def test_what_can_be_selected_is_known_at_each_stage_and_between(node, d):
    """Python and the browser show the same selectable keys and colours, at a stage and between stages.

    At stage 1, all keys are on a sphere, and all can be selected. At the last stage, all are at the origin,
    and none can.
    """
    x = np.random.default_rng(d).normal(size=(40, d)).astype(np.float32)
    cloud = Cloud("keys", x, Pipeline((Normalize(), Affine(0 * np.eye(d)))))
    show = rows(np.eye(2, d))
    color, there = (Color("sequential", 0, 1, of=LargestWeight(stage)) for stage in (None, 1))
    marks = [Points("keys", "input", show, only=only, color=color) for only in (Selectable(), Unselectable())]
    marks.append(Points("keys", "input", show, color=there))
    counts = []
    for progress in (0, 0.5, 1, 1.5, 2):
        recipe = recipe_of(cloud)
        at = recipe.moment({}, progress)
        [answer] = node.run(recipe, [({}, progress)], marks=marks)
        for got, mark in zip(answer["marks"], marks, strict=True):
            want = mark.points(at)
            points, values = unpack(got["points"], 40), unpack(got["values"], 40)[:, 0]
            assert (np.isnan(points) == np.isnan(want)).all()
            np.testing.assert_allclose(points, want, atol=FLOAT32)
            np.testing.assert_allclose(values, mark.values(at), atol=FLOAT32)
        counts.append(int(np.isfinite(marks[0].points(at)[:, 0]).sum()))
        assert counts[-1] + np.isfinite(marks[1].points(at)[:, 0]).sum() == 40
    assert counts[2] == counts[3] == 40 > counts[0] and counts[4] == 0


@settings(max_examples=EXAMPLES // 4)
@given(
    seed=st.integers(0, 9999),
    n=st.sampled_from([2, 3]),
    m=st.integers(1, 14),
    p=st.sampled_from([0.0, 0.5, 2.0]),
)
def test_what_a_relu_keeps_is_the_same(node, seed, n, m, p):
    """The browser and Python find the same fates under a ReLU layer, on circles and spheres.

    Each point has exactly one fate. Marks of another cloud can select points by these fates too. Some neurons
    have equal weights, or the weights 0.
    """
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.normal(size=(3, 3)))[0][:n]
    x = rng.normal(size=(60, n)) @ basis
    x = (x / length(x)[:, None]).astype(np.float32)
    A = rng.normal(size=(m, 3)) * rng.choice([0, 1], size=(m, 1), p=[0.1, 0.9])
    A[m // 2 :] *= rng.choice([-1, 1])
    A[: m // 2] = A[m - m // 2 :] if seed % 3 == 0 else A[: m // 2]
    first = Affine(Entries(A, {"p": 0.2 * A}), Entries(rng.normal(size=m) / 2, {"p": np.ones(m) / 2}))
    cloud = Cloud("x", x, Pipeline((Affine(np.eye(3)), first, Pointwise("relu"))))
    only = [Gated(fate, 1, basis) for fate in FATES]
    marks = [Points("x", "input", rows(np.eye(3)), only=one) for one in only]
    marks += [Points("map", "input", rows(np.eye(2)), only=replace(one, of="x")) for one in only]
    recipe = replace(recipe_of(cloud), clouds=(cloud, Cloud("map", x[:, :2])))
    [answer] = node.run(recipe, [({"p": p}, 0)], marks=marks)
    at = recipe.moment({"p": p}, 0)
    got = [np.isfinite(unpack(each["points"], 60)[:, 0]) for each in answer["marks"]]
    want = [np.isfinite(mark.points(at)[:, 0]) for mark in marks]
    np.testing.assert_array_equal(got, want)
    assert (np.sum(got[:3], axis=0) == 1).all() and np.array_equal(got[:3], got[3:])


def test_fates_on_a_circle_and_on_a_sphere_through_it(node):
    """Browser and Python find the same points apart under a ReLU layer, on a circle and on a sphere.

    A point is apart if no other point has the same image. The same points are tested twice: as points of a
    circle, some of them are apart; as points of a sphere through this circle, none is.
    """
    angles = np.linspace(0, 2 * np.pi, 24, endpoint=False) + 0.1
    x = np.column_stack([np.cos(angles), np.sin(angles), 0 * angles]).astype(np.float32)
    layer = Affine(np.array([[1.0, 0, 0.5], [0, 1, 0.5]]))
    cloud = Cloud("x", x, Pipeline((layer, Pointwise("relu"))))
    marks = [Points("x", "input", rows(np.eye(2)), only=Gated("apart", 0, np.eye(n, 3))) for n in (2, 3)]
    recipe = recipe_of(cloud)
    [answer] = node.run(recipe, [({}, 0)], marks=marks)
    got = [np.isfinite(unpack(each["points"], 24)[:, 0]) for each in answer["marks"]]
    want = [np.isfinite(mark.points(recipe.moment({}, 0))[:, 0]) for mark in marks]
    np.testing.assert_array_equal(got, want)
    assert want[0].any() and not want[1].any()


def test_a_point_that_is_its_own_mirror_image_is_apart(node):
    x = np.float32([[0.6, 0.8, 0], [0.6, 0.8, 1e-5], [0.8, 0.6, -0.5]])
    cloud = Cloud("x", x, Pipeline((Affine(np.eye(2, 3)), Pointwise("relu"))))
    mark = Points("x", "input", rows(np.eye(2)), only=Gated("apart", 0, np.eye(3)))
    recipe = recipe_of(cloud)
    [answer] = node.run(recipe, [({}, 0)], marks=[mark])
    got = np.isfinite(unpack(answer["marks"][0]["points"], 3)[:, 0])
    want = np.isfinite(mark.points(recipe.moment({}, 0))[:, 0])
    assert got.tolist() == want.tolist() == [True, False, False]


def test_a_query_and_its_supporting_line_by_hand(node):
    """Weights, best query and supporting line are those computed by hand, for a square's centre and a corner.

    The centre is the average of four corners with equal weights, so its largest attention weight is ⅕.
    """
    x = np.float32([[1, 1], [1, -1], [-1, -1], [-1, 1], [0, 0]])
    show, up = rows(np.eye(2)), Row((0.0, 2.0))
    cloud = Cloud("keys", x, Pipeline(()))
    average = Average("keys", "input", show, span=(0.2, 0.3))
    best = BestQuery("keys", "input", show, reach=3)
    line, none = (Support("keys", "input", show, query=q, radius=2) for q in (up, None))
    limit, now = WeightLimit("keys", "input", (), span=(0, 5)), WeightNow("keys", "input", (), query=up)
    marks = [average, best, line, none, limit, now]
    recipe = recipe_of(cloud)
    counts = [len(mark.points(recipe.moment({}, 0))) for mark in marks]
    [middle, corner] = node.run(recipe, [({}, 0, 4), ({}, 0, 0)], marks=marks)
    got = [unpack(a["points"], n) for a, n in zip(middle["marks"], counts, strict=True)]
    np.testing.assert_allclose(got[0].reshape(5, 3, 2)[:4, 1], x[:4])
    assert np.isnan(got[0].reshape(5, 3, 2)[4]).all() and not got[1].any() and not got[3].any()
    np.testing.assert_allclose(got[2], [[3, 1], [-1, 1]])
    np.testing.assert_allclose(got[4], [[0, 0.2], [5, 0.2]], atol=FLOAT32)
    np.testing.assert_allclose(got[5], [[2, 1 / (1 + 2 * np.exp(2) + 2 * np.exp(-2))]], atol=FLOAT32)
    got = [unpack(a["points"], n) for a, n in zip(corner["marks"], counts, strict=True)]
    assert np.isnan(got[0]).all() and got[4][0, 1] == 1
    np.testing.assert_allclose(got[1], [[0, 0], [3 / np.sqrt(2)] * 2], atol=FLOAT32)
    np.testing.assert_allclose(got[3].sum(axis=-1), [2, 2], atol=FLOAT32)


def test_a_field_has_no_points_and_the_colours_of_its_grid(node):
    grid = np.stack(np.meshgrid(*2 * [np.linspace(-1, 1, 4, dtype=np.float32)]), -1).reshape(-1, 2)
    cloud = Cloud("grid", grid, place=Pipeline((Affine([[2.0, -1.0]], [0.5]),)))
    layer = Field("grid", "sphere", (), color=Color("diverging", -1, 1, of=Row((1,))), columns=4)
    recipe = recipe_of(cloud)
    [answer] = node.run(recipe, [({}, 0)], marks=[layer])
    values = unpack(answer["marks"][0]["values"], 16)[:, 0]
    np.testing.assert_allclose(values, grid @ [2, -1] + 0.5, atol=ONE_ROUNDING * 4)
    np.testing.assert_array_equal(layer.values(recipe.moment({}, 0)), grid.astype(float) @ [2, -1] + 0.5)
    assert len(layer.points(recipe.moment({}, 0))) == 0


@pytest.fixture
def ordinary():
    """A typical cloud in 4 dimensions, whose steps are an orthogonal map and a scaling."""
    rng = np.random.default_rng(3)
    turn = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    return Cloud("x", np.float32(rng.normal(size=(30, 4))), Pipeline((Affine(turn), Affine(2 * np.eye(4)))))


ROW = Row((0.5, -1.0, 0.25, 2.0), offset=0.125)


def test_central_projection_divides(node, ordinary):
    over = Row((0, 0, 0, 0.25), offset=10)  # never zero here
    layer = Points("x", "input", rows(np.eye(3, 4), over=over))
    got, want = shown(node, ordinary, layer, 1.5)
    assert farthest(got, want, FLOAT32 * length(want)) <= 1
    x = ordinary.at({}, 1.5)
    np.testing.assert_allclose(want, x[:, :3] / (x[:, 3:] / 4 + 10), rtol=EXACT)


def test_histogram_counts_every_point(node, ordinary):
    layer = Histogram("x", "input", (ROW,), span=(-2.03, 2.01), bins=7)
    got, want = shown(node, ordinary, layer, 0.75)
    np.testing.assert_allclose(got, want, atol=FLOAT32)
    outline = want.reshape(-1, 2, 2)
    assert outline[:-1, 1, 1].sum() == len(ordinary.points) and want[0, 1] == want[-1, 1] == 0


def test_a_profile_by_hand(node):
    cloud = Cloud("x", np.float32([[1, 0.5, 4], [2, 0, -1]]))
    got, want = shown(node, cloud, Profile("x", "input", (), only=[1]), 0)
    np.testing.assert_array_equal(want, [[1, 2], [2, 0], [3, -1], [np.nan, np.nan]])
    np.testing.assert_array_equal(got.reshape(want.shape), want)


def test_threshold_is_the_best(node, ordinary):
    values = ordinary.at({}, 0.75) @ np.array(ROW.weights) + ROW.offset
    classes = (values > 0.4) ^ (np.arange(30) % 7 == 0)
    layer = Threshold("x", "input", (ROW,), span=(-1, 5), classes=classes.astype(int))
    got, want = shown(node, ordinary, layer, 0.75)
    np.testing.assert_allclose(got, want, rtol=FLOAT32)
    assert want[:, 1].tolist() == [-1, 5] and want[0, 0] == want[1, 0]
    right = [np.mean((values > t) == classes) for t in (want[0, 0], *values)]
    assert max(right[0], 1 - right[0]) == max(max(r, 1 - r) for r in right)


@pytest.mark.parametrize("stretch", [(3, 2, 1, 0.5), (2, 2, 1, 1), (1, 0, 0, 0)], ids=str)
def test_semi_axes_are_those_of_the_ellipsoid(node, stretch):
    turn = np.linalg.qr(np.random.default_rng(5).normal(size=(4, 4)))[0]
    frame = np.float32([[0, 0, 0, 0], *np.eye(4)])
    cloud = Cloud("x", frame, Pipeline((Affine(np.diag(stretch) @ turn, [1, 2, 3, 4]),)))
    layer = SemiAxes("x", "ellipsoid", rows(np.eye(4)))
    for points in shown(node, cloud, layer, 1):
        ends = points.reshape(-1, 3, 4)
        assert np.isnan(ends[:, 2]).all()
        np.testing.assert_allclose((ends[:, 0] + ends[:, 1]) / 2, [[1, 2, 3, 4]] * 4, rtol=FLOAT32)
        axes = (ends[:, 1] - ends[:, 0]) / 2
        np.testing.assert_allclose(length(axes), stretch, atol=FLOAT32)
        # a is a semi-axis: the ellipsoid's own matrix maps it to |a|²·a
        matrix = np.diag(np.square(stretch))
        np.testing.assert_allclose(
            axes @ matrix, axes * np.square(length(axes))[:, None], atol=4 * 9 * FLOAT32
        )
