"""Three runtimes, one recipe: the engine of the browser, NumPy, and PyTorch in float32."""

from dataclasses import replace

import array_api_compat.torch as torch
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.recipe import Cloud, Color, Layer, Parameter, Recipe, Row, View, rows
from geometry import Affine, Entries, Normalize, Pipeline, Pointwise, Track
from geometry.pointwise import FUNCTIONS
from geometry.sphere import CONVENTIONS
from tests.assets.engine import (
    DOUBLE,
    ONE_ROUNDING,
    SINGLE,
    Node,
    assert_agrees,
    bound_at,
    farthest,
    length,
    stages_and_bounds,
    unpack,
)

FLOAT32 = 1e-5  # what the design promises between the runtimes, of the size of the point
EXACT = 1e-12  # the same formula in float64 in another order
EXAMPLES = 120  # some thousands have been run once; more at every check would only cost time
PARAMETERS = (
    Parameter("p", "p", 0.5, -2, 2),
    Parameter("q", "q", 1.0, -2, 2),
    Parameter("e", "ε", 0.1, 0, 3, scale="log"),  # never below zero: for ε and for tracks
)


@pytest.fixture(scope="module")
def node():
    with Node() as process:
        yield process


# --- drawing recipes


@st.composite
def entries(draw, shape, rng, *, positive=False):
    """Constant, affine in parameters, along a track, or all of these; `positive` for radius and ε."""

    def some(*more):
        x = rng.normal(size=(*more, *shape)) / np.sqrt(shape[-1] if len(shape) == 2 else 1)
        return np.abs(x) if positive else x

    base = draw(st.sampled_from([some(), some(), np.zeros(shape)]))
    linear, tracked = ("e",) if positive else ("p", "q"), draw(st.sampled_from(["p", "e"]))
    terms = {name: some() for name in linear if draw(st.booleans())}
    at = np.cumsum(rng.uniform(0.1, 1, draw(st.integers(1, 4)))) - 1  # parameters lie on both sides of it
    tracks = {tracked: Track(at, some(len(at)).astype(np.float32))} if draw(st.booleans()) else {}
    return Entries(base, terms, tracks)


@st.composite
def steps(draw, d, rng, *, most):
    """Up to `most` steps that take d coordinates, and how many come out."""
    found = []
    for kind in draw(st.lists(st.sampled_from(["affine", "normalize", "pointwise"]), max_size=most)):
        if kind == "affine":
            m = draw(st.integers(1, 4))
            shift = draw(entries((m,), rng)) if draw(st.booleans()) else None
            found.append(Affine(draw(entries((m, d), rng)), shift))
            d = m
        elif kind == "pointwise":
            found.append(Pointwise(draw(st.sampled_from(sorted(FUNCTIONS)))))
        else:
            radius, eps = draw(entries((), rng, positive=True)), draw(entries((), rng, positive=True))
            groups = draw(st.none() | groupings(d))
            found.append(Normalize(radius, eps, groups, draw(st.sampled_from(CONVENTIONS))))
    return tuple(found), d


@st.composite
def groupings(draw, d):
    """Disjoint groups; a coordinate may be in none."""
    order, cuts = draw(st.permutations(range(d))), sorted(draw(st.sets(st.integers(1, d), min_size=1)))
    return tuple(tuple(order[a:b]) for a, b in zip([0, *cuts[:-1]], cuts, strict=True))


@st.composite
def clouds(draw, name):
    """Points that float32 holds exactly: of one size, constant, zero, one alone."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    points = rng.normal(size=(n, d)) * draw(st.sampled_from([1.0, 1e-3, 100.0]))
    if draw(st.booleans()):
        points[0] = draw(st.sampled_from([0.0, 1.0, -3.0]))
    place, d = draw(steps(d, rng, most=2))
    pipeline, _ = draw(steps(d, rng, most=5))
    path = draw(st.sampled_from(["straight", "sphere"]))
    return Cloud(name, points.astype(np.float32), Pipeline(pipeline, path), Pipeline(place))


def recipe_of(*found, layers=()):
    last = max(len(c.pipeline.steps) for c in found)
    names = [str(k) for k in range(last + 1)]
    return Recipe(names, PARAMETERS, found, (View("view", "", tuple(layers), ((-1, 1),) * 3),))


@st.composite
def cases(draw):
    """A recipe, parameters on, between and outside the values of its tracks, and a progress."""
    recipe = recipe_of(*(draw(clouds(f"cloud {k}")) for k in range(draw(st.integers(1, 3)))))
    params = {p.name: draw(st.integers(64 * p.min, 64 * p.max)) / 64 for p in recipe.parameters}
    last = len(recipe.stages) - 1
    return recipe, params, draw(st.integers(0, last) | st.floats(0, last))


# --- the law


def torch_run(cloud, params, progress):
    """(stages, positions) of a cloud by PyTorch, in float32."""
    x = torch.asarray(np.array(cloud.points), dtype=torch.float32)
    x = cloud.place.stages(x, params)[-1]
    at = cloud.pipeline.at(x, min(progress, len(cloud.pipeline.steps)), params)
    return [np.asarray(s) for s in cloud.pipeline.stages(x, params)], np.asarray(at)


@settings(max_examples=EXAMPLES)
@given(case=cases())
def test_engine_numpy_and_torch_agree(node, case):
    recipe, params, progress = case
    [answer] = node.run(recipe, [(params, progress)])
    assert_agrees(recipe, params, progress, answer)
    at = recipe.positions(params, progress)
    for cloud in recipe.clouds:
        stages, position = torch_run(cloud, params, progress)
        known = stages_and_bounds(cloud, params, unit=SINGLE)
        for got, (x, bound) in zip(stages, known, strict=True):
            assert farthest(got, x, np.maximum(FLOAT32 * length(x), bound)) <= 1
        bound = bound_at(cloud, params, progress, unit=SINGLE, rounding=SINGLE)
        assert farthest(position, at[cloud.name], np.maximum(FLOAT32 * length(at[cloud.name]), bound)) <= 1


def test_the_law_can_fail(node):
    """The tolerance is far below what a wrong formula changes: here ε by 0.2 % in an ordinary cloud."""
    x = np.random.default_rng(1).normal(size=(50, 3)).astype(np.float32)
    right, wrong = (recipe_of(Cloud("x", x, Pipeline((Normalize(eps=e),)))) for e in (1e-3, 1.002e-3))
    [answer] = node.run(wrong, [({}, 1)])
    with pytest.raises(AssertionError):
        assert_agrees(right, {}, 1, answer)


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_draws_are_mostly_well_conditioned(convention):
    """LayerNorm of an ordinary cloud is held to the promised 1e-5 in float32, not to a looser bound."""
    x = np.random.default_rng(1).normal(size=(200, 4)).astype(np.float32)
    steps = (Affine(np.eye(4) - 0.25), Normalize(2.0, 1e-5, convention=convention))
    (y, bound) = stages_and_bounds(Cloud("x", x, Pipeline(steps)), {}, unit=SINGLE)[-1]
    assert np.median(bound / length(y)) < FLOAT32
    (y, bound) = stages_and_bounds(Cloud("x", x, Pipeline(steps)), {}, unit=DOUBLE)[-1]
    assert np.max(bound / length(y)) < ONE_ROUNDING


# --- the corners


@pytest.mark.parametrize("path", ["straight", "sphere"])
@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("eps", [0.0, 1e-5, 1.0])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_degenerate_points_are_never_nan(node, path, convention, eps, d):
    rows_ = [0, 1, -2, 1e30, -1e30, 1e-30]
    x = np.float32([[v] * d for v in rows_] + [[1e30] + [1e-30] * (d - 1), [1e-30] + [0] * (d - 1)])
    chain = [Normalize(eps=eps, convention=convention), *map(Pointwise, FUNCTIONS), Affine(-2 * np.eye(d))]
    back = [*map(Pointwise, FUNCTIONS), Normalize(eps=eps, convention=convention)]
    recipe = recipe_of(
        Cloud("all", x, Pipeline(chain, path)),
        Cloud("one", x[:1], Pipeline(chain, path)),
        Cloud("back", x, Pipeline(back, path)),
    )
    progresses = [0, 0.5, 1.5, 4.25, len(chain) - 0.5, len(chain)]
    for progress, answer in zip(progresses, node.run(recipe, [({}, p) for p in progresses]), strict=True):
        assert_agrees(recipe, {}, progress, answer)


def test_no_points(node):
    nothing = Cloud("none", np.zeros((0, 3), np.float32), Pipeline((Affine(np.eye(2, 3)), Normalize())))
    [answer] = node.run(recipe_of(nothing), [({}, 0.5)])
    assert answer["positions"]["none"].size == 0 and len(answer["stages"]["none"]) == 3


TURNS = {"half": -1.0, "none": 2.0, "to zero": 0.0}


@pytest.mark.parametrize("factor", TURNS.values(), ids=TURNS)
def test_where_a_turn_has_no_plane_the_path_is_straight(node, factor):
    x = np.float32([[1, 2, 3], [-0.3, 0, 0.1]])
    recipe = recipe_of(Cloud("x", x, Pipeline((Affine(factor * np.eye(3)),), "sphere")))
    [answer] = node.run(recipe, [({}, 0.25)])
    want = (0.75 + 0.25 * factor) * x
    assert farthest(answer["positions"]["x"], want, ONE_ROUNDING * length(x)) <= 1


@pytest.mark.parametrize("sine", [3e-6, 2e-5])
def test_the_smallest_turn_is_the_same_in_both(node, sine):
    """Below geometry.path.TURN straight, above it a turn: nearly opposite, they differ by a whole norm."""
    x = np.float32([[1, 0]])
    recipe = recipe_of(Cloud("x", x, Pipeline((Affine([[-1, 0], [sine, 0]]),), "sphere")))
    [answer] = node.run(recipe, [({}, 0.5)])
    off = length(answer["positions"]["x"] - recipe.positions({}, 0.5)["x"])
    assert off < 1e-2  # float32 knows the stage to 6e-8, so the plane of the turn to 6e-8/2e-5


# --- what a layer shows


@st.composite
def layers(draw, cloud):
    """A layer of any kind; rows at the progress and at stages, shorter and longer than the points."""
    n, last = len(cloud.points), len(cloud.pipeline.steps)
    index, number = st.integers(0, n - 1), st.integers(-128, 128).map(lambda k: k / 64)
    row = st.builds(
        Row,
        st.lists(number, min_size=1, max_size=6).map(tuple),
        st.none() | st.integers(0, last + 1),
        st.sampled_from([0, 0.5]),
    )
    kind = draw(st.sampled_from(["points", "line", "mesh", "trail", "labels"]))
    order = None
    if kind == "line":
        order = draw(st.none() | st.lists(st.integers(-1, n - 1), min_size=1, max_size=8).map(np.array))
    only = st.none() | st.lists(index, min_size=1, max_size=4) | st.just("followed")
    return Layer(
        cloud.name,
        kind,
        "input",
        tuple(draw(st.lists(row, min_size=2, max_size=3))),
        only=draw(only) if kind in ("points", "trail") else None,
        order=np.array([[0, n - 1, n // 2]]) if kind == "mesh" else order,
        fade=draw(st.none() | st.lists(st.floats(0, 1), min_size=1, max_size=last + 1)),
        color=Color("diverging", -1, 1, row=draw(row)) if kind == "points" else None,
        opacity=draw(st.sampled_from([1.0, 0.5])),
    )


@settings(max_examples=EXAMPLES // 2)
@given(case=cases(), data=st.data())
def test_layers_show_the_same(node, case, data):
    recipe, params, progress = case
    drawn = [data.draw(layers(c)) for c in recipe.clouds]
    recipe = recipe_of(*recipe.clouds, layers=drawn)
    followed = data.draw(st.integers(0, 7))
    [answer] = node.run(recipe, [(params, progress, followed)], layers=True)
    for layer, got in zip(drawn, answer["layers"], strict=True):
        cloud = recipe.cloud(layer.cloud)
        moments = (*range(len(cloud.pipeline.steps) + 1), progress)
        sizes = [length(cloud.at(params, m)) for m in moments]
        bounds = [bound_at(cloud, params, m, unit=DOUBLE, rounding=ONE_ROUNDING) for m in moments]
        allowed = np.max(bounds) + ONE_ROUNDING * np.max(sizes)
        weights = [length(r.weights) for r in layer.rows]
        want = recipe.layer_points(layer, params, progress, followed=followed)
        points = unpack(got["points"], len(want))
        assert (np.isnan(points) == np.isnan(want)).all()
        assert np.all(np.nan_to_num(np.abs(points - want)) <= allowed * np.array(weights) + ONE_ROUNDING)
        assert abs(got["fading"] * layer.opacity - layer.opacity_at(progress)) < EXACT
        if layer.color:
            want = recipe.layer_values(layer, params, progress, followed=followed)
            assert len(want) == len(points)
            off = np.abs(unpack(got["values"], len(want))[:, 0] - want)
            assert np.all(off <= allowed * length(layer.color.row.weights) + ONE_ROUNDING)


def test_gaps_and_trails_by_hand(node):
    """A line's −1 is a gap; a trail goes from stage to stage as far as the point is, and ends in a gap."""
    x = np.float32([[1, 0], [0, 1]])
    double = Cloud("x", x, Pipeline((Affine(2 * np.eye(2)), Affine(2 * np.eye(2)))))
    show, gap = rows(np.eye(2)), [np.nan, np.nan]
    line = Layer("x", "line", "input", show, order=np.array([0, -1, 1, 0]))
    trail = Layer("x", "trail", "input", show, only="followed")
    [answer] = node.run(recipe_of(double, layers=[line, trail]), [({}, 1.5, 9)], layers=True)
    got = [unpack(a["points"], 4) for a in answer["layers"]]
    np.testing.assert_array_equal(got[0], [[3, 0], gap, [0, 3], [3, 0]])
    np.testing.assert_array_equal(got[1], [[0, 1], [0, 2], [0, 3], gap])


MOVES = {"ordinary": 1.0, "along the third axis": np.diag([0.01, 0.01, 5, 1]), "not at all": 0.0}


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("progress", [0, 0.4, 1, 1.7])
@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES)
def test_arrows_have_the_same_heads(node, k, progress, move):
    """On trails, whose last legs may have no length, and on pieces of a line, one of them a single point."""
    x = np.float32(np.random.default_rng(2).normal(size=(6, 4)))
    steps = (Affine(np.eye(4) + move * np.eye(4)), Affine(np.eye(4), 0.25 * np.ones(4)))
    cloud, show = Cloud("x", x, Pipeline(steps)), rows(np.eye(k, 4))
    trail = Layer("x", "trail", "input", show, only=[0, 3, 5], arrow=0.2)
    line = Layer("x", "line", "input", show, order=np.array([0, 1, -1, 2, -1, 3, 4, 5]), arrow=0.2)
    for layer in (trail, line):
        got, want = shown(node, cloud, layer, progress)
        plain = shown(node, cloud, replace(layer, arrow=0.0), progress)[1]
        assert len(want) == len(plain) + 3 * (3 if k == 2 else 7)  # three pieces
        assert (np.isnan(got) == np.isnan(want)).all()
        np.testing.assert_allclose(got, want, atol=0.2 * FLOAT32 / 1e-3)


def shown(node, cloud, layer, progress, **params):
    """(engine's, Python's) points of a layer."""
    recipe = recipe_of(cloud, layers=[layer])
    [answer] = node.run(recipe, [(params, progress)], layers=True)
    want = recipe.layer_points(layer, params, progress)
    return unpack(answer["layers"][0]["points"], len(want)), want


@pytest.mark.parametrize("kind", ["plane", "rim"])
@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("t", [-1.0, 0.25, 2.0])
def test_a_plane_that_follows_a_track_is_the_same_disc(node, kind, d, t):
    """b + ⟨w, x⟩ with w and b along a track; at t = 2 beyond its end, at −1 the plane misses the ball."""
    rng = np.random.default_rng(d)
    track = {"t": Track([0.0, 1.0], rng.normal(size=(2, 1, d)))}
    shift = {"t": Track([0.0, 1.0], [[9.0], [0.2]])}
    function = Affine(Entries(np.zeros((1, d)), tracks=track), Entries(np.zeros(1), tracks=shift))
    cloud = Cloud("f", np.vstack([np.zeros(d), np.eye(d)]).astype(np.float32), place=Pipeline((function,)))
    layer = Layer("f", kind, "hyperplane", rows(np.eye(3)), span=(0, 1.5), bins=16)
    got, want = shown(node, cloud, layer, 0, t=t)
    assert len(want) == 17 + (kind == "plane")
    np.testing.assert_allclose(got, want, atol=1e-4)  # b and w come in float32, and b is 9


def test_a_field_has_no_points_and_the_colours_of_its_grid(node):
    grid = np.stack(np.meshgrid(*2 * [np.linspace(-1, 1, 4, dtype=np.float32)]), -1).reshape(-1, 2)
    cloud = Cloud("grid", grid, place=Pipeline((Affine([[2.0, -1.0]], [0.5]),)))
    layer = Layer("grid", "field", "sphere", (), color=Color("diverging", -1, 1, row=Row((1,))), bins=4)
    recipe = recipe_of(cloud, layers=[layer])
    [answer] = node.run(recipe, [({}, 0)], layers=True)
    values = unpack(answer["layers"][0]["values"], 16)[:, 0]
    np.testing.assert_allclose(values, grid @ [2, -1] + 0.5, atol=ONE_ROUNDING * 4)
    np.testing.assert_array_equal(recipe.layer_values(layer, {}, 0), grid.astype(float) @ [2, -1] + 0.5)
    assert len(recipe.layer_points(layer, {}, 0)) == 0


@pytest.fixture
def ordinary():
    """An ordinary cloud in 4 dimensions, on its way through a rotation and a scaling."""
    rng = np.random.default_rng(3)
    turn = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    return Cloud("x", np.float32(rng.normal(size=(30, 4))), Pipeline((Affine(turn), Affine(2 * np.eye(4)))))


ROW = Row((0.5, -1.0, 0.25, 2.0), offset=0.125)


def test_central_projection_divides(node, ordinary):
    over = Row((0, 0, 0, 0.25), offset=10)  # never zero here
    layer = Layer("x", "points", "input", rows(np.eye(3, 4)), over=over)
    got, want = shown(node, ordinary, layer, 1.5)
    assert farthest(got, want, FLOAT32 * length(want)) <= 1
    x = ordinary.at({}, 1.5)
    np.testing.assert_allclose(want, x[:, :3] / (x[:, 3:] / 4 + 10), rtol=EXACT)


def test_histogram_counts_every_point(node, ordinary):
    layer = Layer("x", "histogram", "input", (ROW,), span=(-2.03, 2.01), bins=7)
    got, want = shown(node, ordinary, layer, 0.75)
    np.testing.assert_allclose(got, want, atol=FLOAT32)
    outline = want.reshape(-1, 2, 2)
    assert outline[:-1, 1, 1].sum() == len(ordinary.points) and want[0, 1] == want[-1, 1] == 0


def test_threshold_is_the_best(node, ordinary):
    values = ordinary.at({}, 0.75) @ np.array(ROW.weights) + ROW.offset
    classes = (values > 0.4) ^ (np.arange(30) % 7 == 0)
    layer = Layer("x", "threshold", "input", (ROW,), span=(-1, 5), classes=classes.astype(int))
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
    layer = Layer("x", "semi-axes", "ellipsoid", rows(np.eye(4)))
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


# --- numbers beside the picture


@given(st.integers(1, 5), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_residual_is_the_largest_distance(node, n, d, seed):
    a, b = np.random.default_rng(seed).normal(size=(2, n, d)).astype(np.float32).astype(float)
    got = node.ask("residual", a=a.ravel().tolist(), b=b.ravel().tolist(), n=n)
    assert got == pytest.approx(length(a - b).max(), rel=EXACT)


def test_residual_of_no_points_is_zero(node):
    assert node.ask("residual", a=[], b=[], n=0) == 0


def test_measures(node):
    points = np.random.default_rng(1).normal(size=(20, 3)).tolist()
    points += [[1.0, 1, 1], [1e30, -1e30, 0], [1e-30, 0, 0], [5.0]]
    for x, got in zip(np.array(points, object), node.ask("measures", points=points), strict=True):
        x = np.array(x, float)
        one = np.ones(len(x)) / np.sqrt(len(x))
        assert got["components"] == x.tolist()
        for name, want in (("mean", x.mean()), ("std", x.std()), ("norm", length(x))):
            assert abs(got[name] - want) <= EXACT * length(x)
        # atan2 has no trouble near 0° and 180°, where acos knows an angle to 1e-8 only
        off = np.degrees(np.arctan2(length(x - (x @ one) * one), x @ one)) - got["angle"]
        assert abs(off) < 2e-6


def test_the_zero_vector_has_no_angle(node):
    [got] = node.ask("measures", points=[[0, 0, 0]])
    assert got == {"components": [0, 0, 0], "mean": 0, "std": 0, "norm": 0, "angle": None}


@pytest.mark.parametrize("d", [2, 3, 5, 6, 17])
@pytest.mark.parametrize("drive", ["constant", "term", "base and term", "track"])
def test_a_centring_takes_a_constant_point_to_zero_exactly_in_both(node, d, drive):
    """Also where a parameter drives it, and for a d whose rows sum to 0 only up to rounding."""
    PI, zero = np.where(np.eye(d) == 1, (d - 1) / d, -1 / d), np.zeros((d, d))
    A = {
        "constant": Entries(PI),
        "term": Entries(zero, terms={"p": PI}),
        "base and term": Entries(PI, terms={"p": PI}),
        "track": Entries(zero, tracks={"p": Track([0, 1], [zero, PI])}),
    }[drive]
    x = np.float32(np.linspace(-1.7, 2.3, 101)[:, None] + np.full(d, 0.8))
    recipe = recipe_of(Cloud("x", x, Pipeline((Affine(A), Normalize()))))
    [answer] = node.run(recipe, [({"p": 0.3}, 2)])
    for stages in (answer["stages"]["x"], recipe.cloud("x").pipeline.stages(x.astype(float), {"p": 0.3})):
        assert not stages[1].any() and not stages[2].any()


def test_relu_keeps_what_is_no_number(node):
    """As in Python: a point that is lost is not drawn at 0."""
    x = np.float32([[np.nan, np.inf, -np.inf, -1, 2]])
    recipe = recipe_of(Cloud("x", x, Pipeline((Pointwise("relu"),))))
    [answer] = node.run(recipe, [({}, 1)])
    np.testing.assert_array_equal(answer["stages"]["x"][1], [[np.nan, np.inf, 0, 0, 2]])
    np.testing.assert_array_equal(recipe.cloud("x").at({}, 1), [[np.nan, np.inf, 0, 0, 2]])
